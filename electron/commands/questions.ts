import path from 'node:path';
import type { App } from '../app/compose.ts';
import type { Job } from '../contract/models/batch.ts';
import type { RunLine } from '../contract/models/run-lines.ts';
import type { ExportArguments, LookupArguments } from './arguments.ts';
import { type Asked, unlocked, type Value, valueOf, type Words } from './asked.ts';
import { End, type ExitCode, exitCodes } from './ends.ts';
import { endOfFile, type FileRun, requireFolder, resultLine, writeFile } from './write-file.ts';

/* `tokendesk jobs`, `lookup` and `export`: what needs no file to be run. */

export interface QuestionOptions extends Pick<App, 'canMake'> {
  readonly app: Asked;
  readonly words: Words;
  readonly passphrase: string | null;
}

/** All batches, the newest first. */
export async function listJobs(value: Value): Promise<Job[]> {
  const jobs: Job[] = [];
  for (;;) {
    const last = jobs.at(-1);
    const after = last === undefined ? {} : { after: { jobId: last.jobId, startedAt: last.startedAt } };
    const page = await value('batch.jobs', after);
    if (page.length === 0) return jobs;
    jobs.push(...page);
  }
}

export async function printJobs(
  { app, words, passphrase }: QuestionOptions,
  print: (line: RunLine) => void,
): Promise<ExitCode> {
  const value = valueOf(app, words);
  await unlocked(value, passphrase);
  const jobs = await listJobs(value);
  if (jobs.length === 0)
    print({ kind: 'end', exitCode: exitCodes.done, sentence: 'There is no batch.', code: null });
  for (const job of jobs) {
    const { jobId, sourceName, connectionName, environment, state, startedAt, total, tally } = job;
    print({ kind: 'job', jobId, sourceName, connectionName, environment, state, startedAt, total, tally });
  }
  return exitCodes.done;
}

/** The service's own mask of one token; never more. */
export async function printMask(
  given: LookupArguments,
  { app, words, passphrase }: QuestionOptions,
  print: (line: RunLine) => void,
): Promise<ExitCode> {
  const value = valueOf(app, words);
  const { active, connections } = await unlocked(value, passphrase);
  const connection = connections.find(({ id }) => id === active?.connectionId);
  if (active === null || connection === undefined)
    throw new End(exitCodes.refused, 'No connection is in use.');
  const names = connection.definitions.map(({ name }) => name);
  const definition = given.definition ?? (names.length === 1 ? names[0] : undefined);
  if (definition === undefined || !names.includes(definition))
    throw new End(
      exitCodes.usage,
      `${definition === undefined ? 'Name the definition' : `${connection.name} has no definition ${definition}. Name one`} with --definition: ${names.join(', ')}.`,
    );
  const policy = given.policy ?? active.policy;
  if (!connection.policies.includes(policy))
    throw new End(
      exitCodes.usage,
      `${connection.name} has no policy ${policy}. It has: ${connection.policies.join(', ')}.`,
    );
  const asked = { token: given.token, policy, definition, caseReference: given.caseReference };
  const { masked, requestId } = await value('lookup.mask', asked);
  print({ kind: 'lookup', masked, policy, definition, requestId });
  return exitCodes.done;
}

/** Writes the file of a batch that has ended, by its number or a beginning of it that no other one has. */
export async function exportJob(
  given: ExportArguments,
  options: QuestionOptions,
  print: (line: RunLine) => void,
): Promise<ExitCode> {
  const { app, words, passphrase } = options;
  const value = valueOf(app, words);
  await unlocked(value, passphrase);
  const found = (await listJobs(value)).filter(({ jobId }) => jobId.startsWith(given.job));
  const [job] = found;
  if (job === undefined || found.length > 1)
    throw new End(
      exitCodes.usage,
      `${found.length === 0 ? 'No batch' : 'More than one batch'} begins with ${given.job}. tokendesk jobs lists them.`,
    );
  if (job.state !== 'finished')
    throw new End(
      exitCodes.refused,
      `The batch is ${job.state} after ${job.committed} rows. Only one that is finished is exported.`,
    );
  const folder = path.resolve(given.out ?? '.');
  await requireFolder(options, folder);
  const run: FileRun = { job, takenUp: job.committed, exported: null };
  const { reason, caseReference } = given;
  const grounds = reason === null ? null : { reason, caseReference };
  const end = await writeFile(
    { app, words, grounds, filePassphrase: null },
    { file: job.sourceName, out: folder, last: null },
    { job, run },
  ).then(
    (exported) => endOfFile(null, exported),
    (error: unknown) => {
      if (error instanceof End) return error;
      throw error;
    },
  );
  print(resultLine(job.sourceName, run, end));
  return end.exitCode;
}
