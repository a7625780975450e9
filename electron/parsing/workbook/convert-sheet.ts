import { done, type Outcome } from '../../contract/errors.ts';
import { createRowWriter } from '../../storage/csv.ts';
import type { EncryptedFileWriter } from '../../storage/encrypted-file.ts';
import { describeWorkbook, type SheetPart, type Workbook } from './workbook.ts';
import { packageLimits, type Package, Refusal } from './package.ts';
import { sheetHooks, type SheetRow } from './sheet.ts';
import { readXml } from './xml.ts';
import { readSharedStrings, type SharedStrings } from './cells.ts';

/** A sheet's rows as text, with all columns in every row. */
export interface Converted {
  readonly sheet: string;
  /** All sheets that are not hidden, the converted one included. */
  readonly sheets: readonly ListedSheet[];
  /** Numbers whose last digits a spreadsheet lost. */
  readonly rounded: readonly CellsOfColumn[];
  /** Formulas whose values were never stored, by a program that doesn't calculate: they came as blank cells. */
  readonly unevaluated: readonly CellsOfColumn[];
}

/** `rows`: from the first that holds something to the last; null where they were not counted. */
interface ListedSheet {
  readonly name: string;
  readonly rows: number | null;
}

/** By column from 0: how many cells, with the row of the first, from 1, the header counted. */
interface CellsOfColumn {
  readonly column: number;
  readonly row: number;
  readonly count: number;
}

/** How the text is read back. With a byte order mark of its own, one in the first cell is not taken for it. */
export const canonical = { encoding: 'utf-8', delimiter: ',', newline: '\n', mark: '\ufeff' } as const;

/** Bytes of all sheets together, up to which their rows are counted: about half a second. */
const maxCounted = 8 * 1024 * 1024;

const flushLength = 128 * 1024;
/** Characters of rows between two writes: a text shared by many cells may be much longer here than in the file. */
const maxPending = 64 * 1024 * 1024;

/** Bytes a sheet may become as text, by what sheet and shared strings take in the archive. */
function maxTextBytes(pack: Package, { sharedStrings }: Workbook, { part }: SheetPart): number {
  const packed = pack.packedSize(part) + (sharedStrings === null ? 0 : pack.packedSize(sharedStrings));
  return Math.max(packageLimits.ratioFrom, packed * packageLimits.textRatio);
}

export interface ConvertSheetOptions {
  /** Null: of those that are not hidden the one with most rows, or the largest where counting would take too long. */
  readonly sheet: string | null;
  readonly createOutput: () => Promise<Outcome<EncryptedFileWriter>>;
  /** Receives the share that is done, 0 to 1. */
  readonly report: (share: number) => void;
}

/**
 * Writes one sheet of a workbook to an encrypted file as UTF-8 CSV. Text cells come as they are; see `numberText` for
 * numbers. A formula comes as the value it had. Empty rows between others are kept; those before and behind are not.
 * Keeps the shared strings in memory, and nothing else that grows with the sheet.
 * Throws `Refusal`: file.not-a-table, file.workbook-damaged, file.workbook-sparse, file.workbook-too-large,
 * file.too-many-columns, file.empty, file.disk-full, file.unwritable. Called in the parser's thread only: it yields to
 * nobody.
 */
export async function convertSheet(pack: Package, options: ConvertSheetOptions): Promise<Converted> {
  const { createOutput, report } = options;
  const workbook = await describeWorkbook(pack);
  const visible = workbook.sheets.filter((sheet) => sheet.visible);
  const sizeOf = ({ part }: SheetPart): number => pack.size(part) ?? 0;
  const asked = options.sheet === null ? visible : visible.filter(({ name }) => name === options.sheet);
  if (asked.some((sheet) => sizeOf(sheet) > packageLimits.sheet))
    throw new Refusal('file.workbook-too-large');
  const stringBytes = workbook.sharedStrings === null ? 0 : (pack.size(workbook.sharedStrings) ?? 0);
  const total = stringBytes + Math.max(0, ...asked.map(sizeOf));
  const strings = await readSharedStrings(pack, workbook.sharedStrings, (bytes) => {
    report(Math.min(1, bytes / Math.max(1, total)));
  });
  const counts = await countRows({ pack, workbook, strings }, visible);
  const listed = visible.map((sheet) => ({ name: sheet.name, rows: counts.get(sheet) ?? null }));
  // A stable order: of two with as many rows, the first.
  const weightOf = (sheet: SheetPart): number =>
    counts.size === 0 ? sizeOf(sheet) : (counts.get(sheet) ?? -1);
  for (const sheet of asked.toSorted((one, other) => weightOf(other) - weightOf(one))) {
    const onRead = (bytes: number): void => {
      report(Math.min(1, (stringBytes + bytes) / Math.max(1, total)));
    };
    const flagged = await convert({ pack, workbook, sheet, strings, onRead }, createOutput);
    if (flagged === null) continue;
    if (!flagged.ok) throw new Refusal(flagged.failure.code, flagged.failure.subject);
    return { sheet: sheet.name, sheets: listed, ...flagged.value };
  }
  throw new Refusal('file.empty');
}

