import type { Remaining } from '../../contract/models/batch.ts';
import { type Cleartext, openCleartext } from '../../util/cleartext.ts';
import type { Format } from '../reading/read-rows.ts';
import type { Table, Units } from '../reading/table.ts';
import { shortestCard } from '../../masking/cards.ts';
import { plainText } from '../../masking/plain-text.ts';
import { cardEnd, createRunFinder, eachDigit, type DigitRun } from './card-numbers.ts';
import type { SentValues } from './sent-values.ts';
import { ValueSet } from './value-set.ts';

/**
 * Counts what an export leaves in clear in the cells it copies from the source: card numbers, and values that the job
 * sent. Told of each piece that is copied and of each token that the service gave; it keeps no value.
 */
export interface LeakCheck {
  /** The row that what follows is of: its index in a table, and its number, which is 0 for the header. */
  row(table: Table, index: number, number: number): void;
  /** From one position in the table to another it goes out as it is. */
  copied(from: number, to: number): void;
  /** The same of one field that is not as the source has it. */
  copiedField(field: Cleartext, column: number): void;
  /** Whether it matters which tokens there are. */
  readonly asksForTokens: boolean;
  /** What the service gave as a token, or took for one, is no card number, wherever it stands. */
  token(token: Cleartext): void;
  /** What was found so far. */
  remaining(): Remaining;
}

/** Card numbers that wait for the end, when it is known whether the service gave one as a token. Those behind are not asked again. */
const maxWaiting = 10_000;
const maxTokens = 2_000_000;
const maxPlaces = 50;

interface Place {
  cards: number;
  values: number;
  firstRow: number;
  lastRow: number;
}

/** `holds`: whether what is written can hold a cell; one that it can't is left empty. */
export function createLeakCheck(
  { delimiter }: Pick<Format, 'delimiter'>,
  sent: SentValues,
  holds: (cell: string) => boolean = () => true,
): LeakCheck {
  const minDigits = Math.min(shortestCard, sent.shortestNumber);
  const findRuns = createRunFinder(delimiter, minDigits, lookAtRun, lookAtOther);
  const findInPlain = createRunFinder('', minDigits, lookAtRun);
  const findInToken = createRunFinder('', shortestCard, lookAtToken);
  const tokens = new ValueSet(maxTokens);
  const waiting: {
    readonly hash: readonly [number, number];
    readonly column: number;
    readonly row: number;
  }[] = [];
  const places = new Map<number, Place>();
  let units: Units = new Uint8Array(0);
  /** Where the piece is that is looked at. */
  let table: Table | null = null;
  let index = 0;
  let fieldColumn: number | null = null;
  let row = 0;

  function count(column: number, rowNumber: number, kind: 'cards' | 'values'): void {
    let place = places.get(column);
    if (place === undefined) {
      place = { cards: 0, values: 0, firstRow: rowNumber, lastRow: rowNumber };
      places.set(column, place);
    }
    place[kind] += 1;
    place.firstRow = Math.min(place.firstRow, rowNumber);
    place.lastRow = Math.max(place.lastRow, rowNumber);
  }

  /** The column that has the position; null where its cell is left empty. */
  function columnAt(position: number): number | null {
    if (table === null || fieldColumn !== null) return fieldColumn;
    const column = table.columnAt(index, position);
    return holds(openCleartext(table.value(index, column))) ? column : null;
  }

  function hashDigits(run: DigitRun, from: number, last: number): void {
    tokens.begin();
    eachDigit(run, from, (run.before[last + 1] ?? 0) - (run.before[from] ?? 0), (digit) =>
      tokens.unit(digit),
    );
  }

  function lookAtRun(run: DigitRun): void {
    for (let group = 0; group < run.count; group++) {
      const card = cardEnd(run, group);
      const last = card >= 0 ? card : sent.numberEnd(run, group);
      if (last < 0) continue;
      const column = columnAt(run.positions[group] ?? 0);
      if (column !== null && card < 0) count(column, row, 'values');
      else if (column !== null) {
        hashDigits(run, group, last);
        if (!tokens.has()) {
          if (waiting.length < maxWaiting) waiting.push({ hash: tokens.sum(), column, row });
          else count(column, row, 'cards');
        }
      }
      group = last;
    }
  }

  /** Once more, with digits of other scripts as plain ones: a number of both kinds in one cell is counted twice. */
  function lookAtOther(position: number): void {
    const column = columnAt(position);
    if (table === null || column === null || fieldColumn !== null) return;
    const value = openCleartext(table.value(index, column));
    if (!/(?![0-9])\p{Nd}/u.test(value)) return;
    fieldColumn = column;
    const plain = Buffer.from(plainText(value));
    findInPlain(plain, 0, plain.length);
    fieldColumn = null;
  }

  function lookAtToken(run: DigitRun): void {
    const last = cardEnd(run, 0);
    if (last < 0) return;
    hashDigits(run, 0, last);
    tokens.add();
  }

  function foundText(position: number): void {
    const column = columnAt(position);
    if (column !== null) count(column, row, 'values');
  }

  function look(from: number, to: number): void {
    findRuns(units, from, to);
    sent.findTexts(units, from, to, foundText);
  }

  return {
    row(from, at, number) {
      table = from;
      index = at;
      row = number;
      ({ units } = from);
    },
    copied(from, to) {
      if (from < to) look(from, to);
    },
    copiedField(field, column) {
      fieldColumn = column;
      units = Buffer.from(plainText(openCleartext(field)));
      look(0, units.length);
      fieldColumn = null;
      if (table !== null) ({ units } = table);
    },
    get asksForTokens() {
      return waiting.length > 0;
    },
    token(token) {
      units = Buffer.from(plainText(openCleartext(token)));
      findInToken(units, 0, units.length);
    },
    remaining() {
      for (const { hash, column, row: number } of waiting.splice(0))
        if (!tokens.hasSum(hash)) count(column, number, 'cards');
      const found = [...places].map(([column, place]) => ({ column, ...place }));
      const sum = (kind: 'cards' | 'values'): number => found.reduce((all, place) => all + place[kind], 0);
      return {
        cards: sum('cards'),
        values: sum('values'),
        places: found
          .sort((a, b) => b.cards + b.values - (a.cards + a.values) || a.column - b.column)
          .slice(0, maxPlaces),
      };
    },
  };
}
