import fs from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { failed } from '../../electron/contract/errors.ts';
import type { Connection } from '../../electron/contract/models/connection.ts';
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
