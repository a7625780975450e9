import type { FileName } from '../../contract/models/fields.ts';
import { shownName } from '../../privacy/file-names.ts';
import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { EventPayload, Handlers } from '../../contract/calls.ts';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { ComparedSide, Comparison } from '../../contract/models/compared.ts';
import { maskNumbers } from '../../masking/masking.ts';
import { createRowWriter } from '../../storage/csv.ts';
import { isBlank } from '../../util/blank.ts';
import { openCleartext, type Cleartext } from '../../util/cleartext.ts';
import type { BatchOptions } from '../options.ts';
import { openOutputFile } from '../output/output-file.ts';
import type { UnfinishedExports } from '../output/unfinished-exports.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { yieldsMasks } from '../planning/plan.ts';
import type { EncryptedCopies } from '../reading/encrypted-copies.ts';
import { beginning, endOf, readRows } from '../reading/read-rows.ts';
import type { Sources } from '../reading/sources.ts';
import { rowStates } from '../storing/results.ts';
import { lookAtRows, type JobRows } from '../viewing/look-at-rows.ts';
import { openComparedRows, positionsOf } from './compared-rows.ts';
import { repeatedBit, ValueRecords, type ValueGroups } from './value-groups.ts';
import { yieldToOthers } from '../../util/turns.ts';

/** A finished batch, while its source and results are open. */
export interface ComparedBatch {
  readonly name: string;
  /** Whether the window wrote its rows. */
  readonly isPasted: boolean;
  readonly rows: JobRows;
  readonly work: readonly ColumnWork[];
}

export interface ComparisonOptions extends Pick<BatchOptions, 'audit'> {
  readonly platform: Pick<BatchOptions['platform'], 'chooseTarget' | 'send'>;
  readonly sources: Pick<Sources, 'find' | 'format'>;
  readonly copies: Pick<EncryptedCopies, 'create'>;
  readonly unfinished: Pick<UnfinishedExports, 'during'>;
  /** Failures: those of finding and opening it; job.busy for one that is not finished. */
  readonly withBatch: <T>(
    jobId: string,
    act: (batch: ComparedBatch) => Promise<Outcome<T>>,
  ) => Promise<Outcome<T>>;
}

interface Compared {
  readonly sides: readonly ComparedSide[];
  /** Where the rows are written, each with its group; null for counts alone. */
  readonly target: string | null;
}

/** Null for a row that is left out. */
type VisitValue = (row: number, value: Cleartext | null) => void;

interface Watched {
  readonly signal: AbortSignal;
  readonly report: (share: number) => void;
}

interface FileCounts {
  readonly name: string;
  rows: number;
  blank: number;
  leftOut: number;
}

interface Made {
  readonly counts: readonly FileCounts[];
  readonly groups: ValueGroups;
  readonly rows: ReturnType<typeof openComparedRows>;
}

const reportEveryMs = 200;

/** Hashing reads all rows; grouping is the rest. */
const readingShare = 0.9;

/**
 * Which values are in which files, by equal text alone, spaces included: as the service would get them. The window learns counts,
 * and what is written are row numbers. A value is in no answer, log or output, and on the disk only as a keyed hash, encrypted.
 */
