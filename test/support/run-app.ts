import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { electronBinary, realElectron } from '../../scripts/electron-binary.ts';
import { tempFolder } from './temp-folder.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

export interface RunOptions {
  /** Lines on standard input, which ends after them. */
  readonly input?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Scripts that are loaded before the app, in the same process. */
  readonly modules?: readonly string[];
  /** Called with the process once it runs. */
  readonly onStart?: (pid: number) => void;
  /** Called with what it printed so far, each time. */
  readonly onOutput?: (text: string) => void;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Files that are left in its temporary folder. */
  readonly left: readonly string[];
}

/** Starts the built app as a person does on a terminal, and waits for its end. No keyring is in reach. */
export async function runApp(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  // Chromium's own sandbox does not start as root.
  const sandbox = realElectron() !== null && process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const modules = (options.modules ?? []).flatMap((text) => ['-r', writeModule(text)]);
  return runUntilExit(electronBinary(), [...modules, ...sandbox, project, ...args], options);
}

/** The same for any program: it has a temporary folder of its own. */
export async function runUntilExit(
  program: string,
  args: readonly string[],
  { input = '', env = {}, onStart, onOutput }: RunOptions = {},
): Promise<Ended> {
  const temporary = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-run-'));
  const child = spawn(program, args, {
    env: {
      ...process.env,
      DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nonexistent',
      TMPDIR: temporary,
      // Where Windows says that it is.
      TEMP: temporary,
      ...env,
    },
    timeout: 50_000,
    killSignal: 'SIGKILL',
  });
  const printed = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      printed[name] += text;
      onOutput?.(printed.stdout + printed.stderr);
    });
  child.stdin.on('error', () => undefined).end(input);
  if (child.pid !== undefined) onStart?.(child.pid);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
    child.once('error', reject).once('close', (...end) => {
      resolve(end);
    });
  });
  // Where the app ended at once, what removes the browser's files outlives it by a moment.
  for (let turn = 0; turn < 50 && fs.readdirSync(temporary).length > 0; turn++) await pause(100);
  const left = fs.readdirSync(temporary);
  fs.rmSync(temporary, { recursive: true, force: true });
  return { code, signal, ...printed, left };
}

/** A script for `modules`, gone with the test. */
export function writeModule(text: string): string {
  const file = path.join(tempFolder(), 'module.cjs');
  fs.writeFileSync(file, text);
  return file;
}
