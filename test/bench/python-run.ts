import { execFile, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface PythonRun {
  readonly rows: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakRss: number;
}

/** Debian's first: another on the path may be a script that looks for it. */
const python = ['/usr/bin/python3', 'python3'].find(
  (program) => spawnSync(program, ['-c', 'import csv, http.client, ssl']).status === 0,
);

/** The script with which a colleague would do it; null where it can't run. It reads its own memory from Linux. */
export const runPython =
  python === undefined || process.platform !== 'linux'
    ? null
    : async (input: string, output: string, url: string, ca: string): Promise<PythonRun> => {
        const script = join(import.meta.dirname, 'python-script.py');
        const { stdout } = await promisify(execFile)(python, [script, input, output, url, ca]);
        return JSON.parse(stdout) as PythonRun;
      };
