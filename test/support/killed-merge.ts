import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { openApp, takeIn, valueOf } from './batch-app.ts';

/**
 * Takes a corrected list in and kills its own process before the n-th change to the disk that this makes. Ends by itself,
 * with "sent", where there are fewer.
 */
interface Options {
  home: string;
  jobId: string;
  list: string;
  before: number;
}
const { home, jobId, list, before } = JSON.parse(process.argv[2] ?? '{}') as Options;
const app = await openApp({ home });
const sourceId = await app.open(list);

let count = 0;
function countCalls(target: object, ...names: string[]): void {
  const functions = target as Record<string, (...parameters: unknown[]) => unknown>;
  for (const name of names) {
    const original = functions[name];
    if (original === undefined) throw new Error(name);
    functions[name] = function (this: unknown, ...parameters: unknown[]) {
      count += 1;
      if (count === before) process.kill(process.pid, 'SIGKILL');
      return original.apply(this, parameters);
    };
  }
}
const handle = await fsp.open(process.execPath);
countCalls(Object.getPrototypeOf(handle) as object, 'write', 'sync', 'datasync', 'truncate');
await handle.close();
countCalls(fsp, 'rename', 'rm', 'link');
countCalls(fs, 'writeFileSync', 'linkSync', 'renameSync', 'rmSync');
syncBuiltinESMExports();

valueOf(await takeIn(app, { jobId, sourceId }));
await app.until(jobId, 'finished');
process.stdout.write('sent');
process.exit(0);
