/**
 * Checks evidence on a case, the receipt of a run, or the report of several files, without Tokendesk: `node verify-evidence.mjs FILE.json`, the page beside
 * it, or the page alone. An installed Tokendesk has it in resources/verify, and runs it itself: `tokendesk --verify-evidence FILE.json`.
 *
 *   --signer HEX           SHA-256 of the public key, as the workstation shows it: nobody else may have signed
 *   --known-signers FILE   one fingerprint a line, a name behind it if wanted: one of them may have signed
 *   --log FOLDER           the audit log: each line has to stand in it, and the chain has to go on to the head
 *   --source FILE          of a receipt: the file that was run has to be this one
 *   --key FILE             the log's HMAC key (32 bytes, hex or base64), for whoever may hold it: checks each line's MAC
 *
 * Its last line is the verdict. Exit code 0: valid, signed by a known signer; 1: not valid; 2: could not be checked,
 * which says nothing about the evidence: something that was named is not there or is something else; 3: consistent, signer
 * unknown, so that anybody may have made it.
 *
 * Imports nothing but Node's own modules, on purpose: it is to be read by somebody who does not trust the application.
 */
import { createHash, createHmac, createPublicKey, verify } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';

export interface Options {
  readonly file: string;
  /** The one who has to have signed. */
  readonly signer?: string;
  /** Names by fingerprint of those who may have. */
  readonly knownSigners?: ReadonlyMap<string, string>;
  readonly log?: string;
  readonly key?: Uint8Array;
  /** The file that a receipt is of. */
  readonly source?: string;
}

export type Verdict = 'valid' | 'not valid' | 'could not be checked' | 'consistent, signer unknown';

export const exitCodes: Readonly<Record<Verdict, number>> = {
  valid: 0,
  'not valid': 1,
  'could not be checked': 2,
  'consistent, signer unknown': 3,
};

export interface Findings {
  readonly verdict: Verdict;
  /** What was looked at and holds. */
  readonly holds: readonly string[];
  readonly problems: readonly string[];
  /** What would have to be looked at and can't be. */
  readonly unchecked: readonly string[];
  /** SHA-256 of the public key; null where the signature does not hold. */
  readonly signer: string | null;
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
  /** `sha256` is the page's without the document in it; in version 1 no document was in it. */
  readonly page: { readonly name: string; readonly sha256: string };
  readonly signature?: { readonly algorithm: string; readonly publicKey: string; readonly value: string };
}

interface NamedFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

interface LogLine {
  readonly file: string;
  readonly sequence: number;
  readonly mac: string;
}

interface ReceiptDocument extends Pick<Document, 'signature'> {
  readonly version: unknown;
  readonly job: string;
  readonly source: NamedFile | null;
  readonly output: NamedFile;
  readonly sum: Readonly<Record<'rows' | 'ok' | 'failed' | 'unmatched' | 'blank', number>>;
  readonly log: { readonly state: string; readonly first: LogLine; readonly last: LogLine };
}

interface ReportDocument extends Pick<Document, 'signature'> {
  readonly version: unknown;
  readonly files: readonly (Counts & { readonly left: number | null })[];
  readonly sum: Counts & { readonly files: number; readonly left: number | null };
}

type Counts = ReceiptDocument['sum'];

interface Entry {
  readonly kind: string;
  readonly sequence: number;
  readonly phase: string;
  readonly of: number | null;
  readonly caseReference: string | null;
  readonly prev: string;
  readonly mac: string;
}

/** What the caller named is not there, or is something else: no word about the evidence. */
class Unverifiable extends Error {}

const sha256 = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex');

/** What calls itself so was made by a workstation, whatever became of it. */
const isOurs = /tokendesk-(?:evidence|receipt|report)/;

/** Where the page holds the document. No "<" is in it. */
const slot = /(<script type="application\/json" id="evidence">)([^<]*)(<\/script>)/;

