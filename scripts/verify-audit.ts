/**
 * Verifies an audit log without the app: for an auditor, on another machine, with nothing but Node and the key.
 * It shares no code with the app on purpose, so that a mistake there is not repeated here.
 *
 *   node verify-audit.mjs FOLDER --checkpoint FILE (--key FILE | --keychain ACCOUNT)
 *
 * An installed Tokendesk has it in resources/verify, and runs it itself on this user's own log: `tokendesk --verify-audit`.
 *
 * FOLDER has the files audit-000001.jsonl and on. The key is 32 bytes as base64 or hex, in FILE (`-` for standard
 * input) or in this user's keychain. Behind it, as in the app's entry in the keychain, may stand the log's end, or `lost`: the
 * log has to reach it too. Its last line is the verdict. Exit code 0: valid, every line and the end of the log;
 * 1: not valid, it is not what was written; 2: could not be checked, which says nothing about the log: something that was
 * named is not there or is something else, or too little was named.
 *
 * The format. Every line is JSON whose last members are `prev`, the MAC of the line before (of the last line of
 * the file before, at the start of a file; 64 zeros at the very start), and `mac`, the HMAC-SHA256 of all bytes before
 * `,"mac"`. A file's first line has kind "segment", all others "entry" with `sequence` counting up by one. A file whose
 * first line says `after: "break"` starts a new chain, since the app found the one before broken. Lines under a key
 * that lived for one run only, for want of a keyring, can't be verified; the file after them may hold their SHA-256.
 * What an entry says stands in its other members, which differ by its version `v`; none of them matters here.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

interface Line {
  readonly kind?: unknown;
  readonly segment?: unknown;
  readonly sequence?: unknown;
  readonly next?: unknown;
  readonly key?: unknown;
  readonly kept?: unknown;
  readonly after?: unknown;
  readonly seals?: unknown;
  readonly prev?: unknown;
  readonly mac?: unknown;
}

/** What the caller named is not there, or is something else: no word about the log. */
class Unverifiable extends Error {}

const usage = 'verify-audit FOLDER --checkpoint FILE (--key FILE | --keychain ACCOUNT)';
const zeros = '0'.repeat(64);
const problems: string[] = [];
const remarks: string[] = [];
/** Why it can't be called valid though nothing is wrong with it. */
const unchecked: string[] = [];

let folder = '';
let key = Buffer.alloc(0);
let print = '';
let mac = zeros;
let last = 0;
let verified = 0;
let unverified = 0;
let expected = 1;
let before: { bytes: Buffer; foreign: boolean; key: unknown } | null = null;
/** Where each file's lines end, with their MACs: what a checkpoint may speak of. */
const ends = new Map<string, unknown>();
/** The keys that the files name. */
const prints = new Set<unknown>();

try {
  process.exitCode = await verify();
} catch (error) {
  const said =
    error instanceof Unverifiable ? error.message : `The verifier failed (${(error as Error).message}).`;
  say(`COULD NOT BE CHECKED: ${said}`, console.error);
  process.exitCode = 2;
}

/** One line, whatever the files and their names say: no text of theirs looks like a verdict, or hides one. */
function say(line: string, print = console.log): void {
  print(line.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD'));
}

async function verify(): Promise<number> {
  const { values, positionals } = readArguments();
  const [named, more] = positionals;
  if (named === undefined) throw new Unverifiable(`No folder was named. ${usage}`);
  if (more !== undefined)
    throw new Unverifiable(`One folder is verified at a time, not ${more} too. ${usage}`);
  folder = named;
  const names = readNames();
  if (values.key === undefined && values.keychain === undefined)
    throw new Unverifiable(`No key was named. ${usage}`);
  if (values.key !== undefined && values.keychain !== undefined)
    throw new Unverifiable('Name a file with the key or a keychain’s entry, not both.');
  const checkpoints = values.checkpoint === undefined ? null : readCheckpoints(values.checkpoint);
  let beside: string;
  ({ key, beside } = await readKey(values.key, values.keychain));
  print = hmac('tokendesk audit key').slice(0, 16);
  const newest = checkpoints === null ? null : newestOf(checkpoints);

  for (const name of names) verifyFile(name);
  if (prints.size > 0 && !prints.has(print) && newest?.['key'] !== print) {
    const other = [...prints].map(String).join(', ');
    throw new Unverifiable(
      `This log is under another key (${other}) than the one given (${print}). Is it the right one?`,
    );
  }
  if (prints.size === 0) unchecked.push('No file of it has a first line.');
  if (checkpoints === null)
    unchecked.push('No checkpoint was named: nobody can say whether the end of the log was cut off.');
  else if (newest !== null) verifyEnd(newest);
  if (beside !== '') verifyBeside(beside);
  for (const name of fs.readdirSync(folder)) {
    if (name.includes('.tail-')) remarks.push(`${name}: set aside after a crash, no part of the log`);
  }

  for (const remark of remarks) say(remark);
  for (const problem of problems) say(`BROKEN  ${problem}`);
  for (const reason of unchecked) say(reason);
  const counted = `${verified} entries verified, ${unverified} under keys that are gone, in ${names.length} files`;
  if (problems.length > 0) say(`NOT VALID: ${counted}; this is not what was written.`);
  else if (unchecked.length > 0)
    say(`COULD NOT BE CHECKED to its end: ${counted}; so far the log is intact.`);
  else say(`VALID: ${counted}; the log is intact.`);
  return problems.length > 0 ? 1 : unchecked.length > 0 ? 2 : 0;
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        key: { type: 'string' },
        keychain: { type: 'string' },
        checkpoint: { type: 'string' },
      },
    });
  } catch (error) {
    throw new Unverifiable(`${(error as Error).message.split(/\.(?: |$)/)[0] ?? ''}. ${usage}`);
  }
}

