import { createHash } from 'node:crypto';
import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  createCheckpointFile,
  readCheckpoints,
  type CheckpointStore,
} from '../../../electron/audit/checkpoint.ts';
import { signLine, keyIdOf, zeroMac } from '../../../electron/audit/lines.ts';
import { createLogVerifier } from '../../../electron/audit/verify.ts';
import { everything, logFolder, testKey, value } from '../../support/audit-folder.ts';

const intent = { action: 'Reveal', reason: 'Refund', caseReference: 'D-1' };

type Log = ReturnType<typeof logFolder>;

async function written(entries: number, parts: Parameters<Log['open']>[0] = {}) {
  const log = logFolder();
  const audit = await log.open(parts);
  for (let count = 0; count < entries; count++) value(await audit.begin(intent));
  await audit.close();
  return log;
}

async function stateOf(log: Log) {
  const audit = await log.open();
  const state = audit.state();
  await audit.close();
  return state;
}

/** Tampers, opens, looks, and puts everything back as it was; again for each attempt. */
async function eachAttempt<T>(log: Log, attempts: readonly T[], tamper: (attempt: T) => void) {
  const paths = [...log.files().map((name) => path.join(log.folder, name)), log.checkpoint];
  const kept = paths.map((file) => ({ file, bytes: fs.readFileSync(file) }));
  const missed: T[] = [];
  for (const attempt of attempts) {
    tamper(attempt);
    if ((await stateOf(log)) !== 'broken') missed.push(attempt);
    for (const name of log.files()) fs.rmSync(path.join(log.folder, name));
    for (const { file, bytes } of kept) fs.writeFileSync(file, bytes);
  }
  expect(await stateOf(log)).toBe('ready');
  expect(missed).toEqual([]);
}

const upTo = (count: number) => Array.from({ length: count }, (_, at) => at);

/** Whether a log of these bytes verifies, without writing anything; fast enough to be asked for every byte. */
async function verifies(log: Log, bytes: Buffer): Promise<boolean> {
  fs.writeFileSync(log.file(1), bytes);
  const { newest } = readCheckpoints(testKey, await createCheckpointFile(log.checkpoint).read());
  const verifier = createLogVerifier(log.folder, { bytes: testKey, id: keyIdOf(testKey) });
  return (await verifier.verify(newest === null ? [] : [newest])).breaks.length === 0;
}

test('any byte flipped is found', async () => {
  const log = await written(2);
  const bytes = fs.readFileSync(log.file(1));
  const missed: number[] = [];
  for (const at of upTo(bytes.length)) {
    const changed = Buffer.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ (1 << (at % 8));
    if (await verifies(log, changed)) missed.push(at);
  }
  expect(missed).toEqual([]);
  expect(await verifies(log, bytes)).toBe(true);
});

test('a log cut anywhere is found', async () => {
  const log = await written(2);
  const bytes = fs.readFileSync(log.file(1));
  const missed: number[] = [];
  for (const at of upTo(bytes.length)) {
    if (await verifies(log, bytes.subarray(0, at))) missed.push(at);
  }
  expect(missed).toEqual([]);
});

test('a flipped byte and a cut are reported when the log opens', async () => {
  const log = await written(2);
  const bytes = fs.readFileSync(log.file(1));
  const positions = upTo(bytes.length).filter((at) => at % 97 === 0);
  await eachAttempt(log, positions, (at) =>
    fs.writeFileSync(log.file(1), Buffer.from(bytes).fill('\u0007', at, at + 1)),
  );
  await eachAttempt(log, positions, (at) => fs.writeFileSync(log.file(1), bytes.subarray(0, at)));
});

test('any line removed, doubled or swapped with the next is found', async () => {
  const log = await written(5);
  const lines = fs.readFileSync(log.file(1), 'utf8').trimEnd().split('\n');
  const attempts = upTo(lines.length).flatMap((at) => [
    { change: 'removed', lines: lines.toSpliced(at, 1) },
    { change: 'doubled', lines: lines.toSpliced(at, 0, lines[at] ?? '') },
    { change: 'swapped', lines: lines.toSpliced(at, 2, ...lines.slice(at, at + 2).reverse()) },
  ]);
  const changed = attempts.filter((attempt) => attempt.lines.join() !== lines.join());
  expect(changed).toHaveLength(17);
  await eachAttempt(log, changed, (attempt) =>
    fs.writeFileSync(log.file(1), attempt.lines.map((line) => `${line}\n`).join('')),
  );
});

