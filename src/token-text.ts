import type { DefinitionKind } from '../electron/contract/models/connection.ts';

/** Pasted text without spaces, dashes and invisible characters, and a sentence that names what was removed. */
export interface Tidied {
  text: string;
  removed: string | null;
}

const invisible = /[\u200b-\u200d\u2060\ufeff\u0000-\u001f\u007f]/g; // eslint-disable-line no-control-regex
const spaces = /[\s\u00a0\u2007\u202f]/g;
const dashes = /[-\u2010-\u2015\u2212]/g;

/** Spaces and dashes mean nothing in a card number; in a social security number dashes can belong to the token. */
const meaningless: Record<DefinitionKind, { spaces: boolean; dashes: boolean }> = {
  card: { spaces: true, dashes: true },
  ssn: { spaces: true, dashes: false },
  email: { spaces: true, dashes: false },
  text: { spaces: false, dashes: false },
};

const plural = (count: number, word: string): string => `${count} ${word}${count === 1 ? '' : 's'}`;

export function tidy(raw: string, kind: DefinitionKind): Tidied {
  const rule = meaningless[kind];
  const removed: string[] = [];
  const without = (text: string, pattern: RegExp, word: string): string => {
    const hits = text.match(pattern)?.length ?? 0;
    if (hits === 0) return text;
    removed.push(plural(hits, word));
    return text.replace(pattern, '');
  };
  let text = raw.replace(/[\r\n\t]+/g, ' ');
  text = without(text, invisible, 'hidden character');
  const trimmed = text.trim();
  if (rule.spaces) text = without(text, spaces, 'space');
  else {
    if (trimmed.length < text.length) removed.push(plural(text.length - trimmed.length, 'space'));
    text = trimmed;
  }
  if (rule.dashes) text = without(text, dashes, 'dash').replace(/^$/, '');
  const list = removed.join(' and ').replace('dashs', 'dashes');
  return { text, removed: list === '' ? null : `Removed ${list}.` };
}

const matches = (pattern: RegExp, unit: number): boolean => String.fromCharCode(unit).search(pattern) !== -1;

/** As `tidy`, for cleartext that must not become a string: takes UTF-16 units, returns those to be sent in a copy. */
export function tidyUnits(raw: Uint16Array, kind: DefinitionKind): Uint16Array {
  const rule = meaningless[kind];
  const tidied = new Uint16Array(raw.length);
  let length = 0;
  let wasBreak = false;
  for (const unit of raw) {
    const isBreak = unit === 0x0d || unit === 0x0a || unit === 0x09;
    const one = isBreak ? 0x20 : unit;
    const again = isBreak && wasBreak;
    wasBreak = isBreak;
    if (again || matches(invisible, one)) continue;
    if ((rule.spaces && matches(spaces, one)) || (rule.dashes && matches(dashes, one))) continue;
    tidied[length++] = one;
  }
  let start = 0;
  while (start < length && matches(spaces, tidied[start] ?? 0)) start++;
  while (length > start && matches(spaces, tidied[length - 1] ?? 0)) length--;
  const sent = tidied.slice(start, length);
  tidied.fill(0);
  return sent;
}

/** The number of lines that are not blank; with more than one a batch is offered. */
export function pastedLines(text: string): number {
  return text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '').length;
}

/** The groups between which gaps are drawn. A gap is a margin, not a character, so a copied value has none. */
export function groups(text: string, kind: DefinitionKind): string[] {
  if (kind === 'card' && /^[\d•*Xx]{12,19}$/.test(text)) return text.match(/.{1,4}/g) ?? [];
  return [text];
}

/** A mask with dots in place of the service's own mask character, so that masked and clear values are equally wide. */
export function dotted(masked: string, kind: DefinitionKind): string {
  if (kind === 'card' || kind === 'ssn') return masked.replace(/[*Xx#•]/g, '•');
  return masked.replace(/[*#•]/g, '•');
}

const brands: [RegExp, string][] = [
  [/^4/, 'Visa'],
  [/^(5[1-5]|2(22[1-9]|2[3-9]|[3-6]|7[01]|720))/, 'Mastercard'],
  [/^3[47]/, 'American Express'],
  [/^(6011|65|64[4-9])/, 'Discover'],
  [/^35(2[89]|[3-8])/, 'JCB'],
  [/^3(0[0-5]|[689])/, 'Diners Club'],
];

/** The card scheme of the leading digits; null where they are masked or of no known scheme. */
export function cardBrand(masked: string): string | null {
  return brands.find(([start]) => start.test(masked))?.[1] ?? null;
}
