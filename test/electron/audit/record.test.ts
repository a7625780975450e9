import { expect, test } from 'vitest';
import type { AuditEnd } from '../../../electron/audit/entries.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import { everything, logFolder, value } from '../../support/audit-folder.ts';
import { auditWith } from '../../support/fake-audit.ts';

const intent = { action: 'StoreSecret', connection: 'Acme', rows: 3 };

function open() {
  const ends: AuditEnd[] = [];
  const { record } = auditWith(() => Promise.resolve(done((end) => void ends.push(end))));
  return { record, ends };
}

test('an act ends as its outcome, which is answered', async () => {
  const { record, ends } = open();
  expect(await record(intent, () => done(7))).toEqual(done(7));
  const refused = failed('service.refused', { requestId: 'r-1' });
  expect(await record(intent, () => Promise.resolve(refused))).toBe(refused);
  expect(ends).toEqual([{ ok: true }, { ok: false, code: 'service.refused', requestId: 'r-1' }]);
});

test('the run adds to the end what only it knows, also that it failed', async () => {
  const { record, ends } = open();
  await record(intent, (add) => {
    add({ rows: 2 });
    add({ requestId: 'r-2', note: 'of two' });
    return failed('service.refused', { requestId: 'r-1' });
  });
  await record(intent, (add) => {
    add({ ok: false, code: 'portal.expired' });
    return done('a state');
  });
  expect(ends).toEqual([
    { ok: false, code: 'service.refused', requestId: 'r-2', rows: 2, note: 'of two' },
    { ok: false, code: 'portal.expired' },
  ]);
});

test('a run that throws ends as failed, with what it had added, and throws on', async () => {
  const { record, ends } = open();
  const thrown = new Error('a defect');
  const acts = [
    () => {
      throw thrown;
    },
    () => Promise.reject(thrown),
  ];
  for (const act of acts) await expect(record(intent, act)).rejects.toBe(thrown);
  const late = record(intent, (add) => {
    add({ ok: true, requestId: 'r-1' });
    throw thrown;
  });
  await expect(late).rejects.toBe(thrown);
  const end = { ok: false, code: 'call.failed' };
  expect(ends).toEqual([end, end, { ...end, requestId: 'r-1' }]);
});

test('nothing is run that can not be begun', async () => {
  const { record } = auditWith(() => Promise.resolve(failed('audit.unwritable')));
  let runs = 0;
  expect(await record(intent, () => done(++runs))).toEqual(failed('audit.unwritable'));
  expect(runs).toBe(0);
});

test('both lines are in the log, the beginning before the run', async () => {
  const audit = await logFolder().open();
  const seen = value(
    await audit.record(intent, async (add) => {
      add({ rows: 2, refused: { 'service.refused': 1 }, requestId: '' });
      return done((await audit.list(everything)).entries.map(({ phase }) => phase));
    }),
  );
  expect(seen).toEqual(['begun']);
  const { entries } = await audit.list(everything);
  expect(entries).toMatchObject([
    { phase: 'ok', of: 1, connection: 'Acme', rows: 2, refused: { 'service.refused': 1 }, requestId: null },
    { phase: 'begun', sequence: 1, rows: 3 },
  ]);
});
