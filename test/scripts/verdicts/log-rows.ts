import fs from 'node:fs';
import path from 'node:path';
import { logFolder, testKey, value } from '../../support/audit-folder.ts';
import { rewrite, rewriteLines, workstation, type Workstation } from '../../support/signed-files.ts';
import {
  bom,
  crlf,
  doubled,
  nothing,
  notValid,
  swapped,
  unchecked,
  valid,
  withLogOf,
  without,
  type Row,
} from './row.ts';

const withKey = ({ key, checkpoint }: Workstation): string[] => ['--key', key, '--checkpoint', checkpoint];

/** What the verifier of a log is given where a row says nothing else. */
export const wholeLog = (given: Workstation): string[] => [given.log, ...withKey(given)];

const eachSegment = (given: Workstation, change: (text: string) => string): void => {
  for (let number = 1; number <= given.segments; number++) rewrite(given.segment(number), change);
};

const asGone = (line: string): string =>
  line.replace(/"key":"[0-9a-f]{16}"/, '"key":"0000000000000000"').replace('"kept":true', '"kept":false');

/** How far the log had got, as the keychain says it behind the key. */
const endOf = ({ checkpoint }: Workstation): string =>
  fs
    .readFileSync(checkpoint, 'utf8')
    .match(/\{"checkpoint":1,[^{}]*\}/g)
    ?.toSorted((one, other) => sizeIn(other) - sizeIn(one))[0] ?? '';
const sizeIn = (text: string): number => (JSON.parse(text) as { size: number }).size;

/** A log that was put back with its checkpoint as both were before its last acts; behind the key `said` of its end. */
async function rolledBack(said: (end: string) => string): Promise<string[]> {
  const log = logFolder();
  let end = '';
  const anchor = {
    read: () => Promise.resolve(end === '' ? [] : [end]),
    write: (text: string) => ((end = text), Promise.resolve()),
  };
  const kept = path.join(log.root, 'kept');
  for (const action of ['Reveal', 'Export']) {
    const audit = await log.open({ anchor });
    value(await audit.begin({ action, cleartext: true }))({ ok: true });
    value(await audit.begin({ action: 'Reveal', cleartext: true }));
    await audit.close();
    if (action === 'Export') continue;
    fs.cpSync(log.folder, kept, { recursive: true });
    fs.copyFileSync(log.checkpoint, `${kept}.checkpoint`);
  }
  fs.rmSync(log.folder, { recursive: true });
  fs.cpSync(kept, log.folder, { recursive: true });
  fs.copyFileSync(`${kept}.checkpoint`, log.checkpoint);
  const key = path.join(log.root, 'key');
  fs.writeFileSync(key, `${Buffer.from(testKey).toString('base64')} ${said(end)}`);
  return [log.folder, '--key', key, '--checkpoint', log.checkpoint];
}

/** A log whose first runs had no keyring: their files are under keys that are gone, and each next one seals it. */
async function withForgottenKey(
  change: (log: ReturnType<typeof logFolder>) => void = () => undefined,
  runs = 1,
) {
  const log = logFolder();
  for (const [key, persistent] of [
    ...Array.from({ length: runs }, (_, run) => [new Uint8Array(32).fill(run + 1), false] as const),
    [testKey, true] as const,
  ]) {
    const audit = await log.open({
      key: () => Promise.resolve({ ok: true, value: { bytes: key, persistent } }),
    });
    value(await audit.begin({ action: 'Reveal', caseReference: 'D-1' }));
    await audit.close();
  }
  change(log);
  return [log.folder, '--key', '-', '--checkpoint', log.checkpoint];
}

async function foundBroken(): Promise<string[]> {
  const log = logFolder();
  for (const run of [0, 1]) {
    if (run === 1) rewriteLines(log.file(1), without(2));
    const audit = await log.open();
    for (const action of ['Reveal', 'Tokenize', 'Reveal']) await audit.begin({ action });
    await audit.close();
  }
  return [log.folder, '--key', '-', '--checkpoint', log.checkpoint];
}

