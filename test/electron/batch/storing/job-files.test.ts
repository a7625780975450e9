import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadJob, writeSpec, type JobSpec } from '../../../../electron/batch/storing/job-files.ts';
import { done } from '../../../../electron/contract/errors.ts';

const key = new Uint8Array(32).fill(1);
const reading = { encoding: 'utf-8', delimiter: ',', header: true } as const;

const specWith = (names: string[]): JobSpec => ({
  version: 1,
  jobId: 'job',
  sourceName: 'cards.csv',
  sourcePath: '/cards.csv',
  spool: null,
  identity: { size: 1, modifiedMs: 1 },
  crc: 1,
  format: { ...reading, newline: '\n', markLength: 0, names, width: names.length },
  connectionId: 'c',
  connectionName: 'c',
  environment: 'test',
  plan: {
    reading,
    columns: [
      {
        column: 0,
        operation: 'mask',
        policy: 'p',
        definition: 'd',
        target: null,
        parts: null,
        pattern: null,
        into: 'replace',
      },
    ],
  },
  kinds: ['card'],
  maskedColumns: [],
  columns: names,
  startedAt: '2026-11-29T00:00:00.000Z',
  mapping: null,
  queued: null,
  run: null,
});

let folder: string;
beforeEach(async () => (folder = await mkdtemp(join(tmpdir(), 'tokendesk-spec-'))));
afterEach(() => rm(folder, { recursive: true, force: true }));

it.each([
  ['a few names', 3, 10],
  ['a thousand of 3,000 characters', 1_000, 3_000],
])(
  'what a job does is read as it was written, with %s, and stands nowhere in clear',
  async (_, count, length) => {
    const spec = specWith(Array.from({ length: count }, (__, n) => `name ${n} é "`.padEnd(length, 'x')));
    expect(await writeSpec(folder, spec, key)).toMatchObject({ ok: true });
    const loaded = await loadJob(folder, () => Promise.resolve(done(key)));
    if (!loaded.ok) throw new Error(loaded.failure.code);
    expect(loaded.value.spec).toEqual(spec);

    const file = join(folder, 'job.json');
    const text = await readFile(file, 'utf8');
    const { spec: sealed } = JSON.parse(text) as { spec: string };
    expect(Buffer.from(sealed, 'base64').includes('name 1')).toBe(false);
    // One sign of it is another.
    const at = text.indexOf(sealed) + sealed.length - 10;
    await writeFile(file, `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`);
    expect(await loadJob(folder, () => Promise.resolve(done(key)))).toMatchObject({
      ok: false,
      failure: { code: 'job.damaged' },
    });
  },
);
