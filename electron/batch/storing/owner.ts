import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';

/** One owner a job, across processes. */
export interface Ownership {
  release(): Promise<void>;
}

interface Owner {
  readonly pid: number;
  /** When that process began, where the system says: a process ID is used again. */
  readonly began: string;
  readonly id: string;
}

/** Node has no advisory locks, so: an exclusively created file that names its owner, and a check that it lives. */
export async function own(folder: string): Promise<Outcome<Ownership>> {
  const path = join(folder, 'owner');
  const mine: Owner = { pid: process.pid, began: beginningOf(process.pid), id: randomUUID() };
  for (let attempt = 0; attempt < 5; attempt++) {
    if (await create(path, mine)) {
      return done({
        async release() {
          const now = await read(path);
          if (now?.id === mine.id) await rm(path, { force: true });
        },
      });
    }
    const other = await read(path);
    if (other !== null && isAlive(other)) return failed('job.elsewhere');
    // Only one of several that find a dead owner can move its file away; the others start over.
    const aside = join(folder, `owner.${mine.id}`);
    try {
      await rename(path, aside);
      const moved = await read(aside);
      if (moved !== null && moved.id !== other?.id && isAlive(moved)) {
        await rename(aside, path);
        return failed('job.elsewhere');
      }
      await rm(aside, { force: true });
    } catch {
      continue;
    }
  }
  return failed('job.elsewhere');
}

/** Whether a living process other than none at all owns the job. */
export async function isOwned(folder: string): Promise<boolean> {
  const owner = await read(join(folder, 'owner'));
  return owner !== null && isAlive(owner);
}

async function create(path: string, owner: Owner): Promise<boolean> {
  try {
    const handle = await open(path, 'wx', 0o600);
    await handle.writeFile(JSON.stringify(owner));
    await handle.close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

async function read(path: string): Promise<Owner | null> {
  try {
    const owner: unknown = JSON.parse(await readFile(path, 'utf8'));
    if (typeof owner !== 'object' || owner === null) return null;
    const { pid, began, id } = owner as Partial<Owner>;
    return typeof pid === 'number' && typeof began === 'string' && typeof id === 'string'
      ? { pid, began, id }
      : null;
  } catch {
    return null;
  }
}

function isAlive({ pid, began }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, under another user.
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;
  }
  const now = beginningOf(pid);
  return began === '' || now === '' || began === now;
}

function beginningOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Field 22; the second field may hold spaces, and ends at the last parenthesis.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
