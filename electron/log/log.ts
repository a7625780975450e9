import fs from 'node:fs';
import path from 'node:path';
import { describeError } from './describe-error.ts';

/**
 * The local log: one JSON object a line, in files of this user alone. Each line is in the file when the call returns,
 * so a crash leaves it. No call throws: what can't be written is counted, and the next line says how many were lost.
 * No line holds a message, a value or a path of a person's file.
 */
export interface Log {
  /**
   * Something that should not have happened. `place` is a literal or a call's name ('ipc connections.save'), never data.
   */
  bug(place: string, error: unknown): void;
  /** `event` and the facts' names are literals; a number of more than twelve digits is left out. */
  info(event: string, facts?: Readonly<Record<string, number | boolean>>): void;
  readonly folder: string;
  /** At most the last `count` lines, the oldest first, for the diagnostics file. Lines that are damaged are left out. */
  tail(count: number): string[];
}

export interface LogOptions {
  /** Created when it is not there. */
  readonly folder: string;
  /** Where the app's own code is: frames of other files are left out. */
  readonly codeFolder: string;
  /** Of the app. */
  readonly version: string;
  readonly now: () => Date;
  /** Of one file; 512 KiB unless given. */
  readonly maxBytes?: number;
}

const name = 'tokendesk';
/** The current file and the earlier ones. */
const maxFiles = 3;

export function createLog(options: LogOptions): Log {
  const { folder, codeFolder, version, now, maxBytes = 512 * 1024 } = options;
  // 0 is the current one.
  const files = Array.from({ length: maxFiles }, (_, age) =>
    path.join(folder, age === 0 ? `${name}.log` : `${name}.${age}.log`),
  );
  let lost = 0;

  function write(level: 'error' | 'info', members: () => Record<string, unknown>): void {
    try {
      const head = { time: now().toISOString(), level, version, ...(lost > 0 && { lost }) };
      append(files, Buffer.from(`${JSON.stringify({ ...head, ...members() })}\n`), maxBytes);
      lost = 0;
    } catch {
      lost += 1;
    }
  }

  return {
    folder,
    bug(place, error) {
      write('error', () => ({ place: label(place), error: describeError(error, codeFolder) }));
    },
    info(event, facts = {}) {
      write('info', () => ({
        event: label(event),
        ...(Object.keys(facts).length > 0 && { facts: plain(facts) }),
      }));
    },
    tail(count) {
      const lines = files.toReversed().flatMap((file) => readLines(file));
      return count > 0 ? lines.slice(-count) : [];
    },
  };
}

function label(text: string): string {
  return /^[A-Za-z][\w .-]{0,79}$/.test(text) && !/\d{4}/.test(text) ? text : 'unnamed';
}

/** Shorter than any card number. */
const maxNumber = 999_999_999_999;

function plain(facts: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts)
      .filter(
        ([, fact]) =>
          typeof fact === 'boolean' ||
          (typeof fact === 'number' && Number.isFinite(fact) && Math.abs(fact) <= maxNumber),
      )
      .map(([key, fact]) => [label(key), fact]),
  );
}

/** The file is opened for each line: lines are rare, and a folder that was removed or a disk with room again is noticed. */
function append(files: readonly string[], line: Buffer, maxBytes: number): void {
  const [file = ''] = files;
  fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  let handle = openOwn(file);
  if (handle.size > 0 && handle.size + line.length > maxBytes) {
    fs.closeSync(handle.fd);
    rotate(files);
    handle = openOwn(file);
  }
  try {
    // A write that was cut off left half a line.
    const bytes = endsLine(handle) ? line : Buffer.concat([Buffer.from('\n'), line]);
    for (let written = 0; written < bytes.length;) written += fs.writeSync(handle.fd, bytes, written);
  } finally {
    fs.closeSync(handle.fd);
  }
}

function openOwn(file: string): { fd: number; size: number } {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = fs.constants;
  // A link could lead to another file of the person, a pipe would wait for a reader. Windows knows neither flag.
  const fd = fs.openSync(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const stat = fs.fstatSync(fd);
    if (!stat.isFile()) throw new Error('Not a file');
    if ((stat.mode & 0o777) !== 0o600) fs.fchmodSync(fd, 0o600);
    return { fd, size: stat.size };
  } catch (error) {
    fs.closeSync(fd);
    throw error;
  }
}

function endsLine({ fd, size }: { fd: number; size: number }): boolean {
  if (size === 0) return true;
  const last = Buffer.alloc(1);
  fs.readSync(fd, last, 0, 1, size - 1);
  return last[0] === 0x0a;
}

function rotate(files: readonly string[]): void {
  for (let age = files.length - 1; age > 0; age--) {
    const [younger = '', older = ''] = [files[age - 1], files[age]];
    if (fs.existsSync(younger)) fs.renameSync(younger, older);
  }
}

function readLines(file: string): string[] {
  try {
    return fs.readFileSync(file, 'utf8').split('\n').filter(isLine);
  } catch {
    return [];
  }
}

function isLine(line: string): boolean {
  try {
    const parsed: unknown = JSON.parse(line);
    return typeof parsed === 'object' && parsed !== null && 'time' in parsed && 'level' in parsed;
  } catch {
    return false;
  }
}
