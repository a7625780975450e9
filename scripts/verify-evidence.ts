/**
 * Checks evidence on a case without Tokendesk: `node verify-evidence.mjs FILE.json`, the page beside it. An
 * installed Tokendesk has it in resources/verify, and runs it itself: `tokendesk --verify-evidence FILE.json`.
 *
 *   --signer HEX   SHA-256 of the public key, as the workstation shows it; without it anybody could have signed
 *   --log FOLDER   the audit log: each line has to stand in it, and the chain has to go on to the head
 *   --key FILE     the log's HMAC key (32 bytes, hex or base64), for whoever may hold it: checks each line's MAC
 *
 * Exits 1 when anything does not hold. Imports nothing but Node's own modules, on purpose: it is to be read by
 * somebody who does not trust the application.
 */
import { createHash, createHmac, createPublicKey, verify } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

export interface Options {
  readonly file: string;
  readonly signer?: string;
  readonly log?: string;
  readonly key?: Uint8Array;
}

export interface Verdict {
  /** What was looked at and holds. */
  readonly holds: readonly string[];
  readonly problems: readonly string[];
}

interface Line {
  readonly file: string;
  readonly link: number | null;
  readonly sha256: string;
  readonly text: string;
}

interface Document {
  readonly case: string;
  readonly log: {
    readonly state: string;
    readonly head: { readonly sequence: number; readonly mac: string };
  };
  readonly lines: readonly Line[];
  readonly links: readonly string[] | null;
  readonly page: { readonly name: string; readonly sha256: string };
  readonly signature?: { readonly algorithm: string; readonly publicKey: string; readonly value: string };
}

interface Entry {
  readonly kind: string;
  readonly sequence: number;
  readonly phase: string;
  readonly of: number | null;
  readonly caseReference: string | null;
  readonly prev: string;
  readonly mac: string;
}

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

