import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { done, failed } from '../../electron/contract/errors.ts';
import type { Connection } from '../../electron/contract/models/connection.ts';
import { noCounts } from '../../electron/privacy/disclosures.ts';
import { createSecondPerson } from '../../electron/privacy/second-person.ts';
import {
  cleartextOf,
  codeOf,
  connection,
  fakeService,
  openApp,
  planOf,
  someGrounds,
  valueOf,
  type FakeService,
  type TestApp,
} from '../support/batch-app.ts';
import { gateWith } from '../support/cleartext-gate.ts';
import { move, movingOptions, other } from '../support/moving-app.ts';

/*
 * What a move may cost: values in clear where they stay, values of production where nobody takes care of them, half a file
 * with the tokens of another service, and the other service's day. Test-wide: nothing of it by the window's word.
 */

let from: FakeService;
let to: FakeService;
let all: Connection[];
let app: TestApp;
beforeEach(async () => {
  from = fakeService(50);
  to = fakeService(50);
  all = [connection, other];
  app = await openApp(movingOptions({ from, to }, all));
});
afterEach(() => app.close());

const plan = planOf([move()]);
const open = async (count: number): Promise<string> => {
  const lines = Array.from({ length: count }, (_, n) => `${n},token${n}\n`);
  return app.open(await app.write('old.csv', `id,card\n${lines.join('')}`));
};
const isEnvironment = (at: 0 | 1, environment: Connection['environment']): void => {
  all[at] = { ...(at === 0 ? connection : other), environment };
};