/** The log's files, in order. A folder without any is no log, whatever else may be in it. */
function readNames(): string[] {
  const names = orRefused(folder, 'folder', () => fs.readdirSync(folder))
    .filter((name) => /^audit-\d{6,}\.jsonl$/.test(name))
    .sort((one, other) => numberOf(one) - numberOf(other));
  if (names.length > 0) return names;
  const inside = fs.existsSync(path.join(folder, 'audit')) ? ' The log may be in its folder audit.' : '';
  throw new Unverifiable(
    `There is no log in ${folder}: it has no file audit-000001.jsonl or later.${inside}`,
  );
}

/** What went wrong with a path that was named, as a sentence. */
function orRefused<T>(named: string, what: 'file' | 'folder', read: () => T): T {
  try {
    return read();
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code);
    const other = what === 'file' ? 'folder' : 'file';
    if (code === 'ENOENT') throw new Unverifiable(`There is no ${what} ${named}.`);
    if (code === 'EISDIR' || code === 'ENOTDIR')
      throw new Unverifiable(`${named} is a ${other}, not a ${what}.`);
    throw new Unverifiable(`${named} can’t be read (${code}).`);
  }
}

function verifyFile(name: string) {
  const bytes = orRefused(name, 'file', () => fs.readFileSync(path.join(folder, name)));
  const segment = numberOf(name);
  if (segment !== expected) problems.push(`${name}: file ${expected} is missing`);
  expected = segment + 1;

  let foreign = false;
  let offset = 0;
  for (let row = 1; offset < bytes.length; row++) {
    const end = bytes.indexOf(0x0a, offset);
    if (end === -1) {
      problems.push(`${name}: line ${row} is cut off`);
      break;
    }
    const raw = bytes.subarray(offset, end);
    offset = end + 1;
    const line = parse(raw);
    if (line === null) {
      problems.push(`${name}: line ${row} is not a line of the log`);
      return;
    }
    if (row === 1) foreign = line.key !== print;
    if (row === 1) prints.add(line.key);
    if (!foreign && !fits(raw, line)) {
      problems.push(`${name}: line ${row} was changed`);
      return;
    }
    const wrong = row === 1 ? wrongStart(line, segment, foreign) : wrongEntry(line);
    if (wrong !== null) problems.push(`${name}: line ${row} ${wrong}`);
    mac = String(line.mac);
    last = row === 1 ? Number(line.next) - 1 : Number(line.sequence);
    if (row > 1 && foreign) unverified++;
    else if (row > 1) verified++;
    ends.set(`${segment}:${offset}`, line.mac);
    if (row === 1) before = { bytes, foreign, key: line.key };
  }
}

function wrongStart(line: Line, segment: number, foreign: boolean): string | null {
  if (line.kind !== 'segment' || line.segment !== segment) return 'does not start this file';
  if (foreign && line.kept === true) return 'is under another key';
  if (foreign && before !== null && !before.foreign) return 'claims a key of its own';
  if (line.after === 'break') return 'records that the app found the log before it broken';
  // Of a file under a key that is gone the next one's seal speaks, whatever key that one is under.
  if (line.after === 'other-key') {
    if (before?.foreign !== true) return 'starts anew without a reason';
    const seal = createHash('sha256').update(before.bytes).digest('hex');
    return line.seals === seal ? null : 'seals another file than the one before';
  }
  if (before !== null && before.key !== line.key) return 'does not follow the file before';
  return line.prev === mac && line.next === last + 1 ? null : 'does not follow the file before';
}

