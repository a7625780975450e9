import type { DefinitionKind } from '../electron/contract/models/connection.ts';

/** What was pasted, without what pasting brought along, and a sentence on what went. */
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
  const without = (text: string, what: RegExp, word: string): string => {
    const hits = text.match(what)?.length ?? 0;
    if (hits === 0) return text;
    removed.push(plural(hits, word));
    return text.replace(what, '');
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
  const words = removed.join(' and ').replace('dashs', 'dashes');
  return { text, removed: words === '' ? null : `Removed ${words}.` };
}

const isIn = (what: RegExp, unit: number): boolean => String.fromCharCode(unit).search(what) !== -1;

/** As `tidy`, for cleartext that must not become a string: UTF-16 units in, those to be sent out, in a copy. */
export function tidyUnits(raw: Uint16Array, kind: DefinitionKind): Uint16Array {
  const rule = meaningless[kind];
  const kept = new Uint16Array(raw.length);
  let length = 0;
  let wasBreak = false;
  for (const unit of raw) {
    const isBreak = unit === 0x0d || unit === 0x0a || unit === 0x09;
    const one = isBreak ? 0x20 : unit;
    const again = isBreak && wasBreak;
    wasBreak = isBreak;
    if (again || isIn(invisible, one)) continue;
    if ((rule.spaces && isIn(spaces, one)) || (rule.dashes && isIn(dashes, one))) continue;
    kept[length++] = one;
  }
  let start = 0;
  while (start < length && isIn(spaces, kept[start] ?? 0)) start++;
  while (length > start && isIn(spaces, kept[length - 1] ?? 0)) length--;
  const sent = kept.slice(start, length);
  kept.fill(0);
  return sent;
}

/** Lines that hold something: more than one makes a batch rather than a lookup. */
export function pastedLines(text: string): number {
  return text.split(/\r\n|\r|\n/).filter((line) => line.trim() !== '').length;
}

/** Where the gaps are drawn. They are margins, never characters: what is copied has none. */
export function groups(text: string, kind: DefinitionKind): string[] {
  if (kind === 'card' && /^[\d•*Xx]{12,19}$/.test(text)) return text.match(/.{1,4}/g) ?? [];
  return [text];
}

/** Masks come with all sorts of characters; full-width dots keep masked and clear values equally wide. */
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

/** The card scheme that the leading digits of a mask tell; null where they tell none. */
export function cardBrand(masked: string): string | null {
  return brands.find(([start]) => start.test(masked))?.[1] ?? null;
}
