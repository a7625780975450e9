import { done, failed, type Outcome } from '../../../contract/errors.ts';
import { createRowWriter } from '../../write-csv.ts';
import type { SpoolWriter } from '../../storing/encrypted-file.ts';
import { describeWorkbook, type SheetPart, type Workbook } from './workbook.ts';
import { openPackage, packageLimits, type Package, Refusal } from './package.ts';
import { sheetHooks, type SheetRow } from './sheet.ts';
import { readXml } from './xml.ts';
import { readSharedStrings, type SharedStrings } from './cells.ts';

/** A sheet's rows as text, with all columns in every row. */
export interface Converted {
  readonly sheet: string;
  /** All sheets that are not hidden, the converted one included. */
  readonly sheets: readonly string[];
  /** Numbers whose last digits a spreadsheet lost: by column from 0, with the first row, from 1, the header counted. */
  readonly rounded: readonly { readonly column: number; readonly row: number; readonly count: number }[];
}

/** How the text is read back. The mark keeps a cell's own from being taken for it. */
export const canonical = { encoding: 'utf-8', delimiter: ',', newline: '\n', mark: '\ufeff' } as const;

const flushLength = 128 * 1024;
/** Characters that may come of one piece of the sheet: a text shared by many cells is long once in the file. */
const pieceLength = 64 * 1024 * 1024;
const textBytes = 8 * 1024 * 1024 * 1024;

/**
 * Writes one sheet of a workbook to a spool as UTF-8 CSV: the named sheet, or else the first that is not hidden and
 * has rows. Text cells come as they are; see `cell-text.ts` for numbers. A formula comes as the value it had. Rows
 * between others that hold nothing are kept; those before and behind are not. Takes memory for the shared strings
 * only. `report` hears the share that is done, 0 to 1.
 * Failures: file.not-a-table, file.workbook-damaged, file.workbook-too-large, file.too-many-columns, file.empty,
 * file.disk-full, file.unwritable, service.cancelled.
 */
export async function convertSheet(
  path: string,
  wanted: string | null,
  createOutput: () => Promise<Outcome<SpoolWriter>>,
  report: (share: number) => void,
  signal: AbortSignal,
): Promise<Outcome<{ converted: Converted }>> {
  let pack: Package | null = null;
  try {
    pack = await openPackage(path);
    const workbook = await describeWorkbook(pack);
    const visible = workbook.sheets.filter((sheet) => sheet.visible);
    const candidates = wanted === null ? visible : visible.filter(({ name }) => name === wanted);
    const sizes = candidates.map(({ part }) => pack?.size(part) ?? 0);
    if (sizes.some((size) => size > packageLimits.sheet)) return failed('file.workbook-too-large');
    const stringBytes = workbook.sharedStrings === null ? 0 : (pack.size(workbook.sharedStrings) ?? 0);
    const total = stringBytes + (sizes[0] ?? 0);
    const between = (before: number) => (bytes: number) => {
      signal.throwIfAborted();
      report(Math.min(1, (before + bytes) / Math.max(1, total)));
    };
    const strings = await readSharedStrings(pack, workbook.sharedStrings, between(0));
    for (const sheet of candidates) {
      const rounded = await convert(pack, workbook, sheet, strings, createOutput, between(stringBytes));
      if (rounded === null) continue;
      if (!rounded.ok) return rounded;
      return done({
        converted: { sheet: sheet.name, sheets: visible.map(({ name }) => name), rounded: rounded.value },
      });
    }
    return failed('file.empty');
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, failure: error.failure };
    if (signal.aborted) return failed('service.cancelled');
    throw error;
  } finally {
    pack?.close();
  }
}

/**
 * In one pass where no row is longer than the first, else in two: rows are padded to the longest, which is only known
 * at the end. Null for a sheet without rows.
 */
async function convert(
  pack: Package,
  workbook: Workbook,
  sheet: SheetPart,
  strings: SharedStrings,
  createOutput: () => Promise<Outcome<SpoolWriter>>,
  between: (bytes: number) => void,
): Promise<Outcome<Converted['rounded']> | null> {
  let width = 0;
  for (;;) {
    const output = await createOutput();
    if (!output.ok) return output;
    let kept = false;
    try {
      const written = await writeSheet(pack, workbook, sheet, strings, output.value, width, between);
      if (!written.ok) return written;
      if (written.value.longest === 0) return null;
      if (written.value.longest > written.value.width) {
        width = written.value.longest;
        continue;
      }
      const finished = await output.value.finish();
      if (!finished.ok) return finished;
      kept = true;
      return done([...written.value.rounded].map(([column, found]) => ({ column, ...found })));
    } finally {
      if (!kept) await output.value.abandon();
    }
  }
}

async function writeSheet(
  pack: Package,
  workbook: Workbook,
  sheet: SheetPart,
  strings: SharedStrings,
  output: SpoolWriter,
  known: number,
  between: (bytes: number) => void,
): Promise<
  Outcome<{ width: number; longest: number; rounded: Map<number, { row: number; count: number }> }>
> {
  const writer = createRowWriter({ ...canonical, spreadsheet: false });
  const rounded = new Map<number, { row: number; count: number }>();
  let width = known;
  let longest = 0;
  let first = 0;
  let next = 0;
  let blank = '';
  let text: string = canonical.mark;
  /** What waits to be written: text, or a number of blank rows. */
  let waiting: (string | number)[] = [];
  let waitingLength = 0;
  let bytes = 0;

  function take({ number, cells, rounded: lost }: SheetRow): void {
    longest = Math.max(longest, cells.length);
    if (first === 0) {
      first = number;
      next = number;
      width = Math.max(width, cells.length);
      blank = writer.line(Array.from({ length: width }, () => ''));
    }
    for (const column of lost) {
      const found = rounded.get(column);
      rounded.set(column, { row: found?.row ?? number - first + 1, count: (found?.count ?? 0) + 1 });
    }
    // A longer row makes this pass count for its length only.
    if (longest > width) return;
    if (number > next) {
      waiting.push(text, number - next);
      text = '';
    }
    next = number + 1;
    const line = writer.line(Array.from({ length: width }, (_, column) => cells[column] ?? ''));
    text += line;
    waitingLength += line.length;
    if (waitingLength > pieceLength) throw new Refusal('file.workbook-too-large');
  }

  async function write(some: string): Promise<void> {
    const encoded = Buffer.from(some);
    bytes += encoded.length;
    if (bytes > textBytes) throw new Refusal('file.workbook-too-large');
    const outcome = await output.write(encoded);
    if (!outcome.ok) throw new Refusal(outcome.failure.code);
  }

  async function flush(): Promise<void> {
    waiting.push(text);
    text = '';
    for (const part of waiting) {
      if (typeof part === 'string') await write(part);
      else for (let left = part; left > 0; left -= 1_000) await write(blank.repeat(Math.min(left, 1_000)));
    }
    waiting = [];
    waitingLength = 0;
  }

  await readXml(await pack.read(sheet.part), sheetHooks(workbook, strings, take), async (read) => {
    between(read);
    if (text.length + waiting.length > flushLength) await flush();
  });
  await flush();
  return done({ width, longest, rounded });
}