test('a file of the log removed, emptied, cut at its end or swapped with the next is found', async () => {
  const log = await written(30, { rotateBytes: 3_000 });
  const files = log.files();
  expect(files.length).toBeGreaterThan(3);
  const at = (segment: number) => log.file(segment);
  const attempts = files.flatMap((_, index) => {
    const segment = index + 1;
    const bytes = fs.readFileSync(at(segment));
    const lastLine = bytes.lastIndexOf(10, bytes.length - 2) + 1;
    return [
      { change: `remove ${segment}`, run: () => fs.rmSync(at(segment)) },
      { change: `empty ${segment}`, run: () => fs.truncateSync(at(segment), 0) },
      { change: `cut ${segment}`, run: () => fs.truncateSync(at(segment), lastLine) },
      {
        change: `swap ${segment}`,
        run: () => {
          const other = (segment % files.length) + 1;
          fs.renameSync(at(segment), at(99));
          fs.renameSync(at(other), at(segment));
          fs.renameSync(at(99), at(other));
        },
      },
    ];
  });
  await eachAttempt(log, attempts, ({ run }) => run());
});

test('a checkpoint removed, or damaged in both slots, is found', async () => {
  const log = await written(3);
  await eachAttempt(log, ['remove', 'damage'], (change) => {
    if (change === 'remove') fs.rmSync(log.checkpoint);
    else fs.writeFileSync(log.checkpoint, 'x'.repeat(8_192));
  });
});

test('a log removed with its checkpoint is found by the anchor in the keychain', async () => {
  const kept: string[] = [];
  const anchor: CheckpointStore = {
    read: () => Promise.resolve(kept),
    write: (text) => (kept.splice(0, 1, text), Promise.resolve()),
  };
  const log = await written(3, { anchor });
  fs.rmSync(log.folder, { recursive: true });
  fs.rmSync(log.checkpoint);
  const audit = await log.open({ anchor });
  expect(audit.state()).toBe('broken');
  value(await audit.begin(intent));
  const { entries } = await audit.list(everything);
  expect(entries.map(({ sequence, action }) => [sequence, action])).toEqual([
    [5, 'Reveal'],
    [4, 'ChainBroken'],
  ]);
});

test('a log under another key is found', async () => {
  const log = await written(3);
  const audit = await log.open({
    key: () => Promise.resolve({ ok: true, value: { bytes: new Uint8Array(32).fill(9), persistent: true } }),
  });
  expect(audit.state()).toBe('broken');
});

test('a file under a forged key can not be added or replace another', async () => {
  const log = await written(3);
  const forged = new Uint8Array(32).fill(1);
  const segmentAs = (segment: number, next: number) =>
    signLine(
      forged,
      {
        v: 1,
        kind: 'segment',
        segment,
        at: '2026-01-02T03:04:05.678Z',
        next,
        key: keyIdOf(forged),
        kept: false,
        after: null,
        seals: null,
      },
      zeroMac,
    ).bytes;
  await eachAttempt(log, [1, 2], (segment) =>
    fs.writeFileSync(log.file(segment), segmentAs(segment, segment === 1 ? 1 : 4)),
  );
});

test('a line can not be replaced by one of another log under the same key', async () => {
  const log = await written(3);
  const other = logFolder();
  const audit = await other.open();
  for (let count = 0; count < 3; count++) value(await audit.begin({ ...intent, reason: 'Rebate' }));
  const ours = fs.readFileSync(log.file(1), 'utf8').split('\n');
  const theirs = fs.readFileSync(other.file(1), 'utf8').split('\n');
  await eachAttempt(log, [1, 2, 3], (at) =>
    fs.writeFileSync(log.file(1), ours.with(at, theirs[at] ?? '').join('\n')),
  );
});

test('a file can not be replaced by one of another log under the same key, without a checkpoint too', async () => {
  const [log, other] = [
    await written(6, { rotateBytes: 600 }),
    await written(6, { rotateBytes: 600, actor: 'lee' }),
  ];
  const verifier = () => createLogVerifier(log.folder, { bytes: testKey, id: keyIdOf(testKey) });
  expect((await verifier().verify([])).breaks).toEqual([]);
  fs.copyFileSync(other.file(2), log.file(2));
  // Each line of it holds, and its numbers go on.
  expect((await verifier().verify([])).breaks.map(({ segment }) => segment)).toContain(2);
});

