import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const secret = 'pa55word-4111111111111111';

/** Runs `source` in a process that is watched, and answers what it left. */
function run(source: string, onFatal = `process.stdout.write('sentence'); process.exit(3);`) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-log-'));
  onTestFinished(() => {
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const module = (name: string) => new URL(`../../../electron/log/${name}`, import.meta.url).href;
  const script = path.join(folder, 'script.mts');
  fs.writeFileSync(
    script,
    `import { createLog } from '${module('log.ts')}';
     import { watchProcess } from '${module('watch-process.ts')}';
     const log = createLog({
       folder: import.meta.dirname, codeFolder: import.meta.dirname, version: '1', now: () => new Date(),
     });
     watchProcess(log, () => { ${onFatal} });
     ${source}
     setInterval(() => undefined, 1000);`,
  );
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', script],
    {
      encoding: 'utf8',
      timeout: 20_000,
    },
  );
  const text = fs.readFileSync(path.join(folder, 'tokendesk.log'), 'utf8');
  const lines = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { place: string; error: { class: string; stack: string[] } });
  expect(text + stdout + stderr).not.toContain('pa55word');
  return { status, stdout, stderr, lines };
}

test('an exception nobody caught leaves one line, and ends in the plain sentence', () => {
  const { status, stdout, stderr, lines } = run(`
    setTimeout(function late() { throw new TypeError('${secret}'.trim()); }, 0);`);
  expect({ status, stdout, stderr }).toEqual({ status: 3, stdout: 'sentence', stderr: '' });
  expect(lines).toMatchObject([{ place: 'uncaughtException', error: { class: 'TypeError' } }]);
  expect(lines[0]?.error.stack[0]).toMatch(/late .*\(script\.mts:\d+:\d+\)$/);
});

test('so does a rejection nobody handled', () => {
  const { status, lines } = run(`void Promise.reject(new RangeError('${secret}'));`);
  expect(status).toBe(3);
  expect(lines).toMatchObject([{ place: 'unhandledRejection', error: { class: 'RangeError' } }]);
});

test('what fails after it is logged, and told once', () => {
  const { status, stdout, lines } = run(
    `setTimeout(() => { throw new Error('${secret}'); }, 0);`,
    `process.stdout.write('sentence');
     void Promise.reject('${secret}');
     process.on('unhandledRejection', () => process.exit(4));`,
  );
  expect([status, stdout]).toEqual([4, 'sentence']);
  expect(lines).toMatchObject([
    { place: 'uncaughtException' },
    { place: 'unhandledRejection', error: { class: 'not an Error: string' } },
  ]);
});

test('a sentence that can’t be shown ends the process all the same', () => {
  const { status, stderr, lines } = run(
    `setTimeout(() => { throw new Error('${secret}'); }, 0);`,
    `throw new TypeError('${secret}');`,
  );
  expect([status, stderr]).toEqual([1, '']);
  expect(lines).toMatchObject([
    { place: 'uncaughtException' },
    { place: 'onFatal', error: { class: 'TypeError' } },
  ]);
});
