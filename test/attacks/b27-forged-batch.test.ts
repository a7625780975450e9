import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { initialState, type JobSpec } from '../../electron/batch/storing/job-files.ts';
import { failed } from '../../electron/contract/errors.ts';
import { systemClock } from '../../electron/util/clock.ts';
import { value } from '../support/audit-folder.ts';
import { detokenize, openApp, plainExport, planOf, someGrounds, valueOf } from '../support/batch-app.ts';
import { fakeKeyring } from '../support/fake-keyring.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { obscured, openWholeApp, type WholeAppOptions } from '../support/whole-app.ts';

const card = '4111118124045251';
const analyst = { policy: 'analyst', definition: 'card-number' };
const grounds = { reason: 'Refund', caseReference: 'C-1' };

/** A home with a file of tokens and, with `rows`, a batch that detokenized it; closed. What is done to it is an editor's. */
async function withHome(rows: number, given: WholeAppOptions = {}) {
  const home = tempFolder();
  const keyring = fakeKeyring();
  const open = async () => {
    const app = await openWholeApp({ home, keyring, ...given });
    onTestFinished(() => app.close());
    return app;
  };
  const app = await open();
  const { id } = value(await app.ask('connections.startBuiltIn', {}));
  value(await app.ask('connections.choose', { id, policy: 'analyst' }));
  const made = await app.ask('lookup.tokenize', {
    ...analyst,
    cleartext: obscured(card),
    caseReference: 'C-1',
  });
  const file = path.join(tempFolder(), 'tokens.csv');
  fs.writeFileSync(file, `card\n${`${value(made).token}\n`.repeat(rows)}`);
  let jobId = '';
  if (rows > 0) {
    const { sourceId } = value(await app.ask('batch.drop', { reference: file }));
    const plan = planOf([detokenize(0, analyst)]);
    ({ jobId } = value(await app.ask('batch.start', { sourceId, plan, grounds: null })));
    const ended = async () => value(await app.ask('batch.jobs', {}))[0]?.state;
    await vi.waitFor(async () => expect(await ended()).toBe('finished'), { timeout: 20_000 });
  }
  await app.close();
  const written = () =>
    fs
      .readdirSync(home)
      .filter((name) => name.includes('.csv'))
      .map((name) => fs.readFileSync(path.join(home, name), 'utf8'));
  return {
    home,
    keyring,
    open,
    file,
    jobId,
    connectionId: id,
    folder: path.join(home, 'jobs', jobId),
    written,
  };
}

/** As version 1 had it: whoever can write the file can say what the results are. */
function plainSpec(file: string, said: Partial<JobSpec> & Pick<JobSpec, 'jobId'>): string {
  const { size, mtimeMs } = fs.existsSync(file) ? fs.statSync(file) : { size: 1, mtimeMs: 1 };
  const reading = { delimiter: ',', encoding: 'utf-8', header: true } as const;
  const spec: JobSpec = {
    version: 1,
    sourceName: 'tokens.csv',
    sourcePath: file,
    spool: null,
    identity: { size, modifiedMs: mtimeMs },
    crc: null,
    format: { ...reading, newline: '\n', markLength: 0, names: ['card'], width: 1 },
    connectionId: 'gone',
    connectionName: 'Nothing to see',
    environment: 'development',
    plan: planOf([{ ...detokenize(0, analyst), operation: 'tokenize' }]),
    kinds: ['text'],
    maskedColumns: [],
    columns: ['card'],
    startedAt: new Date().toISOString(),
    mapping: null,
    queued: null,
    run: null,
    ...said,
  };
  return JSON.stringify(spec);
}

test('results of cards are none of tokens because a file in clear says so', async () => {
  const { open, file, jobId, folder, written } = await withHome(1);
  const forged = plainSpec(file, { jobId });
  fs.writeFileSync(path.join(folder, 'job.json'), forged);
  const app = await open();
  expect(value(await app.ask('batch.jobs', {}))).toEqual([]);
  expect(value(await app.ask('batch.damaged', {}))).toHaveLength(1);
  const rows = await app.ask('batch.rows', { jobId, filter: 'all', from: 0, count: 10 });
  const exported = await app.ask('batch.export', { ...plainExport, jobId, content: 'tokens', grounds: null });
  expect([rows, exported]).toEqual([failed('job.unknown'), failed('job.unknown')]);
  expect(written()).toEqual([]);
  // Nor does the app encrypt it as its own.
  expect(fs.readFileSync(path.join(folder, 'job.json'), 'utf8')).toBe(forged);
});

test('nor after the key was removed from the keyring, so that there is a new one', async () => {
  const { open, file, jobId, folder, keyring } = await withHome(1);
  const forged = plainSpec(file, { jobId });
  fs.writeFileSync(path.join(folder, 'job.json'), forged);
  for (const name of [...keyring.entries.keys()].filter((one) => one.endsWith(':secrets:key')))
    keyring.entries.delete(name);
  const app = await open();
  expect(value(await app.ask('batch.damaged', {}))).toHaveLength(1);
  expect(fs.readFileSync(path.join(folder, 'job.json'), 'utf8')).toBe(forged);
});

