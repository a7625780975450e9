import fs from 'node:fs';
import path from 'node:path';
import type { Column } from '../contract/models/batch.ts';
import type { ComparedSide, Comparison } from '../contract/models/compared.ts';
import type { CompareArguments } from './arguments.ts';
import { printable, unlocked, type Value, valueOf } from './asked.ts';
import { End, type ExitCode, exitCodes } from './ends.ts';
import { refuseGuesses } from './file-checks.ts';
import { listJobs } from './questions.ts';
import type { RunOptions } from './run.ts';
import { requireFolder } from './write-file.ts';

/** Counts which values are in which files or finished batches, and writes row numbers where `--out` names a file. */
export async function compareFiles(
  given: CompareArguments,
  options: Omit<RunOptions, 'filePassphrase'>,
): Promise<ExitCode> {
  const { app, words, passphrase, print, signal } = options;
  const value = valueOf(app, words);
  await unlocked(value, passphrase);
  const out = given.out === null ? null : path.resolve(given.out);
  if (out !== null) {
    await requireFolder(options, path.dirname(out));
    if (fs.existsSync(out)) throw new End(exitCodes.refused, `There is a file ${out} already.`);
  }
  const open: OpenSide[] = [];
  for (const [at, side] of given.sides.entries()) {
    const column = given.columns[given.columns.length === 1 ? 0 : at] ?? '';
    open.push(
      fs.existsSync(side)
        ? await openFile(value, { file: side, column, yes: given.yes })
        : await findBatch(value, { number: side, column }),
    );
  }
  if (!given.yes) refuseMixed(open);
  const sides = open.map(({ side }) => side);
  const stop = (): void => void app.ask('compare.stop', {});
  const unlisten = app.on('compare.progress', ({ rows }) => {
    print({ kind: 'progress', file: 'compared', rows, total: null });
  });
  signal.addEventListener('abort', stop, { once: true });
  try {
    if (signal.aborted) throw new End(exitCodes.paused, 'It was ended before anything was compared.');
    if (out !== null) app.exportTo(out);
    const compared = await value('compare.files', { sides, write: out !== null });
    if (compared === null) throw new End(exitCodes.refused, 'Nothing was compared.');
    print({ kind: 'comparison', ...compared, sentence: sentenceOf(compared) });
    return exitCodes.done;
  } finally {
    signal.removeEventListener('abort', stop);
    unlisten();
  }
}

interface OpenSide {
  readonly side: ComparedSide;
  readonly name: string;
  /** What the column is taken for. */
  readonly content: Column['content'];
}

/** A value and its token are never equal: the answer would be that nothing is in both. */
function refuseMixed(open: readonly OpenSide[]): void {
  const clear = open.find(({ content }) => content === 'cleartext');
  const tokens = open.find(({ content }) => content === 'tokens');
  if (clear === undefined || tokens === undefined) return;
  throw new End(
    exitCodes.refused,
    `The column of ${clear.name} seems to hold cleartext, and that of ${tokens.name} tokens. Tokenize the first as a batch, and compare the batch; with --yes they are compared as they are.`,
  );
}

async function openFile(
  value: Value,
  { file, column, yes }: { readonly file: string; readonly column: string; readonly yes: boolean },
): Promise<OpenSide> {
  const { sourceId, sheet, name } = await value('batch.drop', { reference: path.resolve(file) });
  if (sheet !== null && sheet.all.length > 1 && !yes)
    throw new End(
      exitCodes.refused,
      `${name} has ${sheet.all.length} sheets. With --yes the one with most rows is compared.`,
    );
  const preview = await value('batch.preview', { sourceId, reading: {}, masked: null });
  if (!yes) refuseGuesses(preview, { columns: [] });
  const found = preview.columns.filter((one) => one.name === column);
  if (found.length !== 1) throw new End(exitCodes.usage, columnSentence(name, column, found.length));
  const side = { of: 'file', sourceId, reading: {}, column: found[0]?.index ?? 0 } as const;
  return { side, name, content: found[0]?.content ?? null };
}

async function findBatch(
  value: Value,
  { number, column }: { readonly number: string; readonly column: string },
): Promise<OpenSide> {
  const jobs = (await listJobs(value)).filter(({ jobId }) => jobId.startsWith(number));
  const [job] = jobs;
  if (job === undefined || jobs.length > 1)
    throw new End(
      exitCodes.usage,
      `There is no file ${number}, and ${jobs.length === 0 ? 'no batch' : 'more than one batch'} begins with it. tokendesk jobs lists them.`,
    );
  if (job.state !== 'finished')
    throw new End(exitCodes.refused, `The batch is ${job.state}. Only one that is finished is compared.`);
  const found = job.plan.columns.filter((plan) => job.columns[plan.column] === column);
  if (found.length !== 1)
    throw new End(exitCodes.usage, columnSentence(job.sourceName, column, found.length));
  const side = { of: 'batch', jobId: job.jobId, column: found[0]?.column ?? 0 } as const;
  return { side, name: job.sourceName, content: 'tokens' };
}

const columnSentence = (name: string, column: string, count: number): string =>
  `${name} has ${count === 0 ? 'no column' : `${count} columns`} ${column}${count === 0 ? ' to compare' : ''}. Nothing was compared.`;

/** A line a group, a line a file. */
function sentenceOf({ files, groups, written }: Comparison): string {
  const lines = groups.map(({ files: own, values, rows }) => {
    const where =
      own.length === files.length
        ? 'In all'
        : `${own.length === 1 ? 'Only in' : 'In'} ${own.map((at) => `${at + 1}`).join(' and ')}`;
    return `${where}: ${values} values (rows: ${own.map((at) => rows[at] ?? 0).join(', ')})`;
  });
  const about = files.map(({ name, rows, blank, leftOut, repeated }, at) => {
    const twice = `${repeated.values} values more than once (${repeated.rows} rows)`;
    return `${at + 1}: ${printable(name)}, ${rows} rows, ${blank} blank, ${leftOut} left out, ${twice}`;
  });
  return [...about, ...lines, ...(written === null ? [] : [`Written: ${written}`])].join('\n');
}
