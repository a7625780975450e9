import { execFileSync, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { open } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { createCheckpointFile } from '../../../electron/audit/checkpoint.ts';
import { failed } from '../../../electron/contract/errors.ts';
import { everything, logFolder, value } from '../../support/audit-folder.ts';

const intent = { action: 'Reveal', reason: 'Refund', caseReference: 'D-1' };

test('a line half-written by a crash is set aside and recorded, and the log continues', async () => {
  const log = logFolder();
  const audit = await log.open();
  value(await audit.begin(intent));
  const whole = fs.readFileSync(log.file(1));
  value(await audit.begin(intent));
  await audit.close();
  const last = fs.readFileSync(log.file(1)).subarray(whole.length);

  for (const length of [1, 100, last.length - 1]) {
    const before = fs.readFileSync(log.file(1));
    fs.appendFileSync(log.file(1), last.subarray(0, length));
    const next = await log.open();
    expect(next.state()).toBe('ready');
    const { entries, chain } = await next.list(everything);
    expect(chain.state).toBe('intact');
    const note = entries[0]?.note ?? '';
    expect(entries[0]?.action).toBe('TailSetAside');
    expect(note).toContain(`${length} bytes kept as audit-000001.jsonl.tail-`);
    const aside = path.join(log.folder, note.split(' ').at(-1) ?? '');
    expect(fs.readFileSync(aside)).toEqual(last.subarray(0, length));
    expect(fs.statSync(aside).mode & 0o777).toBe(0o600);
    expect(fs.readFileSync(log.file(1)).subarray(0, before.length)).toEqual(before);
    await next.close();
  }
});

test('a crash between a new file and its first line is no break', async () => {
  for (const started of ['', '{"v":1,"kind":"seg']) {
    const log = logFolder();
    const audit = await log.open();
    value(await audit.begin(intent));
    await audit.close();
    fs.writeFileSync(log.file(2), started);
    const next = await log.open();
    value(await next.begin(intent));
    expect(next.state()).toBe('ready');
    expect((await next.list(everything)).chain.state).toBe('intact');
    await next.close();
    expect((await log.open()).state()).toBe('ready');
  }
});

test('lines written after the last checkpoint, as after a crash, are accepted', async () => {
  const log = logFolder();
  const audit = await log.open();
  value(await audit.begin(intent));
  const old = fs.readFileSync(log.checkpoint);
  value(await audit.begin(intent));
  value(await audit.begin(intent));
  await audit.close();
  fs.writeFileSync(log.checkpoint, old);
  const next = await log.open();
  expect((await next.list(everything)).chain).toEqual({ state: 'intact', checked: 3 });
});

test('a checkpoint half-written by a crash is ignored, since the other slot is valid', async () => {
  const log = logFolder();
  const audit = await log.open();
  for (let count = 0; count < 4; count++) value(await audit.begin(intent));
  await audit.close();
  const bytes = fs.readFileSync(log.checkpoint);
  for (const slot of [0, 4_096]) {
    fs.writeFileSync(log.checkpoint, Buffer.from(bytes).fill('x', slot + 30, slot + 60));
    const next = await log.open();
    expect(next.state()).toBe('ready');
  }
});

test('a checkpoint that can not be written blocks, and what was refused is not in the log', async () => {
  const log = logFolder();
  const real = createCheckpointFile(log.checkpoint);
  let broken = false;
  const audit = await log.open({
    checkpoint: {
      read: () => real.read(),
      write: (text) => (broken ? Promise.reject(new Error('EIO')) : real.write(text)),
      close: async () => real.close?.(),
    },
  });
  const states: string[] = [];
  audit.onState(() => states.push(audit.state()));
  const close = value(await audit.begin(intent));
  broken = true;
  expect(await audit.begin({ ...intent, note: 'refused' })).toEqual(failed('audit.unwritable'));
  close({ ok: true });
  expect(await audit.begin({ ...intent, note: 'refused' })).toEqual(failed('audit.unwritable'));
  expect(audit.state()).toBe('unwritable');
  broken = false;
  value(await audit.begin({ ...intent, note: 'later' }));
  expect(states).toEqual(['unwritable', 'ready']);
  const { entries, chain } = await audit.list(everything);
  expect(chain.state).toBe('intact');
  // The end that came while nothing could be written is written later, in its order.
  expect(entries.map(({ phase, note }) => [phase, note])).toEqual([
    ['begun', 'later'],
    ['ok', null],
    ['begun', null],
  ]);
});

test('nothing is answered before it is synced', async () => {
  const log = logFolder();
  const audit = await log.open();
  value(await audit.begin(intent));
  const some = await open(log.file(1));
  const handles = Object.getPrototypeOf(some) as { datasync: () => Promise<void> };
  await some.close();
  const real = handles.datasync;
  onTestFinished(() => {
    handles.datasync = real;
  });
  const steps: string[] = [];
  const requested = new Promise<() => void>((request) => {
    handles.datasync = () => new Promise((synced) => request(synced));
  });
  const answered = audit.begin(intent).then(() => steps.push('answered'));
  const release = await requested;
  await new Promise(setImmediate);
  steps.push('synced');
  release();
  await answered;
  expect(steps).toEqual(['synced', 'answered']);
});

test('a sync that fails is a write that failed', async () => {
  const log = logFolder();
  const audit = await log.open();
  value(await audit.begin(intent));
  const some = await open(log.file(1));
  const handles = Object.getPrototypeOf(some) as { datasync: () => Promise<void> };
  await some.close();
  const real = handles.datasync;
  handles.datasync = () => Promise.reject(new Error('EIO'));
  expect(await audit.begin(intent)).toEqual(failed('audit.unwritable'));
  handles.datasync = real;
  value(await audit.begin(intent));
  expect((await audit.list(everything)).chain).toEqual({ state: 'intact', checked: 2 });
});

/** A file system of 256 KB, where this machine lets us mount one. */
function smallDisk(): string | null {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'small-disk-'));
  const mounted =
    process.platform === 'linux' &&
    spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k,mode=700', 'tmpfs', folder]).status === 0;
  onTestFinished(() => {
    if (mounted) execFileSync('umount', ['-l', folder]);
    fs.rmSync(folder, { recursive: true, force: true });
  });
  return mounted ? folder : null;
}

