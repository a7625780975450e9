import path from 'node:path';
import type { App } from '../app/compose.ts';
import type { Job, Plan, Preflight, Preview, Reading, Source } from '../contract/models/batch.ts';
import type { Outcome } from '../contract/errors.ts';
import type { Mapping } from '../contract/models/mapping.ts';
import type { Grounds } from '../contract/models/lookup.ts';
import type { RunLine } from '../contract/models/run-lines.ts';
import { sumOf } from '../contract/tally.ts';
import { newNotices, savedReading } from '../contract/saved-mapping.ts';
import type { RunArguments } from './arguments.ts';
import { type Asked, obscured, unlocked, valueOf, type Words } from './asked.ts';
import { End, endOf, type ExitCode, exitCodes, gravestOf } from './ends.ts';
import { endOfFile, type FileRun, requireRoom, resultLine, writeFile } from './write-file.ts';
import { chooseSheet, planOf, refuseGuesses, refuseNewFailures, refuseNews } from './file-checks.ts';

export interface RunOptions extends Pick<App, 'canMake'> {
  readonly app: Asked;
  readonly words: Words;
  readonly print: (line: RunLine) => void;
  /** Aborted by the signals that end a program: what runs is paused at a chunk's edge. */
  readonly signal: AbortSignal;
  /** The first line of standard input, where the arguments say that it opens the lock. */
  readonly passphrase: string | null;
  /** Of files that are encrypted; null where none was given. */
  readonly filePassphrase?: string | null;
}

/**
 * Runs files through a saved mapping, one after the other, and writes each result. A batch that the same command began
 * before goes on where it is, and is written without a request where all was sent; main says which one that is. Answers
 * with the exit code and never rejects for a file's sake.
 */