test('without a keyring, a file missing at the start or changed since the next run is found', async () => {
  const log = logFolder();
  const run = async (fill: number) => {
    const audit = await log.open({
      key: () =>
        Promise.resolve({ ok: true, value: { bytes: new Uint8Array(32).fill(fill), persistent: false } }),
    });
    const state = audit.state();
    value(await audit.begin(intent));
    await audit.close();
    return state;
  };
  for (const fill of [1, 2, 3]) expect(await run(fill)).toBe('ready');
  const kept = fs.readFileSync(log.file(1));
  const checkpoint = fs.readFileSync(log.checkpoint);
  fs.rmSync(log.file(1));
  expect(await run(4)).toBe('broken');
  for (const name of log.files().slice(2)) fs.rmSync(path.join(log.folder, name));
  fs.writeFileSync(log.checkpoint, checkpoint);
  fs.writeFileSync(log.file(1), kept);
  fs.writeFileSync(log.file(1), kept.toString().replace('D-1', 'D-2'));
  expect(await run(3)).toBe('broken');
});

test('a break is reported and recorded in a new file for good, and the log continues', async () => {
  const log = await written(4);
  const lines = fs.readFileSync(log.file(1), 'utf8').split('\n');
  fs.writeFileSync(log.file(1), lines.toSpliced(2, 1).join('\n'));
  // Opening and closing changes nothing about it.
  expect(await stateOf(log)).toBe('broken');
  expect(await stateOf(log)).toBe('broken');

  const audit = await log.open();
  value(await audit.begin(intent))({ ok: true });
  const { entries, chain } = await audit.list(everything);
  expect(chain).toEqual({ state: 'broken', sequence: 2 });
  // What is still valid is listed; sequences are not used twice.
  expect(entries.map(({ sequence, action }) => [sequence, action])).toEqual([
    [7, 'Reveal'],
    [6, 'Reveal'],
    [5, 'ChainBroken'],
    [4, 'Reveal'],
    [3, 'Reveal'],
    [1, 'Reveal'],
  ]);
  expect(audit.state()).toBe('broken');
  await audit.close();

  const again = await log.open();
  expect(again.state()).toBe('broken');
  value(await again.begin(intent));
  expect(log.files()).toEqual(['audit-000001.jsonl', 'audit-000002.jsonl']);
  await again.close();
  fs.rmSync(log.file(1));
  expect(await stateOf(log)).toBe('broken');
});

test('a log cut at its end stays broken, however often it is opened and closed', async () => {
  const log = await written(4);
  const lines = fs.readFileSync(log.file(1), 'utf8').split('\n');
  fs.writeFileSync(log.file(1), lines.toSpliced(4, 1).join('\n'));
  for (let run = 0; run < 3; run++) expect(await stateOf(log)).toBe('broken');
  // Recorded once, in a file of its own.
  expect(log.files()).toEqual(['audit-000001.jsonl', 'audit-000002.jsonl']);
  const audit = await log.open();
  value(await audit.begin(intent));
  await audit.close();
  expect(await stateOf(log)).toBe('broken');
});

test('closing does not hide a break that could not be recorded', async () => {
  const log = await written(5);
  const lines = fs.readFileSync(log.file(1), 'utf8').split('\n');
  fs.writeFileSync(log.file(1), lines.toSpliced(4, 2).join('\n'));
  const real = createCheckpointFile(log.checkpoint);
  for (let run = 0; run < 2; run++) {
    let full = true;
    const audit = await log.open({
      checkpoint: {
        ...real,
        write: (text) => (full ? Promise.reject(new Error('ENOSPC')) : real.write(text)),
      },
    });
    expect(audit.state()).toBe('broken');
    full = false;
    await audit.close();
    expect(log.files()).toEqual(['audit-000001.jsonl']);
  }
  expect(await stateOf(log)).toBe('broken');
});

