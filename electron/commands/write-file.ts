import fs from 'node:fs';
import path from 'node:path';
import { defaultExport } from '../contract/export-choice.ts';
import type { App } from '../app/compose.ts';
import type { Outcome } from '../contract/errors.ts';
import type { Exported, ExportForm, Job, Tally } from '../contract/models/batch.ts';
import type { RunLine } from '../contract/models/run-lines.ts';
import type { Grounds } from '../contract/models/lookup.ts';
import { packedEnding, unpackedName } from '../contract/packed-names.ts';
import { type Asked, obscured, type Words } from './asked.ts';
import { End, endOf, exitCodes } from './ends.ts';

/** The batch of one file, as far as it is known. */
export interface FileRun {
  job: Job | null;
  takenUp: number | null;
  exported: Exported | null;
}

interface WriteOptions {
  readonly app: Pick<Asked, 'ask' | 'exportTo'>;
  readonly words: Pick<Words, 'failure'>;
  readonly grounds: Grounds | null;
  /** What an encrypted file was opened with: its result is encrypted under it too. */
  readonly filePassphrase: string | null;
}

/**
 * Writes masks or tokens of a batch of `file` into `out`, under a name that is free, with a signed receipt: in the form of
 * `last`, if there is one. `run` has what was written.
 */
export async function writeFile(
  { app, words, grounds, filePassphrase }: WriteOptions,
  { file, out, last }: { readonly file: string; readonly out: string; readonly last: ExportForm | null },
  { job, run }: { readonly job: Job; readonly run: FileRun },
): Promise<Exported> {
  const choice = defaultExport(job, last);
  const { packed = { archive: null, isEncrypted: false } } = job;
  const { name, ext } = path.parse(unpackedName(file, packed));
  const passphrase = packed.isEncrypted && filePassphrase !== null ? obscured(filePassphrase) : null;
  const suffix =
    choice.format === 'workbook' ? '.xlsx' : choice.safety === 'source' ? textSuffix(ext) : '.csv';
  const base = path.join(out, `${name}_${choice.rows === 'matches' ? 'matches' : choice.content}`);
  const ending = packedEnding(suffix, choice.archive) + (passphrase === null ? '' : '.age');
  let written = '';
  const exportTo = (target: string) => {
    written = target;
    app.exportTo(target);
    return app.ask('batch.export', { ...choice, grounds, passphrase, receipt: true });
  };
  let outcome = await exportTo(`${base}${ending}`);
  for (let count = 2; isTaken(outcome) && count < maxNames; count++)
    outcome = await exportTo(`${base}-${count}${ending}`);
  // All was sent by now: whatever stands against the file is no refusal to begin.
  if (!outcome.ok)
    throw new End(
      exitCodes.broken,
      `${words.failure(outcome.failure)} All rows were sent: the same command writes the file, and sends none of them again.`,
      outcome.failure.code,
    );
  const { value } = outcome;
  if (value === null) throw new End(exitCodes.broken, 'The result was not written.');
  const exported = named(value, written);
  run.exported = exported;
  return exported;
}

/** The file or its receipt is there already, or another command is writing it; or rows are read from it. */
const isTaken = (outcome: Outcome<Exported | null>): boolean =>
  outcome.ok ? outcome.value === null : outcome.failure.code === 'file.exists';

/** A command says where its files are, by the names that they have; the window's are masked. */
function named(exported: Exported, target: string): Exported {
  const name = path.basename(target) as Exported['name'];
  const { receipt } = exported;
  return {
    ...exported,
    name,
    ...(receipt !== undefined && {
      receipt: { ...receipt, name: receiptOf(name) as Exported['name'] },
    }),
  };
}

const receiptOf = (file: string): string => `${file}.receipt.json`;

/** A folder with so many results of one file is one that nobody looks after. */
const maxNames = 10_000;

/** Text keeps the ending of its source, unless it is one that programs take for a workbook's. */
const textSuffix = (ext: string): string => (ext === '' || /^\.(?:xl|ods)/i.test(ext) ? '.csv' : ext);

interface TryOptions extends Pick<App, 'canMake'> {
  readonly words: Pick<Words, 'failure'>;
}

/** Refuses a folder that is not there, or in which nothing can be written, before anything is sent. */
export async function requireFolder(options: TryOptions, folder: string): Promise<void> {
  refuseNoFolder(folder);
  if (!(await canMake(options, path.join(folder, '.tokendesk'))))
    throw new End(exitCodes.refused, `Nothing can be written in ${folder}. Nothing was sent.`);
}

function refuseNoFolder(folder: string): void {
  if (fs.statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new End(exitCodes.refused, `There is no folder ${folder}. Nothing was sent.`);
}

/** The same for the result of a file, whose name has to be one that the disk takes, with all that is put behind it. */
export async function requireRoom(options: TryOptions, folder: string, file: string): Promise<void> {
  refuseNoFolder(folder);
  const longest = receiptOf(path.join(folder, `${path.parse(file).name}_tokens.csv`));
  if (await canMake(options, longest)) return;
  await requireFolder(options, folder);
  throw new End(
    exitCodes.refused,
    `The name ${file} is too long: that of its result would be longer. Give it a shorter one. Nothing was sent.`,
  );
}

async function canMake({ canMake, words }: TryOptions, file: string): Promise<boolean> {
  const tried = await canMake(file);
  if (!tried.ok) throw endOf(tried.failure, words.failure);
  return tried.value;
}

export function resultLine(file: string, { job, takenUp, exported }: FileRun, end: End): RunLine {
  const { exitCode, code, message: sentence } = end;
  return {
    kind: 'result',
    file,
    exitCode,
    sentence,
    code,
    jobId: job?.jobId ?? null,
    takenUp,
    tally: job?.tally ?? null,
    remaining: exported?.remaining ?? null,
    written: exported === null ? null : path.join(exported.folder, exported.name),
    receipt: exported?.receipt ?? null,
  };
}

const remainsOf = ({ remaining }: Exported): number =>
  remaining === null ? 0 : remaining.cards + remaining.values;

export const formatSum = ({ rows, ok, failed, unmatched, blank }: Tally): string =>
  `${rows} rows = ${ok} succeeded + ${failed} failed + ${unmatched} not matched + ${blank} blank.`;

/** The end of a file that was written. */
export function endOfFile(takenUp: number | null, exported: Exported): End {
  const { tally } = exported;
  const count = remainsOf(exported);
  const sentence = [
    formatSum(tally),
    ...(takenUp === null ? [] : [`${takenUp} of them were sent before.`]),
    `Written to ${path.join(exported.folder, exported.name)}.`,
    ...(count > 0 ? [`${count} values stay in clear in columns that were copied.`] : []),
  ].join(' ');
  if (count > 0) return new End(exitCodes.remains, sentence);
  return new End(tally.failed > 0 ? exitCodes.failedRows : exitCodes.done, sentence);
}
