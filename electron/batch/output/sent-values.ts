import { done, type Outcome } from '../../contract/errors.ts';
import { readAhead } from '../../storage/byte-source.ts';
import { type InsideColumn, isInside, sentBehind, sentValues } from '../planning/inside-cells.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { codecOf } from '../reading/encodings.ts';
import { readChunk, type Chunk, type Format } from '../reading/read-rows.ts';
import type { Units } from '../reading/table.ts';
import type { JobSource } from '../running/job-source.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { type ChunkResults, rowStates } from '../storing/results.ts';
import { eachDigit, type DigitRun } from './digit-runs.ts';
import { lastMapped } from '../planning/plan.ts';
import { createTurn, standForActs } from '../../util/turns.ts';
import { ValueSet } from './value-set.ts';

/** A shorter value stands in any file by chance, as "1" does. One of letters and digits, as a document's number is, does not. */
const minLength = 9;
const minMixedLength = 6;
const maxLength = 200;
/** Of numbers and of texts each: 32 megabytes. The first of a file are looked for, and any behind them are not. */
const maxValues = 2_000_000;

/**
 * The values in clear that a job sends, to be found where they stand once more. One that is digits is found anywhere and
 * in other groups; any other where it is a word, in upper or lower case, or one of several words where it is a whole cell.
 * Not found: several words within a longer text, or with a delimiter in them; and a text with characters of several
 * bytes in the encodings that need all of a file to tell these from others (Shift_JIS, GB 18030, Big5).
 */
export interface SentValues {
  /** What stands in a column of some rows, but for those that the window wrote. */
  addColumn(chunk: Pick<Chunk, 'table' | 'start' | 'typed'>, column: number): void;
  /** What stands inside a text. */
  addValue(value: string): void;
  /** Digits of the shortest number; Infinity where there is none. */
  readonly shortestNumber: number;
  /** The index of the last group of a number that begins with group `from`; -1 where none does. */
  numberEnd(run: DigitRun, from: number): number;
  /** Calls `found` with the position of each text. */
  findTexts(units: Units, from: number, to: number, found: (position: number) => void): void;
}

const unitKinds = { word: 0, wordEnd: 1, cellEnd: 2 } as const;
const cutCharacter = 0x80;

export function createSentValues({
  delimiter,
  encoding,
  newline,
}: Pick<Format, 'delimiter' | 'encoding' | 'newline'>): SentValues {
  const numbers = new ValueSet(maxValues);
  const texts = new ValueSet(maxValues);
  const numberLengths = new Uint8Array(maxLength + 1);
  const textLengths = new Uint8Array(maxLength + 1);
  const showsAll = codecOf(encoding).asciiSafe;
  let shortestNumber = Infinity;
  let hasPhrases = false;
  const kinds = new Uint8Array(0x100);
  for (const character of ' \t\v\f\0<>()[]{};,:=|') kinds[character.charCodeAt(0)] = unitKinds.wordEnd;
  for (const character of `"\r\n${delimiter}${newline}`) kinds[character.charCodeAt(0)] = unitKinds.cellEnd;

  function hashText(units: Units, from: number, to: number): void {
    texts.begin();
    for (let at = from; at < to; at++) {
      const unit = units[at] ?? 0;
      texts.unit(unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : unit);
    }
  }

  function hasText(units: Units, begin: number, end: number): boolean {
    let [from, to] = [begin, end];
    while (from < to && isPunctuation(units[from] ?? 0)) from += 1;
    while (to > from && isPunctuation(units[to - 1] ?? 0)) to -= 1;
    if (to - from > maxLength || textLengths[to - from] !== 1) return false;
    hashText(units, from, to);
    return texts.has();
  }

  function addNumber(units: Units, from: number, to: number, digits: number): void {
    if (digits < minLength || digits > maxLength) return;
    numbers.begin();
    for (let at = from; at < to; at++) {
      const digit = (units[at] ?? 0) - 0x30;
      if (digit >= 0 && digit <= 9) numbers.unit(digit);
    }
    numbers.add();
    numberLengths[digits] = 1;
    shortestNumber = Math.min(shortestNumber, digits);
  }

  function addText(units: Units, from: number, to: number, isMixed: boolean): void {
    if (to - from < (isMixed ? minMixedLength : minLength) || to - from > maxLength) return;
    let isPhrase = false;
    for (let at = from; at < to; at++) {
      const unit = units[at] ?? 0;
      const kind = kinds[unit] ?? unitKinds.word;
      if (kind === unitKinds.cellEnd || (!showsAll && unit === cutCharacter)) return;
      isPhrase ||= kind === unitKinds.wordEnd;
    }
    hasPhrases ||= isPhrase;
    hashText(units, from, to);
    texts.add();
    textLengths[to - from] = 1;
  }

  function add(units: Units, begin: number, end: number): void {
    let [from, to] = [begin, end];
    while (from < to && isPunctuation(units[from] ?? 0)) from += 1;
    while (to > from && isPunctuation(units[to - 1] ?? 0)) to -= 1;
    let digits = 0;
    let others = 0;
    for (let at = from; at < to; at++) {
      const unit = units[at] ?? 0;
      if (unit >= 0x30 && unit <= 0x39) digits += 1;
      else if (!isPunctuation(unit)) others += 1;
    }
    if (others === 0) addNumber(units, from, to, digits);
    else addText(units, from, to, digits >= 3);
  }

  return {
    addColumn({ table, start, typed }, column) {
      const { units } = table;
      for (let row = 0; row < table.count; row++)
        if (table.has(row, column) && !typed.has(start.row + row))
          add(units, table.fieldStart(row, column), table.fieldEnd(row, column));
    },
    addValue(value) {
      const units = Buffer.from(value);
      add(units, 0, units.length);
    },
    get shortestNumber() {
      return shortestNumber;
    },
    numberEnd(run, from) {
      const { before } = run;
      const start = before[from] ?? 0;
      for (let last = from; last < run.count; last++) {
        const length = (before[last + 1] ?? 0) - start;
        if (length > maxLength) return -1;
        if (numberLengths[length] !== 1) continue;
        numbers.begin();
        eachDigit(run, from, length, (digit) => numbers.unit(digit));
        if (numbers.has()) return last;
      }
      return -1;
    },
    findTexts(units, from, to, found) {
      if (texts.size === 0) return;
      let cell = from;
      let word = from;
      for (let at = from; at <= to; at++) {
        const kind = at === to ? unitKinds.cellEnd : (kinds[units[at] ?? 0] ?? unitKinds.word);
        if (kind === unitKinds.word) continue;
        if (at - word >= minMixedLength && hasText(units, word, at)) found(word);
        const isPhrase = word > cell;
        word = at + 1;
        if (kind !== unitKinds.cellEnd) continue;
        if (isPhrase && hasPhrases && at - cell >= minMixedLength && hasText(units, cell, at)) found(cell);
        cell = at + 1;
      }
    },
  };
}