export function createComparison(options: ComparisonOptions) {
  const { audit, platform, sources, withBatch } = options;
  let running: AbortController | null = null;
  /** What was compared last: counts, and two bytes a row. */
  let last: Made | null = null;

  async function nameOf(side: ComparedSide): Promise<Outcome<string>> {
    if (side.of === 'batch') return withBatch(side.jobId, ({ name }) => Promise.resolve(done(name)));
    const found = sources.find(side.sourceId);
    if (!found.ok) return found;
    // Equality with what a window can write itself would tell it a hidden value, a guess at a time.
    return found.value.path === null ? failed('compare.pasted') : done(found.value.source.name);
  }

  async function readFile(
    { sourceId, reading, column }: Extract<ComparedSide, { of: 'file' }>,
    visit: VisitValue,
    flush: () => Promise<Outcome<null>>,
    { signal, report }: Watched,
  ): Promise<Outcome<null>> {
    const found = sources.find(sourceId);
    if (!found.ok) return found;
    const format = await sources.format(sourceId, reading);
    if (!format.ok) return format;
    if (column >= format.value.width) return failed('plan.column-unknown', { column: String(column + 1) });
    const { bytes } = found.value;
    const end = endOf(format.value, bytes.identity);
    for await (const chunk of readRows(bytes, format.value, beginning(format.value))) {
      if (!chunk.ok) return chunk;
      const { table, flaws, start } = chunk.value;
      for (let index = 0; index < table.count; index++) {
        const isLeftOut = flaws.has(index) || !table.isText(index, column);
        visit(start.row + index, isLeftOut ? null : table.value(index, column));
      }
      const flushed = await flush();
      if (!flushed.ok) return flushed;
      report(chunk.value.end.offset / Math.max(1, end));
      await yieldToOthers();
      if (signal.aborted) return failed('service.cancelled');
    }
    return bytes.check();
  }

  function readBatch(
    { jobId, column }: Extract<ComparedSide, { of: 'batch' }>,
    visit: VisitValue,
    flush: () => Promise<Outcome<null>>,
    watched: Watched,
  ): Promise<Outcome<null>> {
    return withBatch(jobId, async ({ rows, work, isPasted }) => {
      const at = work.findIndex(({ plan }) => plan.column === column);
      const plan = work[at]?.plan;
      // A text is no value, whatever stands in it.
      if (plan?.inside !== undefined) return failed('compare.texts');
      if (plan === undefined) return failed('plan.column-unknown', { column: String(column + 1) });
      // Of what was masked or detokenized the token is what came in.
      const isAnswer = !yieldsMasks(plan.operation);
      if (isPasted && !isAnswer) return failed('compare.pasted');
      let pending: Outcome<null> = done(null);
      for (let chunk = 0; chunk < rows.entries.length; chunk++) {
        const entry = rows.entries[chunk];
        if (entry === undefined) break;
        const looked = await lookAtRows(
          { entries: [entry], loadNext: (_, needed) => rows.loadNext(chunk, needed) },
          ({ chunk: { start, table, typed }, results }, index) => {
            const letter = results.columns[at]?.states[index];
            const row = start.row + index;
            if (letter === rowStates.blank) visit(row, table.value(index, column));
            else if (letter !== rowStates.ok && letter !== rowStates.matched) visit(row, null);
            else if (isAnswer) visit(row, results.columns[at]?.values[index] ?? null);
            else if (typed.has(row)) visit(row, null);
            else visit(row, table.value(index, column));
          },
          { ...watched, report: () => undefined, withResults: true, columns: column + 1 },
        );
        if (!looked.ok) return looked;
        pending = await flush();
        if (!pending.ok) return pending;
        watched.report((chunk + 1) / rows.entries.length);
      }
      return pending;
    });
  }

  async function compare({ sides, target }: Compared, names: readonly string[], signal: AbortSignal) {
    const counts: FileCounts[] = names.map((name) => ({ name, rows: 0, blank: 0, leftOut: 0 }));
    let reportedAt = performance.now();
    const report = (share: number): void => {
      const now = performance.now();
      if (now - reportedAt < reportEveryMs) return;
      reportedAt = now;
      const rows = counts.reduce((sum, file) => sum + file.rows, 0);
      const progress: EventPayload<'compare.progress'> = { share: Math.min(1, share), rows };
      platform.send('compare.progress', progress);
    };
    let records: ValueRecords | null = null;
    last = null;
    const hashed = await options.copies.create(async (createFile) => {
      const file = await createFile();
      if (!file.ok) return file;
      const values = (records = new ValueRecords(file.value));
      for (const [index, side] of sides.entries()) {
        const count = counts[index];
        if (count === undefined) break;
        const visit: VisitValue = (row, value) => {
          count.rows += 1;
          const text = value === null ? null : openCleartext(value);
          if (text === null) count.leftOut += 1;
          else if (isBlank(text)) count.blank += 1;
          else values.add(index, row, text);
        };
        const watched: Watched = {
          signal,
          report: (share) => {
            report(((index + share) / sides.length) * readingShare);
          },
        };
        const flush = (): Promise<Outcome<null>> => values.flush();
        const read =
          side.of === 'file'
            ? await readFile(side, visit, flush, watched)
            : await readBatch(side, visit, flush, watched);
        if (!read.ok) return read;
      }
      return values.end();
    });
    if (!hashed.ok) return hashed;
    const { bytes, copy } = hashed.value;
    try {
      const grouped = await (records as ValueRecords | null)?.group(bytes, {
        rows: counts.map(({ rows }) => rows),
        signal,
        report: (share) => {
          report(readingShare + share * (1 - readingShare));
        },
      });
      if (grouped === undefined) return failed('job.damaged');
      if (!grouped.ok) return grouped;
      const result = comparisonOf(counts, grouped.value);
      if (!result.ok) return result;
      last = { counts, groups: grouped.value, rows: openComparedRows(grouped.value) };
      if (target === null) return result;
      const written = await writeRows(counts, grouped.value, { target, signal });
      return written.ok ? done({ ...result.value, written: written.value }) : written;
    } finally {
      await bytes.close().catch(() => undefined);
      await rm(copy.path, { force: true }).catch(() => undefined);
    }
  }

  async function writeRows(
    files: readonly FileCounts[],
    { ofRows }: ValueGroups,
    { target, signal }: { readonly target: string; readonly signal: AbortSignal },
  ): Promise<Outcome<FileName>> {
    const noted = { target, job: randomUUID(), connection: '', environment: '' };
    return options.unfinished.during(noted, async () => {
      const output = await openOutputFile(target, { passphrase: null });
      if (!output.ok) return output;
      const written = await writeLines(output.value, { files, ofRows, signal });
      if (!written.ok) {
        await output.value.abandon(false);
        return written;
      }
      const finished = await output.value.finish();
      return finished.ok ? done(shownName(target)) : finished;
    });
  }

  const calls: Handlers<'compare'> = {
    async 'compare.files'({ sides, write }) {
      running?.abort();
      const abort = new AbortController();
      running = abort;
      try {
        const names: string[] = [];
        for (const side of sides) {
          const name = await nameOf(side);
          if (!name.ok) return name;
          names.push(name.value);
        }
        // Asked for before anything is begun: the app may lock meanwhile.
        const target = write ? await platform.chooseTarget({ name: 'compared.csv', beside: null }) : null;
        if (write && target === null) return done(null);
        const note = names.map((name) => maskNumbers(name).slice(0, 60)).join(', ');
        return await audit.record({ action: 'CompareFiles', cleartext: false, note }, async (add) => {
          const compared = await compare({ sides, target }, names, abort.signal);
          if (compared.ok) add({ rows: compared.value.files.reduce((sum, { rows }) => sum + rows, 0) });
          return compared;
        });
      } finally {
        if (running === abort) running = null;
      }
    },
    'compare.rows': (query) =>
      Promise.resolve(last === null ? failed('compare.none') : done(last.rows(query))),
    async 'compare.save'() {
      const made = last;
      if (made === null) return failed('compare.none');
      const target = await platform.chooseTarget({ name: 'compared.csv', beside: null });
      if (target === null) return done(null);
      running?.abort();
      const abort = new AbortController();
      running = abort;
      const note = shownName(target);
      try {
        return await audit.record({ action: 'SaveComparison', cleartext: false, note }, async (add) => {
          add({ rows: made.counts.reduce((sum, { rows }) => sum + rows, 0) });
          const written = await writeRows(made.counts, made.groups, { target, signal: abort.signal });
          return written.ok ? done({ name: written.value }) : written;
        });
      } finally {
        if (running === abort) running = null;
      }
    },
    'compare.stop'() {
      running?.abort();
      return Promise.resolve(done({}));
    },
  };
  return {
    calls,
    close(): void {
      running?.abort();
    },
  };
}

