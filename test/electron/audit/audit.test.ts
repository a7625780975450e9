import { createHmac } from 'node:crypto';
import fs from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type ActivityQuery, type AuditPage, auditPage } from '../../../electron/contract/models/activity.ts';
import { failed } from '../../../electron/contract/errors.ts';
import { createAudit } from '../../../electron/audit/audit.ts';
import { createCheckpointFile } from '../../../electron/audit/checkpoint.ts';
import { beginStart, endStart } from '../../../electron/util/turns.ts';
import { everything, logFolder, testKey, value } from '../../support/audit-folder.ts';

const intent = {
  action: 'Reveal',
  connection: 'Acme',
  environment: 'test',
  policy: 'agent',
  definition: 'card',
  reason: 'Refund',
  caseReference: 'D-1',
  rows: 1,
};

test('a beginning is on the disk when it is answered, and its end follows with the outcome', async () => {
  const log = logFolder();
  const audit = await log.open();
  const close = value(await audit.begin(intent));
  const lines = fs.readFileSync(log.file(1), 'utf8').trimEnd().split('\n');
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[1] ?? '')).toMatchObject({ sequence: 1, phase: 'begun', actor: 'kim', ...intent });
  close({ ok: true, requestId: 'req-1' });
  close({ ok: false, code: 'service.refused' });
  const page = await audit.list(everything);
  expect(auditPage.parse(page)).toEqual(page);
  expect(page).toMatchObject({
    total: 2,
    chain: { state: 'intact', checked: 2 },
    entries: [
      { sequence: 2, of: 1, phase: 'ok', requestId: 'req-1', ...intent },
      { sequence: 1, of: null, phase: 'begun', ...intent },
    ],
  });
  expect(audit.state()).toBe('ready');
  await audit.close();
});

test('the log opens in the background, and what is to be recorded waits for it', async () => {
  const log = logFolder();
  let answerKey: () => void = () => undefined;
  const audit = createAudit({
    folder: log.folder,
    key: () =>
      new Promise((resolve) => {
        answerKey = () => resolve({ ok: true, value: { bytes: testKey, persistent: true } });
      }),
    actor: 'kim',
    now: () => new Date('2026-01-02T03:04:05.678Z'),
    checkpoint: createCheckpointFile(log.checkpoint),
  });
  expect(audit.state()).toBe('ready');
  const steps: string[] = [];
  const begun = audit.begin(intent).then((outcome) => steps.push(outcome.ok ? 'begun' : 'refused'));
  const listed = audit.list(everything).then(({ total }) => steps.push(`listed ${total}`));
  await new Promise(setImmediate);
  expect(steps).toEqual([]);
  answerKey();
  await Promise.all([begun, listed]);
  expect(steps).toEqual(['begun', 'listed 1']);
  await audit.close();
});

test('while a window starts the log is not verified yet, and what is to be recorded has it verified first', async () => {
  const log = logFolder();
  const before = await log.open();
  value(await before.begin(intent));
  await before.close();
  fs.writeFileSync(log.file(1), fs.readFileSync(log.file(1), 'utf8').replace('D-1', 'D-2'));
  onTestFinished(endStart);
  beginStart();
  let asked = 0;
  const audit = createAudit({
    folder: log.folder,
    key() {
      asked += 1;
      return Promise.resolve({ ok: true, value: { bytes: testKey, persistent: true } });
    },
    actor: 'kim',
    now: () => new Date('2026-01-02T03:04:05.678Z'),
    checkpoint: createCheckpointFile(log.checkpoint),
  });
  await new Promise(setImmediate);
  expect([asked, audit.state()]).toEqual([0, 'ready']);
  value(await audit.begin(intent));
  expect([asked, audit.state()]).toEqual([1, 'broken']);
  endStart();
  await audit.opened;
  expect(asked).toBe(1);
  await audit.close();
});

test('lines of what comes later wait for each other, until one is asked for or their time is over', async () => {
  const log = logFolder();
  const audit = await log.open();
  await audit.begin(intent);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const written = () => fs.readFileSync(log.file(1), 'utf8').trimEnd().split('\n').length - 1;
    const later = { ...intent, action: 'BatchDetokenize', later: true };
    const begun = [audit.begin(later), audit.begin(later)];
    await audit.begin(intent);
    await Promise.all(begun);
    expect(written()).toBe(4);

    const asked = audit.begin(later);
    await new Promise(setImmediate);
    expect(written()).toBe(4);
    audit.hurry();
    await asked;
    expect(written()).toBe(5);

    const waiting = audit.begin(later);
    await new Promise(setImmediate);
    expect(written()).toBe(5);
    vi.advanceTimersByTime(100);
    await waiting;
    expect(written()).toBe(6);
  } finally {
    vi.useRealTimers();
  }
  await audit.close();
});

