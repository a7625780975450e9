import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { detokenize, openApp, planOf, valueOf, type TestApp } from '../../../support/batch-app.ts';
import { bundleScript } from '../../../support/bundle-script.ts';

const script = join(import.meta.dirname, '../../../support/killed-merge.ts');
const exported = async (app: TestApp, jobId: string): Promise<string> =>
  valueOf(await app.export(jobId, { safety: 'source' }));

it(
  'of a corrected list is whole or not there, wherever its process is killed',
  { timeout: 240_000 },
  async () => {
    const { file, remove } = await bundleScript(script);
    onTestFinished(remove);
    const first = await mkdtemp(join(tmpdir(), 'tokendesk-killed-'));
    const made = await openApp({ home: first });
    made.service.refuses = (value) => value.startsWith('BAD');
    const source = 'id,a,b\r\n1,BAD1,tokOLD\r\n2,tokx,toky\r\n3,tokz,BAD3\r\n';
    const sourceId = await made.open(await made.write('in.csv', source));
    const plan = planOf([1, 2].map((column) => detokenize(column, { definition: 'text' })));
    const { jobId } = await made.run(sourceId, plan);
    const before = await exported(made, jobId);
    const listed = valueOf(await made.export(jobId, { safety: 'source', content: 'tokens', rows: 'failed' }));
    await made.batch.close();
    const list = join(first, 'corrected.csv');
    await writeFile(list, listed.replace('BAD1', 'tokA').replace('tokOLD', 'tokNEW').replace('BAD3', 'tokB'));
    const pending = before.replace('1,BAD1,<tokOLD>,service.element-refused', '1,tokA,tokNEW,mend.pending');
    const allPending = pending.replace('<tokz>,BAD3,service.element-refused', 'tokz,tokB,mend.pending');
    const merged = 'id,a,b\r\n1,<tokA>,<tokNEW>\r\n2,<tokx>,<toky>\r\n3,<tokz>,<tokB>\r\n';
    const states: string[] = [];
    for (let kill = 1; kill <= 40; kill++) {
      const home = await mkdtemp(join(tmpdir(), 'tokendesk-killed-'));
      await cp(first, home, { recursive: true, preserveTimestamps: true });
      const options = { home, jobId, list, before: kill };
      const child = spawnSync(process.execPath, [file, JSON.stringify(options)], { encoding: 'utf8' });
      expect(child.stdout + child.stderr + (child.signal ?? '')).toMatch(/^(?:sent|SIGKILL)$/);
      const app = await openApp({ home });
      try {
        const [job] = valueOf(await app.batch['batch.jobs']({}));
        const found = await exported(app, jobId);
        // Nothing, all of it to be sent, or all of it sent: no old result stands beside a new value.
        expect([before, allPending, merged]).toContain(found);
        states.push(found === before ? '0' : found === allPending ? '1' : '2');
        if (job?.state !== 'finished') {
          valueOf(await app.batch['batch.resume']({ jobId }));
          await app.until(jobId, 'finished');
        }
        expect(await exported(app, jobId)).toBe(found === before ? before : merged);
      } finally {
        await app.close();
      }
      if (child.signal === null) break;
    }
    await rm(first, { recursive: true, force: true });
    expect(states.join('')).toMatch(/^0+1+2+$/);
  },
);
