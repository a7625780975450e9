/* eslint-disable no-control-regex -- bytes of other formats */
import { isAscii } from 'node:buffer';
import { isPgp } from '../../parsing/packed/gpg.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { isBlank } from '../../util/blank.ts';
import { looksEbcdic, nextLine } from './ebcdic.ts';
import { codecOf } from './encodings.ts';

/** What a file is by its first bytes or lines, whatever its name says. `other` has the words a person knows it by. */
export type FileKind =
  | { readonly kind: 'text' }
  /** A table: an object in each line, or an array of them. */
  | { readonly kind: 'json'; readonly rows: 'lines' | 'array' }
  /** A workbook, or what may have a table in it: see `readPacked`. */
  | { readonly kind: 'packed' }
  | { readonly kind: 'other'; readonly name: string };

/** The first bytes, and as far as they reach the first lines. Nothing of them is shown. */
interface Head {
  readonly bytes: Buffer;
  /** As latin1, without a byte order mark. Of EBCDIC its letters, and LF for NEL. */
  readonly text: string;
  /** Of the text, without blank ones; the last is left out where the bytes end within it. */
  readonly lines: readonly string[];
}

type Sign = string | readonly number[] | RegExp | ((head: Head) => boolean);

const headBytes = 16 * 1024;

const packedSigns: readonly Sign[] = [
  [0x50, 0x4b, 0x03, 0x04],
  [0x50, 0x4b, 0x05, 0x06],
  [0x1f, 0x8b],
  'age-encryption.org/',
  ({ bytes }: Head) => isPgp(bytes),
];
const compound = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

/**
 * Kinds that are no table of text, each with what it begins with, or what its first lines have. The first that fits is
 * taken. A sign must be one that no table has: a table that is refused can't be read at all.
 */