test('ends that come while the log closes are written', async () => {
  const log = logFolder();
  const audit = await log.open();
  const [one, other] = [value(await audit.begin(intent)), value(await audit.begin(intent))];
  one({ ok: true });
  const closed = audit.close();
  await Promise.resolve();
  await Promise.resolve();
  await Promise.resolve();
  other({ ok: true });
  await closed;
  const again = await log.open();
  expect((await again.list(everything)).entries.filter(({ phase }) => phase === 'ok')).toHaveLength(2);
  await again.close();
});

test.skipIf(process.platform !== 'linux')(
  'what is recorded after the log was closed is written, and leaves no file open',
  async () => {
    const log = logFolder();
    const audit = await log.open();
    await audit.close();
    value(await audit.begin({ action: 'Late' }))({ ok: true });
    const phases = (): string[] =>
      fs
        .readFileSync(log.file(1), 'utf8')
        .split('\n')
        .flatMap((line) => /"action":"Late","phase":"(\w+)"/.exec(line)?.[1] ?? []);
    await expect.poll(phases).toEqual(['begun', 'ok']);
    const open = (): string[] =>
      fs.readdirSync('/proc/self/fd').filter((fd) => {
        try {
          return fs.readlinkSync(`/proc/self/fd/${fd}`).startsWith(log.root);
        } catch {
          // The one that lists them is gone by then.
          return false;
        }
      });
    await expect.poll(open).toEqual([]);
  },
);

test('files are private', async () => {
  const log = logFolder();
  const audit = await log.open();
  await audit.begin(intent);
  const mode = (path: string) => (fs.statSync(path).mode & 0o777).toString(8);
  expect([mode(log.folder), mode(log.file(1)), mode(log.checkpoint)]).toEqual(['700', '600', '600']);
});

test('each line carries the MAC of the one before and its own', async () => {
  const log = logFolder();
  const audit = await log.open();
  await Promise.all([audit.begin(intent), audit.begin(intent), audit.begin(intent)]);
  let before = '0'.repeat(64);
  for (const line of fs.readFileSync(log.file(1), 'utf8').trimEnd().split('\n')) {
    const { prev, mac } = JSON.parse(line) as { prev: string; mac: string };
    expect(prev).toBe(before);
    const body = line.slice(0, line.indexOf(',"mac":'));
    expect(createHmac('sha256', testKey).update(body).digest('hex')).toBe(mac);
    before = mac;
  }
});

test('a log continues where it ended', async () => {
  const log = logFolder();
  for (let run = 0; run < 3; run++) {
    const audit = await log.open();
    value(await audit.begin(intent))({ ok: true });
    await audit.close();
  }
  const audit = await log.open();
  const page = await audit.list(everything);
  expect(page.entries.map(({ sequence }) => sequence)).toEqual([6, 5, 4, 3, 2, 1]);
  expect(page.chain).toEqual({ state: 'intact', checked: 6 });
  expect(log.files()).toEqual(['audit-000001.jsonl']);
});

test('entries that arrive together keep their order, each with its own sequence', async () => {
  const log = logFolder();
  const audit = await log.open();
  const closes = await Promise.all(
    Array.from({ length: 200 }, (_, count) => audit.begin({ ...intent, note: `${count}` })),
  );
  for (const close of closes) value(close)({ ok: true });
  const { entries } = await audit.list(everything);
  expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 400 }, (_, at) => 400 - at));
  const begun = entries.filter(({ phase }) => phase === 'begun').reverse();
  expect(begun.map(({ note }) => note)).toEqual(Array.from({ length: 200 }, (_, count) => `${count}`));
  expect(new Set(entries.filter(({ of }) => of !== null).map(({ of }) => of)).size).toBe(200);
});

test('pages go back to the first entry across files, each entry once', async () => {
  const log = logFolder();
  const audit = await log.open({ rotateBytes: 4_000 });
  for (let count = 0; count < 60; count++) await audit.begin(intent);
  expect(log.files().length).toBeGreaterThan(5);
  const seen: number[] = [];
  for (let before: number | null = null; ;) {
    const { entries, total } = await audit.list({ before, limit: 7, caseReference: null });
    expect(total).toBe(60);
    if (entries.length === 0) break;
    seen.push(...entries.map(({ sequence }) => sequence));
    before = seen.at(-1) ?? null;
  }
  expect(seen).toEqual(Array.from({ length: 60 }, (_, at) => 60 - at));
  await audit.close();
  const again = await log.open({ rotateBytes: 4_000 });
  expect((await again.list(everything)).chain).toEqual({ state: 'intact', checked: 60 });
});