export async function verifyEvidence(options: Options): Promise<Findings> {
  const holds: string[] = [];
  const problems: string[] = [];
  const unchecked: string[] = [];
  let signer: string | null = null;
  let isKnown = false;
  try {
    await checkFile();
  } catch (error) {
    if (error instanceof Unverifiable) unchecked.push(error.message);
    // Members of another kind than evidence has.
    else problems.push('It does not have the form that evidence has.');
  }
  return { verdict: verdictOf(), holds, problems, unchecked, signer };

  function verdictOf(): Verdict {
    if (problems.length > 0) return 'not valid';
    if (unchecked.length > 0) return 'could not be checked';
    return isKnown ? 'valid' : 'consistent, signer unknown';
  }

  function check(isTrue: boolean, what: string, otherwise: string): void {
    if (isTrue) holds.push(what);
    else problems.push(otherwise);
  }

  async function checkFile(): Promise<void> {
    const { file, log, key } = options;
    const text = await readNamed(file, 'file');
    if (text.trim() === '') throw new Unverifiable(`${file} is empty.`);
    const isPage = /^<!doctype html>/i.test(text);
    const written = isPage ? slot.exec(text)?.[2] : text.replaceAll('\r\n', '\n').trim();
    if (written === undefined && isOurs.test(text)) {
      problems.push('The page was changed: its evidence is not where it was.');
      return;
    }
    if (written === undefined) throw new Unverifiable(`${file} is a page that holds no evidence.`);
    let document: Document & { readonly format?: unknown; readonly version?: unknown };
    try {
      document = JSON.parse(written) as typeof document;
    } catch {
      if (!isOurs.test(written)) throw new Unverifiable(`${file} is not JSON.`);
      problems.push('The file was cut off or changed: it is no JSON any more.');
      return;
    }
    if ((document as unknown) !== null && document.format === 'tokendesk-receipt') {
      await checkReceipt(document as unknown as ReceiptDocument, written);
      return;
    }
    if ((document as unknown) !== null && document.format === 'tokendesk-report') {
      checkReport(document as unknown as ReportDocument, written);
      return;
    }
    if ((document as unknown) === null || document.format !== 'tokendesk-evidence')
      throw new Unverifiable(`${file} is not evidence.`);
    if (document.version !== 1 && document.version !== 2)
      throw new Unverifiable(`${file} has a form that this version does not know.`);
    // What a reader sees in the file is what is checked: no member twice, nothing between them.
    const forms = [JSON.stringify(document, null, 2), embedded(document)];
    check(forms.includes(written), 'The file is written as it is made.', 'The file’s text was changed.');

    checkSignature(document);
    if (options.source !== undefined)
      unchecked.push('Only a receipt has a source: this is evidence, and the source was not compared.');
    check(
      document.log.state === 'intact',
      'The log was intact when this was made.',
      'The log was already broken when this was made.',
    );
    await checkPage(document, isPage ? file : null);
    const entries = document.lines.map((line, index) => checkLine(document, line, index));
    checkPairs(entries);
    if (document.links) checkLinks(document, document.links);
    if (key) checkMacs(document, key);
    if (log !== undefined) await checkLog(document, log);
  }

  async function checkReceipt(document: ReceiptDocument, written: string): Promise<void> {
    const { file, source: sourceFile, log: logFolder } = options;
    if (document.version !== 1) throw new Unverifiable(`${file} has a form that this version does not know.`);
    check(
      written === JSON.stringify(document, null, 2),
      'The file is written as it is made.',
      'The file’s text was changed.',
    );
    checkSignature(document);
    const { source, output, sum, log } = document;
    check(
      log.state === 'intact',
      'The log was intact when this was made.',
      'The log was already broken when this was made.',
    );
    checkSum(sum);
    const beside = file.replace(/\.receipt\.json$/, '');
    const there = beside === file ? null : await readFile(beside).catch(() => null);
    if (there === null)
      unchecked.push(`The file ${output.name} is not beside its receipt, and was not compared.`);
    else
      check(
        isFile(there, output),
        `${output.name} is the file that was written.`,
        `${output.name} was changed.`,
      );
    if (sourceFile !== undefined) {
      if (source === null) throw new Unverifiable('The receipt names no source: its rows were no file.');
      const bytes = await readFile(sourceFile).catch((error: unknown) => refuse(error, sourceFile, 'file'));
      check(
        isFile(bytes, source),
        'The source is the file that was run.',
        'The source is not the file that was run.',
      );
    }
    if (logFolder !== undefined) await checkReceiptLog(document, logFolder);
    else if (options.key) unchecked.push('A receipt holds no line of the log: name the log as well.');
  }

  function checkSum({ rows, ok, failed, unmatched, blank }: Counts): void {
    const areCounts = [rows, ok, failed, unmatched, blank].every(isCount);
    check(
      areCounts && rows === ok + failed + unmatched + blank,
      `${rows} rows = ${ok} succeeded + ${failed} failed + ${unmatched} not matched + ${blank} blank.`,
      'The sum of the rows does not agree.',
    );
  }

  /** Its numbers alone: which bytes went into which file is in the files' receipts. */
  function checkReport(document: ReportDocument, written: string): void {
    if (document.version !== 1)
      throw new Unverifiable(`${options.file} has a form that this version does not know.`);
    check(
      written === JSON.stringify(document, null, 2),
      'The file is written as it is made.',
      'The file’s text was changed.',
    );
    checkSignature(document);
    const { files, sum } = document;
    checkSum(sum);
    const members = ['rows', 'ok', 'failed', 'unmatched', 'blank'] as const;
    const total = (of: (file: ReportDocument['files'][number]) => number): number =>
      files.reduce((all, file) => all + of(file), 0);
    const left = files.every((file) => file.left === null) ? null : total((file) => file.left ?? 0);
    check(
      files.length === sum.files &&
        left === sum.left &&
        members.every((member) => total((file) => file[member]) === sum[member]),
      `The ${files.length} files add up to the sum.`,
      'The files do not add up to the sum.',
    );
    if (options.source !== undefined || options.log !== undefined || options.key)
      unchecked.push('A report names no line of the log and no source: the receipts of its files do.');
  }

  /** Every line of the log from the batch's first to the receipt's: there, each naming the one before. */
  async function checkReceiptLog(
    { job, log: { first, last } }: ReceiptDocument,
    folder: string,
  ): Promise<void> {
    const within: { readonly text: string; readonly mac: string }[] = [];
    /** The keys that the files of these lines name. */
    const keys = new Set<string>();
    let isChained = true;
    let isWhole = false;
    for (const name of await logFiles(folder)) {
      const lines = (await readNamed(path.join(folder, name), 'file')).split('\n');
      for (const text of lines) {
        if (text === '' || isWhole) continue;
        const { prev, mac } = parseLine(text);
        const before = within.at(-1);
        if (before === undefined && (name !== first.file || mac !== first.mac)) continue;
        if (before !== undefined && prev !== before.mac) isChained = false;
        within.push({ text, mac });
        keys.add(keyOf(lines[0] ?? ''));
        isWhole = name === last.file && mac === last.mac;
      }
    }
    check(
      isWhole && (JSON.parse(within.at(-1)?.text ?? '') as { readonly job?: unknown }).job === job,
      `The log has the batch’s lines, entries ${first.sequence} to ${last.sequence}.`,
      `The log ${folder} does not have the batch’s lines.`,
    );
    check(
      isChained,
      'In the log, the chain goes from the first to the last.',
      'In the log, the chain is broken.',
    );
    if (options.key && isWhole)
      checkMacs({ lines: within }, options.key, [...keys].join() === idOfKey(options.key));
    // The receipt holds no line: what stands between the first and the last is the log's word alone.
    else if (isWhole)
      unchecked.push('What the batch’s lines say was not checked: that takes the log’s key, with --key.');
  }

  function checkSignature({ signature, ...signed }: Pick<Document, 'signature'>): void {
    if (signature?.algorithm !== 'Ed25519') {
      problems.push('It is not signed.');
      return;
    }
    const der = Buffer.from(signature.publicKey, 'base64');
    const bytes = Buffer.from(JSON.stringify(signed));
    let isTrue = false;
    // The signature itself is not signed: it is as it was made alone, to the last bit of its Base64.
    const isAsMade =
      Object.keys(signature).length === 3 &&
      [signature.publicKey, signature.value].every(
        (text) => Buffer.from(text, 'base64').toString('base64') === text,
      );
    try {
      const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' });
      isTrue = isAsMade && verify(null, bytes, publicKey, Buffer.from(signature.value, 'base64'));
    } catch {
      // A key that is none: the signature does not hold.
    }
    const found = sha256(der);
    check(isTrue, `The signature is of ${found}.`, 'The signature does not hold: the file was changed.');
    if (!isTrue) return;
    signer = found;
    const { signer: expected, knownSigners } = options;
    if (expected !== undefined) {
      isKnown = found === expected.toLowerCase();
      check(isKnown, 'That is the signer you named.', `That is not the signer you named: ${found} signed.`);
    } else if (knownSigners?.has(found) === true) {
      isKnown = true;
      holds.push(`That is a signer of your list: ${knownSigners.get(found) ?? found}.`);
    }
  }

  async function checkPage(
    document: Document & { readonly version?: unknown },
    own: string | null,
  ): Promise<void> {
    const name = path.basename(document.page.name);
    const page = await readFile(own ?? path.join(path.dirname(options.file), name), 'utf8').catch(() => null);
    if (page === null) {
      unchecked.push(`The page ${name} is not beside the file, and was not compared.`);
      return;
    }
    const isOfThis =
      document.version === 1
        ? sha256(page) === document.page.sha256
        : slot.exec(page)?.[2] === embedded(document) &&
          sha256(page.replace(slot, '$1$3')) === document.page.sha256;
    check(isOfThis, 'The page is the one that was made with it.', 'The page was changed.');
  }

  function checkLine(document: Document, line: Line, index: number): Entry | null {
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
    if (!line.text.endsWith(macMember(entry))) problems.push(`${where} does not end with its MAC.`);
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
    let isInOrder = found.length > 0;
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
  }

  function checkLinks({ lines, log: { head } }: Document, links: readonly string[]): void {
    const placed = lines.map(({ link }) => link ?? -1);
    const goesUp = placed.every((link, index) => link > (placed[index - 1] ?? 0));
    check(
      goesUp && placed[0] === 1,
      'Each line has its place in the chain.',
      'The lines do not stand in the chain.',
    );
    check(
      links.at(-1) === head.mac,
      `The chain goes on to entry ${head.sequence}.`,
      'The chain does not end at the head.',
    );
  }

  /**
   * A key that makes none of the MACs is another log's, or the lines are of no log: with it nobody can tell which, unless
   * their file names the key.
   */
  function checkMacs(
    { lines }: { readonly lines: readonly Pick<Line, 'text'>[] },
    key: Uint8Array,
    isOfThem = false,
  ): void {
    const wrong = lines.flatMap(({ text }, index) => {
      const end = macMember(JSON.parse(text) as Entry);
      const mac = createHmac('sha256', key).update(text.slice(0, -end.length)).digest('hex');
      return end === `,"mac":"${mac}"}` ? [] : [index + 1];
    });
    if (wrong.length === 0) holds.push('Each line’s MAC is the key’s.');
    else if (wrong.length === lines.length && !isOfThem)
      unchecked.push('The key makes the MAC of none of the lines. Is it the key of this log?');
    else for (const line of wrong) problems.push(`Line ${line} has a MAC that this key does not make.`);
  }

  /** Every line of the log from the case's first to the head: there, byte for byte, each naming the one before. */
  async function checkLog({ lines, log: { head } }: Document, folder: string): Promise<void> {
    const names = await logFiles(folder);
    const wanted = new Set(lines.map(({ file, text }) => `${file}\n${text}`));
    let before: string | null = null;
    let isChained = true;
    let reachesHead = false;
    for (const name of names) {
      for (const text of (await readNamed(path.join(folder, name), 'file')).split('\n')) {
        if (text === '' || reachesHead) continue;
        wanted.delete(`${name}\n${text}`);
        const { prev, mac } = parseLine(text);
        const isBegun = wanted.size < lines.length;
        if (isBegun && before !== null && prev !== before) isChained = false;
        before = mac;
        reachesHead = mac === head.mac;
      }
    }
    const missing =
      wanted.size === lines.length ? 'None of the lines stands' : `${wanted.size} lines do not stand`;
    check(wanted.size === 0, 'Each line stands in the log.', `${missing} in the log ${folder}.`);
    check(
      isChained && reachesHead,
      'In the log, the chain goes on to the head.',
      'In the log, the chain does not reach the head.',
    );
  }
}