export async function verifyEvidence({ file, signer, log, key }: Options): Promise<Verdict> {
  const holds: string[] = [];
  const problems: string[] = [];
  const check = (isTrue: boolean, what: string, otherwise: string): void => {
    if (isTrue) holds.push(what);
    else problems.push(otherwise);
  };

  let document: Document;
  try {
    document = JSON.parse(await readFile(file, 'utf8')) as Document;
  } catch {
    return { holds, problems: ['The file is not JSON, or can’t be read.'] };
  }
  const { signature, ...signed } = document as Document & { format?: string; version?: number };
  if (signed.format !== 'tokendesk-evidence' || signed.version !== 1 || !Array.isArray(signed.lines)) {
    return { holds, problems: ['This is not evidence of a form known here.'] };
  }

  checkSignature();
  check(
    document.log.state === 'intact',
    'The log was intact when this was made.',
    'The log was already broken when this was made.',
  );
  const page = await readFile(path.join(path.dirname(file), path.basename(document.page.name))).catch(
    () => null,
  );
  check(
    page !== null && sha256(page) === document.page.sha256,
    'The page is the one that was made with it.',
    'The page is missing or was changed.',
  );

  const entries = document.lines.map(checkLine);
  checkPairs(entries);
  if (document.links) checkLinks(document.links);
  if (log !== undefined) await checkLog(log);
  return { holds, problems };

  function checkSignature(): void {
    if (signature?.algorithm !== 'Ed25519') {
      problems.push('It is not signed.');
      return;
    }
    const der = Buffer.from(signature.publicKey, 'base64');
    const bytes = Buffer.from(JSON.stringify(signed));
    let isTrue = false;
    try {
      const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
      isTrue = verify(null, bytes, publicKey, Buffer.from(signature.value, 'base64'));
    } catch {
      // A key that is none: the signature does not hold.
    }
    check(
      isTrue,
      `The signature holds. Signer: ${sha256(der)}`,
      'The signature does not hold: the file was changed.',
    );
    if (signer !== undefined) {
      check(
        sha256(der) === signer.toLowerCase(),
        'The signer is the one expected.',
        'The signer is another one.',
      );
    }
  }

  function checkLine(line: Line, index: number): Entry | null {
    const where = `Line ${index + 1}`;
    let entry: Entry;
    try {
      entry = JSON.parse(line.text) as Entry;
    } catch {
      problems.push(`${where} is not JSON.`);
      return null;
    }
    if (sha256(line.text) !== line.sha256) problems.push(`${where} is not the one its SHA-256 says.`);
    if (entry.kind !== 'entry' || entry.caseReference !== document.case)
      problems.push(`${where} is of another case.`);
    const end = `,"mac":"${entry.mac}"}`;
    if (!line.text.endsWith(end)) problems.push(`${where} does not end with its MAC.`);
    if (key) {
      const mac = createHmac('sha256', key).update(line.text.slice(0, -end.length)).digest('hex');
      if (mac !== entry.mac) problems.push(`${where} has a MAC that this key does not make.`);
    }
    const { link } = line;
    if (
      document.links &&
      (link === null || document.links[link] !== entry.mac || document.links[link - 1] !== entry.prev)
    ) {
      problems.push(`${where} is not where the chain says.`);
    }
    return entry;
  }

  /** Each end belongs to a beginning that is there, and the numbers go up. */
  function checkPairs(found: readonly (Entry | null)[]): void {
    let last = 0;
    let isInOrder = true;
    const begun = new Set<number>();
    for (const entry of found) {
      if (entry === null) continue;
      if (entry.sequence <= last) isInOrder = false;
      last = entry.sequence;
      if (entry.phase === 'begun') begun.add(entry.sequence);
      else if (entry.of !== null && !begun.has(entry.of))
        problems.push(`Entry ${entry.sequence} ends what never began.`);
    }
    check(isInOrder, `${found.length} lines, in order.`, 'The lines are not in order.');
    if (key && problems.every((problem) => !problem.includes('MAC')))
      holds.push('Each line’s MAC is the key’s.');
  }

  function checkLinks(links: readonly string[]): void {
    const placed = document.lines.map(({ link }) => link ?? -1);
    const goesUp = placed.every((link, index) => link > (placed[index - 1] ?? 0));
    check(
      goesUp && placed[0] === 1,
      'Each line has its place in the chain.',
      'The lines do not stand in the chain.',
    );
    check(
      links.at(-1) === document.log.head.mac,
      `The chain goes on to entry ${document.log.head.sequence}.`,
      'The chain does not end at the head.',
    );
  }

  /** Every line of the log from the case's first to the head: there, byte for byte, each naming the one before. */
  async function checkLog(folder: string): Promise<void> {
    const names = (await readdir(folder)).filter((name) => /^audit-\d{6,}\.jsonl$/.test(name)).sort();
    const wanted = new Map(document.lines.map((line) => [`${line.file}\n${line.text}`, line]));
    let before: string | null = null;
    let isChained = true;
    let reachesHead = false;
    for (const name of names) {
      for (const text of (await readFile(path.join(folder, name), 'utf8')).split('\n')) {
        if (text === '' || reachesHead) continue;
        wanted.delete(`${name}\n${text}`);
        const { prev, mac } = JSON.parse(text) as Entry;
        const isBegun = wanted.size < document.lines.length;
        if (isBegun && before !== null && prev !== before) isChained = false;
        before = mac;
        reachesHead = mac === document.log.head.mac;
      }
    }
    check(wanted.size === 0, 'Each line stands in the log.', `${wanted.size} lines do not stand in the log.`);
    check(
      isChained && reachesHead,
      'In the log, the chain goes on to the head.',
      'In the log, the chain does not reach the head.',
    );
  }
}

function readKey(bytes: Buffer): Uint8Array {
  const text = bytes.toString('latin1').trim();
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  return /^[A-Za-z0-9+/]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : bytes;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { signer: { type: 'string' }, log: { type: 'string' }, key: { type: 'string' } },
  });
  const [file] = positionals;
  if (file === undefined) {
    console.error('verify-evidence FILE.json [--signer HEX] [--log FOLDER] [--key FILE]');
    process.exit(2);
  }
  const key = values.key === undefined ? undefined : readKey(await readFile(values.key));
  const { holds, problems } = await verifyEvidence({
    file,
    ...(values.signer !== undefined && { signer: values.signer }),
    ...(values.log !== undefined && { log: values.log }),
    ...(key && { key }),
  });
  for (const line of holds) console.log(`✓ ${line}`);
  for (const line of problems) console.log(`✗ ${line}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
