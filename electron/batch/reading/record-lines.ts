import { openCleartext, type Cleartext } from '../../util/cleartext.ts';
import { maskCell } from '../../masking/masking.ts';
import type { Column } from '../../contract/models/batch.ts';
import type { RecordLayout } from '../../contract/models/records.ts';
import { passesLuhn } from './fit.ts';

/*
 * What of records may be seen. A layout comes from the window: one that divides a card number would show it in pieces,
 * each of which looks like any other number.
 */

/** Bytes of a record that are one value, from 0. */
interface Range {
  readonly from: number;
  readonly to: number;
}

const [shortest, longest] = [13, 19];
const lookedRecords = 50;

/** Where card numbers stand: the same digits of nearly all records that have digits there pass a card's check. */
function cardRanges(records: readonly string[]): Range[] {
  const some = records.slice(0, lookedRecords);
  const length = Math.max(...some.map((record) => record.length), 0);
  /** How many digits follow each other from each byte on, by record. */
  const runs = some.map((record) => {
    const run = new Uint16Array(length + 1);
    for (let at = record.length - 1; at >= 0; at--)
      run[at] = /[0-9]/.test(record[at] ?? '') ? (run[at + 1] ?? 0) + 1 : 0;
    return run;
  });
  const found: Range[] = [];
  for (let from = 0; from + shortest <= length; from++) {
    for (let size = shortest; size <= longest && from + size <= length; size++) {
      let all = 0;
      let passing = 0;
      for (const [n, record] of some.entries()) {
        if ((runs[n]?.[from] ?? 0) < size) continue;
        all += 1;
        const digits = record.slice(from, from + size);
        // Digits that are nearly all zeros pass every check.
        if (/[1-9].*[1-9].*[1-9].*[1-9]/.test(digits) && /^[1-9]/.test(digits) && passesLuhn(digits))
          passing += 1;
      }
      if (passing > 0 && passing >= all * 0.8) found.push({ from, to: from + size });
    }
  }
  return found;
}

/** Where other values stand that the masks hide in a text: addresses, bank accounts, written social security numbers. */
function hiddenRanges(record: string): Range[] {
  const masked = maskCell(record);
  if (masked.length !== record.length) return [];
  const ranges: Range[] = [];
  for (let at = 0; at < record.length; at++) {
    if (masked[at] === record[at]) continue;
    const from = at;
    while (at < record.length && masked[at] !== record[at]) at += 1;
    ranges.push({ from, to: at });
  }
  return ranges;
}

/** Not digits alone: those of several fields look like one number by chance. A bank account begins with two letters. */
const isWritten = (record: string, { from, to }: Range): boolean =>
  /[^\d\s]/.test(record.slice(from, to)) || /[A-Z]{2}$/i.test(record.slice(0, from));

/** Whether an edge of a column stands within a value that is hidden. */
export function dividesRecords(records: readonly string[], { columns }: RecordLayout): boolean {
  const edges = new Set(columns.flatMap(({ start, width }) => [start - 1, start - 1 + width]));
  const isDivided = ({ from, to }: Range): boolean => {
    for (let at = from + 1; at < to; at++) if (edges.has(at)) return true;
    return false;
  };
  if (cardRanges(records).some(isDivided)) return true;
  const some = records.slice(0, lookedRecords);
  const divided = some.filter((record) =>
    hiddenRanges(record).some((range) => isWritten(record, range) && isDivided(range)),
  );
  return divided.length * 2 > some.length;
}

const dot = '•';
const maxShown = 1_000;

/** Records for the window, a character for each byte: as masked as their cells are. */
export function showRecords(
  records: readonly Cleartext[],
  {
    columns,
    records: layout,
    hidesAll,
  }: {
    readonly columns: readonly Column[];
    readonly records: RecordLayout;
    readonly hidesAll: boolean;
  },
): string[] {
  const lines = records.map(openCleartext);
  const cards = cardRanges(lines);
  const masked = layout.columns.flatMap(({ start, width }, at) =>
    columns[at]?.masked === true ? [{ from: start - 1, to: start - 1 + width }] : [],
  );
  return lines.map((line) => {
    const shown = Array.from({ length: line.length }, (_, at) => line[at] ?? '');
    const hide = ({ from, to }: Range): void => {
      for (let at = from; at < Math.min(to, shown.length); at++) if (shown[at] !== ' ') shown[at] = dot;
    };
    if (hidesAll) hide({ from: 0, to: shown.length });
    [...cards, ...masked, ...hiddenRanges(line)].forEach(hide);
    // A mask of another length has no places.
    if (maskCell(line).length !== line.length)
      for (const run of line.matchAll(/[\d@][\d@ .-]{7,}/g))
        hide({ from: run.index, to: run.index + run[0].length });
    return shown
      .slice(0, maxShown)
      .join('')
      .replaceAll(/[^ -~\u2022\p{L}\p{S}\p{P}]/gu, '·')
      .toWellFormed();
  });
}