const isCount = (count: unknown): boolean => Number.isSafeInteger(count) && Number(count) >= 0;

/** The document as it stands in the page: the compact JSON that was signed, and no "<" in it. */
const embedded = (document: object): string => JSON.stringify(document).replaceAll('<', '\\u003c');

const isFile = (found: Uint8Array, { bytes, sha256: hash }: NamedFile): boolean =>
  found.length === bytes && sha256(found) === hash;

const macMember = ({ mac }: Entry): string => `,"mac":"${mac}"}`;

/** A line that is no JSON is a link that is missing. */
function parseLine(text: string): Pick<Entry, 'prev' | 'mac'> {
  try {
    const { prev, mac } = JSON.parse(text) as Entry;
    return { prev, mac };
  } catch {
    return { prev: '', mac: '' };
  }
}

/** How a log's file names its key in its first line. */
const idOfKey = (key: Uint8Array): string =>
  createHmac('sha256', key).update('tokendesk audit key').digest('hex').slice(0, 16);

function keyOf(firstLine: string): string {
  try {
    return String((JSON.parse(firstLine) as { readonly key?: unknown }).key);
  } catch {
    return '';
  }
}

async function logFiles(folder: string): Promise<string[]> {
  const found = await readdir(folder).catch((error: unknown) => refuse(error, folder, 'folder'));
  const names = found.filter((name) => /^audit-\d{6,}\.jsonl$/.test(name));
  if (names.length === 0)
    throw new Unverifiable(`There is no log in ${folder}: it has no file audit-….jsonl.`);
  return names.sort((one, other) => Number(/\d+/.exec(one)) - Number(/\d+/.exec(other)));
}