test('a line whose checkpoint could not be written is not listed: its act was refused', async () => {
  const log = logFolder();
  const real = createCheckpointFile(log.checkpoint);
  let full = false;
  const audit = await log.open({
    checkpoint: {
      ...real,
      write: (text) => (full ? Promise.reject(new Error('ENOSPC')) : real.write(text)),
    },
  });
  value(await audit.begin(intent));
  full = true;
  expect(await audit.begin({ ...intent, action: 'Copy' })).toMatchObject({ ok: false });
  full = false;
  const { entries, chain } = await audit.list(everything);
  expect(entries.map(({ action }) => action)).toEqual(['Reveal']);
  expect(chain.state).toBe('intact');
});

test('tampering while the app runs is found when the log is listed', async () => {
  const log = logFolder();
  const audit = await log.open();
  for (let count = 0; count < 3; count++) value(await audit.begin(intent));
  const bytes = fs.readFileSync(log.file(1));
  bytes[bytes.indexOf('Refund')] = 0x52 ^ 0x01;
  fs.writeFileSync(log.file(1), bytes);
  expect((await audit.list(everything)).chain).toEqual({ state: 'broken', sequence: 1 });
  expect(audit.state()).toBe('broken');
});

test.each(['flipped', 'removed', 'cut'])('a file %s while the app runs is not continued', async (change) => {
  const log = logFolder();
  const audit = await log.open();
  const states: string[] = [];
  audit.onState(() => states.push(audit.state()));
  for (let count = 0; count < 3; count++) value(await audit.begin(intent));
  const bytes = fs.readFileSync(log.file(1));
  if (change === 'removed') fs.rmSync(log.file(1));
  else if (change === 'cut') fs.truncateSync(log.file(1), bytes.length - 10);
  else fs.writeFileSync(log.file(1), bytes.fill('X', 400, 401));
  value(await audit.begin(intent));
  expect(states).toEqual(['broken']);
  expect(log.files()).toContain('audit-000002.jsonl');
  const { entries } = await audit.list(everything);
  expect(entries[0]).toMatchObject({ sequence: 5, action: 'Reveal' });
  expect(entries[1]).toMatchObject({ sequence: 4, action: 'ChainBroken' });
});

test('a file that was only touched is not reported', async () => {
  const log = logFolder();
  const audit = await log.open();
  value(await audit.begin(intent));
  fs.utimesSync(log.file(1), new Date(), new Date());
  value(await audit.begin(intent));
  expect((await audit.list(everything)).chain).toEqual({ state: 'intact', checked: 2 });
  expect(log.files()).toEqual(['audit-000001.jsonl']);
});

test('a full file that an earlier start verified is summed, not taken apart, and every change of it is found', async () => {
  const log = await written(30, { rotateBytes: 3_000 });
  const opened = vi.spyOn(fsPromises, 'open');
  onTestFinished(() => {
    opened.mockRestore();
  });
  const timesTakenApart = () => opened.mock.calls.filter(([file]) => file === log.file(1)).length;
  expect(await stateOf(log)).toBe('ready');
  expect(timesTakenApart()).toBe(1);
  expect(await stateOf(log)).toBe('ready');
  expect(timesTakenApart()).toBe(1);
  const bytes = fs.readFileSync(log.file(1));
  const reports = fs.readFileSync(log.verified, 'utf8');
  const positions = upTo(bytes.length).filter((at) => at % 97 === 0);
  await eachAttempt(log, positions, (at) =>
    fs.writeFileSync(log.file(1), Buffer.from(bytes).fill('\u0007', at, at + 1)),
  );
  // With its sum put into the report of the true one, which then has the wrong MAC.
  await eachAttempt(log, positions, (at) => {
    const changed = Buffer.from(bytes).fill('\u0007', at, at + 1);
    fs.writeFileSync(log.file(1), changed);
    const [was, is] = [bytes, changed].map((one) => createHash('sha256').update(one).digest('hex'));
    expect(reports).toContain(was);
    fs.writeFileSync(log.verified, reports.replace(was ?? '', is ?? ''));
  });
});

test('a file that is cut is not known by the report of the whole one', async () => {
  const log = await written(30, { rotateBytes: 3_000 });
  await stateOf(log);
  const bytes = fs.readFileSync(log.file(2));
  await eachAttempt(log, [1, 200, 700], (cut) =>
    fs.writeFileSync(log.file(2), bytes.subarray(0, bytes.length - cut)),
  );
});
