import type { Failure } from '../contract/errors.ts';
import type { Delimiter } from '../contract/models/batch.ts';

export interface Dialect {
  readonly delimiter: Delimiter;
  readonly newline: '\r\n' | '\n';
  /** Whether formulas are neutralised for spreadsheets; otherwise every value is written as it is. */
  readonly spreadsheet: boolean;
}

/** Formats rows by RFC 4180: quotes only where needed and doubled, spaces unchanged. */
export interface RowWriter {
  line(fields: readonly string[]): string;
  /** Cells that were escaped for spreadsheets. */
  readonly escaped: number;
  /** Why a row can't be written in this format; what was written before is then of no use. */
  readonly failure: Failure | null;
}

/** What begins a formula. Spreadsheets read full-width characters as the ordinary ones. */
const formulaStarts: ReadonlySet<number> = new Set(Array.from('=+-@＝＋－＠', (sign) => sign.charCodeAt(0)));
const mayRun = /[=+\-@＝＋－＠\p{Cc}]/u;
/** Where a spreadsheet may begin a cell, whatever separator it was told: control characters are line ends to some. */
const separator = /[,;|\p{Cc}\u2028\u2029]/u;
/** What a spreadsheet may drop between the beginning of a cell and its formula. */
const skipped = /[\s\p{Cf}"]/u;
const leadingControl = /^[\s\p{Cf}]*\p{Cc}/u;
const number = /^[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?$/;

/**
 * An apostrophe before each formula makes a spreadsheet show it as text. A formula may stand behind any separator, not
 * only the file's own: a spreadsheet splits at the one it is set to, and quotes do not stop it. A plain number is left
 * alone. The result is the field itself where nothing in it can run. Time is linear in the field's length.
 */
export function neutralise(field: string): string {
  if (!mayRun.test(field) || number.test(field)) return field;
  let text = leadingControl.test(field) ? "'" : '';
  let copied = 0;
  for (let at = 0, before = 0; at < field.length; at++) {
    const unit = field.charCodeAt(at);
    if (!isPlain(unit) && formulaStarts.has(unit) && !isPlain(before) && mayBeginCell(field, at)) {
      text += `${field.slice(copied, at)}'`;
      copied = at;
    }
    before = unit;
  }
  return text + field.slice(copied);
}

/** Letters and digits of ASCII: neither begin a cell nor are dropped. */
const isPlain = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || (unit >= 0x41 && unit <= 0x5a) || (unit >= 0x61 && unit <= 0x7a);

/** Whether only what is dropped stands between a separator, or the field's start, and `index`. */
function mayBeginCell(field: string, index: number): boolean {
  for (let at = index - 1; at >= 0; at--) {
    let char = field[at] ?? '';
    if (separator.test(char)) return true;
    if (/[\udc00-\udfff]/.test(char) && at > 0) char = String.fromCodePoint(field.codePointAt(--at) ?? 0);
    if (!skipped.test(char)) return false;
  }
  return true;
}

/** A character for the brackets of a regular expression. */
export const inClass = (character: string): string =>
  `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** From here on a replacement costs a microsecond a quote, most of it the collector's. */
const longText = 4_096;

/** A field between quotes, with two for each of its own, in time linear in its length, whatever it is. */
export const inQuotes = (field: string): string =>
  `"${field.length > longText && field.includes('"') ? withDoubled(field) : field.replaceAll('"', '""')}"`;

function withDoubled(field: string): string {
  const units = new Uint16Array(field.length * 2);
  let length = 0;
  for (let at = 0; at < field.length; at++) {
    const unit = field.charCodeAt(at);
    units[length++] = unit;
    if (unit === 0x22) units[length++] = unit;
  }
  return Buffer.from(units.buffer, 0, length * 2).toString('utf16le');
}

export function createRowWriter({ delimiter, newline, spreadsheet }: Dialect): RowWriter {
  const special = new RegExp(`["\\r\\n${inClass(delimiter)}]`);
  let escaped = 0;
  return {
    line(fields) {
      let line = '';
      for (let i = 0; i < fields.length; i++) {
        let field = fields[i] ?? '';
        if (spreadsheet) {
          const safe = neutralise(field);
          if (safe !== field) escaped += 1;
          field = safe;
        }
        if (special.test(field)) field = inQuotes(field);
        line += i === 0 ? field : delimiter + field;
      }
      return line + newline;
    },
    get escaped() {
      return escaped;
    },
    failure: null,
  };
}
