import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openApp, valueOf } from '../../../support/batch-app.ts';
import { bundleScript } from '../../../support/bundle-script.ts';

const script = join(import.meta.dirname, '../../../support/killed-start.ts');
const long = new Date(Date.now() - 3_600_000);

async function isUnfinished(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.new'));
}

it(
  'leaves a job that can be finished or none, wherever its process is killed',
  { timeout: 240_000 },
  async () => {
    const { file, remove } = await bundleScript(script);
    onTestFinished(remove);
    const found: number[] = [];
    for (let before = 1; ; before++) {
      const home = await mkdtemp(join(tmpdir(), 'tokendesk-killed-'));
      const child = spawnSync(process.execPath, [file, JSON.stringify({ home, before })], {
        encoding: 'utf8',
      });
      expect(child.stdout + (child.signal ?? '')).toMatch(/^(?:started|SIGKILL)$/);
      const jobs = join(home, 'jobs');
      for (const folder of [jobs, join(jobs, 'opened')])
        for (const name of await isUnfinished(folder)) await utimes(join(folder, name), long, long);

      const app = await openApp({ home });
      try {
        expect(valueOf(await app.batch['batch.damaged']({}))).toEqual([]);
        const listed = valueOf(await app.batch['batch.jobs']({}));
        found.push(listed.length);
        for (const { jobId, state } of listed) {
          expect(state).toBe('interrupted');
          valueOf(await app.batch['batch.resume']({ jobId }));
          expect(await app.until(jobId, 'finished', 'failed', 'paused')).toMatchObject({
            state: 'finished',
            tally: { rows: 3, ok: 3 },
          });
        }
        expect(await isUnfinished(jobs)).toEqual([]);
        expect((await readdir(jobs)).filter((name) => name !== 'opened')).toHaveLength(listed.length);
      } finally {
        await app.close();
        await rm(home, { recursive: true, force: true });
      }
      if (child.signal === null) break;
    }
    // None at first, then one: at no moment anything else.
    expect(found.length).toBeGreaterThan(10);
    expect(found.join('')).toMatch(/^0+1+$/);
  },
);

it('leaves alone what another process may be creating, and removes what is old', async () => {
  const home = await mkdtemp(join(tmpdir(), 'tokendesk-killed-'));
  const folders = ['jobs/a.new', 'jobs/b.new', 'jobs/opened/c.new', 'jobs/opened/d.new'].map((name) =>
    join(home, name),
  );
  for (const folder of folders) await mkdir(folder, { recursive: true });
  for (const folder of folders.filter((_, i) => i % 2 === 0)) await utimes(folder, long, long);
  const app = await openApp({ home });
  valueOf(await app.batch['batch.jobs']({}));
  expect(await isUnfinished(join(home, 'jobs'))).toEqual(['b.new']);
  expect(await isUnfinished(join(home, 'jobs/opened'))).toEqual(['d.new']);
  await app.close();
  await rm(home, { recursive: true, force: true });
});