function wrongEntry(line: Line): string | null {
  if (line.kind !== 'entry') return 'is not an entry';
  return line.prev === mac && line.sequence === last + 1 ? null : 'does not follow the line before';
}

/** The MAC is over the line's own bytes, whatever JSON makes of them. */
function fits(raw: Buffer, line: Line): boolean {
  const body = raw.subarray(0, raw.length - 74);
  const suffix = Buffer.from(`,"mac":"${hmac(body)}"}`);
  const found = raw.subarray(raw.length - 74);
  return found.length === suffix.length && timingSafeEqual(found, suffix) && typeof line.mac === 'string';
}

type Checkpoint = Readonly<Record<string, unknown>>;

function readCheckpoints(file: string): Checkpoint[] {
  const text = orRefused(file, 'file', () => fs.readFileSync(file, 'latin1'));
  const found = (text.match(/\{"checkpoint":1,[^{}]*\}/g) ?? []).flatMap((json) => {
    const checkpoint = parse(Buffer.from(json, 'latin1'));
    return checkpoint === null ? [] : [{ ...checkpoint }];
  });
  if (found.length === 0) throw new Unverifiable(`${file} holds no checkpoint, or it was damaged.`);
  return found;
}

/** The furthest of this key; where there is none, the furthest of another. */
function newestOf(checkpoints: readonly Checkpoint[]): Checkpoint | null {
  const newest = checkpoints
    .filter(({ mac: own, ...body }) => body['key'] !== print || hmac(JSON.stringify(body)) === own)
    .sort(
      (one, other) =>
        Number(other['key'] === print) - Number(one['key'] === print) ||
        Number(other['segment']) - Number(one['segment']) ||
        Number(other['size']) - Number(one['size']),
    )[0];
  if (newest !== undefined) return newest;
  problems.push('the checkpoint was changed');
  return null;
}

function verifyEnd({ key: keyId, segment, size, head, sequence }: Checkpoint): void {
  // A checkpoint under another key says nothing that this key can prove.
  if (keyId !== print)
    unchecked.push('The checkpoint is under another key than the one given: is it this log’s own?');
  else if (ends.get(`${Number(segment)}:${Number(size)}`) !== head)
    problems.push(`the log had reached entry ${Number(sequence)}, and does not reach it any more`);
}

/** What the keychain has of the log's end: whoever puts back an older log with its checkpoint can't put back this. */
function verifyBeside(beside: string): void {
  if (beside === 'lost') {
    problems.push('there was a log before this one, and what the keychain had of its end was removed');
    return;
  }
  const end = /^\{"checkpoint":1,[^{}]*\}$/.test(beside) ? parse(Buffer.from(beside)) : null;
  if (end === null) throw new Unverifiable('What stands behind the key is not the end of a log.');
  const { mac: own, ...body } = { ...end } as Checkpoint;
  if (body['key'] === print && hmac(JSON.stringify(body)) === own) verifyEnd(body);
  else problems.push('what stands behind the key was changed');
}

/** `beside` is what stands behind the key in the app's entry in the keychain, whoever read it there. */
async function readKey(
  file: string | undefined,
  account: string | undefined,
): Promise<{ key: Buffer<ArrayBuffer>; beside: string }> {
  let text: string;
  if (account === undefined) {
    const from = file === '-' || file === undefined ? 0 : file;
    text = orRefused(String(file), 'file', () => fs.readFileSync(from, 'utf8')).trim();
  } else {
    const { default: keytar } = await import('keytar').catch(() => {
      throw new Unverifiable(
        'Only an installed Tokendesk reads a keychain: give the key in a file, with --key.',
      );
    });
    const found = await keytar.getPassword('Tokendesk', account).catch(() => null);
    if (found === null) throw new Unverifiable(`This user's keychain does not give ${account}.`);
    text = found;
  }
  const [, written = '', beside = ''] = /^(\S*)(?:\s+([^]*))?$/.exec(text.trim()) ?? [];
  const bytes = /^[0-9a-f]{64}$/i.test(written)
    ? Buffer.from(written, 'hex')
    : Buffer.from(written, 'base64');
  if (bytes.length !== 32) throw new Unverifiable(`${file ?? account ?? 'That'} is not a key of 32 bytes.`);
  return { key: bytes, beside };
}

function parse(raw: Buffer): Line | null {
  try {
    const line: unknown = JSON.parse(raw.toString('utf8'));
    return typeof line === 'object' && line !== null ? line : null;
  } catch {
    return null;
  }
}

function hmac(data: string | Buffer): string {
  return createHmac('sha256', key).update(data).digest('hex');
}

function numberOf(name: string): number {
  return Number(/\d+/.exec(name)?.[0]);
}
