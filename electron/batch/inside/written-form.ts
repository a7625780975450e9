import type { ValueKind } from '../../contract/value-kinds.ts';

/*
 * A service takes the bare value: digits, or an IBAN's letters in capitals. How it was written stands beside its token as
 * sizes of groups with what is between them: `4-4-4-4`, `l4 4` where letters are small, `3{2013}2{2013}4` with other signs.
 */

const plainSigns = /^[ ./-]$/;

/** A value as it stands in a text, taken apart. `form` is '' where the value is bare already. */
export interface WrittenValue {
  readonly bare: string;
  readonly form: string;
}

export function readWritten(kind: ValueKind, written: string): WrittenValue {
  if (kind === 'email') return { bare: written, form: '' };
  const bare = written.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase();
  if (bare === written) return { bare, form: '' };
  const form = written.replaceAll(/[A-Z0-9]*[A-Z][A-Z0-9]*|[a-z0-9]+|[^A-Za-z0-9]/g, (part, at: number) => {
    if (!/^[A-Za-z0-9]/.test(part))
      return plainSigns.test(part) ? part : `{${part.charCodeAt(0).toString(16)}}`;
    if (/[a-z]/.test(part)) return `l${part.length}`;
    return at > 0 && /[A-Za-z0-9]/.test(written[at - 1] ?? '') ? `u${part.length}` : String(part.length);
  });
  return { bare, form };
}

/** How many characters a value of that form takes in its text; null where only the value tells. */
export function lengthOfForm(form: string): number | null {
  if (!wholeForm.test(form)) return null;
  let length = 0;
  for (const { groups = {} } of form.matchAll(pieces))
    length += groups.size === undefined ? 1 : Number(groups.size);
  return length;
}

const pieces = /(?<letters>[lu]?)(?<size>[0-9]{1,3})|\{(?<unit>[0-9a-f]{1,4})\}|(?<sign>[ ./-])/g;
const wholeForm = /^(?:[lu]?[0-9]{1,3}|\{[0-9a-f]{1,4}\}|[ ./-])+$/;

/** Null where the form is none, or is not that of so many characters. */
export function writeForm({ bare, form }: WrittenValue): string | null {
  if (form === '') return bare;
  if (!wholeForm.test(form)) return null;
  let at = 0;
  let written = '';
  for (const { groups = {} } of form.matchAll(pieces)) {
    const { letters, size, unit, sign = '' } = groups;
    if (size === undefined) written += unit === undefined ? sign : String.fromCharCode(parseInt(unit, 16));
    else {
      const part = bare.slice(at, at + Number(size));
      at += Number(size);
      written += letters === 'l' ? part.toLowerCase() : part;
    }
  }
  return at === bare.length ? written : null;
}
