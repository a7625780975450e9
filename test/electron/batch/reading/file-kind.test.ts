import { describe, expect, it } from 'vitest';
import { detectFileKind } from '../../../../electron/batch/reading/file-kind.ts';
import { done } from '../../../../electron/contract/errors.ts';

const kindOf = async (content: Buffer | string): Promise<string> => {
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content;
  const kind = await detectFileKind({
    identity: { size: bytes.length, modifiedMs: 0 },
    read: (offset, length) => Promise.resolve(done(bytes.subarray(offset, offset + length))),
  });
  return kind.kind === 'other' ? kind.name : kind.kind;
};

const repeat = (times: number, line: (row: number) => string, end = '\n'): string =>
  Array.from({ length: times }, (_, row) => line(row) + end).join('');

const dbase = (): Buffer => {
  const bytes = Buffer.alloc(120, 0x20);
  Buffer.from([0x03, 124, 1, 31, 1, 0, 0, 0, 65, 0, 20, 0]).copy(bytes);
  bytes.fill(0, 12, 64);
  bytes.write('CARD\0', 32, 'latin1');
  bytes[64] = 0x0d;
  return bytes;
};

const tar = (): Buffer => {
  const bytes = Buffer.alloc(1_024);
  bytes.write('cards.csv', 0);
  bytes.write('ustar\0', 257);
  return bytes;
};

const utf32 = (text: string, isBig: boolean): Buffer => {
  const bytes = Buffer.from(Array.from(text, (char) => [char.charCodeAt(0), 0, 0, 0]).flat());
  return isBig ? bytes.swap32() : bytes;
};

describe('a file that is no table of text is named', () => {
  it.each<[string, Buffer | string, string]>([
    ['7z', Buffer.from('7z\xbc\xaf\x27\x1c\0\x04', 'latin1'), '7-Zip archive'],
    ['bz2', Buffer.from('BZh91AY&SYabc', 'latin1'), 'bzip2 archive'],
    ['xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]), 'xz archive'],
    ['zst', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 4]), 'Zstandard archive'],
    ['tar', tar(), 'tar archive'],
    ['parquet', 'PAR1\x15\x04', 'Parquet file'],
    ['sqlite', 'SQLite format 3\0', 'SQLite database'],
    ['dbf', dbase(), 'dBASE table (.dbf)'],
    [
      'PGP, signed',
      '-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n',
      'file encrypted or signed with PGP',
    ],
    ['UTF-32 LE', utf32('token,name\nt1,Ann\n', false), 'text in UTF-32'],
    ['UTF-32 BE with a mark', utf32('\ufefftoken,name\nt1,Ann\n', true), 'text in UTF-32'],
    ['ISO-2022-JP', 'name,token\n\x1b$B;3ED\x1b(B,t1\n', 'text in ISO-2022-JP'],
    ['UTF-7', 'name,token\nM+APw-ller,t1\nGr+APYA3w-e,t2\n'.padEnd(120, 'x'), 'text in UTF-7'],
    [
      'pain.001',
      '<?xml version="1.0"?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.03">\n',
      'XML payment file (pain or camt)',
    ],
    [
      'camt.053',
      '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02">',
      'XML payment file (pain or camt)',
    ],
    ['HTML', '<!DOCTYPE html>\n<table><tr><td>t1</td></tr></table>', 'web page (HTML)'],
    ['XML', '<?xml version="1.0"?><rows><row a="1"/></rows>', 'XML file'],
    ['JSON Lines', repeat(3, (row) => `{"name": "n${row}", "card": "4111111111111111", "n": 1}`), 'json'],
    ['JSON', '[\n  {"card": "4111111111111111"},\n  {"card": "1"}\n]\n', 'json'],
    ['JSON in one line', '[{"card": "4111111111111111"},{"card": "1"}]', 'json'],
    ['an array of arrays', '[\n  [1, 2],\n  [3]\n]\n', 'JSON file'],
    ['JSON with blanks', '{\n  "rows": [1, 2]\n}\n', 'JSON file'],
    [
      'connections of this app',
      JSON.stringify({ format: 'tokendesk-connections', version: 1, connections: [] }, null, 2),
      'list of connections',
    ],
    ['a profile', JSON.stringify({ version: 1, operations: { Tokenize: {} } }, null, 2), 'service profile'],
    ['EDIFACT', "UNA:+.? 'UNB+UNOC:3+SENDER+RECEIVER+240131:1200+1'", 'EDIFACT message'],
    [
      'X12',
      'ISA*00*          *00*          *ZZ*SENDER         *ZZ*RECEIVER       *240131*1200*U*00401*000000001*0*P*>~',
      'X12 message',
    ],
    ['MT940', ':20:STARTUMS\r\n:25:10010010/1234\r\n:28C:1/1\r\n', 'SWIFT statement (MT940)'],
    ['MT940 of the network', '{1:F01BANKDEFFXXXX0000000000}{2:O940}', 'SWIFT statement (MT940)'],
    [
      'BAI2',
      '01,122099999,123456789,240131,0200,1,80,,2/\n02,031001234,122099999,1,240130,,,2/\n',
      'BAI2 statement',
    ],
    ['LDIF', 'version: 1\n\ndn: uid=ann,dc=example\nobjectClass: person\n', 'LDIF directory file'],
    [
      'ISO 8583',
      repeat(5, (row) => `0200B220000000100000164111111111111111000000${'00TERM'.repeat(row + 1)}`),
      'list of ISO 8583 messages',
    ],
  ])('%s', async (_what, content, name) => {
    expect(await kindOf(content)).toBe(name);
  });
});

describe('a table is never refused for what it begins with', () => {
  it.each<[string, Buffer | string]>([
    ['tokens of one length', repeat(30, (row) => `tok${String(row).padStart(17, '0')}`)],
    ['tokens in hex', repeat(30, (row) => `0100${String(row).padStart(60, 'A0')}`)],
    ['cards in groups', repeat(30, () => '4111 1111 1111 1111')],
    ['names with two blanks, of many lengths', repeat(30, (row) => `Ann  ${'x'.repeat(row)}`)],
    ['one value', '4111111111111111'],
    ['phone numbers', 'name,phone\nAnn,+49 30 1234-5\nBen,+123-4\nCid,+144-\n'],
    ['addresses with a tag', 'mail\nann+tag-x@example.org\nben+news@example.org\ncid+Ab-c@example.org\n'],
    ['a column of objects', '{"a": 1}\tx\n{"a": 2}\ty\n{"a": 3}\tz\n'],
    ['a column of objects, with semicolons', '{"a":1};x\n{"a":2};y\n'],
    ['names in brackets', '[id],[name]\n1,Ann\n'],
    ['tags in cells', 'html,token\n<b>x</b>,t1\n'],
    [
      'Cyrillic of one word a row',
      Buffer.from(
        repeat(30, () => '\xf0\xf3\xe1\xeb\xfc'),
        'latin1',
      ),
    ],
    ['UTF-16', Buffer.from('\ufefftoken,name\nt1,Ann\n', 'utf16le')],
    ['letters that look like packets', Buffer.from('\xc1.vila,t1\n\x85\x85\x03\n', 'latin1')],
    ['a name that begins like an archive', 'PK,name\nBZh,x\nISA,y\nUNB,z\n'],
    ['01 and 02', '01,Ann,x,7\n02,Ben,y,8\n'],
    ['a row that says where it came from', 'dn: x,token\nt1,t2\n'],
  ])('%s', async (_what, content) => {
    expect(await kindOf(content)).toBe('text');
  });
});
