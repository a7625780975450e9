import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll } from 'vitest';
import { done } from '../../electron/contract/errors.ts';
import { evidenceKey, writeEvidence } from '../../electron/evidence/evidence.ts';
import { createReceipts } from '../../electron/evidence/receipt.ts';
import { writeVerifiers } from '../../scripts/write-verifiers.ts';
import { logFolder, testKey, value } from './audit-folder.ts';
import { tempFolder } from './temp-folder.ts';

/*
 * What a workstation writes and somebody else verifies, for tests that change it: an audit log of several files, evidence
 * on a case and the receipt of a run, with the keys and the files they are about.
 */

export const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

export const hexOf = (key: Uint8Array): string => Buffer.from(key).toString('hex');

interface Made {
  readonly signer: string;
  /** By name below the workstation's folder. */
  readonly files: ReadonlyMap<string, Buffer>;
}

const names = {
  log: 'log',
  checkpoint: 'elsewhere/checkpoint',
  key: 'key',
  evidence: 'case.json',
  page: 'case.html',
  source: 'march.csv',
  output: 'march_tokens.csv',
  receipt: 'march_tokens.csv.receipt.json',
} as const;

/** Two cases, a run between them and a second run of the app: each file of the log has a few lines. */
async function make(key: Uint8Array, seed: number): Promise<Made> {
  const log = logFolder();
  const at = (name: keyof typeof names): string => path.join(log.root, names[name]);
  const open = () =>
    log.open({ rotateBytes: 3_000, key: () => Promise.resolve(done({ bytes: key, persistent: true })) });
  const keychain = { key: () => Promise.resolve(done(new Uint8Array(32).fill(seed))) };
  const now = () => new Date(Date.UTC(2026, 0, 2));
  let audit = await open();
  for (const caseReference of ['D-2', 'D-1', 'D-2', 'D-1', 'D-2'])
    value(await audit.begin({ action: 'Reveal', reason: 'Grüße "1"', caseReference }))({ ok: true });
  fs.writeFileSync(at('source'), 'number\n4111111111111111\n');
  fs.writeFileSync(at('output'), 'number\n9000000000000001\n');
  const file = { name: names.source, bytes: 24, sha256: sha256(fs.readFileSync(at('source'))) };
  for (const action of ['Batch', 'Export']) value(await audit.begin({ action, job: 'job-1' }))({ ok: true });
  const receipts = createReceipts({ audit, auditFolder: log.folder, keychain, now, version: '0.1.0' });
  value(
    await receipts({
      mapping: 'Cards',
      connection: 'Test',
      environment: 'test',
      job: 'job-1',
      source: file,
      sum: { rows: 1, ok: 1, failed: 0, unmatched: 0, blank: 0 },
      rowsWritten: 1,
      remaining: { cards: 0, values: 0 },
      target: at('output'),
      content: at('output'),
      startedAt: '2026-01-02T00:00:00.000Z',
    }),
  );
  await audit.close();
  audit = await open();
  const chooseTarget = () => Promise.resolve(at('evidence'));
  const options = { audit, auditFolder: log.folder, keychain, chooseTarget, now, version: '0.1.0' };
  const { signer = '' } = value(await writeEvidence(options, 'D-1')) ?? {};
  value(await audit.begin({ action: 'Tokenize' }))({ ok: true });
  await audit.close();
  fs.writeFileSync(at('key'), hexOf(key));
  const below = fs.readdirSync(log.root, { recursive: true, encoding: 'utf8' });
  const written = below.filter((name) => fs.statSync(path.join(log.root, name)).isFile());
  return {
    signer,
    files: new Map(written.map((name) => [name, fs.readFileSync(path.join(log.root, name))])),
  };
}

const made = new Map<number, Promise<Made>>();

