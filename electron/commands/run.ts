import fs from 'node:fs';
import path from 'node:path';
import type { CallInput, CallName, CallOutput, EventName, EventPayload } from '../contract/calls.ts';
import type { Failure, Outcome } from '../contract/errors.ts';
import { defaultExport } from '../contract/export-choice.ts';
import type {
  Exported,
  Job,
  Mapping,
  Notice,
  Plan,
  Preflight,
  Preview,
  Reading,
  Tally,
} from '../contract/models/batch.ts';
import type { Grounds } from '../contract/models/lookup.ts';
import { newXorKey, obscureText } from '../contract/obscured.ts';
import { knownNotices, savedReading } from '../contract/saved-mapping.ts';
import type { RunArguments } from './arguments.ts';

/** What a script can tell the ends of a command apart by. Of several files the gravest counts: the last in this list. */
export const exitCodes = {
  /** Every row succeeded, or had nothing to send. */
  done: 0,
  /** Written, and some rows failed: they are marked in the file. */
  failedRows: 3,
  /** Written, and values stay in clear in cells that were copied. */
  remains: 7,
  /** It paused: by a signal, or since too much was refused. It goes on in the window; the command begins anew. */
  paused: 4,
  /** Not begun: another file, environment or rule than the mapping was saved for. Nothing was sent. */
  refused: 5,
  /** It could not go on: the service, the disk, the keychain. */
  broken: 6,
  /** Wrong use. */
  usage: 2,
} as const;
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The app, asked as its window asks: through the router, with the same gate, limits, log and check of what leaves. */
export interface Asked {
  ask<N extends CallName>(call: N, input: CallInput<N>): Promise<Outcome<CallOutput<N>>>;
  /** Returns the function that stops listening. */
  on<E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void): () => void;
  /** Where the next export goes. */
  exportTo(file: string): void;
}

/** One line of `--json`. No value of a row is in any. */
export type RunLine =
  | { readonly kind: 'progress'; readonly file: string; readonly rows: number; readonly total: number | null }
  | {
      readonly kind: 'result';
      readonly file: string;
      readonly exitCode: ExitCode;
      /** What a person reads. */
      readonly sentence: string;
      readonly code: string | null;
      readonly jobId: string | null;
      /** rows = ok + failed + unmatched + blank. */
      readonly tally: Tally | null;
      readonly written: string | null;
    };

export interface RunOptions {
  readonly app: Asked;
  readonly sentenceFor: (failure: Failure) => string;
  readonly print: (line: RunLine) => void;
  /** Aborted by the signals that end a program: what runs is paused at a chunk's edge. */
  readonly signal: AbortSignal;
  /** The first line of standard input, where the arguments say that it opens the lock. */
  readonly passphrase: string | null;
}

/** An end with a sentence. */
class End extends Error {
  readonly exitCode: ExitCode;
  readonly code: string | null;
  constructor(exitCode: ExitCode, sentence: string, code: string | null = null) {
    super(sentence);
    this.exitCode = exitCode;
    this.code = code;
  }
}

/** Failures by which nothing was begun: a rule or a person's choice stands against it. The others are outages. */
const refusals = /^(app|lock|unlock|plan|pattern|reveal|export|disclosure|connection|call)\./;

/**
 * Runs files through a saved mapping, one after the other, and writes each result. A batch that was interrupted or paused
 * is never taken up: its name does not say whether its file is this one. Answers with the exit code and never rejects for a
 * file's sake.
 */