test('all entries of a case are found and counted', async () => {
  const log = logFolder();
  const audit = await log.open({ rotateBytes: 4_000 });
  for (let count = 0; count < 40; count++) {
    const caseReference = count % 4 === 0 ? 'D-1 "é"' : 'D-1';
    value(await audit.begin({ ...intent, caseReference }))({ ok: true });
  }
  const page = await audit.list({ before: null, limit: 5, caseReference: 'D-1 "é"' });
  expect(page.total).toBe(20);
  expect(page.entries).toHaveLength(5);
  expect(page.entries.every(({ caseReference }) => caseReference === 'D-1 "é"')).toBe(true);
  const rest = await audit.list({
    before: page.entries[4]?.sequence ?? 0,
    limit: 100,
    caseReference: 'D-1 "é"',
  });
  expect(rest.entries).toHaveLength(15);
  expect((await audit.list({ ...everything, caseReference: 'D-9' })).entries).toEqual([]);
});

test('entries are found by kind, outcome, person, day and text', async () => {
  const log = logFolder();
  const audit = await log.open();
  const acts = ['Reveal', 'BatchDetokenize', 'SaveSettings', 'Export', 'AnActOfAnotherVersion'];
  for (const action of acts) {
    const close = value(await audit.begin({ ...intent, action, reason: `About ${action}` }));
    close(action === 'Export' ? { ok: false, code: 'file.disk-full' } : { ok: true });
  }
  const found = async (query: Partial<ActivityQuery>) => {
    const { entries } = await audit.list({ ...everything, ...query });
    return [...new Set(entries.map(({ action }) => action))].reverse();
  };
  expect(await found({ kind: 'cleartext' })).toEqual(['Reveal', 'Export']);
  expect(await found({ kind: 'changes' })).toEqual(['SaveSettings']);
  expect(await found({ kind: 'requests' })).toEqual(['BatchDetokenize', 'AnActOfAnotherVersion']);
  expect(await found({ outcome: 'failed' })).toEqual(['Export']);
  expect(await found({ kind: 'cleartext', outcome: 'ok' })).toEqual(['Reveal']);
  expect(await found({ text: ' about savesettings ' })).toEqual(['SaveSettings']);
  expect(await found({ text: 'disk-full' })).toEqual(['Export']);
  expect(await found({ actor: 'somebody else' })).toEqual([]);
  const [{ at, actor } = { at: '', actor: '' }] = (await audit.list({ ...everything, limit: 1 })).entries;
  expect(await found({ actor })).toEqual(acts);
  expect(await found({ from: at, to: new Date(Date.parse(at) + 1).toISOString() })).not.toEqual([]);
  expect(await found({ to: '2000-01-01T00:00:00.000Z' })).toEqual([]);
  expect(await found({ from: '2100-01-01T00:00:00.000Z' })).toEqual([]);
});

test('a day is found in whichever of many files it is', async () => {
  const log = logFolder();
  let day = 0;
  const at = (from: number): string => new Date(Date.UTC(2026, 0, 1 + from)).toISOString();
  const audit = await log.open({ rotateBytes: 2_000, now: () => new Date(at(day)) });
  for (day = 0; day < 12; day++) {
    for (let act = 0; act < 3; act++) value(await audit.begin({ ...intent, reason: `day ${day}` }));
  }
  expect(log.files().length).toBeGreaterThan(6);
  for (let asked = 0; asked < 12; asked++) {
    const { entries, next } = await audit.list({ ...everything, from: at(asked), to: at(asked + 1) });
    expect(entries.map(({ reason }) => reason)).toEqual(Array(3).fill(`day ${asked}`));
    expect(next).toBeNull();
  }
});

test('a search for a typed card number finds what the log has of it', async () => {
  const log = logFolder();
  const audit = await log.open();
  value(await audit.begin({ ...intent, reason: 'caller read 4111111111111111 to me' }));
  const page = await audit.list({ ...everything, text: '4111111111111111' });
  expect(page.entries).toHaveLength(1);
  expect(JSON.stringify(page)).not.toContain('4111111111111111');
});

test('the requests of a batch are one entry with their sum, and one by one when asked for', async () => {
  const log = logFolder();
  const audit = await log.open();
  for (let count = 0; count < 30; count++) {
    const job = count % 2 === 0 ? 'job-a' : 'job-b';
    const close = value(await audit.begin({ ...intent, action: 'BatchDetokenize', job, rows: 500 }));
    close(count === 4 ? { ok: false, code: 'service.timeout' } : { ok: true });
  }
  value(await audit.begin({ ...intent, action: 'Export', job: 'job-a' }))({ ok: true });
  const folded = await audit.list({ ...everything, foldBatches: true });
  expect(folded.entries.map(({ action, job }) => `${action} ${job ?? ''}`)).toEqual([
    'Export job-a',
    'Export job-a',
    'BatchDetokenize job-b',
    'BatchDetokenize job-a',
  ]);
  expect(folded.batches.map(({ requests, failed, rows }) => [requests, failed, rows])).toEqual([
    [15, 0, 7_500],
    [15, 1, 7_500],
  ]);
  const unfolded = await audit.list({ ...everything, job: 'job-a', kind: 'requests' });
  expect(unfolded.entries).toHaveLength(30);
});

