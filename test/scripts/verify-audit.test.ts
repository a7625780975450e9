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
    `VALID: 21 entries verified, 0 under keys that are gone, in ${log.files().length} files; the log is intact.\n`,
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
  expect(found.said).toContain('NOT VALID: ');
});

test('a missing file and a cut end are found', async () => {
  const log = await written(20);
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
    said: 'VALID: 1 entries verified, 1 under keys that are gone, in 2 files; the log is intact.\n',
  });
  fs.writeFileSync(log.file(1), fs.readFileSync(log.file(1), 'utf8').replace('D-1', 'D-2'));
  expect(verify(log).said).toContain('seals another file than the one before');
});

/** What an administrator gets wrong: a sentence and 2, whatever the log is. */
test.each([
  ['no folder', () => [], 'No folder was named.'],
  ['no key', ({ log }) => [log.folder], 'No key was named.'],
  ['a mistyped folder', ({ log, key }) => [`${log.folder}s`, ...key], /There is no folder .*logs\./],
  ['a file for the folder', ({ log, key }) => [log.file(1), ...key], 'is a file, not a folder.'],
  ['the folder above', ({ log, key }) => [log.root, ...key], 'it has no file audit-000001.jsonl'],
  ['an empty folder', ({ empty, key }) => [empty, ...key], `There is no log in `],
  ['two folders', ({ log, key }) => [log.folder, log.root, ...key], 'One folder is verified at a time'],
  ['a mistyped key file', ({ log, file }) => [log.folder, '--key', `${file}s`], /There is no file .*keys\./],
  ['a folder for the key', ({ log }) => [log.folder, '--key', log.root], 'is a folder, not a file.'],
  ['a short key', ({ log, short }) => [log.folder, '--key', short], 'is not a key of 32 bytes.'],
  [
    'another key',
    ({ log, other }) => [log.folder, '--key', other],
    /This log is under another key \([0-9a-f]{16}\) than the one given \([0-9a-f]{16}\)/,
  ],
  [
    'a mistyped checkpoint',
    ({ log, key }) => [log.folder, ...key, '--checkpoint', `${log.checkpoint}s`],
    /There is no file .*checkpoints\./,
  ],
  [
    'another file for the checkpoint',
    ({ log, key, file }) => [log.folder, ...key, '--checkpoint', file],
    'holds no checkpoint, or it was damaged.',
  ],
  [
    'no checkpoint',
    ({ log, key }) => [log.folder, ...key],
    'nobody can say whether the end of the log was cut off',
  ],
  [
    'a misspelt option',
    ({ log, key }) => [log.folder, ...key, '--chekpoint', 'x'],
    "Unknown option '--chekpoint'.",
  ],
  [
    'an option without its value',
    ({ log }) => [log.folder, '--key'],
    "Option '--key <value>' argument missing",
  ],
] satisfies [string, (given: Named) => string[], string | RegExp][])(
  '%s can’t be checked',
  async (_what, args, said) => {
    const named = await mistakable();
    const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args(named)], {
      encoding: 'utf8',
      input: '',
    });
    expect(stdout + stderr).toMatch(said);
    expect(stdout + stderr).toContain('COULD NOT BE CHECKED');
    expect(stdout + stderr).not.toMatch(/^(VALID|NOT VALID)| {4}at /m);
    expect(status).toBe(2);
  },
);

type Named = Awaited<ReturnType<typeof mistakable>>;

async function mistakable() {
  const log = await written(2);
  const named = (name: string): string => path.join(log.root, name);
  const [file, other, short, empty] = [named('key'), named('other'), named('short'), named('empty')] as const;
  fs.writeFileSync(file, Buffer.from(testKey).toString('hex'));
  fs.writeFileSync(other, 'ab'.repeat(32));
  fs.writeFileSync(short, 'short');
  fs.mkdirSync(empty);
  return { log, file, other, short, empty, key: ['--key', file] };
}

test.each([
  [
    're-ordered',
    (log) => rewrite(log, 1, ([head = '', one = '', two = '', ...more]) => [head, two, one, ...more]),
  ],
  ['its last line cut off', (log) => rewrite(log, 1, (lines) => lines.slice(0, -1))],
  ['its last byte cut off', (log) => fs.truncateSync(log.file(1), fs.statSync(log.file(1)).size - 1)],
  ['emptied', (log) => fs.writeFileSync(log.file(1), '')],
  ['made of other lines', (log) => fs.writeFileSync(log.file(1), 'x\n')],
  [
    'another home’s, with this one’s key and checkpoint',
    async (log) => fs.copyFileSync((await ofAnotherHome()).file(1), log.file(1)),
  ],
  [
    'of two homes',
    async (log) =>
      fs.writeFileSync(
        log.file(2),
        fs.readFileSync((await ofAnotherHome()).file(1), 'utf8').replaceAll('"segment":1', '"segment":2'),
      ),
  ],
  ['under a key that claims to be gone', (log) => rewrite(log, 1, (lines) => lines.map(asForeign))],
] as [string, Tamper][])('a log that is %s is not valid', async (_what, tamper) => {
  const log = await written(4, 100_000);
  await tamper(log);
  const { status, said } = verify(log);
  expect(said).toContain('NOT VALID: ');
  expect(status).toBe(1);
});

type Tamper = (log: Log) => unknown;

const asForeign = (line: string): string =>
  line.replace(/"key":"[0-9a-f]{16}"/, '"key":"0000000000000000"').replace('"kept":true', '"kept":false');

function rewrite(log: Log, segment: number, change: (lines: string[]) => string[]): void {
  const lines = fs.readFileSync(log.file(segment), 'utf8').trimEnd().split('\n');
  fs.writeFileSync(log.file(segment), `${change(lines).join('\n')}\n`);
}

async function ofAnotherHome(): Promise<Log> {
  const log = logFolder();
  const audit = await log.open({
    key: () => Promise.resolve({ ok: true, value: { bytes: new Uint8Array(32).fill(1), persistent: true } }),
  });
  value(await audit.begin(intent));
  await audit.close();
  return log;
}

test('a checkpoint of another home says nothing about this log', async () => {
  const log = await written(2);
  fs.copyFileSync((await ofAnotherHome()).checkpoint, log.checkpoint);
  const { status, said } = verify(log);
  expect(said).toContain('The checkpoint is under another key than the one given');
  expect(said).toContain('COULD NOT BE CHECKED to its end: 2 entries verified');
  expect(status).toBe(2);
});

test('a checkpoint that was changed is found', async () => {
  const log = await written(2);
  const text = fs.readFileSync(log.checkpoint, 'utf8');
  fs.writeFileSync(log.checkpoint, text.replaceAll(/"sequence":\d+/g, '"sequence":1'));
  expect(verify(log)).toEqual({ status: 1, said: expect.stringContaining('the checkpoint was changed') });
});

test('it imports nothing of the app', () => {
  const imports = [...fs.readFileSync(script, 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)];
  expect(imports.map(([, name]) => name).filter((name) => !name?.startsWith('node:'))).toEqual(['keytar']);
});
