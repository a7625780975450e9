import { spawn } from 'node:child_process';

export interface Finished {
  /** Null when a signal ended it or it did not start. */
  readonly code: number | null;
  /** What it said on both streams; the end of it where it said a lot. */
  readonly output: string;
  readonly ms: number;
}

const mostKept = 200_000;

export function runTool(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const started = performance.now();
  return new Promise((resolve) => {
    let output = '';
    const keep = (part: string): void => {
      output = (output + part).slice(-mostKept);
    };
    const finish = (code: number | null): void => {
      resolve({ code, output, ms: performance.now() - started });
    };
    const child = spawn(command, args, {
      env: { ...process.env, NO_COLOR: '1', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    });
    child.stdout.setEncoding('utf8').on('data', keep);
    child.stderr.setEncoding('utf8').on('data', keep);
    child.once('error', (error) => {
      keep(error.message);
      finish(null);
    });
    child.once('close', finish);
  });
}
