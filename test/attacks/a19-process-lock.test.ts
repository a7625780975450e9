import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { acquireProcessLock } from '../../electron/storage/process-lock.ts';
import { tempFolder } from '../support/temp-folder.ts';

/* Two apps on one home would write one audit log. */

const lockModule = new URL('../../electron/storage/process-lock.ts', import.meta.url).href;

/** Starts a process that tries once, keeps what it got, and says which. */
async function start(file: string): Promise<{ readonly has: boolean; readonly end: () => void }> {
  const script = `import { acquireProcessLock } from ${JSON.stringify(lockModule)};
    const lock = acquireProcessLock(${JSON.stringify(file)});
    process.stdout.write(lock === null ? 'no' : 'has');
    process.stdin.resume().once('end', () => process.exit());`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const answer = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data))),
  );
  return { has: answer === 'has', end: () => child.stdin.end() };
}

/** Of a process that has ended, or whose ID another program has now. */
const staleLock = (pid: number) => JSON.stringify({ pid, startTime: 'another boot 1', id: randomUUID() });

test.each([
  ['no lock', null],
  ['a lock without a PID yet', ''],
  ['a lock that is torn', '{"pid":'],
  ['a lock whose PID is another program now', staleLock(1)],
])('of starters that meet %s, one gets in', async (_what, content) => {
  const file = path.join(tempFolder(), 'desk.lock');
  if (content !== null) fs.writeFileSync(file, content);
  const starters = await Promise.all(Array.from({ length: 4 }, () => start(file)));
  expect(starters.filter(({ has }) => has)).toHaveLength(1);
  expect(acquireProcessLock(file)).toBeNull();
  for (const { end } of starters) end();
});
