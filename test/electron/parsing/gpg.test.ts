import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decryptPgp, findGpg, type Gpg, isPgp } from '../../../electron/parsing/packed/gpg.ts';
import { Refusal } from '../../../electron/parsing/workbook/package.ts';
import { openGnupg, recipient, type TestGnupg } from '../../support/gnupg.ts';

let ours: TestGnupg;
let others: TestGnupg;
beforeAll(() => {
  ours = openGnupg();
  others = openGnupg();
}, 60_000);
afterAll(() => {
  ours.close();
  others.close();
});

const rows = Buffer.from('token,name\r\nt1,"Ann, A"\r\nt2,Ben\r\n');
const ownerOf = (home: string): Gpg => {
  const found = findGpg();
  if (found === null) throw new Error('GnuPG is not installed');
  // Without a terminal or a display nobody can be asked for a passphrase.
  return { file: found.file, env: { GNUPGHOME: home } };
};

async function read(
  bytes: Buffer,
  gpg: Gpg | null = ownerOf(ours.home),
): Promise<{ code: string | null; subject?: string | undefined; text: Buffer; pids: (number | null)[] }> {
  const pieces: Buffer[] = [];
  const pids: (number | null)[] = [];
  async function* source(): AsyncGenerator<Buffer, void> {
    await Promise.resolve();
    for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
  }
  try {
    const helper = {
      begin: () => true,
      began: (pid: number | null) => pids.push(pid),
      ended: () => pids.push(null),
    };
    for await (const piece of decryptPgp(source(), gpg, helper)) pieces.push(piece);
    return { code: null, text: Buffer.concat(pieces), pids };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, subject } = error.failure;
    return { code, subject, text: Buffer.concat(pieces), pids };
  }
}

describe('a message in OpenPGP', () => {
  it.each<[string, readonly string[]]>([
    ['for a key', []],
    ['as letters', ['--armor', '--encrypt', '--recipient', recipient]],
    ['signed as well', ['--sign', '--encrypt', '--recipient', recipient]],
    ['not compressed', ['--compress-algo', 'none', '--encrypt', '--recipient', recipient]],
  ])('%s is decrypted by the GnuPG of this computer', async (_, options) => {
    const message = ours.encrypt(rows, ...options);
    expect(isPgp(message.subarray(0, 64))).toBe(true);
    const { code, text, pids } = await read(message);
    expect({ code, text: text.toString() }).toEqual({ code: null, text: rows.toString() });
    expect(pids).toEqual([expect.any(Number), null]);
  });

  it('whose signer is not known is believed for its encryption', async () => {
    const message = others.encrypt(rows, ...['--sign', '--encrypt', '--recipient-file', ours.publicKey]);
    const { code, text } = await read(message);
    expect({ code, text: text.toString() }).toEqual({ code: null, text: rows.toString() });
  });

  it('larger than what fits in a pipe comes whole', async () => {
    const large = Buffer.from(Array.from({ length: 300_000 }, (_, n) => `t${n},${n * 7919}\n`).join(''));
    const { code, text } = await read(ours.encrypt(large));
    expect({ code, isSame: text.equals(large) }).toEqual({ code: null, isSame: true });
  });

  const altered = (bytes: Buffer): Buffer => {
    const copy = Buffer.from(bytes);
    copy[copy.length - 30] = (copy[copy.length - 30] ?? 0) ^ 1;
    return copy;
  };
  const plain = ['--compress-algo', 'none', '--encrypt', '--recipient', recipient];
  it.each<[string, () => Buffer, string]>([
    ['cut', () => ours.encrypt(rows).subarray(0, -20), 'file.archive-damaged'],
    ['cut within its first packet', () => ours.encrypt(rows).subarray(0, 100), 'file.archive-damaged'],
    ['altered', () => altered(ours.encrypt(rows)), 'file.archive-damaged'],
    ['altered, not compressed', () => altered(ours.encrypt(rows, ...plain)), 'file.archive-damaged'],
    ['with something behind it', () => Buffer.concat([ours.encrypt(rows), rows]), 'file.archive-damaged'],
    ['with another one behind it', () => doubled(ours.encrypt(rows)), 'file.archive-damaged'],
    ['signed alone', () => ours.encrypt(rows, '--sign'), 'file.not-a-table'],
    ['for a key of somebody else', () => others.encrypt(rows), 'file.pgp-key'],
    [
      'under a passphrase that nobody can be asked for',
      () => ours.encrypt(rows, '--passphrase', 'secret', '--pinentry-mode', 'loopback', '--symmetric'),
      'file.pgp-locked',
    ],
  ])('%s is refused', async (_, message, code) => {
    // What the maker of the message knows is no longer in its memory.
    const bytes = message();
    ours.forget();
    expect((await read(bytes)).code).toBe(code);
  });

  it('that unpacks to far more than it should is stopped', async () => {
    const zeros = Buffer.alloc(200_000_000);
    const { code, text, pids } = await read(ours.encrypt(zeros));
    expect(code).toBe('file.archive-too-large');
    expect(text.length).toBeLessThan(zeros.length);
    expect(pids.at(-1)).toBe(null);
  });

  it('is called what it is where GnuPG is not installed or not to be started', async () => {
    expect(await read(ours.encrypt(rows), null)).toMatchObject({
      code: 'file.not-a-table',
      subject: 'file encrypted with PGP',
      pids: [],
    });
    expect(await read(ours.encrypt(rows), { file: '/nonexistent/gpg', env: {} })).toMatchObject({
      code: 'file.not-a-table',
    });
  });
});

const doubled = (bytes: Buffer): Buffer => Buffer.concat([bytes, bytes]);