export const logRows: readonly Row[] = [
  ['as it was written, over files and runs', () => null, valid, /^VALID: 2\d entries verified, 0 under keys/],
  [
    'with its key as Base64 on standard input',
    ({ log, checkpoint }) => [log, '--key', '-', '--checkpoint', checkpoint],
    valid,
  ],
  [
    'with its key saved by an editor of Windows',
    (given) => rewrite(given.key, (text) => crlf(`${bom(text)}\n`)),
    valid,
  ],
  [
    'with its key as the keychain has it',
    (given) => rewrite(given.key, (text) => `${text} ${endOf(given)}`),
    valid,
  ],
  [
    'put back as it was before its last file, its checkpoint too, and the key as the keychain has it',
    () => rolledBack((end) => end),
    notValid,
    /the log had reached entry 6, and does not reach it any more/,
  ],
  [
    'put back as it was, with its checkpoint, and the keychain says that its end was removed',
    () => rolledBack(() => 'lost'),
    notValid,
    'what the keychain had of its end was removed',
  ],
  [
    'what stands behind the key changed',
    (given) =>
      rewrite(given.key, (text) => `${text} ${endOf(given).replace(/"sequence":\d+/, '"sequence":1')}`),
    notValid,
    'what stands behind the key was changed',
  ],
  [
    'behind the key stands something else',
    (given) => rewrite(given.key, (text) => `${text} x`),
    unchecked,
    'What stands behind the key is not the end of a log.',
  ],
  [
    'with a copy of a file beside it',
    ({ segment, log }) => fs.copyFileSync(segment(1), path.join(log, 'audit-000001 (copy).jsonl')),
    valid,
  ],
  [
    'with what was set aside after a crash',
    ({ segment }) => fs.writeFileSync(`${segment(1)}.tail-1`, 'x'),
    valid,
    'set aside after a crash',
  ],
  [
    'begun under a key that is gone',
    () => withForgottenKey(),
    valid,
    '1 entries verified, 1 under keys that are gone, in 2 files',
  ],
  [
    'begun under a key that is gone, and changed there',
    () => withForgottenKey((log) => rewrite(log.file(1), (text) => text.replace('D-1', 'D-2'))),
    notValid,
    'seals another file than the one before',
  ],
  [
    'begun under two keys that are gone',
    () => withForgottenKey(undefined, 2),
    valid,
    '1 entries verified, 2 under keys that are gone, in 3 files',
  ],
  [
    'begun under two keys that are gone, and changed under the first',
    () => withForgottenKey((log) => rewrite(log.file(1), (text) => text.replace('D-1', 'D-2')), 2),
    notValid,
    'audit-000002.jsonl: line 1 seals another file than the one before',
  ],
  [
    'a letter changed',
    ({ segment }) => rewrite(segment(2), (text) => text.replace('Gr', 'gr')),
    notValid,
    /audit-000002.jsonl: line \d was changed/,
  ],
  [
    'its first line removed',
    ({ segment }) => rewriteLines(segment(1), without(0)),
    notValid,
    'does not start this file',
  ],
  ['the first line of a later file removed', ({ segment }) => rewriteLines(segment(2), without(0)), notValid],
  [
    'a line removed',
    ({ segment }) => rewriteLines(segment(2), without(2)),
    notValid,
    'audit-000002.jsonl: line 3 does not follow the line before',
  ],
  [
    'its last line removed',
    ({ segment, segments }) => rewriteLines(segment(segments), without(-1)),
    notValid,
    'and does not reach it any more',
  ],
  [
    'the last line of an earlier file removed',
    ({ segment }) => rewriteLines(segment(1), without(-1)),
    notValid,
  ],
  ['lines swapped', ({ segment }) => rewriteLines(segment(1), swapped), notValid],
  ['a line doubled', ({ segment }) => rewriteLines(segment(1), doubled), notValid],
  [
    'an empty line at its end',
    ({ segment, segments }) => fs.appendFileSync(segment(segments), '\n'),
    notValid,
  ],
  [
    'cut off',
    ({ segment }) => rewrite(segment(2), (text) => text.slice(0, -10)),
    notValid,
    /line \d+ is cut off[^]*audit-000003.jsonl: line 1 does not follow the file before/,
  ],
  [
    'its last byte cut off',
    ({ segment, segments }) => rewrite(segment(segments), (text) => text.slice(0, -1)),
    notValid,
  ],
  [
    'a file emptied',
    ({ segment }) => rewrite(segment(2), nothing),
    notValid,
    'audit-000003.jsonl: line 1 does not follow the file before',
  ],
  ['its last file emptied', ({ segment, segments }) => rewrite(segment(segments), nothing), notValid],
  ['every file emptied', (given) => eachSegment(given, nothing), notValid],
  ['made of other lines', (given) => eachSegment(given, () => 'x\n'), notValid],
  ['its first file missing', ({ segment }) => fs.rmSync(segment(1)), notValid, 'file 1 is missing'],
  ['a file missing', ({ segment }) => fs.rmSync(segment(2)), notValid, 'file 2 is missing'],
  [
    'its last file missing',
    ({ segment, segments }) => fs.rmSync(segment(segments)),
    notValid,
    'the log had reached entry',
  ],
  ['a file twice', ({ segment, segments }) => fs.copyFileSync(segment(1), segment(segments + 1)), notValid],
  ['with line ends of Windows', (given) => eachSegment(given, crlf), notValid],
  ['with a byte order mark', (given) => eachSegment(given, bom), notValid],
  [
    'found broken by the app',
    foundBroken,
    notValid,
    'line 1 records that the app found the log before it broken',
  ],
  [
    'of another machine, with this one’s key and checkpoint',
    (given) => withLogOf(given, workstation(1)),
    notValid,
    'is under another key',
  ],
  [
    'with a file of another machine',
    async ({ segment }) => fs.copyFileSync((await workstation(1)).segment(2), segment(2)),
    notValid,
  ],
  [
    'under a key that claims to be gone',
    (given) => eachSegment(given, (text) => text.replaceAll(/^.*$/gm, asGone)),
    notValid,
  ],
  [
    'its checkpoint changed',
    ({ checkpoint }) => rewrite(checkpoint, (text) => text.replaceAll(/"sequence":\d+/g, '"sequence":1')),
    notValid,
    'the checkpoint was changed',
  ],
  [
    'written anew under another key, its checkpoint too',
    async (given) => {
      await withLogOf(given, workstation(1));
      fs.copyFileSync((await workstation(1)).checkpoint, given.checkpoint);
    },
    unchecked,
    /This log is under another key \([0-9a-f]{16}\) than the one given \([0-9a-f]{16}\)/,
  ],
  [
    'the checkpoint of another machine',
    async ({ checkpoint }) => fs.copyFileSync((await workstation(1)).checkpoint, checkpoint),
    unchecked,
    'The checkpoint is under another key than the one given',
  ],
  [
    'no checkpoint named',
    ({ log, key }) => [log, '--key', key],
    unchecked,
    'nobody can say whether the end of the log was cut off',
  ],
  [
    'no checkpoint named, and a letter changed',
    ({ log, key, segment }) => (rewrite(segment(2), (text) => text.replace('Gr', 'gr')), [log, '--key', key]),
    notValid,
  ],
  ['no folder', () => [], unchecked, 'No folder was named.'],
  ['no key', ({ log }) => [log], unchecked, 'No key was named.'],
  [
    'a key and a keychain',
    (given) => [...wholeLog(given), '--keychain', 'audit:key'],
    unchecked,
    'Name a file with the key or a keychain’s entry, not both.',
  ],
  [
    'a mistyped folder',
    (given) => [`${given.log}s`, ...withKey(given)],
    unchecked,
    /There is no folder .*logs\./,
  ],
  [
    'a file for the folder',
    (given) => [given.segment(1), ...withKey(given)],
    unchecked,
    'is a file, not a folder.',
  ],
  [
    'the folder above',
    (given) => [given.root, ...withKey(given)],
    unchecked,
    'it has no file audit-000001.jsonl',
  ],
  [
    'the folder above, where the log is called audit',
    (given) => (fs.renameSync(given.log, path.join(given.root, 'audit')), [given.root, ...withKey(given)]),
    unchecked,
    'The log may be in its folder audit.',
  ],
  [
    'an empty folder',
    (given) => (
      fs.mkdirSync(path.join(given.root, 'empty')),
      [path.join(given.root, 'empty'), ...withKey(given)]
    ),
    unchecked,
    'There is no log in',
  ],
  [
    'two folders',
    (given) => [given.log, given.root, ...withKey(given)],
    unchecked,
    'One folder is verified at a time',
  ],
  [
    'a mistyped key file',
    ({ log, key }) => [log, '--key', `${key}s`],
    unchecked,
    /There is no file .*keys\./,
  ],
  ['a folder for the key', ({ log, root }) => [log, '--key', root], unchecked, 'is a folder, not a file.'],
  [
    'a key cut off',
    (given) => rewrite(given.key, (text) => text.slice(0, 40)),
    unchecked,
    'is not a key of 32 bytes.',
  ],
  [
    'a key with a digit too many',
    (given) => rewrite(given.key, (text) => `${text}0`),
    unchecked,
    'is not a key of 32 bytes.',
  ],
  ['an empty key file', (given) => rewrite(given.key, nothing), unchecked, 'is not a key of 32 bytes.'],
  [
    'another key',
    (given) => rewrite(given.key, () => 'ab'.repeat(32)),
    unchecked,
    'This log is under another key',
  ],
  [
    'a mistyped checkpoint',
    ({ log, key, checkpoint }) => [log, '--key', key, '--checkpoint', `${checkpoint}s`],
    unchecked,
    /There is no file .*checkpoints\./,
  ],
  [
    'a folder for the checkpoint',
    ({ log, key, root }) => [log, '--key', key, '--checkpoint', root],
    unchecked,
    'is a folder, not a file.',
  ],
  [
    'another file for the checkpoint',
    ({ log, key }) => [log, '--key', key, '--checkpoint', key],
    unchecked,
    'holds no checkpoint, or it was damaged.',
  ],
  [
    'an empty checkpoint',
    ({ checkpoint }) => rewrite(checkpoint, nothing),
    unchecked,
    'holds no checkpoint, or it was damaged.',
  ],
  [
    'a misspelt option',
    ({ log, key }) => [log, '--key', key, '--chekpoint', 'x'],
    unchecked,
    "Unknown option '--chekpoint'.",
  ],
  [
    'an option without its value',
    ({ log }) => [log, '--key'],
    unchecked,
    "Option '--key <value>' argument missing",
  ],
];
