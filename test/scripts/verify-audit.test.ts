import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { logFolder, testKey, value } from '../support/audit-folder.ts';

const intent = { action: 'Reveal', reason: 'Grüße "1"', caseReference: 'D-1' };
const script = path.resolve('scripts/verify-audit.ts');

type Log = ReturnType<typeof logFolder>;

function verify(log: Log, ...more: string[]) {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [script, log.folder, '--key', '-', '--checkpoint', log.checkpoint, ...more],
    { input: Buffer.from(testKey).toString('base64'), encoding: 'utf8' },
  );
  return { status, said: stdout + stderr };
}

async function written(entries: number, rotateBytes = 3_000) {
  const log = logFolder();
  const audit = await log.open({ rotateBytes });
  for (let count = 0; count < entries; count++) value(await audit.begin(intent));
  await audit.close();
  return log;
}

test('an intact log is called so, over files and runs', async () => {
  const log = await written(20);
  const audit = await log.open();
  value(await audit.begin(intent));
  await audit.close();
  const { status, said } = verify(log);
  expect(said).toBe(
    `21 entries verified, 0 under keys that are gone, in ${log.files().length} files: intact\n`,
  );
  expect(status).toBe(0);
});

test.each([
  ['changed', (text: string) => text.replace('Gr', 'gr'), 'audit-000002.jsonl: line 2 was changed'],
  [
    'removed',
    (text: string) => text.split('\n').toSpliced(2, 1).join('\n'),
    'audit-000002.jsonl: line 3 does not follow the line before',
  ],
  [
    'cut',
    (text: string) => text.slice(0, -10),
    /audit-000002.jsonl: line \d+ is cut off[^]*audit-000003.jsonl: line 1 does not follow the file before/,
  ],
  ['emptied', () => '', 'audit-000003.jsonl: line 1 does not follow the file before'],
])('a log with a line %s is not', async (_how, tamper, said) => {
  const log = await written(20);
  fs.writeFileSync(log.file(2), tamper(fs.readFileSync(log.file(2), 'utf8')));
  const found = verify(log);
  expect(found.status).toBe(1);
  expect(found.said).toMatch(said);
  expect(found.said).toContain('NOT what was written');
});

test('a missing file, a cut end, a missing checkpoint are found', async () => {
  const log = await written(20);
  const kept = fs.readFileSync(log.checkpoint);
  fs.rmSync(log.checkpoint);
  expect(verify(log).said).toContain('the checkpoint is missing or damaged');
  fs.writeFileSync(log.checkpoint, kept);
  fs.rmSync(log.file(log.files().length));
  expect(verify(log).said).toContain('the log had reached entry 20');
  fs.rmSync(log.file(1));
  expect(verify(log).said).toContain('file 1 is missing');
});

test('what the app recorded as broken stays broken', async () => {
  const log = await written(4, 100_000);
  const lines = fs.readFileSync(log.file(1), 'utf8').split('\n');
  fs.writeFileSync(log.file(1), lines.toSpliced(4, 1).join('\n'));
  const audit = await log.open();
  await audit.close();
  const { status, said } = verify(log);
  expect(status).toBe(1);
  expect(said).toContain('audit-000002.jsonl: line 1 records that the app found the log before it broken');
});

test('entries under a key that is gone are counted apart, and the hash of their file is verified', async () => {
  const log = logFolder();
  const run = async (key: Uint8Array, persistent: boolean) => {
    const audit = await log.open({
      key: () => Promise.resolve({ ok: true, value: { bytes: key, persistent } }),
    });
    value(await audit.begin(intent));
    await audit.close();
  };
  await run(new Uint8Array(32).fill(1), false);
  await run(testKey, true);
  expect(verify(log)).toEqual({
    status: 0,
    said: '1 entries verified, 1 under keys that are gone, in 2 files: intact\n',
  });
  fs.writeFileSync(log.file(1), fs.readFileSync(log.file(1), 'utf8').replace('D-1', 'D-2'));
  expect(verify(log).said).toContain('seals another file than the one before');
});

test('without a key it says how to be called, and with a wrong one it verifies nothing', async () => {
  const log = await written(2);
  const call = (...args: string[]) => spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  expect(call(log.folder).status).toBe(2);
  const file = path.join(log.root, 'key');
  fs.writeFileSync(file, 'short');
  expect(call(log.folder, '--key', file).status).toBe(2);
  fs.writeFileSync(file, 'ab'.repeat(32));
  const other = call(log.folder, '--key', file, '--checkpoint', log.checkpoint);
  expect(other.status).toBe(1);
  expect(other.stdout).toContain('is under another key');
});

test('it imports nothing of the app', () => {
  const imports = [...fs.readFileSync(script, 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)];
  expect(imports.map(([, name]) => name).filter((name) => !name?.startsWith('node:'))).toEqual(['keytar']);
});