test('on a full disk nothing is begun, nothing is half-written, and it recovers when there is room', async ({
  skip,
}) => {
  const disk = smallDisk();
  if (disk === null) return skip('no right to mount a file system here');
  const log = logFolder(path.join(disk, 'desk'));
  const audit = await log.open();
  const close = value(await audit.begin(intent));

  const filler = path.join(disk, 'filler');
  const handle = fs.openSync(filler, 'w');
  expect(() => {
    for (;;) fs.writeSync(handle, Buffer.alloc(4_096));
  }).toThrow('ENOSPC');
  fs.closeSync(handle);

  // The last page of the log's file may have room for some.
  let begun = 1;
  let refused;
  do {
    refused = await audit.begin(intent);
    if (refused.ok) begun++;
  } while (refused.ok);
  expect(refused).toEqual(failed('audit.unwritable'));
  expect(audit.state()).toBe('unwritable');
  close({ ok: true });
  expect(await audit.begin(intent)).toEqual(failed('audit.unwritable'));

  fs.rmSync(filler);
  value(await audit.begin(intent));
  expect(audit.state()).toBe('ready');
  const { chain, total } = await audit.list(everything);
  expect(chain).toEqual({ state: 'intact', checked: begun + 2 });
  expect(total).toBe(begun + 2);
  await audit.close();
  expect((await log.open()).state()).toBe('ready');
});

/** Runs a script until it printed that many lines, kills it, and answers how many it printed in the end. */
async function killedAfter(lines: number, script: string): Promise<number> {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line !== '') printed++;
    if (printed === lines) child.kill('SIGKILL');
  }
  return printed;
}

test('a process killed while it writes leaves a log with all that was answered', async () => {
  const log = logFolder();
  const script = `
    import { createAudit } from '${path.resolve('electron/audit/audit.ts')}';
    import { createCheckpointFile } from '${path.resolve('electron/audit/checkpoint.ts')}';
    const audit = createAudit({
      folder: ${JSON.stringify(log.folder)},
      key: async () => ({ ok: true, value: { bytes: new Uint8Array(32).fill(7), persistent: true } }),
      actor: 'kim', now: () => new Date(), checkpoint: createCheckpointFile(${JSON.stringify(log.checkpoint)}),
      rotateBytes: 5_000,
    });
    for (let count = 1; ; count++) {
      const begun = await audit.begin({ action: 'Reveal' });
      if (begun.ok) process.stdout.write(count + '\\n');
    }`;
  let previous = 0;
  for (let round = 0; round < 3; round++) {
    const answered = await killedAfter(40, script);
    const audit = await log.open({ rotateBytes: 5_000 });
    expect(audit.state()).toBe('ready');
    const { chain, total } = await audit.list({ ...everything, limit: 1 });
    expect(chain.state).toBe('intact');
    expect(total).toBeGreaterThanOrEqual(previous + answered);
    previous = total;
    await audit.close();
  }
});
