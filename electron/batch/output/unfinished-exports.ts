import { shownName } from '../../privacy/file-names.ts';
import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Audit } from '../../audit/audit.ts';
import { done, type Outcome } from '../../contract/errors.ts';
import { receiptFile } from '../../evidence/receipt.ts';
import { partialOf, writeFileAtomically } from '../../storage/atomic-file.ts';
import { errorCode, writeFailure } from '../../storage/file-failures.ts';
import { createSerialQueue } from '../../util/serial-queue.ts';

const unfinishedExport = z.strictObject({
  /** Absolute path of the file it would have become. */
  target: z.string(),
  /** When it was begun, in milliseconds. */
  at: z.number(),
  job: z.string(),
  connection: z.string(),
  environment: z.string(),
});
type UnfinishedExport = z.infer<typeof unfinishedExport>;

/** File systems round the time of a file, FAT to two seconds. */
const roundingMs = 2_000;

/**
 * Which exports are being written, in a file of the app's: a process that is killed leaves their rows beside the target as
 * `.partial`, in clear, and nobody else knows where.
 */
export interface UnfinishedExports {
  /**
   * Notes the export, runs it and strikes it off, whatever became of it: what is left as `.partial` then was left on purpose
   * and said. Where it can't be noted it is not written. Failures: file.*, and those of `run`.
   */
  during<T>(noted: Omit<UnfinishedExport, 'at'>, run: () => Promise<Outcome<T>>): Promise<Outcome<T>>;
  /** Removes what a process before this one left, with a line in the audit log each. Called once; never rejects. */
  removeLeft(): Promise<void>;
  /** Names, without their folders, of the targets whose rest was removed at this start. */
  removed(): readonly string[];
  /**
   * The same of those whose rest may still be there: the folder is away (a drive, a share), or the file is older than the
   * export and may be another. They stay noted until the folder is there without the file. '' for a list that can't be read.
   */
  left(): readonly string[];
}

export function createUnfinishedExports({
  file,
  audit,
  now,
}: {
  readonly file: string;
  readonly audit: Pick<Audit, 'record'>;
  readonly now: () => number;
}): UnfinishedExports {
  const queue = createSerialQueue();
  const removed: string[] = [];
  const left: string[] = [];
  let current: readonly UnfinishedExport[] = [];
  let cleaning = Promise.resolve();

  const change = (next: (before: readonly UnfinishedExport[]) => readonly UnfinishedExport[]) =>
    queue(async (): Promise<Outcome<null>> => {
      const list = next(current);
      if (list.length === 0) {
        current = list;
        // Should it be there again after a power cut, it names nothing that is still there.
        await fs.rm(file, { force: true });
        return done(null);
      }
      try {
        await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
      } catch (error) {
        return writeFailure(error);
      }
      const written = await writeFileAtomically(file, JSON.stringify(list));
      if (written.ok) current = list;
      return written;
    });
  const strike = (entry: UnfinishedExport) => change((list) => list.filter((one) => one !== entry));

  /**
   * Whole is what has its name already, and its other one still: both are one file. Ours is only what was written since the export began: the person may have
   * made another file of that name.
   */
  async function findRest({ target, at }: UnfinishedExport): Promise<'ours' | 'whole' | 'gone' | 'unknown'> {
    try {
      const found = await fs.lstat(partialOf(target), { bigint: true });
      if (!found.isFile()) return 'gone';
      const named = await fs.lstat(target, { bigint: true }).catch(() => null);
      if (named?.ino === found.ino && named.dev === found.dev) return 'whole';
      return Number(found.mtimeMs) >= at - roundingMs ? 'ours' : 'unknown';
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') return 'unknown';
      // A folder that is away says nothing about the file in it.
      const folder = await fs.stat(path.dirname(target)).catch(() => null);
      return folder?.isDirectory() === true ? 'gone' : 'unknown';
    }
  }

  /** One that was written for it: the file would have got its name next. */
  async function removeReceipt({ target, at }: UnfinishedExport): Promise<void> {
    const receipt = receiptFile(target);
    const found = await fs.lstat(receipt).catch(() => null);
    if (found?.isFile() === true && found.mtimeMs >= at - roundingMs) await fs.rm(receipt);
  }

  async function removeOne(entry: UnfinishedExport): Promise<void> {
    const { target, job, connection, environment } = entry;
    const name = shownName(target);
    const rest = await findRest(entry);
    if (rest === 'unknown') left.push(name);
    if (rest === 'whole') await fs.rm(partialOf(target));
    if (rest === 'whole' || rest === 'gone') await strike(entry);
    if (rest !== 'ours') return;
    const intent = { action: 'RemovePartial', job, connection, environment, note: name };
    const gone = await audit.record(intent, async () => {
      // First: without the rest nothing would lead to it.
      await removeReceipt(entry);
      await fs.rm(partialOf(target));
      return done(null);
    });
    if (!gone.ok) return;
    removed.push(name);
    await strike(entry);
  }

  return {
    async during(noted, run) {
      // A rest of before under the same name must not be taken for this one.
      await cleaning;
      const entry = { ...noted, at: now() };
      const written = await change((list) => [...list, entry]);
      if (!written.ok) return written;
      try {
        return await run();
      } finally {
        // An export that was written is one, whatever becomes of the note.
        await strike(entry).catch(() => undefined);
      }
    },
    removeLeft() {
      cleaning = (async () => {
        try {
          current = z.array(unfinishedExport).parse(JSON.parse(await fs.readFile(file, 'utf8')));
        } catch (error) {
          // One that can't be read names no path that could be believed. It is set aside, or no export could be noted.
          if (errorCode(error) !== 'ENOENT') {
            left.push('');
            await fs.rename(file, `${file}.unreadable`).catch(() => undefined);
          }
        }
        // What can't be removed, or can't be recorded, is tried again at the next start.
        for (const entry of current) await removeOne(entry).catch(() => undefined);
      })();
      return cleaning;
    },
    removed: () => removed,
    left: () => left,
  };
}
