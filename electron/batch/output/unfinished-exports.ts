import { shownName } from '../../privacy/file-names.ts';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import type { Audit } from '../../audit/audit.ts';
import { done, type Outcome } from '../../contract/errors.ts';
import { receiptFile } from '../../evidence/receipt.ts';
import { partialOf, writeFileAtomically, type AroundWrite } from '../../storage/atomic-file.ts';
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

const trialFile = z.strictObject({
  /** Absolute path of an empty file, by a name that nobody else chooses. */
  trial: z.string(),
});

const smallFile = z.strictObject({
  /** Absolute path of its `.partial`: no other file is removed by it, whoever wrote the list. */
  partial: z.string().refine((file) => path.isAbsolute(file) && file.endsWith(partialOf(''))),
  /** When its write was begun, in milliseconds. */
  at: z.number(),
});

const noted = z.union([unfinishedExport, trialFile, smallFile]);
type Noted = z.infer<typeof noted>;

/** Where its rest is. */
const fileOf = (entry: Noted): string =>
  'target' in entry ? partialOf(entry.target) : 'trial' in entry ? entry.trial : entry.partial;

const isNoFile = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCode(error));

/** Whether a file may come back with its folder, as with a drive. It does not where the folder's name is a file's now. */
const isAway = (file: string): Promise<boolean> =>
  fs.stat(path.dirname(file)).then(
    () => false,
    (error: unknown) => errorCode(error) !== 'ENOTDIR',
  );

/** Whether one may be there that can't be looked at: a folder that is away, or closed to us, says nothing about the file in it. */
const mayBeThere = async (file: string, error: unknown): Promise<boolean> =>
  !isNoFile(error) || (await isAway(file));

/** What changes when it is written; null where there is none. */
const stateOf = (file: string): Promise<string | null> =>
  fs.lstat(file, { bigint: true }).then(
    ({ dev, ino, size, mtimeNs }) => [dev, ino, size, mtimeNs].join(':'),
    async (error: unknown) => ((await mayBeThere(file, error)) ? 'unknown' : null),
  );

/** File systems round the time of a file, FAT to two seconds. */
const roundingMs = 2_000;

/**
 * Which exports and small files are being written and which names are tried, in a file of the app's: a process that is killed
 * leaves rows beside the target as `.partial`, in clear, or an empty file, and nobody else knows where. One process has the app's folder
 * at a time, so what is noted there at a start is of one that is gone: no process ID is needed, and no folder is looked through.
 */
export interface UnfinishedExports {
  /**
   * Notes the export, runs it and strikes it off, whatever became of it: what is left as `.partial` then was left on purpose
   * and said. Where it can't be noted it is not written. Failures: file.*, and those of `run`.
   */
  during<T>(noted: Omit<UnfinishedExport, 'at'>, run: () => Promise<Outcome<T>>): Promise<Outcome<T>>;
  /**
   * Whether a file of such a name can be made in its folder, and removed again: it is tried, under `path` and an ending of the
   * length of `.partial`. Noted as an export is. Failures: file.*, where it can't be noted.
   */
  canMake(path: string): Promise<Outcome<boolean>>;
  /**
   * Notes a small file as long as it is written, and does not wait for the audit log. One that can't be noted is written all the
   * same: what tells why the app's folder can't be written must not depend on it. Failures: those of `write`.
   */
  duringWrite: AroundWrite;
  /** Removes what a process before this one left, with a line in the audit log for each export. Called once; never rejects. */
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
  let current: readonly Noted[] = [];
  /** Of a process before this one, as long as they are noted. */
  let earlier: readonly Noted[] = [];
  let loaded = Promise.resolve();
  /** What is left at a path, until that was looked at. */
  const cleaning = new Map<string, Promise<void>>();

  const change = (next: (before: readonly Noted[]) => readonly Noted[]) =>
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
  const strike = (entry: Noted) => change((list) => list.filter((one) => one !== entry));

