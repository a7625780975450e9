import type { ByteSource } from '../bytes/byte-source.ts';

/** What a file is by its first bytes, whatever its name says. `other` carries the words a person knows it by. */
export type FileKind =
  | { readonly kind: 'text' }
  | { readonly kind: 'archive' }
  | { readonly kind: 'other'; readonly name: string };

const signatures: readonly (readonly [bytes: string | readonly number[], name: string])[] = [
  ['%PDF-', 'PDF'],
  [[0x1f, 0x8b], 'gzip archive'],
  ['7z\xbc\xaf\x27\x1c', '7-Zip archive'],
  ['Rar!', 'RAR archive'],
  ['PAR1', 'Parquet file'],
  ['SQLite format 3\0', 'SQLite database'],
  ['\x89PNG', 'picture'],
  [[0xff, 0xd8, 0xff], 'picture'],
  ['{\\rtf', 'RTF document'],
  ['age-encryption.org/', 'file encrypted with age'],
  ['-----BEGIN AGE ENCRYPTED FILE-----', 'file encrypted with age'],
];

const archive = [
  [0x50, 0x4b, 0x03, 0x04],
  [0x50, 0x4b, 0x05, 0x06],
];
const compound = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

export async function fileKind(source: ByteSource): Promise<FileKind> {
  const head = await source.read(0, 512);
  if (!head.ok) return { kind: 'text' };
  const begins = (bytes: string | readonly number[]): boolean => {
    const wanted = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes);
    return head.value.subarray(0, wanted.length).equals(wanted);
  };
  if (archive.some(begins)) return { kind: 'archive' };
  if (begins(compound)) return { kind: 'other', name: await compoundName(source, head.value) };
  const known = signatures.find(([bytes]) => begins(bytes));
  return known === undefined ? { kind: 'text' } : { kind: 'other', name: known[1] };
}

/** Microsoft's compound files hold old workbooks, and new ones under a password; their directory says which. */
async function compoundName(source: ByteSource, head: Buffer): Promise<string> {
  if (head.length < 512) return 'damaged Office file';
  const sector = 1 << Math.min(head.readUInt16LE(30), 20);
  const directory = await source.read((head.readUInt32LE(48) + 1) * sector, 4_096);
  const names = directory.ok ? directory.value.toString('utf16le') : '';
  if (names.includes('EncryptedPackage')) return 'Excel workbook with a password';
  return /Workbook|Book/.test(names) ? 'Excel 97–2003 workbook (.xls)' : 'Office 97–2003 file';
}