async function readNamed(file: string, what: 'file'): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => refuse(error, file, what));
}

/** What went wrong with a path that was named, as a sentence. */
function refuse(error: unknown, named: string, what: 'file' | 'folder'): never {
  const code = String((error as NodeJS.ErrnoException).code);
  const other = what === 'file' ? 'folder' : 'file';
  if (code === 'ENOENT') throw new Unverifiable(`There is no ${what} ${named}.`);
  if (code === 'EISDIR' || code === 'ENOTDIR')
    throw new Unverifiable(`${named} is a ${other}, not a ${what}.`);
  throw new Unverifiable(`${named} can’t be read (${code}).`);
}

async function readKey(file: string): Promise<Uint8Array> {
  const bytes = await readFile(file).catch((error: unknown) => refuse(error, file, 'file'));
  // The app's entry in the keychain, whoever read it there, has the log's end behind a space.
  const [text = ''] = bytes.toString('utf8').trim().split(' ');
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex');
  if (/^[A-Za-z0-9+/]{43}=?$/.test(text)) return Buffer.from(text, 'base64');
  if (bytes.length === 32) return bytes;
  throw new Unverifiable(`${file} is not a key of 32 bytes.`);
}

/** `FINGERPRINT NAME` a line; a line that begins with "#" is for people. */
async function readSigners(file: string): Promise<Map<string, string>> {
  const signers = new Map<string, string>();
  for (const [index, line] of (await readNamed(file, 'file')).split(/\r?\n/).entries()) {
    // Trimmed, since an editor of Windows begins a file with a byte order mark.
    if (line.trim() === '' || line.trim().startsWith('#')) continue;
    const [, fingerprint = '', name = ''] = /^\s*([0-9a-f]{64})(?:\s+(.*))?$/i.exec(line) ?? [];
    if (fingerprint === '')
      throw new Unverifiable(`${file}, line ${index + 1}: that is no fingerprint of a signer.`);
    signers.set(fingerprint.toLowerCase(), name.trim() === '' ? fingerprint.toLowerCase() : name.trim());
  }
  if (signers.size === 0) throw new Unverifiable(`${file} names no signer.`);
  return signers;
}