/** Failure: job.sum where the counts of a file are not its rows. */
function comparisonOf(
  counts: readonly FileCounts[],
  { groups, repeated }: Pick<ValueGroups, 'groups' | 'repeated'>,
): Outcome<Comparison> {
  for (const [at, { rows, blank, leftOut }] of counts.entries())
    if (groups.reduce((sum, group) => sum + (group.rows[at] ?? 0), blank + leftOut) !== rows)
      return failed('job.sum');
  return done({
    files: counts.map(({ name, rows, blank, leftOut }, at) => ({
      name,
      rows,
      blank,
      leftOut,
      repeated: repeated[at] ?? { values: 0, rows: 0 },
    })),
    groups: groups.map(({ files, values, rows }) => ({ files: positionsOf(files), values, rows: [...rows] })),
    written: null,
  });
}

const linesAtOnce = 8_192;

/** A line a row: which file, which row of it, which files have its value, and whether its own has it more than once. */
async function writeLines(
  output: { readonly write: (bytes: Uint8Array) => Promise<Outcome<null>> },
  {
    files,
    ofRows,
    signal,
  }: {
    readonly files: readonly FileCounts[];
    readonly ofRows: ValueGroups['ofRows'];
    readonly signal: AbortSignal;
  },
): Promise<Outcome<null>> {
  const writer = createRowWriter({ delimiter: ',', newline: '\r\n', spreadsheet: true });
  let text = writer.line(['file', 'name', 'source_row', 'in_files', 'repeated']);
  for (const [file, { name }] of files.entries()) {
    const rows = ofRows[file] ?? new Uint16Array(0);
    const start = writer.line([String(file + 1), name]).trimEnd();
    for (let row = 0; row < rows.length; row++) {
      const bits = rows[row] ?? 0;
      const inFiles = positionsOf(bits).map((at) => at + 1);
      text += `${start},${row + 1},${inFiles.join(' ')},${(bits & repeatedBit) === 0 ? '' : 'yes'}\r\n`;
      if (row % linesAtOnce !== 0) continue;
      const written = await output.write(Buffer.from(text));
      if (!written.ok) return written;
      text = '';
      await yieldToOthers();
      if (signal.aborted) return failed('service.cancelled');
    }
  }
  return output.write(Buffer.from(text));
}
