import type { Remaining } from '../../contract/models/batch.ts';
import { type Cleartext, cleartext, openCleartext } from '../../util/cleartext.ts';
import type { Format } from '../reading/read-rows.ts';
import type { RowPiece, Table, Units } from '../reading/table.ts';
import { shortestCard, someCard } from '../../masking/cards.ts';
import { cardsIn, mayHoldValueIn } from '../../masking/find-values.ts';
import { plainText } from '../../masking/plain-text.ts';
import { isLongText, partsOf, type TextPart } from '../../masking/text-parts.ts';
import { createTurn, type Turn } from '../../util/turns.ts';
import { createRunFinder, digitsOf, textOf, type DigitRun } from './digit-runs.ts';
import type { SentValues } from './sent-values.ts';
import { ValueSet } from './value-set.ts';

/**
 * Counts what an export leaves in clear in the cells it copies from the source: card numbers, and values that the job
 * sent. Told of each piece that is copied and of each token that the service gave; it keeps no value. A cell in which
 * enough digits follow each other, or in which some may be written otherwise, is read as the masks read it, so that what
 * they would hide is counted.
 */
export interface LeakCheck {
  /**
   * The row that what follows is of: its index in a table, and its number, which is 0 for the header. Of one that the window
   * wrote no values are counted: it could guess what a hidden cell holds.
   */
  row(table: Table, index: number, number: number, isTyped?: boolean): void;
  /** From one position in the table to another it goes out as it is. */
  copied(from: number, to: number): void;
  /** The same of one field that is not as the source has it. */
  copiedField(field: Cleartext, column: number): void;
  /**
   * Looks at what was copied and is long, in parts and in turns of its own: one row may be megabytes of card numbers. Awaited
   * before the rows are let go of, and before what remains is asked for.
   */
  rest(): Promise<void>;
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

/** What is long, and is looked at later. */
interface LongText {
  readonly row: number;
  readonly isTypedRow: boolean;
}
interface LongField extends LongText {
  readonly field: Cleartext;
  readonly column: number;
}
interface LongPiece extends LongText {
  readonly table: Table;
  readonly index: number;
  readonly from: number;
  readonly to: number;
}

/** `holds`: whether what is written can hold a cell; one that it can't is left empty. Without it every cell is held. */
export function createLeakCheck(
  { delimiter, newline }: Pick<Format, 'delimiter' | 'newline'>,
  sent: SentValues,
  holds?: (cell: string) => boolean,
): LeakCheck {
  const minDigits = Math.min(shortestCard, sent.shortestNumber);
  const findRuns = createRunFinder(delimiter + newline, minDigits, lookAtRun, lookAtOther);
  const findNumbers = createRunFinder('', minDigits, lookForNumbers);
  const signs = createSignFinder();
  const tokens = new ValueSet(maxTokens);
  const waiting: {
    readonly hash: readonly [number, number];
    readonly column: number;
    readonly row: number;
    readonly sign: number;
  }[] = [];
  const places = new Map<number, Place>();
  let units: Units = new Uint8Array(0);
  /** Where the piece is that is looked at. */
  let table: Table | null = null;
  let index = 0;
  let fieldColumn: number | null = null;
  let row = 0;
  let isTypedRow = false;
  /** What is looked at where it is in no column: names of members, records of other types, what is between fields. */
  let between: RowPiece | null = null;
  /** The cell that was read last, or what is between two, and its card numbers. */
  let readCell: CellPlace | null = null;
  let ownCards: ReadonlySet<string> = new Set();
  /** The cell that was asked for last whether it can be held, and that was read last for digits of other scripts. */
  let heldCell: CellPlace | null = null;
  let isHeld = true;
  let otherCell: CellPlace | null = null;
  const long: (LongPiece | LongField)[] = [];
  /** Characters of a row's own fields: many short ones take as long as a long one. */
  let fieldsOfRow = 0;
  /** The part of a long piece that is looked at. */
  let part: Pick<TextPart, 'from' | 'to'> | null = null;
  let turn: Turn | null = null;
  /** -1 for what the part before has too, which is looked at once more by itself and taken off: also what a cut made of it. */
  let sign = 1;

  function count(column: number, rowNumber: number, kind: 'cards' | 'values', by = sign): void {
    if (kind === 'values' && isTypedRow) return;
    let place = places.get(column);
    if (place === undefined) {
      place = { cards: 0, values: 0, firstRow: rowNumber, lastRow: rowNumber };
      places.set(column, place);
    }
    place[kind] += by;
    place.firstRow = Math.min(place.firstRow, rowNumber);
    place.lastRow = Math.max(place.lastRow, rowNumber);
  }

  /** The column that has the position; null where its cell is left empty. */
  function columnAt(position: number): number | null {
    if (table === null || fieldColumn !== null) return fieldColumn;
    const column = between?.column ?? table.columnAt(index, position);
    if (holds === undefined) return column;
    const cell = placeOf(table, column);
    if (!isSame(cell, heldCell)) {
      heldCell = cell;
      isHeld = holds(openCleartext(wholeTextIn(table, column)));
    }
    return isHeld ? column : null;
  }

  const placeOf = (of: Table, column: number): CellPlace => [of, index, column, between];

  const wholeTextIn = (of: Table, column: number): Cleartext =>
    between === null ? of.value(index, column) : of.text(between.from, between.to);

  function textIn(of: Table, column: number): Cleartext {
    if (part === null) return wholeTextIn(of, column);
    const { from, to } = between ?? { from: of.fieldStart(index, column), to: of.fieldEnd(index, column) };
    const [begin, end] = [Math.max(from, part.from), Math.min(to, part.to)];
    return between === null ? of.partOf(index, column, begin, end) : of.text(begin, end);
  }

  function hashDigits(digits: string): void {
    tokens.begin();
    for (let at = 0; at < digits.length; at++) tokens.unit(digits.charCodeAt(at) - 0x30);
  }

  function lookForCards(text: Cleartext, column: number): void {
    const cards = cardsIn(text);
    ownCards = new Set(cards);
    for (const card of cards) {
      hashDigits(card);
      if (tokens.has()) continue;
      if (waiting.length < maxWaiting) waiting.push({ hash: tokens.sum(), column, row, sign });
      else count(column, row, 'cards');
    }
  }

  /** Once, however many places of it are found. */
  function lookAtCell(column: number): void {
    if (table === null || fieldColumn !== null) return;
    const cell = placeOf(table, column);
    if (isSame(cell, readCell)) return;
    readCell = cell;
    lookForCards(textIn(table, column), column);
  }

  function lookAtRun(run: DigitRun): void {
    // Most runs are none: only of the others the cell is read as the masks read it.
    if (hasGroupsOfCard(run) && someCard(textOf(run), 'issued', isFound)) {
      const column = columnAt(run.positions[0] ?? 0);
      if (column !== null) lookAtCell(column);
    }
    lookForNumbers(run);
  }

  /** Whether it was counted among the cards of its cell. */
  function isOwnCard(column: number, run: DigitRun, group: number, last: number): boolean {
    if (ownCards.size === 0 || !ownCards.has(digitsOf(run, group, last))) return false;
    return table === null || fieldColumn !== null || isSame(placeOf(table, column), readCell);
  }

  function lookForNumbers(run: DigitRun): void {
    if ((run.before[run.count] ?? 0) < sent.shortestNumber) return;
    for (let group = 0; group < run.count; group++) {
      const last = sent.numberEnd(run, group);
      if (last < 0) continue;
      const column = columnAt(run.positions[group] ?? 0);
      if (column !== null && !isOwnCard(column, run, group, last)) count(column, row, 'values');
      group = last;
    }
  }

  /** Digits of other scripts and forms: a number that was sent, of both kinds in one cell, is counted twice. */
  function lookAtOther(position: number): void {
    const column = columnAt(position);
    if (table === null || column === null || fieldColumn !== null) return;
    const cell = placeOf(table, column);
    if (isSame(cell, otherCell)) return;
    otherCell = cell;
    const value = openCleartext(textIn(table, column));
    const digits = value.match(anyDigit)?.length ?? 0;
    if (digits < minDigits && (value.match(misreadDigits)?.length ?? 0) < fewestMisread) return;
    lookAtCell(column);
    if (!otherDigit.test(value)) return;
    fieldColumn = column;
    const plain = Buffer.from(plainText(value));
    findNumbers(plain, 0, plain.length);
    fieldColumn = null;
  }

  /** What spells a digit. */
  function lookAtSigns(from: number, to: number): void {
    // Of a long piece no more than its part is gone through for each.
    const within = part === null ? units : units.subarray(0, to);
    for (let at = signs.next(within, from); at < to; at = signs.next(within, at)) {
      if (table === null || fieldColumn !== null) return;
      const column = between?.column ?? table.columnAt(index, at);
      const end = Math.min(between?.to ?? table.fieldEnd(index, column), to);
      const start = between?.from ?? table.fieldStart(index, column);
      const mayBe = maySpellCard(units, Math.max(start, part?.from ?? 0), end);
      if (mayBe && columnAt(at) !== null) lookAtCell(column);
      at = Math.max(at + 1, end);
    }
  }

  function foundText(position: number): void {
    const column = columnAt(position);
    if (column !== null) count(column, row, 'values');
  }

  function look(from: number, to: number): void {
    findRuns(units, from, to);
    lookAtSigns(from, to);
    sent.findTexts(units, from, to, foundText);
  }

  function lookAtPiece(piece: RowPiece): void {
    between = piece.isField ? null : piece;
    look(piece.from, piece.to);
  }

  function copiedField(field: Cleartext, column: number): void {
    fieldsOfRow += openCleartext(field).length;
    if (isLongText(fieldsOfRow)) long.push({ field, column, row, isTypedRow });
    else lookAtField(field, column);
  }

  function lookAtField(field: Cleartext, column: number): void {
    fieldColumn = column;
    ownCards = new Set();
    if (mayHoldValueIn(openCleartext(field))) lookForCards(field, column);
    readCell = null;
    units = Buffer.from(plainText(openCleartext(field)));
    findNumbers(units, 0, units.length);
    sent.findTexts(units, 0, units.length, foundText);
    fieldColumn = null;
    if (table !== null) ({ units } = table);
  }

  function beginRow(from: Table, at: number, number: number, isTyped: boolean): void {
    isTypedRow = isTyped;
    table = from;
    index = at;
    row = number;
    fieldsOfRow = 0;
    ({ units } = from);
  }

  /** `lookAt` gets each part, and before that what the part before has too. */
  async function inParts(
    { from, to }: Pick<TextPart, 'from' | 'to'>,
    cuts: Parameters<typeof partsOf>[2],
    lookAt: (from: number, to: number) => void,
  ): Promise<void> {
    for (const next of partsOf(from, to, cuts)) {
      const partIn = (end: number): void => {
        part = { from: next.from, to: end };
        readCell = otherCell = null;
        ownCards = new Set();
        lookAt(next.from, end);
        part = null;
      };
      sign = -1;
      if (next.again > next.from) partIn(next.again);
      sign = 1;
      partIn(next.to);
      if (turn?.isOver() === true) await turn.next();
    }
    readCell = otherCell = null;
  }

  async function lookAtLong(piece: LongPiece): Promise<void> {
    beginRow(piece.table, piece.index, piece.row, piece.isTypedRow);
    const cuts = {
      unitAt: (at: number) => piece.table.units[at] ?? 0,
      characterAt: (from: number, at: number) => piece.table.characterAt(from, at),
    };
    const pieces: RowPiece[] = [];
    if (!piece.table.eachPiece(index, piece.from, piece.to, (one) => pieces.push(one)))
      await inParts(piece, cuts, look);
    for (const one of pieces) {
      between = one.isField ? null : one;
      await inParts(one, cuts, look);
    }
    between = null;
  }

  return {
    row(from, at, number, isTyped = false) {
      beginRow(from, at, number, isTyped);
    },
    copied(from, to) {
      if (from >= to || table === null) return;
      if (isLongText(to - from)) long.push({ table, index, row, isTypedRow, from, to });
      else if (!table.eachPiece(index, from, to, lookAtPiece)) look(from, to);
      between = null;
    },
    copiedField,
    async rest() {
      turn = createTurn();
      for (const piece of long.splice(0)) {
        if ('table' in piece) await lookAtLong(piece);
        else {
          ({ row, isTypedRow } = piece);
          const text = openCleartext(piece.field);
          const cuts = { unitAt: (at: number) => text.charCodeAt(at) };
          await inParts({ from: 0, to: text.length }, cuts, (from, to) => {
            lookAtField(cleartext(text.slice(from, to)), piece.column);
          });
        }
      }
    },
    get asksForTokens() {
      return waiting.length > 0;
    },
    token(token) {
      for (const card of cardsIn(token)) {
        hashDigits(card);
        tokens.add();
      }
    },
    remaining() {
      if (long.length > 0) throw new TypeError('not all of what was copied was looked at');
      for (const { hash, column, row: number, sign: by } of waiting.splice(0))
        if (!tokens.hasSum(hash)) count(column, number, 'cards', by);
      const found = [...places]
        .map(([column, place]) => ({
          column,
          ...place,
          cards: Math.max(0, place.cards),
          values: Math.max(0, place.values),
        }))
        .filter(({ cards, values }) => cards + values > 0);
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

/** A cell, or what is between two. It is read once, however many places of a long one are asked for. */
type CellPlace = readonly [table: Table, row: number, column: number, between: RowPiece | null];
const isSame = (one: CellPlace, other: CellPlace | null): boolean =>
  one.every((part, at) => part === other?.[at]);

const anyDigit = /[\p{Nd}\p{No}]/gu;
const otherDigit = /(?![0-9])[\p{Nd}\p{No}]/u;
/** Two digits that were read as one letter of UTF-16, and how many of a card's are at least, if it is written in groups of four. */
const misreadDigits = new RegExp(
  `[${Array.from({ length: 10 }, (_, n) => `\\u3${n}30-\\u3${n}39`).join('')}]`,
  'g',
);
const fewestMisread = 3;
const isFound = (): boolean => true;

/**
 * Whether enough digits of a run are in groups as `someCard` takes them: small ones, as dates and times have, only where all
 * are alike.
 */
function hasGroupsOfCard({ count, before }: DigitRun): boolean {
  if ((before[count] ?? 0) < shortestCard) return false;
  const first = before[1] ?? 0;
  let isEven = true;
  let digits = 0;
  for (let group = 0; group < count; group++) {
    const size = (before[group + 1] ?? 0) - (before[group] ?? 0);
    digits += size;
    if (digits >= shortestCard) return true;
    if (size < 3) digits = 0;
    isEven &&= size === first || (group === count - 1 && size < first);
  }
  return isEven;
}

/** Each sign may make a digit of what follows it, in which there is one at least; above ASCII each may be a part of a digit. */
function maySpellCard(units: Units, from: number, to: number): boolean {
  let digits = 0;
  for (let at = from; at < to && digits < shortestCard; at++) {
    const unit = units[at] ?? 0;
    const isSign = unit === 0x26 || unit === 0x25 || unit === 0x5c;
    if ((unit >= 0x30 && unit <= 0x39) || isSign || unit >= 0x80) digits += 1;
  }
  return digits >= shortestCard;
}

/** Where signs stand that digits may be spelled with. Most files have few, and are gone through once for each of these. */
function createSignFinder(): { next: (units: Units, from: number) => number } {
  let known: Units | null = null;
  let from = 0;
  const signs = [0x26, 0x25, 0x5c];
  const places = signs.map(() => -1);
  return {
    /** The first at a position or behind it; Infinity where there is none. */
    next(units, position) {
      if (units !== known || position < from) places.fill(-1);
      known = units;
      from = position;
      let first = Infinity;
      for (let at = 0; at < signs.length; at++) {
        let place = places[at] ?? -1;
        if (place < position) {
          const found = units.indexOf(signs[at] ?? 0, position);
          places[at] = place = found < 0 ? Infinity : found;
        }
        if (place < first) first = place;
      }
      return first;
    },
  };
}
