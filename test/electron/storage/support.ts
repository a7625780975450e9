import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { Outcome } from '../../../electron/contract/errors.ts';

/** A folder that is gone when the test is. */
export function tempFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-storage-'));
  onTestFinished(() => {
    fs.rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

export const canMount = process.platform === 'linux' && process.getuid?.() === 0;

/** A file system of its own, mounted in a new folder. Needs root. */
export function mountDisk(size: string): string {
  const folder = tempFolder();
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]);
  onTestFinished(() => {
    // Lazily: a test that failed may have a file open.
    execFileSync('umount', ['-l', folder]);
  });
  return folder;
}

/** Runs a module's source in a Node of its own, which is killed at the end of the test if it still runs. */
export function startScript(source: string, args: readonly string[] = []): ChildProcess {
  const file = path.join(tempFolder(), 'script.mts');
  fs.writeFileSync(file, source);
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

export const moduleUrl = (name: string): string => new URL(`../../../electron/${name}`, import.meta.url).href;

/** The next line it writes. */
export function nextLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (child.stdout === null) throw new Error('No output');
    const lines = createInterface(child.stdout);
    lines.once('line', resolve);
    child.once('exit', (code) => reject(new Error(`Ended with ${code}`)));
  });
}

export const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => child.once('close', resolve));

export function valueOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.failure.code);
  return outcome.value;
}

export const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.failure.code);
