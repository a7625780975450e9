import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import type { CallInput, CallName } from '../../electron/contract/calls.ts';
import { codeOf, detokenize, plainExport, planOf, valueOf } from '../support/batch-app.ts';
import { openWholeApp, type WholeApp } from '../support/whole-app.ts';

/*
 * A person, or whoever sits at their desk, names a file that batches read as the one to be written: it would be gone, and with
 * it what a result is made of. Whatever is written, no source is written over, by whatever name it has.
 */

let app: WholeApp;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-over-'));
const asked: string[] = [];
/** What the person chooses, one after the other. */
let chosen: string[] = [];
let goesOn: true | null = null;
const ids = { job: '', queue: '', source: '' };
const sources = ['open.csv', 'one.csv', 'two.csv', 'looked.csv'].map((name) => path.join(folder, name));
const [open = '', one = '', two = '', looked = ''] = sources;
let before: string[] = [];

beforeAll(async () => {
  app = await openWholeApp({
    platform: {
      chooseTarget: ({ name }) => (asked.push(name), Promise.resolve(chosen.shift() ?? null)),
      chooseFiles: () => Promise.resolve([looked]),
      confirm: ({ message }) => (asked.push(message), Promise.resolve(goesOn)),
    },
  });
  const { id } = valueOf(await app.ask('connections.startBuiltIn', {}));
  valueOf(await app.ask('connections.choose', { id, policy: 'analyst' }));
  const { definition, token } = valueOf(await app.ask('lookup.sample', {}));
  for (const file of sources) fs.writeFileSync(file, `card\n${token}\n`);
  const plan = planOf([detokenize(0, { policy: 'analyst', definition })]);
  const { queue, source } = valueOf(await app.ask('batch.dropFiles', { references: [one, two] }));
  ids.queue = queue?.queueId ?? '';
  const start = { queueId: ids.queue, sourceId: source?.sourceId ?? '', plan, grounds: null };
  ids.job = valueOf(await app.ask('batch.startQueue', start)).jobId;
  await vi.waitFor(
    async () => expect(valueOf(await app.ask('batch.queues', {}))[0]?.state).toBe('finished'),
    20_000,
  );
  ids.source = valueOf(await app.ask('batch.drop', { reference: open })).sourceId;
  valueOf(await app.ask('inventory.look', { source: { of: 'files' } }));
  const side = { of: 'file' as const, sourceId: ids.source, reading: {}, column: 0 };
  const batch = { of: 'batch' as const, jobId: ids.job, column: 0 };
  valueOf(await app.ask('compare.files', { sides: [side, batch], write: false }));
  const made = { policy: 'analyst', definition, token, caseReference: 'C-1' };
  const lookupId = valueOf(await app.ask('lookup.mask', made)).id;
  valueOf(await app.ask('story.look', { of: { in: 'lookup', lookupId }, caseReference: 'C-1' }));
  before = sources.map((file) => fs.readFileSync(file, 'utf8'));
}, 60_000);
afterAll(async () => {
  await app.close();
  fs.rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  asked.length = 0;
  goesOn = null;
});

type Written = { readonly [N in CallName]?: () => CallInput<N> };
const written: Written = {
  'batch.export': () => ({ ...plainExport, jobId: ids.job, content: 'masked', grounds: null }),
  'batch.reportQueue': () => ({ queueId: ids.queue, form: 'json' }),
  'compare.save': () => ({}),
  'compare.files': () => ({
    sides: [
      { of: 'file', sourceId: ids.source, reading: {}, column: 0 },
      { of: 'batch', jobId: ids.job, column: 0 },
    ],
    write: true,
  }),
  'story.save': () => ({}),
  'inventory.save': () => ({ form: 'csv' }),
  'reports.evidence': () => ({ caseReference: 'C-1' }),
  'connections.export': () => ({}),
};

it.each(Object.keys(written) as CallName[])('%s asks again, and writes over no source', async (name) => {
  const linked = path.join(folder, `link-${name}`);
  fs.symlinkSync(two, linked);
  for (const file of [...sources, linked]) {
    chosen = [file];
    asked.length = 0;
    const outcome = await app.ask(name, written[name]?.() as never);
    expect([codeOf(outcome), outcome.ok && outcome.value]).toEqual(['ok', null]);
    expect(asked.at(-1)).toContain(path.basename(file));
  }
  goesOn = true;
  const other = path.join(folder, `other-${name}`);
  chosen = [one, other];
  expect(codeOf(await app.ask(name, written[name]?.() as never))).toBe('ok');
  expect(fs.existsSync(other)).toBe(true);
  expect(sources.map((file) => fs.readFileSync(file, 'utf8'))).toEqual(before);
});

it.each(Object.keys(written) as CallName[])('%s names no file with a number in its name', async (name) => {
  const number = '4111111111111111';
  const names = [`${number}-${name}`, `absent/${number}-${name}`];
  for (const target of names) {
    chosen = [path.join(folder, target)];
    const outcome = await app.ask(name, written[name]?.() as never);
    expect(codeOf(outcome)).toBe(target.startsWith('absent') ? 'file.unwritable' : 'ok');
    expect(JSON.stringify(outcome)).toContain('••••');
    expect(JSON.stringify(outcome)).not.toContain(number);
  }
});