export async function runFiles(given: RunArguments, options: RunOptions): Promise<ExitCode> {
  const { app, print, signal, words } = options;
  const { filePassphrase = null } = options;
  const value = valueOf(app, words);
  const codes: ExitCode[] = [];
  const runs: FileRun[] = [];
  // A file that is named twice is one: its rows would be counted twice.
  const files = [...new Map(given.files.map((file) => [path.resolve(file), file])).values()];
  for (const file of files) {
    const name = path.basename(file);
    const run: FileRun = { job: null, takenUp: null, exported: null };
    runs.push(run);
    let end: End;
    try {
      if (signal.aborted) throw new End(exitCodes.paused, 'It was ended before this file.');
      const mapping = await findMapping();
      const job = await runOne(file, mapping, run);
      if (!given.yes) refuseNewFailures(job, mapping, words.failure);
      const exported = await writeFile(
        { app, words, grounds: grounds(), filePassphrase },
        { file, out: folderOf(file, mapping), last: mapping.exported ?? null },
        { job, run },
      );
      end = endOfFile(run.takenUp, exported);
    } catch (error) {
      if (!(error instanceof End)) throw error;
      end = error;
    }
    print(resultLine(name, run, end));
    codes.push(end.exitCode);
  }
  if (runs.length > 1) {
    const written = runs.filter(({ exported }) => exported !== null).length;
    const tally = sumOf(runs.flatMap(({ job }) => (job === null ? [] : [job.tally])));
    print({ kind: 'sum', files: runs.length, written, tally });
  }
  return gravestOf(codes);

  async function findMapping(): Promise<Mapping> {
    const { active, connections } = await unlocked(value, options.passphrase);
    const mappings = await value('batch.mappings', {});
    const mapping = mappings.find(({ name }) => name === given.mapping);
    if (mapping === undefined) {
      const names = mappings.map(({ name }) => name).join(', ');
      const known = names === '' ? 'None is saved.' : `Saved are: ${names}.`;
      throw new End(exitCodes.usage, `There is no saved mapping ${given.mapping}. ${known}`);
    }
    const connection = connections.find(({ id }) => id === active?.connectionId);
    if (connection === undefined) throw new End(exitCodes.refused, 'No connection is in use.');
    const { origin } = mapping;
    if (origin?.connectionId !== connection.id || origin.environment !== connection.environment) {
      const saved = connections.find(({ id }) => id === origin?.connectionId)?.name ?? 'another connection';
      throw new End(
        exitCodes.refused,
        `The mapping was saved for ${saved} (${origin?.environment ?? 'unknown'}), and ${connection.name} (${connection.environment}) is in use. Nothing was sent.`,
      );
    }
    return mapping;
  }

  /** Answers with the finished batch of the file. */
  async function runOne(file: string, mapping: Mapping, run: FileRun): Promise<Job> {
    const opened = await openSource(file, () => app.ask('batch.drop', { reference: path.resolve(file) }));
    const sheet = chooseSheet(opened, { asked: given.sheet, saved: mapping.sheet ?? null });
    const { sourceId } =
      sheet === null
        ? opened
        : await openSource(file, () => app.ask('batch.sheet', { sourceId: opened.sourceId, sheet }));
    const look = (reading: Partial<Reading>): Promise<Preview> =>
      value('batch.preview', { sourceId, reading, masked: null });
    let preview = await look({});
    // As the window does: what is a guess is read as the mapping's file was.
    const decided = savedReading(mapping, preview);
    if (Object.keys(decided).length > 0) preview = await look(decided);
    const plan = planOf(mapping, preview);
    await requireRoom(options, folderOf(file, mapping), path.basename(file));

    const before = given.anew ? null : await value('batch.takeUp', { sourceId, plan, mapping: mapping.name });
    if (before !== null) {
      run.job = before;
      run.takenUp = before.committed;
      if (before.state === 'finished') return before;
      if (before.braked !== null && !given.yes) return finished(before);
    }
    const begin =
      before === null
        ? () => start(sourceId, { plan, mapping, preview })
        : async () => {
            await value('batch.resume', { jobId: before.jobId, grounds: grounds() });
            return before.jobId;
          };
    return watch(begin, (job) => {
      run.job = job;
      print({ kind: 'progress', file: path.basename(file), rows: job.committed, total: job.total });
    });
  }

  async function openSource(file: string, ask: () => Promise<Outcome<Source>>): Promise<Source> {
    const opened = await ask();
    if (opened.ok) return opened.value;
    const { code } = opened.failure;
    if (code !== 'file.passphrase-needed') throw endOf(opened.failure, words.failure);
    if (filePassphrase === null)
      throw new End(
        exitCodes.refused,
        `${path.basename(file)} is encrypted with a passphrase. Give it as a line of standard input, with --file-passphrase-stdin. Nothing was sent.`,
        code,
      );
    return value('batch.openEncrypted', { passphrase: obscured(filePassphrase) });
  }

  /** Where the result goes: where the last one went that was written by hand, if nothing is said. */
  function folderOf(file: string, { exported }: Mapping): string {
    return path.resolve(given.out ?? exported?.folder ?? path.dirname(file));
  }

  function grounds(confirmRows?: number): Grounds | null {
    const { reason, caseReference } = given;
    return reason === null ? null : { reason, caseReference, confirmRows };
  }

  /** Checks what the window would ask about, and begins the batch. */
  async function start(
    sourceId: string,
    { plan, mapping, preview }: { readonly plan: Plan; readonly mapping: Mapping; readonly preview: Preview },
  ): Promise<string> {
    if (!given.yes) {
      refuseGuesses(preview, plan);
      const sheets = preview.source.sheet?.all.length ?? 1;
      if (sheets > 1 && given.sheet === null && mapping.sheet === undefined)
        throw new End(
          exitCodes.refused,
          `The workbook has ${sheets} sheets. Name one with --sheet; with --yes the one with most rows is run. Nothing was sent.`,
        );
    }
    const { rows, notices } = await preflight(sourceId, plan);
    if (!given.yes) refuseNews(newNotices(mapping, notices), words.notice);
    const asked = { sourceId, plan, mapping: mapping.name, takesUp: true };
    const { jobId } = await value('batch.start', {
      ...asked,
      grounds: grounds(given.yes ? rows : undefined),
    });
    return jobId;
  }

  /** From the call that begins it until it runs no more. */
  async function watch(begin: () => Promise<string>, onChange: (job: Job) => void): Promise<Job> {
    let jobId = '';
    const latest = new Map<string, Job>();
    const ended = Promise.withResolvers<Job>();
    const stop = app.on('batch.job', (job) => {
      latest.set(job.jobId, job);
      if (job.jobId !== jobId) return;
      onChange(job);
      if (job.state !== 'running') ended.resolve(job);
    });
    const pause = (): void => {
      void app.ask('batch.pause', { jobId });
    };
    try {
      jobId = await begin();
      // It may have ended before its number was known.
      const early = latest.get(jobId);
      if (early !== undefined) onChange(early);
      if (early !== undefined && early.state !== 'running') ended.resolve(early);
      signal.addEventListener('abort', pause, { once: true });
      if (signal.aborted) pause();
      return finished(await ended.promise);
    } finally {
      signal.removeEventListener('abort', pause);
      stop();
    }
  }

  /** The job, if all its rows are accounted for; else it throws with the reason. */
  function finished(job: Job): Job {
    if (job.state === 'finished') return job;
    // Part of it was sent.
    if (job.failure !== null) throw new End(exitCodes.broken, words.failure(job.failure), job.failure.code);
    const { braked, waiting, committed } = job;
    if (braked !== null) {
      const what =
        braked.sameRows === null
          ? `${braked.failed} of ${braked.of} values were refused`
          : `different values have one answer, as in rows ${braked.sameRows.join(' and ')}`;
      throw new End(
        exitCodes.paused,
        `It paused by itself: ${what}. Look at it in the window. With --yes the same command goes on with it.`,
      );
    }
    const why = waiting === null ? '' : ` ${words.failure(waiting.failure)}`;
    throw new End(
      exitCodes.paused,
      `It is paused after ${committed} rows.${why} The same command goes on with it.`,
      waiting?.failure.code ?? null,
    );
  }

  /** Counts the file whole before anything is sent: of what the mapping does the person sees no number beforehand. */
  async function preflight(sourceId: string, plan: Plan): Promise<Preflight> {
    const counted = Promise.withResolvers<Preflight>();
    const stop = app.on('batch.preflight', (counts) => {
      if (counts.sourceId !== sourceId) return;
      if (counts.failure !== undefined) counted.reject(endOf(counts.failure, words.failure));
      else if (counts.done) counted.resolve(counts);
    });
    const end = (): void => {
      counted.reject(new End(exitCodes.paused, 'It was ended before anything was sent.'));
    };
    signal.addEventListener('abort', end, { once: true });
    counted.promise.catch(() => undefined);
    if (signal.aborted) end();
    try {
      const first = await value('batch.preflight', { sourceId, plan });
      return first.done ? first : await counted.promise;
    } finally {
      signal.removeEventListener('abort', end);
      stop();
    }
  }
}