test('a page says where the next one begins, and the last one that there is none', async () => {
  const log = logFolder();
  const audit = await log.open({ rotateBytes: 4_000 });
  for (let count = 0; count < 25; count++) {
    await audit.begin({ ...intent, action: count % 5 === 0 ? 'Reveal' : 'Tokenize' });
  }
  const seen: number[] = [];
  let before: number | null = null;
  do {
    const page: AuditPage = await audit.list({ before, limit: 2, caseReference: null, kind: 'cleartext' });
    seen.push(...page.entries.map(({ sequence }) => sequence));
    before = page.next;
  } while (before !== null);
  expect(seen).toEqual([21, 16, 11, 6, 1]);
});

test('a card number or SSN typed as a reason, case or note is masked', async () => {
  const log = logFolder();
  const audit = await log.open();
  value(
    await audit.begin({
      ...intent,
      reason: 'caller read 4111 1111 1111 1111 to me',
      caseReference: '5555555555554444',
      note: 'ssn 078-05-1120',
    }),
  )({ ok: true, note: '378282246310005' });
  await audit.list(everything);
  const text = fs.readFileSync(log.file(1), 'utf8');
  expect(text).not.toMatch(/4111 1111 1111 1111|5555555555554444|078-05-1120|378282246310005/);
  expect((await audit.list({ ...everything, caseReference: '5555555555554444' })).total).toBe(2);
});

test('a reason or note of any text is one line, at most 500 characters', async () => {
  const log = logFolder();
  const audit = await log.open();
  value(await audit.begin({ ...intent, reason: 'a\n{"v":1}\n\u2028"\\', note: 'x'.repeat(100_000) }));
  const { entries } = await audit.list(everything);
  expect(entries[0]?.reason).toBe('a\n{"v":1}\n\u2028"\\');
  expect(entries[0]?.note).toHaveLength(500);
  expect(fs.readFileSync(log.file(1), 'utf8').split('\n')).toHaveLength(3);
});

test('a log that can not be opened says so by itself', async () => {
  const audit = createAudit({
    folder: logFolder().folder,
    key: () => Promise.resolve(failed('keychain.locked')),
    actor: 'kim',
    now: () => new Date(0),
    checkpoint: { read: () => Promise.resolve([]), write: () => Promise.resolve() },
  });
  const states: string[] = [];
  audit.onState(() => states.push(audit.state()));
  await audit.opened;
  expect(states).toEqual(['unwritable']);
});

test('nothing is begun while the key is not available, and it works once it is', async () => {
  const log = logFolder();
  let locked = true;
  const audit = await log.open({
    key: () =>
      Promise.resolve(
        locked ? failed('keychain.locked') : { ok: true, value: { bytes: testKey, persistent: true } },
      ),
  });
  expect(audit.state()).toBe('unwritable');
  expect(await audit.begin(intent)).toEqual(failed('audit.unwritable'));
  expect(await audit.list(everything)).toMatchObject({ entries: [], total: 0 });
  locked = false;
  const states: string[] = [];
  audit.onState(() => states.push(audit.state()));
  value(await audit.begin(intent));
  expect(states).toEqual(['ready']);
});

test('without a keyring each run has a key of its own, and the log stays intact', async () => {
  const log = logFolder();
  const run = (fill: number) =>
    log.open({
      key: () =>
        Promise.resolve({ ok: true, value: { bytes: new Uint8Array(32).fill(fill), persistent: false } }),
    });
  for (const fill of [1, 2, 3]) {
    const audit = await run(fill);
    value(await audit.begin(intent));
    expect(audit.state()).toBe('ready');
    await audit.close();
  }
  const audit = await run(4);
  const page = await audit.list(everything);
  expect(page.total).toBe(3);
  expect(page.entries).toHaveLength(3);
  // None of them can be verified any more, and none is counted as checked.
  expect(page.chain).toEqual({ state: 'intact', checked: 0 });
});

test('a second process on the same log appends to it and overwrites nothing', async () => {
  const log = logFolder();
  const one = await log.open({ rotateBytes: 4_000 });
  const other = await log.open({ rotateBytes: 4_000 });
  for (let count = 0; count < 12; count++) value(await (count % 3 === 0 ? one : other).begin(intent));
  const { entries, chain } = await one.list(everything);
  expect(chain).toEqual({ state: 'intact', checked: 12 });
  expect(entries).toHaveLength(12);
  expect(log.files().length).toBeGreaterThan(1);
});
