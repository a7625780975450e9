import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { done } from '../../electron/contract/errors.ts';
import { evidenceKey, writeEvidence } from '../../electron/evidence/evidence.ts';
import { logFolder, testKey, value } from '../support/audit-folder.ts';

const script = path.resolve('scripts/verify-evidence.ts');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Evidence on one case of a log that has another one too, as a workstation with this key writes it. */
async function made(seed = 9, key = testKey) {
  const log = logFolder();
  const audit = await log.open({ key: () => Promise.resolve(done({ bytes: key, persistent: true })) });
  for (const caseReference of ['D-1', 'D-2', 'D-1']) {
    value(await audit.begin({ action: 'Reveal', reason: 'Refund', caseReference }))({ ok: true });
  }
  const file = path.join(log.root, 'evidence.json');
  const evidence = await writeEvidence(
    {
      audit,
      auditFolder: log.folder,
      keychain: { key: () => Promise.resolve(done(new Uint8Array(32).fill(seed))) },
      chooseTarget: () => Promise.resolve(file),
      now: () => new Date(0),
      version: '0.1.0',
    },
    'D-1',
  );
  await audit.close();
  const page = path.join(log.root, 'evidence.html');
  const named = (name: string, text: string): string => {
    const written = path.join(log.root, name);
    fs.writeFileSync(written, text);
    return written;
  };
  return { log, file, page, named, signer: value(evidence)?.signer ?? '' };
}

type Made = Awaited<ReturnType<typeof made>>;

function verify(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });
  const said = stdout + stderr;
  return { status, said, verdict: said.trimEnd().split('\n').at(-1)?.split(':')[0] };
}

const rewrite = (file: string, change: (text: string) => string): void =>
  fs.writeFileSync(file, change(fs.readFileSync(file, 'utf8')));

interface Loose {
  lines: { text: string; sha256: string }[];
  links: string[];
  signature: unknown;
  page: { sha256: string };
}

/** What somebody without the workstation's key can make: everything as it should be, signed by another. */
function forged({ file, page }: Made, change: (document: Loose) => unknown = () => undefined): void {
  const { signature: _, ...document } = JSON.parse(fs.readFileSync(file, 'utf8')) as Loose;
  change(document as Loose);
  const key = evidenceKey(new Uint8Array(32).fill(66));
  const signature = {
    algorithm: 'Ed25519',
    publicKey: key.publicKey.toString('base64'),
    value: key.sign(Buffer.from(JSON.stringify(document))).toString('base64'),
  };
  const whole = { ...document, signature };
  fs.writeFileSync(file, `${JSON.stringify(whole, null, 2)}\n`);
  rewrite(page, (text) =>
    text.replace(/(id="evidence">)[^<]*/, (_all, start: string) => start + JSON.stringify(whole)),
  );
}

const valid = [0, 'VALID'] as const;
const notValid = [1, 'NOT VALID'] as const;
const unchecked = [2, 'COULD NOT BE CHECKED'] as const;
const unknown = [3, 'CONSISTENT, SIGNER UNKNOWN'] as const;

type Row = readonly [
  what: string,
  args: (made: Made) => string[] | Promise<string[]>,
  expected: readonly [number, string],
];