/** Every byte below a folder. */
function bytesBelow(folder: string): string {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => fs.readFileSync(path.join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

test('no value in clear is on the disk or in the log while and after it is moved', async () => {
  let during = '';
  to.answer = () => {
    during ||= bytesBelow(app.folder);
    return null;
  };
  to.refuses = (value) => value === cleartextOf('token7');
  const job = await app.run(await open(120), plan);
  expect(job).toMatchObject({ state: 'finished', tally: { ok: 119, failed: 1 } });
  expect(to.sent).toContain(cleartextOf('token1'));
  const all = during + bytesBelow(app.folder) + JSON.stringify([app.audit, app.jobs]);
  expect(during).not.toBe('');
  for (const value of to.sent) expect(all).not.toContain(value);
});

test('values of production go to production alone, whatever the window asks', async () => {
  isEnvironment(0, 'production');
  const asked = { sourceId: await open(3), plan, grounds: { ...someGrounds, confirmRows: 3 } };
  expect(await app.batch['batch.start'](asked)).toEqual(
    failed('plan.move-environment', { subject: 'New service' }),
  );
  expect(codeOf(await app.batch['batch.try'](asked))).toBe('plan.move-environment');
  expect([...from.sent, ...to.sent]).toEqual([]);
});

test('into production the row count is typed, as from it', async () => {
  isEnvironment(1, 'production');
  const asked = { sourceId: await open(3), plan, grounds: someGrounds };
  expect(codeOf(await app.batch['batch.start'](asked))).toBe('export.confirm');
  expect([...from.sent, ...to.sent]).toEqual([]);
  const confirmed = { ...asked, grounds: { ...someGrounds, confirmRows: 3 } };
  const { jobId } = valueOf(await app.batch['batch.start'](confirmed));
  expect(await app.until(jobId, 'finished')).toMatchObject({ tally: { ok: 3 } });
});

test.each([
  ['the address', { baseUrl: 'https://127.0.0.2' }],
  ['the account', { accountId: 'another' }],
  ['the environment', { environment: 'development' }],
] as const)('it does not go on once %s of either end is another', async (_, change) => {
  from.answer = () => failed('service.unreachable');
  const { jobId } = await app.run(await open(3), plan);
  from.answer = () => null;
  from.sent.length = 0;
  for (const at of [0, 1] as const) {
    const before = at === 0 ? connection : other;
    all[at] = { ...before, ...change };
    expect(await app.batch['batch.resume']({ jobId, grounds: someGrounds })).toEqual(
      failed('job.account-changed', { subject: before.name }),
    );
    all[at] = before;
  }
  expect([...from.sent, ...to.sent]).toEqual([]);
  valueOf(await app.batch['batch.resume']({ jobId, grounds: someGrounds }));
  expect(await app.until(jobId, 'finished')).toMatchObject({ tally: { ok: 3 } });
});

test.each([
  ['account', { accountId: 'another' }],
  ['address', { baseUrl: 'https://127.0.0.2' }],
] as const)('the %s of either end is another while the first of several files runs', async (_, change) => {
  for (const at of [0, 1] as const) {
    const before = at === 0 ? connection : other;
    const files = await Promise.all(
      ['a', 'b'].map((name) => app.write(`${name}${at}.csv`, `id,card\n1,${name}${at}\n`)),
    );
    const { source, queue } = valueOf(await app.batch['batch.dropFiles']({ references: files }));
    const { queueId = '' } = queue ?? {};
    to.answer = () => ((all[at] = { ...before, ...change }), null);
    const asked = { queueId, sourceId: source?.sourceId ?? '', plan, grounds: someGrounds };
    valueOf(await app.batch['batch.startQueue'](asked));
    const find = async () =>
      valueOf(await app.batch['batch.queues']({})).find((one) => one.queueId === queueId);
    await expect.poll(async () => (await find())?.state).toBe('stopped');
    const second = (await find())?.files[1];
    expect(second?.asks?.failure).toEqual({ code: 'job.account-changed', subject: before.name });
    expect([...from.sent, ...to.sent].filter((value) => value.includes('b'))).toEqual([]);
    // No reason makes it go on there, and the file waits for the connection that the set began with.
    const { fileId = '' } = second ?? {};
    const decide = { queueId, fileId, decision: 'run', grounds: someGrounds } as const;
    valueOf(await app.batch['batch.decideQueued'](decide));
    await expect.poll(async () => (await find())?.state).toBe('stopped');
    expect([...from.sent, ...to.sent].filter((value) => value.includes('b'))).toEqual([]);
    to.answer = () => null;
    all[at] = before;
    valueOf(await app.batch['batch.decideQueued'](decide));
    await expect.poll(async () => (await find())?.state).toBe('finished');
    expect(to.sent).toContain(cleartextOf(`b${at}`));
    const saved = valueOf(await app.batch['batch.reportQueue']({ queueId, form: 'json' }));
    const report = fs.readFileSync(path.join(app.folder, saved?.name ?? ''), 'utf8');
    expect(report).toContain('at New service (test), https://127.0.0.1');
    from.sent.length = 0;
    to.sent.length = 0;
  }
});

test('what a second person approved of a move is good for these addresses and accounts alone', async () => {
  const secondPerson = createSecondPerson({
    rules: ['move'],
    approvals: { use: () => Promise.resolve(failed('approval.unknown')) },
    today: () => Promise.resolve(done({ ...noCounts, day: '2026-01-05', limits: { ...noCounts } })),
    key: () => Promise.resolve(done(new Uint8Array(32).fill(9))),
    changed: () => undefined,
  });
  const guarded = await openApp({ ...movingOptions({ from, to }, all), gate: gateWith({ secondPerson }) });
  onTestFinished(() => guarded.close());
  const sourceId = await guarded.open(await guarded.write('old.csv', 'id,card\n1,token1\n'));
  const asked = { sourceId, plan, grounds: someGrounds };
  const wanted = async (call: 'batch.start' | 'batch.try') => {
    expect(codeOf(await guarded.batch[call](asked))).toBe('approval.needed');
    return secondPerson.wanted();
  };
  for (const call of ['batch.start', 'batch.try'] as const) {
    const shown = await wanted(call);
    expect(await wanted(call)).toEqual(shown);
    expect(shown?.words.join(' ')).toContain(other.baseUrl);
    for (const at of [0, 1] as const)
      for (const change of [{ baseUrl: 'https://127.0.0.2' }, { accountId: 'another' }, { tenantId: 't' }]) {
        const before = at === 0 ? connection : other;
        all[at] = { ...before, ...change };
        expect((await wanted(call))?.exact).not.toBe(shown?.exact);
        all[at] = before;
      }
  }
  expect([...from.sent, ...to.sent]).toEqual([]);
});

test('the estimate counts what both connections are asked, each against its own limits', async () => {
  all[1] = { ...other, requestsPerSecond: 1, transfersPerDay: 1_000 };
  const sourceId = await open(200);
  valueOf(await app.batch['batch.preflight']({ sourceId, plan }));
  await expect.poll(() => app.preflights.at(-1)?.done).toBe(true);
  expect(app.preflights.at(-1)).toMatchObject({
    requests: 4,
    targets: [{ connection: 'New service', requests: 4, dayShare: 0.2 }],
    seconds: 4,
  });
});
