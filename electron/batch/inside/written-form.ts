import type { ValueKind } from '../../contract/value-kinds.ts';

/*
 * A service takes the bare value: digits, or an IBAN's letters in capitals. How it was written stands beside its token as
 * sizes of groups with what is between them: `4-4-4-4`, `l4 4` where letters are small, `3{2013}2{2013}4` with other signs.
 */

const isBare = /^[A-Z0-9]*$/;
const plainSigns = /^[ ./-]$/;

/** A value as it stands in a text, taken apart. `form` is '' where the value is bare already. */
export interface WrittenValue {
  readonly bare: string;
  readonly form: string;
}

/** A value as a service takes it. */
export const bareOf = (kind: ValueKind, written: string): string =>
  kind === 'email' || isBare.test(written) ? written : written.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase();

export function readWritten(kind: ValueKind, written: string): WrittenValue {
  const bare = bareOf(kind, written);
  if (bare === written) return { bare, form: '' };
  return { bare, form: written.replaceAll(/[A-Z0-9]*[A-Z][A-Z0-9]*|[a-z0-9]+|[^A-Za-z0-9]/g, formOf) };
}

function formOf(part: string, at: number, written: string): string {
  if (!/^[A-Za-z0-9]/.test(part))
    return plainSigns.test(part) ? part : `{${part.charCodeAt(0).toString(16)}}`;
  if (/[a-z]/.test(part)) return `l${part.length}`;
  return at > 0 && /[A-Za-z0-9]/.test(written[at - 1] ?? '') ? `u${part.length}` : String(part.length);
}

/** So many characters of the value, or a sign between them. */
type Piece = { readonly size: number; readonly isSmall: boolean } | { readonly sign: string };

const pieces = /(?<letters>[lu]?)(?<size>[0-9]{1,3})|\{(?<unit>[0-9a-f]{1,4})\}|(?<sign>[ ./-])/g;
const wholeForm = /^(?:[lu]?[0-9]{1,3}|\{[0-9a-f]{1,4}\}|[ ./-])+$/;

/** Most texts have one of few forms. */
const known = new Map<string, readonly Piece[] | null>();
const maxKnown = 1_000;

function readForm(form: string): readonly Piece[] | null {
  const before = known.get(form);
  if (before !== undefined) return before;
  const read = !wholeForm.test(form)
    ? null
    : Array.from(form.matchAll(pieces), ({ groups = {} }): Piece => {
        const { letters, size, unit, sign = '' } = groups;
        if (size !== undefined) return { size: Number(size), isSmall: letters === 'l' };
        return { sign: unit === undefined ? sign : String.fromCharCode(parseInt(unit, 16)) };
      });
  if (known.size >= maxKnown) known.clear();
  known.set(form, read);
  return read;
}

/** How many characters a value of that form takes in its text; null where only the value tells. */
export const lengthOfForm = (form: string): number | null =>
  readForm(form)?.reduce((sum, piece) => sum + ('sign' in piece ? 1 : piece.size), 0) ?? null;

/** Null where the form is none, or is not that of so many characters. */
export function writeForm({ bare, form }: WrittenValue): string | null {
  if (form === '') return bare;
  const read = readForm(form);
  if (read === null) return null;
  let at = 0;
  let written = '';
  for (const piece of read) {
    if ('sign' in piece) written += piece.sign;
    else {
      const part = bare.slice(at, at + piece.size);
      at += piece.size;
      written += piece.isSmall ? part.toLowerCase() : part;
    }
  }
  return at === bare.length ? written : null;
}
