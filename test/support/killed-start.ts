import fs from 'node:fs';
import fsp from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { detokenize, openApp, planOf, valueOf } from './batch-app.ts';

/**
 * Starts a job of pasted rows and kills its own process before the n-th change to the disk that this makes. Ends by
 * itself, with "started", where there are fewer.
 */
const { home, before } = JSON.parse(process.argv[2] ?? '{}') as { home: string; before: number };
const app = await openApp({ home });
const source = valueOf(await app.batch['batch.paste']({ text: 'tok1\ntok2\ntok3\n' }));

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
countCalls(fsp, 'mkdir', 'rename', 'rm', 'link', 'open');
countCalls(fs, 'writeFileSync', 'linkSync', 'renameSync', 'rmSync');
syncBuiltinESMExports();

const plan = planOf([detokenize(0)], { header: false });
valueOf(await app.batch['batch.start']({ sourceId: source.sourceId, plan, grounds: null }));
process.stdout.write('started');
process.exit(0);
