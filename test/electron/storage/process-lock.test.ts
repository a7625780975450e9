import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { acquireProcessLock, isProcessLocked } from '../../../electron/storage/process-lock.ts';
import { ended, moduleUrl, nextLine, startScript, tempFolder } from './support.ts';

const onLinux = process.platform === 'linux';
const lockFile = (): string => path.join(tempFolder(), 'owner');
const id = '00000000-0000-4000-8000-000000000000';
const script = `import { acquireProcessLock } from '${moduleUrl('storage/process-lock.ts')}';`;

test('is held by one, refused, given back', () => {
  const file = lockFile();
  expect(isProcessLocked(file)).toBe(false);
  const lock = acquireProcessLock(file);
  expect(lock).not.toBeNull();
  expect(acquireProcessLock(file)).toBeNull();
  expect(isProcessLocked(file)).toBe(true);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  lock?.release();
  lock?.release();
  expect(fs.readdirSync(path.dirname(file))).toEqual([]);
  expect(acquireProcessLock(file)).not.toBeNull();
  expect(fs.readdirSync(path.dirname(file))).toEqual(['owner']);
});

test('a release does not remove the lock of a later owner', () => {
  const file = lockFile();
  const lock = acquireProcessLock(file);
  fs.rmSync(file);
  const later = acquireProcessLock(file);
  lock?.release();
  expect(isProcessLocked(file)).toBe(true);
  later?.release();
});

test.each(['', '4711', 'null', '{"pid":-1}', '{"pid":1,"startTime":"","id":"../../x"}'])(
  'a lock that says %j is taken over',
  (text) => {
    const file = lockFile();
    fs.writeFileSync(file, text);
    expect(isProcessLocked(file)).toBe(false);
    expect(acquireProcessLock(file)).not.toBeNull();
    expect(isProcessLocked(file)).toBe(true);
    expect(fs.readdirSync(path.dirname(file))).toEqual(['owner']);
  },
);

test('another living process is respected until it is killed', async () => {
  const file = lockFile();
  const child = startScript(
    `${script} console.log(acquireProcessLock(process.argv[2]) !== null); process.stdin.resume();`,
    [file],
  );
  expect(await nextLine(child)).toBe('true');
  expect(acquireProcessLock(file)).toBeNull();
  const end = ended(child);
  child.kill('SIGKILL');
  await end;
  expect(isProcessLocked(file)).toBe(false);
  expect(acquireProcessLock(file)).not.toBeNull();
});

test.skipIf(!onLinux)('a process that got the owner’s ID later is not the owner', () => {
  const file = lockFile();
  acquireProcessLock(file);
  const owner = JSON.parse(fs.readFileSync(file, 'utf8')) as { startTime: string };
  const [, ticks] = /^[\da-f-]{36} (\d+)$/.exec(owner.startTime) ?? [];
  // Linux counts 100 ticks a second here, whatever its kernel does.
  expect(Math.abs(os.uptime() - Number(ticks) / 100 - process.uptime())).toBeLessThan(5);
  fs.writeFileSync(file, JSON.stringify({ ...owner, startTime: `${owner.startTime}1` }));
  expect(isProcessLocked(file)).toBe(false);
  expect(acquireProcessLock(file)).not.toBeNull();
});

test('where the start time is not known, a living process of that ID is the owner', () => {
  const file = lockFile();
  fs.writeFileSync(file, JSON.stringify({ pid: process.pid, startTime: '', id }));
  expect(acquireProcessLock(file)).toBeNull();
  const gone = Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }));
  fs.writeFileSync(file, JSON.stringify({ pid: gone, startTime: '', id }));
  expect(acquireProcessLock(file)).not.toBeNull();
});

test.skipIf(!onLinux)('a process that ended and was not collected by its parent is gone', async () => {
  const file = lockFile();
  // The shell becomes a program that never collects its child.
  const parent = spawn('sh', ['-c', 'exec 3<&0; cat <&3 & echo $!; exec tail -f /dev/null']);
  onTestFinished(() => void parent.kill('SIGKILL'));
  const pid = Number(await nextLine(parent));
  await expect.poll(() => fs.readFileSync(`/proc/${parent.pid}/comm`, 'utf8')).toBe('tail\n');
  parent.stdin.end();
  await expect.poll(() => fs.readFileSync(`/proc/${pid}/stat`, 'latin1')).toContain(') Z ');
  fs.writeFileSync(file, JSON.stringify({ pid, startTime: '', id }));
  expect(acquireProcessLock(file)).not.toBeNull();
});

test('a lock is not taken over while another process is taking it over, but after it was killed in the middle', () => {
  const file = lockFile();
  const gone = Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }));
  const dead = JSON.stringify({ pid: gone, startTime: '', id });
  fs.writeFileSync(file, dead);
  const succession = acquireProcessLock(`${file}.after-${id}`);
  expect(acquireProcessLock(file)).toBeNull();
  succession?.release();
  // Each was killed while it took over from the one before: all their names together are longer than a disk takes.
  const heirs = Array.from({ length: 40 }, (_, n) => `${id.slice(0, -2)}${n + 10}`);
  heirs.forEach((heir, n) => {
    fs.writeFileSync(`${file}.after-${heirs[n - 1] ?? id}`, dead.replace(id, heir));
  });
  const drafts = [id, `${id.slice(0, -1)}9`];
  for (const draft of drafts) fs.writeFileSync(`${file}.${draft}`, dead.replace(id, draft));
  const living = `${file}.${id.slice(0, -1)}8`;
  fs.writeFileSync(
    living,
    JSON.stringify({ pid: process.pid, startTime: '', id: path.extname(living).slice(1) }),
  );
  expect(acquireProcessLock(file)).not.toBeNull();
  expect(fs.readdirSync(path.dirname(file)).sort()).toEqual(['owner', path.basename(living)]);
});

test('of owners that are each other’s heirs, as nobody writes them, none is taken over', () => {
  const file = lockFile();
  const gone = Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }));
  const dead = JSON.stringify({ pid: gone, startTime: '', id });
  for (const name of [file, `${file}.after-${id}`]) fs.writeFileSync(name, dead);
  expect(acquireProcessLock(file)).toBeNull();
});

test('of several processes that find a dead owner, one takes over', async () => {
  const gone = Number(execFileSync(process.execPath, ['-p', 'process.pid'], { encoding: 'utf8' }));
  const files = Array.from({ length: 60 }, lockFile);
  for (const file of files) fs.writeFileSync(file, JSON.stringify({ pid: gone, startTime: '', id }));
  const children = Array.from({ length: 4 }, () =>
    startScript(
      `${script}
       console.log('ready');
       process.stdin.once('data', () => {
         console.log(process.argv.slice(2).map((file) => (acquireProcessLock(file) === null ? 0 : 1)).join(' '));
       });`,
      files,
    ),
  );
  await Promise.all(children.map(nextLine));
  const answers = children.map(nextLine);
  for (const child of children) child.stdin?.write('go');
  const taken = (await Promise.all(answers)).map((line) => line.split(' ').map(Number));
  const owners = files.map((_, index) => taken.reduce((sum, one) => sum + (one[index] ?? 0), 0));
  expect(owners).toEqual(files.map(() => 1));
});

test('a folder that can’t be written is an error', () => {
  expect(() => acquireProcessLock(path.join(tempFolder(), 'none', 'owner'))).toThrow('ENOENT');
});