const usage =
  'verify-evidence FILE.json [--signer HEX | --known-signers FILE] [--log FOLDER] [--key FILE] [--source FILE]';

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        signer: { type: 'string' },
        'known-signers': { type: 'string' },
        log: { type: 'string' },
        source: { type: 'string' },
        key: { type: 'string' },
      },
    });
  } catch (error) {
    throw new Unverifiable(`${(error as Error).message.split(/\.(?: |$)/)[0] ?? ''}. ${usage}`);
  }
}

async function readOptions(args: string[]): Promise<Options> {
  const { values, positionals } = readArguments(args);
  const [file, more] = positionals;
  if (file === undefined) throw new Unverifiable(`No file was named. ${usage}`);
  if (more !== undefined) throw new Unverifiable(`One file is verified at a time, not ${more} too. ${usage}`);
  const { signer, 'known-signers': list, log, key, source } = values;
  if (signer !== undefined && list !== undefined)
    throw new Unverifiable('Name the signer, or a list of known signers, not both.');
  if (signer !== undefined && !/^[0-9a-f]{64}$/i.test(signer))
    throw new Unverifiable('A signer is named by 64 hexadecimal digits, as the workstation shows them.');
  return {
    file,
    ...(signer !== undefined && { signer }),
    ...(list !== undefined && { knownSigners: await readSigners(list) }),
    ...(log !== undefined && { log }),
    ...(source !== undefined && { source }),
    ...(key !== undefined && { key: await readKey(key) }),
  };
}