/** The rows of each sheet, where there are several to choose from; one that can't be read has none. */
async function countRows(
  { pack, workbook, strings }: Pick<SheetInput, 'pack' | 'workbook' | 'strings'>,
  sheets: readonly SheetPart[],
): Promise<Map<SheetPart, number>> {
  const counts = new Map<SheetPart, number>();
  const bytes = sheets.reduce((sum, { part }) => sum + (pack.size(part) ?? 0), 0);
  if (sheets.length < 2 || bytes > maxCounted) return counts;
  for (const sheet of sheets) {
    let first = 0;
    let last = 0;
    const take = ({ number }: SheetRow): void => {
      if (first === 0) first = number;
      last = number;
    };
    try {
      await readXml(await pack.read(sheet.part), sheetHooks(workbook, strings, take));
      counts.set(sheet, first === 0 ? 0 : last - first + 1);
    } catch (error) {
      // It is said where this sheet is opened.
      if (!(error instanceof Refusal)) throw error;
    }
  }
  return counts;
}

interface SheetInput {
  readonly pack: Package;
  readonly workbook: Workbook;
  readonly sheet: SheetPart;
  readonly strings: SharedStrings;
  /** Called with the bytes of the sheet read so far. */
  readonly onRead: (bytes: number) => void;
}

/**
 * In one pass where no row is longer than the first, else in two: rows are padded to the longest, which is only known
 * at the end. Null for a sheet without rows.
 */
async function convert(
  input: SheetInput,
  createOutput: ConvertSheetOptions['createOutput'],
): Promise<Outcome<FlaggedCells> | null> {
  let minWidth = 0;
  for (;;) {
    const output = await createOutput();
    if (!output.ok) return output;
    let isFinished = false;
    try {
      const { width, maxWidth, flagged } = await writeSheet(input, output.value, minWidth);
      if (maxWidth === 0) return null;
      if (maxWidth > width) {
        minWidth = maxWidth;
        continue;
      }
      const finished = await output.value.finish();
      if (!finished.ok) return finished;
      isFinished = true;
      return done(flagged);
    } finally {
      if (!isFinished) await output.value.abandon();
    }
  }
}

type FlaggedCells = Pick<Converted, 'rounded' | 'unevaluated'>;

interface WrittenSheet {
  readonly width: number;
  /** More than `width` where a row was too long for it; what was written is then of no use. */
  readonly maxWidth: number;
  readonly flagged: FlaggedCells;
}

/** Counts cells by their column. */
function countCells(): { add(column: number, row: number): void; counts(): CellsOfColumn[] } {
  const byColumn = new Map<number, CellsOfColumn>();
  return {
    add(column, row) {
      const found = byColumn.get(column);
      byColumn.set(column, { column, row: found?.row ?? row, count: (found?.count ?? 0) + 1 });
    },
    counts: () => [...byColumn.values()],
  };
}

/** Throws `Refusal`. */
async function writeSheet(
  { pack, workbook, sheet, strings, onRead }: SheetInput,
  output: EncryptedFileWriter,
  minWidth: number,
): Promise<WrittenSheet> {
  const writer = createRowWriter({ ...canonical, spreadsheet: false });
  const rounded = countCells();
  const unevaluated = countCells();
  const maxBytes = maxTextBytes(pack, workbook, sheet);
  let width = minWidth;
  let maxWidth = 0;
  let firstRow = 0;
  let nextRow = 0;
  let blank = '';
  let text: string = canonical.mark;
  /** What is to be written: text, or a number of blank rows. */
  let pending: (string | number)[] = [];
  let pendingLength = 0;
  let bytes = 0;
  /** Characters of cells that hold something. */
  let filled = 0;

  function addRow({ number, cells, ...flagged }: SheetRow): void {
    maxWidth = Math.max(maxWidth, cells.length);
    if (firstRow === 0) {
      firstRow = number;
      nextRow = number;
      width = Math.max(width, cells.length);
      blank = writer.line(Array.from({ length: width }, () => ''));
    }
    for (const column of flagged.rounded) rounded.add(column, number - firstRow + 1);
    for (const column of flagged.unevaluated) unevaluated.add(column, number - firstRow + 1);
    // Too long for this pass: only the length is still of use.
    if (cells.length > width) return;
    if (number > nextRow) {
      pending.push(text, number - nextRow);
      text = '';
    }
    nextRow = number + 1;
    const line = writer.line(Array.from({ length: width }, (_, column) => cells[column] ?? ''));
    text += line;
    pendingLength += line.length;
    for (const cell of cells) filled += cell.length;
    if (pendingLength > maxPending) throw new Refusal('file.workbook-too-large');
  }

  async function write(piece: string): Promise<void> {
    const encoded = Buffer.from(piece);
    bytes += encoded.length;
    // Delimiters and line ends are what is written for empty cells.
    if (bytes > maxBytes)
      throw new Refusal(filled * 20 < bytes ? 'file.workbook-sparse' : 'file.workbook-too-large');
    const outcome = await output.write(encoded);
    if (!outcome.ok) throw new Refusal(outcome.failure.code);
  }

  async function flush(): Promise<void> {
    pending.push(text);
    text = '';
    for (const part of pending) {
      if (typeof part === 'string') await write(part);
      else for (let left = part; left > 0; left -= 1_000) await write(blank.repeat(Math.min(left, 1_000)));
    }
    pending = [];
    pendingLength = 0;
  }

  await readXml(await pack.read(sheet.part), sheetHooks(workbook, strings, addRow), async (read) => {
    onRead(read);
    if (text.length + pending.length > flushLength) await flush();
  });
  await flush();
  const flagged = { rounded: rounded.counts(), unevaluated: unevaluated.counts() };
  return { width, maxWidth, flagged };
}