  /**
   * Notes a file while `run` writes it. What a process before this one left under the same name stays noted if it is still there
   * as it was: nothing was written then. Else it is struck too, so that no start takes what this one left on purpose for it.
   * Without a note only `whatever` runs.
   */
  async function during<T>(
    entry: Noted,
    run: () => Promise<Outcome<T>>,
    { whatever = false } = {},
  ): Promise<Outcome<T>> {
    await loaded;
    const file = fileOf(entry);
    await cleaning.get(file);
    const before = earlier.filter((one) => fileOf(one) === file && current.includes(one));
    const rest = before.length === 0 ? null : await stateOf(file);
    const written = await change((list) => [...list, entry]);
    if (!written.ok && !whatever) return written;
    try {
      return await run();
    } finally {
      const isAsBefore = rest !== null && rest === (await stateOf(file));
      // What was written is there, whatever becomes of the note.
      await change((list) =>
        list.filter((one) => one !== entry && (isAsBefore || !before.includes(one))),
      ).catch(() => undefined);
    }
  }

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
      return (await mayBeThere(target, error)) ? 'unknown' : 'gone';
    }
  }

  /** One that was written for it, or half of it: the file would have got its name next. */
  async function removeReceipt({ target, at }: UnfinishedExport): Promise<void> {
    const receipt = receiptFile(target);
    for (const one of [receipt, partialOf(receipt)]) {
      const found = await fs.lstat(one).catch(() => null);
      if (found?.isFile() === true && found.mtimeMs >= at - roundingMs) await fs.rm(one);
    }
  }

  /** It stays noted while its folder is away, or lets nothing be removed. */
  async function removeUntold(entry: z.infer<typeof trialFile | typeof smallFile>): Promise<void> {
    const file = fileOf(entry);
    if (await isAway(file)) return;
    const found = await fs.lstat(file).catch((error: unknown) => {
      if (isNoFile(error)) return null;
      throw error;
    });
    // A tried name with something in it, or a file of before, is somebody else's.
    const isOurs =
      found?.isFile() === true &&
      ('trial' in entry ? found.size === 0 : found.mtimeMs >= entry.at - roundingMs);
    if (isOurs) await fs.rm(file);
    await strike(entry);
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

  async function load(): Promise<void> {
    try {
      current = earlier = z.array(noted).parse(JSON.parse(await fs.readFile(file, 'utf8')));
    } catch (error) {
      // One that can't be read names no path that could be believed. It is set aside, or no export could be noted.
      if (errorCode(error) === 'ENOENT') return;
      left.push('');
      await fs.rename(file, `${file}.unreadable`).catch(() => undefined);
    }
  }

  return {
    during: (given, run) => during({ ...given, at: now() }, run),
    async canMake(given) {
      const entry = { trial: `${path.resolve(given)}.${randomBytes(4).toString('hex').slice(1)}` };
      const made = await during(entry, async () => {
        try {
          await (await fs.open(entry.trial, 'wx', 0o600)).close();
        } catch {
          return done('not made');
        }
        // A scanner may hold it for a moment.
        return fs.rm(entry.trial, { maxRetries: 3 }).then(
          () => done('removed'),
          () => done('left'),
        );
      });
      if (!made.ok) return made;
      // A folder may let files be made and none removed: the next start tries again.
      if (made.value === 'left') await change((list) => [...list, entry]);
      return done(made.value === 'removed');
    },
    duringWrite: (target, write) =>
      during({ partial: partialOf(path.resolve(target)), at: now() }, write, { whatever: true }),
    async removeLeft() {
      loaded = load();
      await loaded;
      let recorded = Promise.resolve();
      for (const entry of earlier) {
        // What can't be removed, or can't be recorded, is tried again at the next start.
        const isTold = 'target' in entry;
        const remove = () => (isTold ? removeOne(entry) : removeUntold(entry)).catch(() => undefined);
        // What is told nobody does not wait for the log.
        const removing = isTold ? (recorded = recorded.then(remove)) : remove();
        const file = fileOf(entry);
        cleaning.set(
          file,
          Promise.all([cleaning.get(file), removing]).then(() => undefined),
        );
      }
      await Promise.all(cleaning.values());
    },
    removed: () => removed,
    left: () => left,
  };
}
