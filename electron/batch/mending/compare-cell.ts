import type { ChangeDoubt, Encoding } from '../../contract/models/batch.ts';
import { tableLimits } from '../../parsing/table-limits.ts';
import { neutralise } from '../../storage/csv.ts';
import { codecOf } from '../reading/encodings.ts';
import { isSameDate } from './same-date.ts';
import { compareNumbers, isNumber } from './same-number.ts';

/** A cell as the job has it, and what the list may say in its place. */
export interface ListedCell {
  readonly value: string;
  /** How it looks where its value is hidden; the list has the value, or one of these. */
  readonly masks: readonly string[];
  /** Whether the app left it empty in the list, since the list's encoding could not hold the value. */
  readonly leftEmpty: 'yes' | 'perhaps' | 'no';
  /** What the window sees of it, where the list came from the window. */
  readonly shown?: string;
}

/** `masked`: something was typed, and a part of the mask still stands. `doubt`: it may be a spreadsheet's doing. */
export type CellComparison = 'same' | 'masked' | { readonly doubt: ChangeDoubt | null };

/**
 * Whether a person changed a cell: the one place that says so. What the app itself wrote in place of the value is no
 * change: a mask, an apostrophe before a formula, nothing where the encoding has no such character.
 */
export function compareCell(listed: string, cell: ListedCell): CellComparison {
  const { value, masks, leftEmpty, shown = value } = cell;
  // Or the window could find out what it does not see, a guess at a time.
  if (shown !== value) return compareShown(listed, shown);
  if (listed === value || listed === neutralise(value)) return 'same';
  // No spreadsheet has such a cell, and it is not sent either: what became of it does not matter.
  if (Math.max(listed.length, value.length) > tableLimits.field) return { doubt: null };
  if (listed === '' && leftEmpty !== 'no') return leftEmpty === 'yes' ? 'same' : { doubt: 'letters' };
  const hidden = masks.filter((mask) => mask !== value);
  // Of a mask nothing is ever taken, so it does not matter what became of it.
  const found = createPlain(listed);
  if (hidden.flatMap(wordsOf).some((mask) => listed === mask || findDoubt(mask, found) !== null))
    return 'same';
  if (hidden.length > 0 && /•|\*\*/.test(listed)) return 'masked';
  const written = neutralise(value);
  return { doubt: findDoubt(value, found) ?? (written === value ? null : findDoubt(written, found)) };
}

/** A mask, and what other programs make of it. */
const wordsOf = (mask: string): string[] => [mask, mask.replaceAll('•', '*'), mask.replaceAll('•', '?')];

function compareShown(listed: string, shown: string): CellComparison {
  const found = createPlain(listed);
  if (wordsOf(shown).some((word) => listed === word || findDoubt(word, found) !== null)) return 'same';
  return /•|\*\*/.test(listed) ? 'masked' : { doubt: null };
}

const plainLineEnds = (text: string): string => text.replaceAll(/\r\n?/g, '\n');
const composed = (text: string): string => text.normalize('NFC');
/** White space of any kind counts as one space, and none at the ends; what has no width counts as nothing. */
const trimmed = (text: string): string =>
  text
    .replaceAll(/[\u200b\u2060\ufeff\u00ad]/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
const withoutApostrophes = (text: string): string => trimmed(text.replaceAll(/['’‘`´]/g, ''));
/** Nothing of that can be in it. */
const plainWord = /^[A-Za-z0-9]+$/;
const upper = (text: string): string => text.toUpperCase();

/** Each on top of those before it. */
const harmless: readonly (readonly [ChangeDoubt, (text: string) => string])[] = [
  ['line-ends', plainLineEnds],
  ['letters', composed],
  ['spaces', trimmed],
  ['apostrophe', withoutApostrophes],
];

/** A text, and what each of the harmless changes leaves of it. That is made once: a cell may have a million characters. */
function createPlain(text: string) {
  let made: readonly string[] | null = null;
  const make = (): string[] => {
    let left = text;
    return harmless.map(([, plain]) => (left = plain(left)));
  };
  return { text, left: () => (made ??= make()) };
}

/** What an editor or a spreadsheet does to a cell that nobody touched; null where it looks like a correction. */
function findDoubt(value: string, listed: ReturnType<typeof createPlain>): ChangeDoubt | null {
  let [before, after] = [value, listed.text];
  const isPlain = plainWord.test(before) && plainWord.test(after);
  for (const [index, [doubt, plain]] of isPlain ? [] : harmless.entries()) {
    before = plain(before);
    after = listed.left()[index] ?? '';
    if (before === after) return doubt;
  }
  if (before === '' || after === '') return null;
  if (/^(?:true|false)$/i.test(before) && upper(before) === upper(after)) return 'letters';
  // An error takes the place of what a spreadsheet took for a formula.
  if (/^(?:#[\p{L}/]+[0-9]?[!?]?|#+|Err:\d+)$/u.test(after)) return 'formula';
  if (!isAscii(before) && (lostLetters(before, after) || isMisread(before, after))) return 'letters';
  const number = compareNumbers(before, after);
  if (number !== null) return number;
  if (isSameDate(before, after)) return 'date';
  return /^[=+\-@]/.test(before) && !isNumber(before) && isNumber(after) ? 'formula' : null;
}

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/** Saved in an encoding without some of its characters: a question mark stands for each, or the plain letter. */
function lostLetters(value: string, listed: string): boolean {
  let at = 0;
  for (const char of value) {
    if (at === listed.length) return false;
    const other = String.fromCodePoint(listed.codePointAt(at) ?? 0);
    at += other.length;
    if (char === other) continue;
    const base = char.normalize('NFD').replaceAll(/\p{M}/gu, '');
    if (isAscii(char) || !(other === '?' || other === '_' || other === '\ufffd' || other === base))
      return false;
  }
  return at === listed.length;
}

/** The encodings that spreadsheets take UTF-8 for, without a word. In each of them a byte is a character. */
const usual: readonly Encoding[] = [
  'windows-1252',
  'iso-8859-1',
  'windows-1250',
  'windows-1251',
  'macintosh',
  'ibm850',
];

/** Opened in one encoding, saved in another. */
function isMisread(value: string, listed: string): boolean {
  const bytes = Buffer.from(value);
  if (bytes.length !== listed.length || isAscii(listed) || !value.isWellFormed()) return false;
  return usual.some((encoding) => codecOf(encoding).decode(bytes).text === listed);
}
