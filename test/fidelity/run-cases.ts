import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleartext, openCleartext } from '../../electron/util/cleartext.ts';
import { codecOf } from '../../electron/batch/reading/encodings.ts';
import { detectFormat } from '../../electron/batch/reading/detect.ts';
import { beginning, readRows, type Format } from '../../electron/batch/reading/read-rows.ts';
import type { Table } from '../../electron/batch/reading/table.ts';
import { done } from '../../electron/contract/errors.ts';
import type { Plan } from '../../electron/contract/models/batch.ts';
import type { ByteSource } from '../../electron/storage/byte-source.ts';
import { readingOf } from '../../electron/batch/reading/layout.ts';
import { headerIndex, rowsAbove } from '../../electron/contract/table-place.ts';
import { detokenize, plainExport, valueOf, type TestApp } from '../support/batch-app.ts';
import { obscuredOf } from '../support/obscured-text.ts';
import type { Container } from './containers.ts';
import type { Case } from './corpora.ts';
import type { SecondOpinion } from './second-opinion.ts';

export interface FidelityReport {
  readonly cases: number;
  readonly identical: number;
  /** Files that are no table at all, by the reason. */
  readonly refused: Readonly<Record<string, number>>;
  readonly differing: readonly { readonly name: string; readonly why: string }[];
}

/** Put before a value by the second run's service; every encoding has it. */
const mark = 'x';

/**
 * Each file through the whole of a batch: detected, run against a service that answers every value with itself, and
 * exported in the source's dialect. Every byte must be the source's; where rows failed, the export has one cell more in
 * each row, the error, and without it every byte must be the source's. Where none failed, a second run changes every
 * value it sends: then every byte outside the mapped cells must be the source's, and another reader finds the same.
 */
export async function runCases(
  app: TestApp,
  cases: Iterable<Case>,
  secondOpinion: SecondOpinion | null = null,
  container: Container | null = null,
): Promise<FidelityReport> {
  let count = 0;
  let identical = 0;
  const refused: Record<string, number> = {};
  const differing: { name: string; why: string }[] = [];
  await mkdir(app.folder, { recursive: true });
  for (const one of cases) {
    count += 1;
    const outcome = await runCase(app, one, { secondOpinion, container });
    if (outcome === 'identical') identical += 1;
    else if (outcome.startsWith('file.')) refused[outcome] = (refused[outcome] ?? 0) + 1;
    else differing.push({ name: one.name, why: outcome });
  }
  return { cases: count, identical, refused, differing };
}

async function runCase(
  app: TestApp,
  { bytes, reading = {} }: Case,
  {
    secondOpinion,
    container,
  }: { readonly secondOpinion: SecondOpinion | null; readonly container: Container | null },
): Promise<string> {
  const path = join(app.folder, `case.csv${container?.ending ?? ''}`);
  await writeFile(path, container === null ? bytes : await container.pack(bytes));
  if (bytes.length === 0) return 'file.empty';
  const sourceId = await openWith(app, path, container?.passphrase ?? null).catch((error: unknown) =>
    error instanceof Error ? error.message : String(error),
  );
  if (sourceId.startsWith('file.')) return sourceId;
  const format = await detectFormat(fromMemory(bytes), reading);
  if (!format.ok) return format.failure.code;
  const mapped = [...new Set([0, format.value.width - 1])];
  const columns = mapped.map((column) => detokenize(column, { definition: 'text' }));
  const plan: Plan = { reading: readingOf(format.value), columns };
  const same = await runJob(app, { sourceId, plan, container, answer: (value) => value });
  if (typeof same === 'string') return same;
  const expected = same.failed === 0 ? bytes : await withErrors(bytes, same.written, format.value);
  if (!same.written.equals(expected)) return firstDifference(same.written, expected);
  if (same.failed > 0) return 'identical';
  const marked = await runJob(app, { sourceId, plan, container, answer: (value) => mark + value });
  if (typeof marked === 'string') return marked;
  const change = await findChange(bytes, marked.written, { format: format.value, mapped });
  if (change !== null) return change;
  const otherwise = await secondOpinion?.compare(bytes, marked.written, {
    rows: (await tablesOf(bytes, format.value)).map(({ table, index }) =>
      table.fields(index).map(openCleartext),
    ),
    format: format.value,
    mapped,
    mark,
  });
  return otherwise ?? 'identical';
}

async function openWith(app: TestApp, path: string, passphrase: string | null): Promise<string> {
  if (passphrase === null) return app.open(path);
  const asked = await app.batch['batch.drop']({ reference: path });
  if (asked.ok || asked.failure.code !== 'file.passphrase-needed') return 'no passphrase was asked for';
  return valueOf(await app.batch['batch.openEncrypted']({ passphrase: obscuredOf(passphrase) })).sourceId;
}

interface JobOptions {
  readonly sourceId: string;
  readonly plan: Plan;
  readonly container: Container | null;
  readonly answer: (value: string) => string;
}

async function runJob(
  app: TestApp,
  { sourceId, plan, container, answer }: JobOptions,
): Promise<string | { readonly written: Buffer; readonly failed: number }> {
  app.service.answer = (_, elements) =>
    done({
      requestId: 'r',
      elements: elements.map(({ ref, value }) => ({
        ref,
        ok: true as const,
        value: cleartext(answer(value)),
      })),
    });
  const job = await app.run(sourceId, plan);
  if (job.state !== 'finished') return `the job is ${job.state}: ${job.failure?.code ?? ''}`;
  const exported = await app.batch['batch.export']({
    ...plainExport,
    safety: 'source',
    ...container?.choice,
    jobId: job.jobId,
  });
  if (!exported.ok || exported.value === null)
    return `not exported: ${exported.ok ? '' : exported.failure.code}`;
  const target = join(app.folder, exported.value.name);
  const file = await readFile(target);
  const written = container === null ? file : await container.unpack(file);
  await rm(target);
  await app.batch['batch.discard']({ jobId: job.jobId });
  return { written, failed: job.tally.failed };
}