test('a batch that was never started does not run with the person’s secrets', async () => {
  const { open, home, connectionId } = await withHome(0);
  const file = path.join(tempFolder(), 'cards.csv');
  fs.writeFileSync(file, 'card\nx\n');
  const jobId = randomUUID();
  const plan = planOf([detokenize(0, analyst)]);
  fs.mkdirSync(path.join(home, 'jobs', jobId), { recursive: true });
  fs.writeFileSync(
    path.join(home, 'jobs', jobId, 'job.json'),
    plainSpec(file, { jobId, connectionId, plan }),
  );
  const app = await open();
  expect(await app.ask('batch.resume', { jobId })).toEqual(failed('job.unknown'));
  expect(value(await app.ask('batch.jobs', {}))).toEqual([]);
});

test('a batch of the version that had it in clear is taken over at the first start, and never again', async () => {
  const home = tempFolder();
  const keyring = fakeKeyring();
  const jobs = path.join(home, 'jobs');
  const put = (): string => {
    const jobId = randomUUID();
    fs.mkdirSync(path.join(jobs, jobId), { recursive: true });
    fs.writeFileSync(path.join(jobs, jobId, 'job.json'), plainSpec('/gone.csv', { jobId }));
    const state = { ...initialState, state: 'cancelled', endedAt: '2026-01-02T03:04:05.000Z' };
    fs.writeFileSync(path.join(jobs, jobId, 'state.json'), JSON.stringify(state));
    return jobId;
  };
  const listed = async () => {
    const app = await openWholeApp({ home, keyring });
    const found = value(await app.ask('batch.jobs', {}));
    await app.close();
    return found.map(({ jobId, state, endedAt }) => [jobId, state, endedAt]);
  };
  const old = [put(), 'cancelled', '2026-01-02T03:04:05.000Z'];
  expect(await listed()).toEqual([old]);
  expect(fs.readFileSync(path.join(jobs, String(old[0]), 'job.json'), 'utf8')).not.toContain(
    'Nothing to see',
  );
  put();
  expect(await listed()).toEqual([old]);
});

/** As an editor would write it: each line's checksum is right. */
function editCounts(folder: string, counts: readonly number[]): void {
  const file = path.join(folder, 'journal');
  const lines = fs.readFileSync(file, 'latin1').trimEnd().split('\n');
  const edited = lines.map((line) => {
    const members = JSON.parse(line.slice(0, line.lastIndexOf(' '))) as unknown[];
    const text = JSON.stringify(members.with(8, counts));
    return `${text} ${crc32(text).toString(16)}\n`;
  });
  fs.writeFileSync(file, edited.join(''));
}

test.each([
  ['the journal and what is known of it', true],
  ['the journal alone', false],
])('no more rows leave than the limit of the day has, whatever %s says', async (_, withState) => {
  const { open, folder, jobId, written } = await withHome(30, { managed: { maxExportedRowsPerDay: 10 } });
  editCounts(folder, [1, 1, 0, 0, 0]);
  const state = path.join(folder, 'state.json');
  const tally = { rows: 1, ok: 1, failed: 0, unmatched: 0, blank: 0 };
  const before = JSON.parse(fs.readFileSync(state, 'utf8')) as object;
  if (withState) fs.writeFileSync(state, JSON.stringify({ ...before, total: null, tally }));
  const app = await open();
  expect(await app.ask('batch.export', { ...plainExport, jobId, content: 'cleartext', grounds })).toEqual(
    failed('job.damaged'),
  );
  expect(written()).toEqual([]);
});

test('what is left of a batch of answers is counted, whatever the journal says was answered', async () => {
  let app = await openApp();
  onTestFinished(() => app.close());
  app.service.answer = () => (app.service.sent.length > 1_000 ? failed('service.credentials') : null);
  const rows = 3_000;
  const text = `token\n${Array.from({ length: rows }, (_, row) => `tok${row}\n`).join('')}`;
  const sourceId = await app.open(await app.write('in.csv', text));
  const plan = planOf([detokenize(0, { operation: 'match', into: 'beside', pattern: '^<tok1' })]);
  const { jobId } = valueOf(await app.batch['batch.start']({ sourceId, plan, grounds: someGrounds }));
  const { tally } = await app.until(jobId, 'paused');
  app = await app.again();
  const folder = path.join(app.options.folder, jobId);
  const before = fs.readFileSync(path.join(folder, 'journal'));
  expect(tally.rows).toBeGreaterThan(0);
  editCounts(folder, [rows, rows, 0, 0, 0]);
  const resumed = () => app.batch['batch.resume']({ jobId, grounds: someGrounds });
  const sent = app.service.sent.length;
  expect(await resumed()).toEqual(failed('job.damaged'));
  expect(app.service.sent.length).toBe(sent);
  app = await app.again();
  fs.writeFileSync(path.join(folder, 'journal'), before);
  expect(await resumed()).toEqual({ ok: true, value: {} });
});

test.each([
  ['is put far into the future', { endedAt: '2099-01-01T00:00:00.000Z' }],
  ['is taken away', { endedAt: null, state: 'paused' }],
])('an end that %s keeps no results', async (_, edit) => {
  const { open, folder } = await withHome(1, { managed: { keepResultsDays: 7 } });
  const state = path.join(folder, 'state.json');
  const before = JSON.parse(fs.readFileSync(state, 'utf8')) as object;
  fs.writeFileSync(state, JSON.stringify({ ...before, ...edit }));
  const now = vi.spyOn(systemClock, 'now').mockImplementation(() => Date.now() + 8 * 86_400_000);
  onTestFinished(() => {
    now.mockRestore();
  });
  await open();
  await vi.waitFor(() => expect(fs.existsSync(folder)).toBe(false), { timeout: 10_000 });
});