/** Neither a letter nor a digit; above ASCII it may be one. */
const isPunctuation = (unit: number): boolean =>
  unit < 0x30 || (unit > 0x39 && unit < 0x41) || (unit > 0x5a && unit < 0x61) || (unit > 0x7a && unit < 0x80);

interface CollectOptions {
  readonly source: JobSource;
  readonly store: Pick<ResultStore, 'entries' | 'createSequentialReader'>;
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  /** Of the columns with this operation. */
  readonly operation?: 'tokenize' | 'translate';
}

/** Reads a job's rows for the values that are tokenized, or for the tokens that are translated. Failures: file.changed, file.gone, file.unreadable, job.damaged. */
export async function collectSentValues({
  source,
  format,
  work,
  store,
  operation = 'tokenize',
}: CollectOptions): Promise<Outcome<SentValues>> {
  const sent = createSentValues(format);
  const sending = work.filter(({ plan }) => plan.operation === operation);
  if (sending.length === 0) return done(sent);
  const { identity, mended, typed } = source;
  const read = readAhead((offset, length) => source.read(offset, length), identity.size);
  const readResults = sending.some(isInside) ? store.createSequentialReader() : null;
  for (const entry of store.entries) {
    const chunk = await readChunk({ identity, read, mended, typed }, format, entry, lastMapped(sending) + 1);
    if (!chunk.ok) return chunk;
    const results = readResults === null ? null : await readResults(entry);
    if (results?.ok === false) return results;
    for (const one of sending) {
      if (isInside(one)) await addInside(chunk.value, one, results?.value);
      else sent.addColumn(chunk.value, one.plan.column);
    }
    await standForActs();
  }
  return done(sent);

  async function addInside(
    { table, start, typed: fromWindow }: Chunk,
    one: ColumnWork & InsideColumn,
    results: ChunkResults | undefined,
  ): Promise<void> {
    const turn = createTurn();
    const cells = results?.columns[work.indexOf(one)];
    for (let row = 0; row < table.count; row++) {
      if (turn.isOver()) await turn.next();
      // What no row could be made of was never sent.
      if (fromWindow.has(start.row + row) || results?.flaws[row] !== undefined) continue;
      const cell = table.value(row, one.plan.column);
      const marked = cells?.states[row] === rowStates.ok ? cells.values[row] : undefined;
      const values =
        marked === undefined
          ? sentValues(one, cell).map((value) => value.sent)
          : sentBehind(one, cell, marked);
      for (const value of values) sent.addValue(value);
    }
  }
}