const lastLines: Readonly<Record<Verdict, (signer: string) => string>> = {
  valid: (signer) => `VALID: signed by ${signer}, a known signer.`,
  'not valid': () => 'NOT VALID: this is not what was signed, or not by whom it should be.',
  'could not be checked': () => 'COULD NOT BE CHECKED: see above.',
  'consistent, signer unknown': (signer) =>
    `CONSISTENT, SIGNER UNKNOWN: ${signer} is no signer you named, so anybody may have made this. Compare it with what the workstation shows.`,
};

/** One line, whatever the files and their names say: no text of theirs looks like a verdict, or hides one. */
function say(line: string, print = console.log): void {
  print(line.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD'));
}

async function main(): Promise<void> {
  try {
    const options = await readOptions(process.argv.slice(2));
    const { verdict, holds, problems, unchecked, signer } = await verifyEvidence(options);
    for (const line of holds) say(`✓ ${line}`);
    for (const line of problems) say(`✗ ${line}`);
    for (const line of unchecked) say(`? ${line}`);
    say(lastLines[verdict](signer ?? ''));
    process.exitCode = exitCodes[verdict];
  } catch (error) {
    const said =
      error instanceof Unverifiable ? error.message : `The verifier failed (${(error as Error).message}).`;
    say(`COULD NOT BE CHECKED: ${said}`, console.error);
    process.exitCode = exitCodes['could not be checked'];
  }
}

if (import.meta.main) await main();
