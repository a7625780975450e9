/**
 * Verifies an audit log without the app: for an auditor, on another machine, with nothing but Node and the key.
 * It shares no code with the app on purpose, so that a mistake there is not repeated here.
 *
 *   node verify-audit.mjs FOLDER --checkpoint FILE (--key FILE | --keychain ACCOUNT)
 *
 * An installed Tokendesk has it in resources/verify, and runs it itself on this user's own log: `tokendesk --verify-audit`.
 *
 * FOLDER has the files audit-000001.jsonl and on. The key is 32 bytes as base64 or hex, in FILE (`-` for standard
 * input) or in this user's keychain. Exit code 0: intact; 1: not what was written; 2: could not be verified.
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

const zeros = '0'.repeat(64);
const problems: string[] = [];
const remarks: string[] = [];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    key: { type: 'string' },
    keychain: { type: 'string' },
    checkpoint: { type: 'string' },
  },
});
const [folder] = positionals;
if (folder === undefined || (values.key === undefined && values.keychain === undefined)) {
  console.error('verify-audit FOLDER --checkpoint FILE (--key FILE | --keychain ACCOUNT)');
  process.exit(2);
}

const key = await readKey();
const print = hmac('tokendesk audit key').slice(0, 16);
const names = fs
  .readdirSync(folder)
  .filter((name) => /^audit-\d{6,}\.jsonl$/.test(name))
  .sort((one, other) => numberOf(one) - numberOf(other));

let mac = zeros;
let last = 0;
let verified = 0;
let unverified = 0;
let expected = 1;
let before: { bytes: Buffer; foreign: boolean; key: unknown } | null = null;
/** Where each file's lines end, with their MACs: what a checkpoint may speak of. */
const ends = new Map<string, unknown>();

for (const name of names) verifyFile(name);
verifyCheckpoint();
for (const name of fs.readdirSync(folder)) {
  if (name.includes('.tail-')) remarks.push(`${name}: set aside after a crash, no part of the log`);
}

for (const remark of remarks) console.log(remark);
for (const problem of problems) console.log(`BROKEN  ${problem}`);
console.log(
  `${verified} entries verified, ${unverified} under keys that are gone, in ${names.length} files: ${
    problems.length === 0 ? 'intact' : 'NOT what was written'
  }`,
);
process.exitCode = problems.length === 0 ? 0 : 1;

function verifyFile(name: string) {
  const bytes = fs.readFileSync(path.join(folder ?? '', name));
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
  if (foreign) {
    if (line.kept === true) return 'is under another key';
    return before !== null && !before.foreign ? 'claims a key of its own' : null;
  }
  if (line.after === 'break') return 'records that the app found the log before it broken';
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

function verifyCheckpoint() {
  if (values.checkpoint === undefined) {
    remarks.push('No checkpoint was given: whether the end of the log was cut off is not known.');
    return;
  }
  const text = fs.existsSync(values.checkpoint) ? fs.readFileSync(values.checkpoint, 'latin1') : '';
  const found = (text.match(/\{"checkpoint":1,[^{}]*\}/g) ?? [])
    .map((json) => JSON.parse(json) as Record<string, unknown>)
    .filter(({ mac: own, ...body }) => body['key'] !== print || hmac(JSON.stringify(body)) === own)
    .sort(
      (one, other) =>
        Number(other['key'] === print) - Number(one['key'] === print) ||
        Number(other['segment']) - Number(one['segment']) ||
        Number(other['size']) - Number(one['size']),
    )[0];
  if (found === undefined) {
    if (names.length > 0) problems.push('the checkpoint is missing or damaged');
  } else if (ends.get(`${String(found['segment'])}:${String(found['size'])}`) !== found['head']) {
    problems.push(`the log had reached entry ${String(found['sequence'])}, and does not reach it any more`);
  }
}

async function readKey(): Promise<Buffer> {
  let text: string;
  if (values.keychain === undefined) {
    text = fs.readFileSync(values.key === '-' || values.key === undefined ? 0 : values.key, 'utf8').trim();
  } else {
    const { default: keytar } = await import('keytar');
    const found = await keytar.getPassword('Tokendesk', values.keychain).catch(() => null);
    if (found === null) {
      console.error(`This user's keychain does not give ${values.keychain}.`);
      process.exit(2);
    }
    text = found;
  }
  const bytes = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, 'hex') : Buffer.from(text, 'base64');
  if (bytes.length !== 32) {
    console.error('That is not a key of 32 bytes.');
    process.exit(2);
  }
  return bytes;
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
