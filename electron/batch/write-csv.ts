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

/**
 * A cell that a spreadsheet may run instead of show. Full-width characters are included: spreadsheets read them as the
 * ordinary ones. A plain number may begin with a sign.
 */
const risky = /^[\s\p{Cf}]*[=+\-@\t\r\0＝＋－＠]/u;
const number = /^[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?$/;

export function isFormula(field: string): boolean {
  const first = field.charCodeAt(0);
  // Digits and Latin letters begin most fields and never a formula.
  if ((first >= 0x30 && first <= 0x39) || (first >= 0x41 && first <= 0x7a)) return false;
  return risky.test(field) && !number.test(field);
}

/** An apostrophe in front makes a spreadsheet take a cell for text. */
const neutralise = (field: string): string => `'${field}`;

export function createRowWriter({ delimiter, newline, spreadsheet }: Dialect): RowWriter {
  const special = new RegExp(
    `["\\r\\n${delimiter === '\t' ? '\\t' : delimiter === '|' ? '\\|' : delimiter}]`,
  );
  let escaped = 0;
  return {
    line(fields) {
      let line = '';
      for (let i = 0; i < fields.length; i++) {
        let field = fields[i] ?? '';
        if (spreadsheet && isFormula(field)) {
          field = neutralise(field);
          escaped += 1;
        }
        if (special.test(field)) field = `"${field.replaceAll('"', '""')}"`;
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
