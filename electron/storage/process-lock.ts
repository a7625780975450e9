import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { errorCode } from './file-failures.ts';

/** A file that says which process owns something: a job, a home folder. */
export interface ProcessLock {
  /** Safe to call twice, and after the folder was moved or removed. */
  release(): void;
}

interface Owner {
  readonly pid: number;
  /** When that process started, since a process ID is used again; empty where the system doesn't say. */
  readonly startTime: string;
  readonly id: string;
}

const maxAttempts = 5;

/** So many may have been killed one after the other, each while it took over from the one before. */
const maxDepth = 500;

/**
 * Takes the lock, or answers null when a living process has it, this one included. A lock whose owner is gone, or that
 * can't be read, is taken over, by one process only. Synchronous, so that it can be used before anything else runs and
 * on exit. Throws the system's error where the folder can't be written.
 *
 * Whether an owner lives is known exactly on Linux. Elsewhere the start time is not known: a process that got the
 * owner's ID later is taken for the owner until it ends. Processes of another machine that shares the folder are not
 * seen at all.
 */
export function acquireProcessLock(file: string): ProcessLock | null {
  const lock = acquire(file);
  if (lock !== null) removeLeftovers(file);
  return lock;
}

function acquire(file: string, depth = 0): ProcessLock | null {
  const mine: Owner = { pid: process.pid, startTime: startTimeOf(process.pid) ?? '', id: randomUUID() };
  // Whoever takes a succession is itself tried again.
  for (let attempt = 0; attempt < (depth === 0 ? maxAttempts : 1); attempt++) {
    if (create(file, mine) || takeOver(file, mine, depth)) {
      return {
        release() {
          if (read(file)?.id === mine.id) fs.rmSync(file, { force: true });
        },
      };
    }
    const owner = read(file);
    if (owner !== null && isAlive(owner)) return null;
  }
  return null;
}

/** Whether a living process has the lock. */
export function isProcessLocked(file: string): boolean {
  const owner = read(file);
  return owner !== null && isAlive(owner);
}

/** The file appears with its content: another process must not find it empty and take it for a damaged one. */
function create(file: string, owner: Owner): boolean {
  const draft = `${file}.${owner.id}`;
  try {
    fs.writeFileSync(draft, JSON.stringify(owner), { flag: 'wx', mode: 0o600 });
    try {
      fs.linkSync(draft, file);
    } catch (error) {
      if (errorCode(error) === 'EEXIST') return false;
      // FAT has no hard links.
      fs.writeFileSync(file, JSON.stringify(owner), { flag: 'wx', mode: 0o600 });
    }
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    fs.rmSync(draft, { force: true });
  }
}

/**
 * Replaces the lock of an owner that is gone. Only who holds the lock on that very owner's succession may do so, and
 * looks again: without it, a process that read the old owner could remove the lock of the new one.
 */
function takeOver(file: string, mine: Owner, depth: number): boolean {
  const old = read(file);
  if ((old !== null && isAlive(old)) || depth > maxDepth) return false;
  // Of an owner in the same folder, whatever it owned: were the names put together, one killed process after the other
  // would make a name that no disk takes.
  const succession = acquire(
    old === null ? `${file}.after-damaged` : `${file.replace(successionSuffix, '')}.after-${old.id}`,
    depth + 1,
  );
  if (succession === null) return false;
  try {
    const found = read(file);
    if (found?.id !== old?.id || !fs.existsSync(file)) return false;
    const draft = `${file}.${mine.id}`;
    fs.writeFileSync(draft, JSON.stringify(mine), { flag: 'wx', mode: 0o600 });
    fs.renameSync(draft, file);
    return true;
  } finally {
    succession.release();
  }
}

const successionSuffix = /\.after-[\da-f-]{36}$/;

/**
 * What processes left that were killed while they took this lock. Called by its owner: a succession of an earlier one leads
 * nowhere any more. The draft of a process that lives is its own.
 */
function removeLeftovers(file: string): void {
  const start = `${path.basename(file)}.`;
  for (const name of fs.readdirSync(path.dirname(file))) {
    if (!name.startsWith(start)) continue;
    const rest = path.join(path.dirname(file), name);
    const owner = read(rest);
    const isDraft = owner !== null && name === `${start}${owner.id}` && !isAlive(owner);
    if (isDraft || name.startsWith(`${start}after-`)) fs.rmSync(rest, { force: true });
  }
}

function read(file: string): Owner | null {
  try {
    const owner: unknown = JSON.parse(fs.readFileSync(file, 'utf8'));
    if (typeof owner !== 'object' || owner === null) return null;
    const { pid, startTime, id } = owner as Partial<Record<keyof Owner, unknown>>;
    return Number.isSafeInteger(pid) && Number(pid) > 0 && typeof startTime === 'string' && isId(id)
      ? { pid: Number(pid), startTime, id }
      : null;
  } catch {
    return null;
  }
}

/** It becomes part of a file name. */
const isId = (id: unknown): id is string => typeof id === 'string' && /^[\da-f-]{36}$/.test(id);

function isAlive({ pid, startTime }: Owner): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: it lives, under another user.
    if (errorCode(error) !== 'EPERM') return false;
  }
  const now = startTimeOf(pid);
  if (now === null) return false;
  return startTime === '' || now === '' || startTime === now;
}

/** Boot and clock ticks since then; null for a process that has ended, an empty string where the system doesn't say. */
function startTimeOf(pid: number): string | null {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field may hold spaces and ends at the last parenthesis; the third is the state, the 22nd the time.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const boot = fs.readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim();
    return `${boot} ${fields[19] ?? ''}`;
  } catch {
    return '';
  }
}