const kinds: readonly (readonly [name: string, sign: Sign])[] = [
  ['PDF', '%PDF-'],
  ['7-Zip archive', '7z\xbc\xaf\x27\x1c'],
  ['RAR archive', 'Rar!\x1a\x07'],
  ['bzip2 archive', /^BZh[1-9](?:1AY&SY|\x17rE8P\x90)/],
  ['xz archive', [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ['Zstandard archive', [0x28, 0xb5, 0x2f, 0xfd]],
  ['LZ4 archive', [0x04, 0x22, 0x4d, 0x18]],
  ['tar archive', ({ text }: Head) => text.slice(257, 262) === 'ustar'],
  ['Parquet file', 'PAR1'],
  ['Avro file', 'Obj\x01'],
  ['Arrow file', 'ARROW1\0\0'],
  ['SQLite database', 'SQLite format 3\0'],
  ['Access database', [0x00, 0x01, 0x00, 0x00, 0x53, 0x74, 0x61, 0x6e, 0x64, 0x61, 0x72, 0x64]],
  ['dBASE table (.dbf)', isDbase],
  ['picture', '\x89PNG'],
  ['picture', [0xff, 0xd8, 0xff]],
  ['RTF document', '{\\rtf'],
  ['file encrypted with age', '-----BEGIN AGE ENCRYPTED FILE-----'],
  ['file encrypted or signed with PGP', /^-----BEGIN PGP /],
  ['text in UTF-32', isUtf32],
  ['text in ISO-2022-JP', ({ bytes, text }: Head) => isAscii(bytes) && /\x1b\$[@B]/.test(text)],
  ['text in UTF-7', isUtf7],
  [
    'XML payment file (pain or camt)',
    /^\s*(?:<\?xml[^>]*>\s*)?<(?:\w+:)?Document\b[^>]*(?:pain|camt|pacs)\.\d/,
  ],
  ['web page (HTML)', /^\s*(?:<!--[^>]*-->\s*)?<(?:!doctype html|html|head|body|table)\b/i],
  ['XML file', /^\s*<\?xml\s/],
  [
    'list of connections',
    ({ text }: Head) => /^\s*\{/.test(text) && /^\s*"connections"\s*:\s*\[/m.test(text),
  ],
  ['service profile', ({ text }: Head) => /^\s*\{/.test(text) && /^\s*"operations"\s*:\s*\{/m.test(text)],
  ['JSON Lines file', isJsonLines],
  ['JSON file', isJson],
  ['EDIFACT message', /^(?:UNA.{6}\s*)?UNB\+/],
  ['X12 message', /^ISA([^\w\s])\d\d\1.{10}\1\d\d\1/],
  ['SWIFT statement (MT940)', isSwift],
  [
    'BAI2 statement',
    ({ lines }: Head) => /^01,[^,]*,[^,]*,\d{6},/.test(lines[0] ?? '') && /^02,/.test(lines[1] ?? ''),
  ],
  ['LDIF directory file', /^(?:#.*\s+)*(?:version: *1\s+(?:#.*\s+)*)?dn::? ?\S.*\r?\n(?:[\w;-]+:.*\r?\n)/],
  ['list of ISO 8583 messages', isIso8583],
];

/** Failures to read are found again, and said, by who reads the rows. */
export async function detectFileKind(source: Pick<ByteSource, 'read' | 'identity'>): Promise<FileKind> {
  const read = await source.read(0, headBytes);
  if (!read.ok) return { kind: 'text' };
  const bytes = read.value;
  const isCut = source.identity.size > bytes.length;
  const text = looksEbcdic(bytes)
    ? codecOf('ibm037').view(bytes).replaceAll(nextLine, '\n')
    : bytes.toString('latin1').replace(/^\xef\xbb\xbf/, '');
  const lines = text.split(/\r\n|\r|\n/);
  if (isCut) lines.pop();
  const head = { bytes, text, lines: lines.filter((line) => !isBlank(line)) };
  if (packedSigns.some((sign) => hasSign(head, sign))) return { kind: 'packed' };
  if (hasSign(head, compound)) return { kind: 'other', name: await compoundName(source, bytes) };
  if (
    kinds
      .slice(
        0,
        kinds.findIndex(([name]) => name === 'JSON Lines file'),
      )
      .every(([, sign]) => !hasSign(head, sign))
  ) {
    const rows = jsonRowsOf(head, isCut);
    if (rows !== null) return { kind: 'json', rows };
  }
  const known = kinds.find(([, sign]) => hasSign(head, sign));
  return known === undefined ? { kind: 'text' } : { kind: 'other', name: known[0] };
}

function hasSign(head: Head, sign: Sign): boolean {
  if (typeof sign === 'function') return sign(head);
  if (sign instanceof RegExp) return sign.test(head.text);
  if (typeof sign === 'string') return head.text.startsWith(sign);
  return sign.every((byte, at) => head.bytes[at] === byte);
}

/** Microsoft's compound files hold old workbooks, and new ones under a password; their directory says which. */
async function compoundName(source: Pick<ByteSource, 'read'>, head: Buffer): Promise<string> {
  if (head.length < 512) return 'damaged Office file';
  const sector = 1 << Math.min(head.readUInt16LE(30), 20);
  const directory = await source.read((head.readUInt32LE(48) + 1) * sector, 4_096);
  const names = directory.ok ? directory.value.toString('utf16le') : '';
  if (names.includes('EncryptedPackage')) return 'Excel workbook with a password';
  return /Workbook|Book/.test(names) ? 'Excel 97–2003 workbook (.xls)' : 'Office 97–2003 file';
}

/** A version, a date, and a header of whole field descriptions. */
function isDbase({ bytes }: Head): boolean {
  const versions = [0x02, 0x03, 0x04, 0x05, 0x30, 0x31, 0x32, 0x43, 0x63, 0x83, 0x8b, 0x8c, 0xcb, 0xf5, 0xfb];
  const [version = 0, , month = 0, day = 0] = bytes;
  if (bytes.length < 66 || !versions.includes(version) || month > 12 || day > 31) return false;
  const header = bytes.readUInt16LE(8);
  const names = bytes.subarray(32, 43).toString('latin1');
  return header >= 65 && [1, 8].includes(header % 32) && /^[A-Za-z_][\w ]*\0*$/.test(names);
}

/** No text has characters behind it. Two of UTF-16, line ends for example, would be one there. */
const lastPlane = 0x3_ff_ff;

function isUtf32({ bytes }: Head): boolean {
  const length = Math.min(bytes.length - (bytes.length % 4), 1_024);
  if (length < 8) return false;
  const little = { misses: 0 };
  const big = { misses: 0 };
  for (let at = 0; at < length; at += 4) {
    if (bytes.readUInt32LE(at) > lastPlane || bytes.readUInt32LE(at) === 0) little.misses += 1;
    if (bytes.readUInt32BE(at) > lastPlane || bytes.readUInt32BE(at) === 0) big.misses += 1;
  }
  return Math.min(little.misses, big.misses) === 0;
}

/** Every plus begins letters of European alphabets in base64 of UTF-16, as UTF-7 writes them, or stands for itself. */
function isUtf7({ bytes, text }: Head): boolean {
  if (!isAscii(bytes)) return false;
  const pluses = text.slice(0, -40).match(/\+[A-Za-z0-9+/]*-?/g) ?? [];
  const isShifted = (one: string): boolean => {
    const encoded = /^\+(A[A-Za-z0-9+/]+)-$/.exec(one)?.[1];
    if (encoded === undefined || encoded.length % 8 === 1 || encoded.length % 8 === 4) return false;
    const units = Buffer.from(encoded, 'base64');
    if (units.length < 2) return false;
    const letters = units
      .subarray(0, units.length & ~1)
      .swap16()
      .toString('utf16le');
    return /^[\u00a1-\u05ff]+$/.test(letters);
  };
  return pluses.some(isShifted) && pluses.every((one) => one === '+-' || isShifted(one));
}

const parsesAsObject = (line: string): boolean => {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
};

/** Null for JSON that is no table, such as a single object over several lines. */
function jsonRowsOf({ text, lines }: Head, isCut: boolean): 'lines' | 'array' | null {
  if (/^\s*\[\s*\{/.test(text)) return 'array';
  const isRow = (line: string): boolean => /^\s*\{/.test(line) && parsesAsObject(line);
  const [first] = lines;
  // The only line may be longer than what was read.
  if (first === undefined) return isCut && /^\s*\{\s*"(?:[^"\\]|\\.)*"\s*:/.test(text) ? 'lines' : null;
  return isRow(first) ||
    (lines.length > 2 && lines.slice(0, 20).filter(isRow).length * 2 > Math.min(20, lines.length))
    ? 'lines'
    : null;
}

function isJsonLines({ lines }: Head): boolean {
  const first = lines.slice(0, 20);
  return first.length >= 2 && first.every((line) => /^\s*[{[]/.test(line) && parsesAsObject(line));
}

/** The first line is no row: a row of a table may begin with an object in JSON, and goes on with a delimiter. */
function isJson({ lines }: Head): boolean {
  const [first = ''] = lines;
  if (first.includes('\t') || !/^\s*(?:\{\s*(?:"(?:[^"\\]|\\.)*"\s*:|\})|\[\s*[[{"]|[[{]\s*$)/.test(first))
    return false;
  // A line of its own that is whole, with cells behind it, is a row.
  return !/[}\]]\s*[,;|]\s*[^\s[{]/.test(first);
}

/** A statement's own fields, with or without the envelope of the network. */
function isSwift({ text }: Head): boolean {
  return /^\s*(?:\{1:[AFL]\d\d[A-Z0-9]|:20:[^\r\n]*\r?\n(?::21:[^\r\n]*\r?\n)?:25:)/.test(text);
}

/** The kind of the message, and a bitmap. Lines of hex digits alone may be tokens. */
function isIso8583({ lines }: Head): boolean {
  const first = lines.slice(0, 20);
  return (
    first.length >= 2 &&
    first.every((line) => /^0[1-8][0-9]{2}[0-9A-F]{16}[^,;\t|]{20,}$/.test(line)) &&
    first.some((line) => !/^[0-9A-F]+$/.test(line)) &&
    new Set(first.map((line) => line.length)).size > 1
  );
}
