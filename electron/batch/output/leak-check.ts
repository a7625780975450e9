import type { Remaining } from '../../contract/models/batch.ts';
import type { Cleartext } from '../../util/cleartext.ts';
import { openCleartext } from '../../util/cleartext.ts';
import type { Format } from '../reading/read-rows.ts';
import type { Table } from '../reading/table.ts';
import { cardEnd, createRunFinder, type DigitRun } from './card-numbers.ts';
import { minLength, type SentValues } from './sent-values.ts';
import { ValueSet } from './value-set.ts';

/**
 * Counts what an export leaves in clear in the cells it copies from the source: card numbers, and values that the job
 * sent. Told of each piece that is copied and of each token that the service gave; it keeps no value.
 */
export interface LeakCheck {
  /** The units of a row from one position to another go out as they are; `number` is the row's, 0 the header's. */
  copied(table: Table, index: number, piece: { number: number; from: number; to: number }): void;
  /** The same of one field, which may be malformed. */
  copiedField(field: Cleartext, at: { number: number; column: number }): void;
  /** What the service gave as a token, or took for one, is no card number, wherever it stands. */
  token(token: Cleartext): void;
  /** What was found so far. */
  remaining(): Remaining;
}

const shortestCard = 13;
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
  const findRuns = createRunFinder(delimiter, sent.hasNumbers ? minLength : shortestCard);
  const findInToken = createRunFinder('', shortestCard);
  const tokens = new ValueSet(maxTokens);
  const waiting: { readonly hash: readonly [number, number]; readonly column: number; readonly row: number }[] =
    [];
  const places = new Map<number, Place>();
  let view = '';
  /** Where the piece is that is looked at; of a field, its column. */
  let table: Table | null = null;
  let index = 0;
  let columnOfField = 0;
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
    if (table === null) return columnOfField;
    const column = table.columnAt(index, position);
    return holds(openCleartext(table.value(index, column))) ? column : null;
  }

  function hashDigits({ digits, groups }: DigitRun, from: number, last: number): void {
    tokens.begin();
    for (let at = groups[from] ?? 0; at < (groups[last + 1] ?? 0); at++) tokens.unit(digits[at] ?? 0);
  }

  function lookAtRun(run: DigitRun): void {
    for (let group = 0; group < run.positions.length; group++) {
      const card = cardEnd(run, group, view);
      const last = card >= 0 || !sent.hasNumbers ? card : sent.numberEnd(run, group);
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

  function lookAtToken(run: DigitRun): void {
    const last = cardEnd(run, 0, view);
    if (last < 0) return;
    hashDigits(run, 0, last);
    tokens.add();
  }

  function foundText(position: number): void {
    const column = columnAt(position);
    if (column !== null) count(column, row, 'values');
  }

  function look(from: number, to: number): void {
    findRuns(view, from, to, lookAtRun);
    sent.findTexts(view, from, to, foundText);
  }

  return {
    copied(from, at, piece) {
      if (piece.from >= piece.to) return;
      table = from;
      index = at;
      row = piece.number;
      ({ view } = from);
      look(piece.from, piece.to);
    },
    copiedField(field, at) {
      table = null;
      columnOfField = at.column;
      row = at.number;
      view = openCleartext(field);
      look(0, view.length);
    },
    token(token) {
      view = openCleartext(token);
      findInToken(view, 0, view.length, lookAtToken);
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