/** What differs besides the values of the mapped columns, which have the mark now; null where nothing does. */
async function findChange(
  bytes: Buffer,
  written: Buffer,
  { format, mapped }: { format: Format; mapped: readonly number[] },
): Promise<string | null> {
  const source = await tablesOf(bytes, format);
  const exported = await tablesOf(written, format);
  if (exported.length !== source.length) return `${exported.length} rows instead of ${source.length}`;
  if (!written.subarray(0, format.markLength).equals(bytes.subarray(0, format.markLength))) return 'the mark';
  for (const [row, { table, index }] of source.entries()) {
    const other = exported[row];
    if (other?.table.width(other.index) !== table.width(index)) return `the width of row ${row + 1}`;
    const isOutside = isOutsideOf(format, row, source.length);
    for (let column = 0; column < table.width(index); column++) {
      const value = openCleartext(table.value(index, column));
      const isSent = mapped.includes(column) && !isOutside && value.trim() !== '';
      const isSame = isSent
        ? openCleartext(other.table.value(other.index, column)) === mark + value &&
          (!table.isQuoted(index, column) || other.table.isQuoted(other.index, column))
        : rawField(other, column) === rawField({ table, index }, column);
      if (!isSame) return `row ${row + 1}, column ${column + 1}: ${JSON.stringify(rawField(other, column))}`;
    }
    if (lineEnd(other) !== lineEnd({ table, index })) return `the line end of row ${row + 1}`;
  }
  return null;
}

interface RowOf {
  readonly table: Table;
  readonly index: number;
}

const rawField = ({ table, index }: RowOf, column: number): string =>
  table.slice(table.fieldStart(index, column), table.fieldEnd(index, column));

/** Above the first row of data, the header too, or below the last one. */
const isOutsideOf = (format: Format, row: number, rows: number): boolean =>
  row < rowsAbove(format) || row >= rows - (format.rowsBelow ?? 0);

const lineEnd = ({ table, index }: RowOf): string =>
  table.slice(table.fieldEnd(index, table.width(index) - 1), table.rowEnd(index));

/** The source with the cells of `error` that an export has: each behind the header's last column. */
async function withErrors(bytes: Buffer, written: Buffer, format: Format): Promise<Buffer> {
  const source = await tablesOf(bytes, format);
  const exported = await tablesOf(written, { ...format, names: null });
  const { width } = format;
  const codec = codecOf(format.encoding);
  const encoded = codec.encode(format.delimiter);
  const delimiter = codec.viewUnit === 1 && encoded.ok ? encoded.bytes.toString('latin1') : format.delimiter;
  let text = '';
  let tail: Buffer = Buffer.alloc(0);
  for (const [row, { table, index }] of source.entries()) {
    const filled = table.width(index);
    const after = table.fieldEnd(index, Math.min(width, filled) - 1);
    text += table.slice(table.rowStart(index), after);
    const isKept = isOutsideOf(format, row, source.length) && row !== headerIndex(format);
    const hasError = !isKept && !(width > 1 && table.isEmptyLine(index));
    if (hasError) {
      const error = exported[row];
      const cell =
        error === undefined
          ? ''
          : error.table.slice(
              error.table.fieldStart(error.index, width),
              error.table.fieldEnd(error.index, width),
            );
      text += delimiter.repeat(Math.max(0, width - filled)) + delimiter + cell;
    }
    text += table.slice(after, table.rowEnd(index));
    tail = table.tailOf(index);
  }
  const whole = Buffer.from(text, codec.viewUnit === 2 ? 'utf16le' : 'latin1');
  if (format.encoding === 'utf-16be') whole.swap16();
  return Buffer.concat([bytes.subarray(0, format.markLength), whole, tail]);
}

/** All rows, the header's too. */
async function tablesOf(bytes: Buffer, format: Format): Promise<RowOf[]> {
  const rows: RowOf[] = [];
  const plain = { ...format, header: false, headerRow: undefined, firstRow: undefined, endsAt: undefined };
  for await (const chunk of readRows(fromMemory(bytes), plain, beginning(format))) {
    if (!chunk.ok) throw new Error(chunk.failure.code);
    const { table } = chunk.value;
    for (let index = 0; index < table.count; index++) rows.push({ table, index });
  }
  return rows;
}

export const fromMemory = (bytes: Buffer): ByteSource => ({
  identity: { size: bytes.length, modifiedMs: 0 },
  read: (offset, length) => Promise.resolve(done(bytes.subarray(offset, offset + length))),
  check: () => Promise.resolve(done(null)),
  close: () => Promise.resolve(),
});

function firstDifference(written: Buffer, expected: Buffer): string {
  let at = 0;
  while (at < written.length && written[at] === expected[at]) at += 1;
  const around = (bytes: Buffer): string =>
    JSON.stringify(bytes.toString('latin1', Math.max(0, at - 20), at + 20));
  return `from byte ${at} on: ${around(written)} instead of ${around(expected)}`;
}