export async function runFiles(given: RunArguments, options: RunOptions): Promise<ExitCode> {
  const { app, print, signal } = options;
  const order: readonly ExitCode[] = Object.values(exitCodes);
  let gravest: ExitCode = exitCodes.done;
  for (const file of given.files) {
    const name = path.basename(file);
    let job: Job | null = null;
    let end: End;
    let written: string | null = null;
    try {
      if (signal.aborted) throw new End(exitCodes.paused, 'It was ended before this file.');
      const mapping = await findMapping();
      job = await runOne(file, mapping, (latest) => {
        job = latest;
        print({ kind: 'progress', file: name, rows: latest.committed, total: latest.total });
      });
      const exported = await write(file, job);
      written = path.join(exported.folder, exported.name);
      end = new End(codeOf(job, exported), summary(job, exported));
    } catch (error) {
      if (!(error instanceof End)) throw error;
      end = error;
    }
    const { exitCode, code, message: sentence } = end;
    print({
      kind: 'result',
      file: name,
      exitCode,
      sentence,
      code,
      jobId: job?.jobId ?? null,
      tally: job?.tally ?? null,
      written,
    });
    if (order.indexOf(exitCode) > order.indexOf(gravest)) gravest = exitCode;
  }
  return gravest;

  async function value<N extends CallName>(call: N, input: CallInput<N>): Promise<CallOutput<N>> {
    const outcome = await app.ask(call, input);
    if (outcome.ok) return outcome.value;
    throw endOf(outcome.failure);
  }

  function endOf(failure: Failure): End {
    const exitCode = refusals.test(failure.code) ? exitCodes.refused : exitCodes.broken;
    return new End(exitCode, options.sentenceFor(failure), failure.code);
  }

  async function findMapping(): Promise<Mapping> {
    let state = await value('app.state', {});
    if (state.lock.locked) {
      if (options.passphrase === null)
        throw new End(
          exitCodes.refused,
          'Tokendesk is locked with a passphrase. Give it as the first line of standard input, with --passphrase-stdin.',
        );
      const xorKey = newXorKey();
      const passphrase = { xorKey, obscured: obscureText(options.passphrase, xorKey) };
      const unlocked = await value('lock.unlock', { passphrase });
      if (unlocked.locked) throw new End(exitCodes.refused, 'That is not the passphrase.');
      state = await value('app.state', {});
    }
    const mappings = await value('batch.mappings', {});
    const mapping = mappings.find(({ name }) => name === given.mapping);
    if (mapping === undefined) {
      const names = mappings.map(({ name }) => name).join(', ');
      const known = names === '' ? 'None is saved.' : `Saved are: ${names}.`;
      throw new End(exitCodes.usage, `There is no saved mapping ${given.mapping}. ${known}`);
    }
    if (!('connections' in state)) throw new End(exitCodes.refused, 'Tokendesk is locked.');
    const { active, connections } = state;
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

  async function runOne(file: string, mapping: Mapping, heard: (job: Job) => void): Promise<Job> {
    const { sourceId } = await value('batch.drop', { reference: path.resolve(file) });
    const look = (reading: Partial<Reading>): Promise<Preview> =>
      value('batch.preview', { sourceId, reading, masked: null });
    let preview = await look({});
    // As the window does: what is a guess is read as the mapping's file was.
    const decided = savedReading(mapping, preview);
    if (Object.keys(decided).length > 0) preview = await look(decided);
    const plan = planOf(mapping, preview);
    if (!given.yes) {
      refuseGuesses(preview);
      const sheets = preview.source.sheet?.all.length ?? 1;
      if (sheets > 1)
        throw new End(
          exitCodes.refused,
          `The workbook has ${sheets} sheets. With --yes the one with most rows is run. Nothing was sent.`,
        );
    }
    const out = path.resolve(given.out ?? path.dirname(file));
    if (fs.statSync(out, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new End(exitCodes.refused, `There is no folder ${out}. Nothing was sent.`);
    const { reason, caseReference } = given;
    const grounds = (confirmRows?: number): Grounds | null =>
      reason === null ? null : { reason, caseReference, confirmRows };

    let jobId: string;
    const latest = new Map<string, Job>();
    const ended = Promise.withResolvers<Job>();
    const stop = app.on('batch.job', (job) => {
      latest.set(job.jobId, job);
      if (job.jobId !== jobId) return;
      heard(job);
      if (job.state !== 'running') ended.resolve(job);
    });
    const pause = (): void => {
      void app.ask('batch.pause', { jobId });
    };
    try {
      const { rows, notices } = await preflight(sourceId, plan);
      const known = knownNotices(mapping, notices);
      if (!given.yes) refuseNews(notices.filter((notice) => !known.includes(notice)));
      jobId = '';
      const started = await value('batch.start', {
        sourceId,
        plan,
        grounds: grounds(given.yes ? rows : undefined),
      });
      jobId = started.jobId;
      // It may have ended before its number was known.
      const early = latest.get(jobId);
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
    if (job.failure !== null)
      throw new End(exitCodes.broken, options.sentenceFor(job.failure), job.failure.code);
    const { braked, waiting, committed } = job;
    if (braked !== null) {
      const what =
        braked.sameRows === null
          ? `${braked.failed} of ${braked.of} values were refused`
          : `different values have one answer, as in rows ${braked.sameRows.join(' and ')}`;
      throw new End(
        exitCodes.paused,
        `It paused by itself: ${what}. Look at it in the window, and go on or discard it there.`,
      );
    }
    const why = waiting === null ? '' : ` ${options.sentenceFor(waiting.failure)}`;
    throw new End(
      exitCodes.paused,
      `It is paused after ${committed} rows.${why} It goes on in the window. The command would begin anew.`,
      waiting?.failure.code ?? null,
    );
  }

  /** Counts the file whole before anything is sent: of what the mapping does the person sees no number beforehand. */
  async function preflight(sourceId: string, plan: Plan): Promise<Preflight> {
    const counted = Promise.withResolvers<Preflight>();
    const stop = app.on('batch.preflight', (counts) => {
      if (counts.sourceId !== sourceId) return;
      if (counts.failure !== undefined) counted.reject(endOf(counts.failure));
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

  async function write(file: string, job: Job): Promise<Exported> {
    const choice = defaultExport(job);
    const { name, ext } = path.parse(file);
    const suffix = choice.format === 'workbook' ? '.xlsx' : choice.safety === 'source' ? ext : '.csv';
    const base = path.join(path.resolve(given.out ?? path.dirname(file)), `${name}_${choice.content}`);
    let target = `${base}${suffix}`;
    for (let count = 2; fs.existsSync(target); count++) target = `${base}-${count}${suffix}`;
    app.exportTo(target);
    const { reason, caseReference } = given;
    const grounds = reason === null ? null : { reason, caseReference };
    const outcome = await app.ask('batch.export', { ...choice, grounds });
    // All was sent by now: whatever stands against the file is no refusal to begin.
    if (!outcome.ok)
      throw new End(
        exitCodes.broken,
        `${options.sentenceFor(outcome.failure)} All rows were sent: export the batch in the window.`,
        outcome.failure.code,
      );
    const exported = outcome.value;
    if (exported === null) throw new End(exitCodes.broken, 'The result was not written.');
    return exported;
  }
}

/** The plan for this file; throws where it has other columns than the mapping was saved for. */
function planOf({ header, columns }: Mapping, { columns: found, reading }: Preview): Plan {
  const names = found.map(({ name }) => name);
  const saved = header ?? columns.map((column) => column.header);
  const missing = saved.filter((name) => !names.includes(name));
  const added = header === undefined ? [] : names.filter((name) => !saved.includes(name));
  const isMoved = header !== undefined && header.some((name, at) => names[at] !== name);
  if (missing.length > 0 || added.length > 0 || isMoved) {
    const what = [
      ...(missing.length > 0 ? [`missing: ${missing.slice(0, 5).join(', ')}`] : []),
      // Not their names: of a file without a header they are the values of its first row.
      ...(added.length > 0 ? [`${added.length} others`] : []),
    ].join('; ');
    throw new End(
      exitCodes.refused,
      `The columns are not those of the mapping${what === '' ? ': their order is another' : ` (${what})`}. Nothing was sent.`,
    );
  }
  return {
    reading,
    columns: columns.map(({ header: name, ...rest }) => ({ ...rest, column: names.indexOf(name) })),
  };
}

/** Where the window would ask how the file is read, nobody is there to answer. */
function refuseGuesses({ guesses, reading }: Preview): void {
  const doubt =
    guesses.encoding !== null
      ? `its encoding may be ${reading.encoding} or ${guesses.encoding.join(', ')}`
      : guesses.delimiter !== null
        ? 'its delimiter is a guess'
        : guesses.header
          ? 'where its table begins and ends is a guess'
          : null;
  if (doubt === null) return;
  throw new End(
    exitCodes.refused,
    `The file can be read in more than one way: ${doubt}. With --yes it is read as it seems. Nothing was sent.`,
  );
}

const noticeWords: Readonly<Record<Notice['kind'], string>> = {
  'row-malformed': 'rows with the wrong number of fields',
  'bad-encoding': 'characters that do not fit the encoding',
  nul: 'NUL characters',
  'unclosed-quote': 'a quote that is never closed',
  'field-too-long': 'fields that are too long',
  'header-duplicate': 'two columns of one name',
  'header-empty': 'a column without a name',
  'header-damaged': 'a damaged header',
  'header-repeated': 'rows that repeat the header',
  'rows-in-cell': 'cells that hold whole rows',
  'excel-rounded': 'numbers that a spreadsheet has rounded',
  'looks-tokenized': 'values that look like tokens already',
  'formula-unevaluated': 'formulas without a result',
  'value-unfit': 'values that do not fit the definition',
};

/** The window shows what a file has that the mapping's file had not, and a person decides. */
function refuseNews(news: readonly Notice[]): void {
  if (news.length === 0) return;
  const what = news.map(({ kind, column, row, count }) => {
    const where = column === null ? '' : ` in ${column}`;
    return `${noticeWords[kind]}${where} (${count}, first in row ${row})`;
  });
  throw new End(
    exitCodes.refused,
    `New in this file: ${what.join('; ')}. With --yes it is run all the same. Nothing was sent.`,
  );
}

function codeOf({ tally }: Job, { remaining }: Exported): ExitCode {
  if (remaining !== null && remaining.cards + remaining.values > 0) return exitCodes.remains;
  return tally.failed > 0 ? exitCodes.failedRows : exitCodes.done;
}

function summary({ tally }: Job, { name, folder, remaining }: Exported): string {
  const { rows, ok, failed, unmatched, blank } = tally;
  const stays =
    remaining !== null && remaining.cards + remaining.values > 0
      ? ` ${remaining.cards + remaining.values} values stay in clear in columns that were copied.`
      : '';
  return `${rows} rows = ${ok} succeeded + ${failed} failed + ${unmatched} no match + ${blank} blank. Written to ${path.join(folder, name)}.${stays}`;
}