test.each([
  ['signed by the one who was named', ({ file, signer }) => [file, '--signer', signer], valid],
  ['the page alone', ({ page, signer }) => [page, '--signer', signer], valid],
  [
    'with its log and its key',
    ({ file, signer, log, named }) => {
      const key = named('key', Buffer.from(testKey).toString('hex'));
      return [file, '--signer', signer.toUpperCase(), '--log', log.folder, '--key', key];
    },
    valid,
  ],
  [
    'signed by one of a list',
    ({ file, signer, named }) => [
      file,
      '--known-signers',
      named('list', `# workstations\n${'0'.repeat(64)}\n${signer} desk 7\r\n`),
    ],
    valid,
  ],
  ['line ends of Windows', ({ file, signer }) => (rewrite(file, crlf), [file, '--signer', signer]), valid],
  [
    'a bit of the signature’s Base64 that no byte has',
    ({ file, signer }) => (
      rewrite(file, (text) =>
        text.replace(
          /(.)(==")/,
          (_all, last: string, end: string) => String.fromCharCode(last.charCodeAt(0) + 1) + end,
        ),
      ),
      [file, '--signer', signer]
    ),
    notValid,
  ],
  [
    'a member of the signature that nobody signed',
    ({ file, signer }) => (
      rewrite(file, (text) =>
        text.replace('"algorithm": "Ed25519"', '"algorithm": "Ed25519",\n    "by": "us"'),
      ),
      [file, '--signer', signer]
    ),
    notValid,
  ],
  ['nobody was named', ({ file }) => [file], unknown],
  ['nobody was named, with the log', ({ file, log }) => [file, '--log', log.folder], unknown],
  [
    'the signer is not in the list',
    ({ file, named }) => [file, '--known-signers', named('list', '0'.repeat(64))],
    unknown,
  ],
  ['signed again by another', (all) => (forged(all), [all.file]), unknown],
  [
    'signed again, and the signer named',
    (all) => (forged(all), [all.file, '--signer', all.signer]),
    notValid,
  ],
  [
    'changed and signed again by another, with the log',
    (all) => {
      forged(all, ({ lines: [line] }) => {
        if (line === undefined) return;
        line.text = line.text.replace('Refund', 'refund');
        line.sha256 = sha256(line.text);
      });
      return [all.file, '--log', all.log.folder];
    },
    notValid,
  ],
  ['a letter changed', ({ file, signer }) => (rewrite(file, reason), [file, '--signer', signer]), notValid],
  [
    'a letter of the page changed',
    ({ file, page, signer }) => (rewrite(page, reason), [file, '--signer', signer]),
    notValid,
  ],
  [
    'a letter changed in the page alone',
    ({ page, signer }) => (rewrite(page, reason), [page, '--signer', signer]),
    notValid,
  ],
  [
    'a page with the document of another case',
    async (all) => {
      const other = (await made(8)).page;
      const document = /id="evidence">([^<]*)/.exec(fs.readFileSync(other, 'utf8'))?.[1] ?? '';
      rewrite(all.page, (text) =>
        text.replace(/(id="evidence">)[^<]*/, (_all, start: string) => start + document),
      );
      return [all.file, '--signer', all.signer];
    },
    notValid,
  ],
  ['a member twice', ({ file, signer }) => (rewrite(file, twice), [file, '--signer', signer]), notValid],
  [
    'lines in another order',
    ({ file, signer }) => (
      rewrite(file, (text) => edit(text, ({ lines }) => lines.reverse())),
      [file, '--signer', signer]
    ),
    notValid,
  ],
  [
    'lines in another order, signed again',
    (all) => (forged(all, ({ lines }) => lines.reverse()), [all.file]),
    notValid,
  ],
  [
    'no lines, signed again',
    (all) => (forged(all, (document) => (document.lines = [])), [all.file]),
    notValid,
  ],
  [
    'members of another kind',
    (all) => (forged(all, (document) => (document.links = [7] as never)), [all.file]),
    notValid,
  ],
  [
    'cut off',
    ({ file, signer }) => (rewrite(file, (text) => text.slice(0, -40)), [file, '--signer', signer]),
    notValid,
  ],
  [
    'not signed',
    ({ file }) => (rewrite(file, (text) => edit(text, (all) => delete all.signature)), [file]),
    notValid,
  ],
  [
    'another home’s log',
    async ({ file, signer }) => [
      file,
      '--signer',
      signer,
      '--log',
      (await made(8, new Uint8Array(32).fill(3))).log.folder,
    ],
    notValid,
  ],
  ['a mistyped file', ({ file }) => [`${file}x`], unchecked],
  ['a folder for the file', ({ log }) => [log.root], unchecked],
  ['an empty file', ({ named }) => [named('empty', '')], unchecked],
  ['a file that is no JSON', ({ named }) => [named('text', 'Dear reviewer')], unchecked],
  ['JSON that is no evidence', ({ named }) => [named('list.json', '[]')], unchecked],
  ['null', ({ named }) => [named('null.json', 'null')], unchecked],
  ['another page', ({ named }) => [named('page.html', '<!doctype html><p>Hello')], unchecked],
  [
    'a page that is not there',
    ({ file, page, signer }) => (fs.rmSync(page), [file, '--signer', signer]),
    unchecked,
  ],
  [
    'a log that is not there',
    ({ file, signer, log }) => [file, '--signer', signer, '--log', `${log.folder}x`],
    unchecked,
  ],
  [
    'a folder without a log',
    ({ file, signer, log }) => [file, '--signer', signer, '--log', log.root],
    unchecked,
  ],
  [
    'another log’s key',
    ({ file, signer, named }) => [file, '--signer', signer, '--key', named('key', 'ab'.repeat(32))],
    unchecked,
  ],
  ['a key that is none', ({ file, named }) => [file, '--key', named('key', 'short')], unchecked],
  ['a key that is not there', ({ file }) => [file, '--key', `${file}.key`], unchecked],
  ['a fingerprint that is none', ({ file }) => [file, '--signer', 'ab'], unchecked],
  [
    'a list that names nobody',
    ({ file, named }) => [file, '--known-signers', named('list', '# none\n')],
    unchecked,
  ],
  ['a list that is none', ({ file }) => [file, '--known-signers', file], unchecked],
  [
    'a list and a signer',
    ({ file, signer }) => [file, '--known-signers', file, '--signer', signer],
    unchecked,
  ],
  ['a misspelt option', ({ file, signer }) => [file, '--singer', signer], unchecked],
  ['no file', () => [], unchecked],
  ['two files', ({ file }) => [file, file], unchecked],
] satisfies Row[])('%s', async (_what, args, [code, verdict]) => {
  const found = verify(...(await args(await made())));
  expect(found).toEqual({ status: code, said: found.said, verdict });
  // A sentence, never the place in a program.
  expect(found.said).not.toMatch(/ {4}at |node:/);
});

const crlf = (text: string): string => text.replaceAll('\n', '\r\n');
const reason = (text: string): string => text.replace('Refund', 'Refunt');
const twice = (text: string): string => text.replace('"case": "D-1"', '"case": "D-9",\n  "case": "D-1"');

function edit(text: string, change: (document: Loose) => unknown): string {
  const document = JSON.parse(text) as Loose;
  change(document);
  return `${JSON.stringify(document, null, 2)}\n`;
}

test('evidence of before, whose page held no document, is valid as it was', async () => {
  const { file, page, signer } = await made();
  const text = '<!doctype html><title>Evidence</title>';
  const { signature: _, ...document } = JSON.parse(fs.readFileSync(file, 'utf8')) as Loose & {
    version: number;
  };
  document.version = 1;
  document.page.sha256 = sha256(text);
  const key = evidenceKey(new Uint8Array(32).fill(9));
  const signature = {
    algorithm: 'Ed25519',
    publicKey: key.publicKey.toString('base64'),
    value: key.sign(Buffer.from(JSON.stringify(document))).toString('base64'),
  };
  fs.writeFileSync(file, `${JSON.stringify({ ...document, signature }, null, 2)}\n`);
  fs.writeFileSync(page, text);
  expect(verify(file, '--signer', signer)).toMatchObject({ status: 0, verdict: 'VALID' });
  fs.writeFileSync(page, `${text} `);
  expect(verify(file, '--signer', signer)).toMatchObject({ status: 1, verdict: 'NOT VALID' });
});

test('it imports nothing but Node’s own modules', () => {
  const imports = [...fs.readFileSync(script, 'utf8').matchAll(/(?:from|import\()\s*'([^']+)'/g)];
  expect(imports.map(([, name]) => name).filter((name) => !name?.startsWith('node:'))).toEqual([]);
});