/** Its files anew in a folder of its own, as they were made once. `seed`: another workstation, with keys of its own. */
export async function workstation(seed = 9) {
  const known = made.get(seed) ?? make(seed === 9 ? testKey : new Uint8Array(32).fill(seed), seed);
  made.set(seed, known);
  const { signer, files } = await known;
  const root = tempFolder();
  for (const [name, bytes] of files) {
    fs.mkdirSync(path.join(root, path.dirname(name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), bytes);
  }
  const at = (name: keyof typeof names): string => path.join(root, names[name]);
  return {
    signer,
    root,
    log: at('log'),
    checkpoint: at('checkpoint'),
    key: at('key'),
    evidence: at('evidence'),
    page: at('page'),
    source: at('source'),
    output: at('output'),
    receipt: at('receipt'),
    /** How many files the log has. */
    segments: [...files.keys()].filter((name) => name.startsWith(`log${path.sep}`)).length,
    segment: (number: number): string =>
      path.join(root, 'log', `audit-${String(number).padStart(6, '0')}.jsonl`),
    /** A file beside them, of this text. */
    named: (name: string, text: string): string => {
      fs.writeFileSync(path.join(root, name), text);
      return path.join(root, name);
    },
  };
}

export type Workstation = Awaited<ReturnType<typeof workstation>>;

type Verifier = 'verify-audit' | 'verify-evidence';

/** The verifiers as they are shipped. */
const verifiers = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-verifiers-'));
writeVerifiers(verifiers);
afterAll(() => {
  fs.rmSync(verifiers, { recursive: true, force: true });
});

const verifierFile = (name: Verifier): string => path.join(verifiers, `${name}.mjs`);

const verdicts = /^(VALID|NOT VALID|COULD NOT BE CHECKED|CONSISTENT, SIGNER UNKNOWN)\b/;

/** What a verifier ends with and says; the key of the first workstation is on its standard input. */
export function runVerifier(name: Verifier, args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [verifierFile(name), ...args], {
    input: Buffer.from(testKey).toString('base64'),
    encoding: 'utf8',
  });
  const said = stdout + stderr;
  return { status, said, verdict: verdicts.exec(said.trimEnd().split('\n').at(-1) ?? '')?.[1] };
}

/** One file as it would be changed. */
export interface Attempt {
  readonly file: string;
  readonly bytes: Buffer;
}

/** The same for one file changed in many ways, each put back, in one process: its exit codes. */
export function verifyAttempts(
  name: Verifier,
  args: readonly string[],
  attempts: readonly Attempt[],
): number[] {
  const script = path.join(import.meta.dirname, 'verify-attempts.ts');
  const { stdout, stderr } = spawnSync(process.execPath, [script, verifierFile(name), ...args], {
    input: JSON.stringify(attempts.map(({ file, bytes }) => ({ file, base64: bytes.toString('base64') }))),
    encoding: 'utf8',
    maxBuffer: 1e8,
  });
  if (stderr !== '') throw new Error(stderr);
  return JSON.parse(stdout) as number[];
}

interface Signed {
  lines: { file: string; text: string; sha256: string; link: number }[];
  links: string[];
  case: string;
  version: number;
  log: { state: string };
  job: string;
  source: unknown;
  output: { name: string };
  sum: Record<string, number>;
  signature: unknown;
  page: { sha256: string };
}

/** Changes the text of a file. */
export function rewrite(file: string, change: (text: string) => string): void {
  fs.writeFileSync(file, change(fs.readFileSync(file, 'utf8')));
}

/** Changes the lines of a file of the log. */
export const rewriteLines = (file: string, change: (lines: string[]) => string[]): void =>
  rewrite(file, (text) =>
    change(text.trimEnd().split('\n'))
      .map((line) => `${line}\n`)
      .join(''),
  );

/** Changes the members of signed JSON, and leaves its signature as it is. */
export function edit(file: string, change: (document: Signed) => unknown): void {
  rewrite(file, (text) => {
    const document = JSON.parse(text) as Signed;
    change(document);
    return `${JSON.stringify(document, null, 2)}\n`;
  });
}

/**
 * Changes the members and signs them, the page of evidence included: what somebody can make who has not the workstation's
 * key, with `seed` another, and what the workstation itself would have made.
 */
export function sign(
  file: string,
  seed: number,
  change: (document: Signed) => unknown = () => undefined,
): void {
  edit(file, (document) => {
    Reflect.deleteProperty(document, 'signature');
    change(document);
    const key = evidenceKey(new Uint8Array(32).fill(seed));
    document.signature = {
      algorithm: 'Ed25519',
      publicKey: key.publicKey.toString('base64'),
      value: key.sign(Buffer.from(JSON.stringify(document))).toString('base64'),
    };
  });
  const page = file.replace(/\.json$/, '.html');
  const document = JSON.stringify(JSON.parse(fs.readFileSync(file, 'utf8'))).replaceAll('<', '\\u003c');
  if (fs.existsSync(page)) rewrite(page, (text) => withDocument(text, document));
}

/** A page of evidence with another document in it. */
export const withDocument = (page: string, document: string): string =>
  page.replace(/(id="evidence">)[^<]*/, (_all, start: string) => start + document);
