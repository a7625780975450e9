/* eslint-disable no-control-regex -- bytes of packets */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { HelperProcess } from '../helper-process.ts';
import { packageLimits, Refusal } from '../workbook/package.ts';
import type { Bytes } from './layers.ts';

/** The program GnuPG of this computer, and the environment in which it finds the person's keys and asks for passphrases. */
export interface Gpg {
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Where GnuPG installs itself. PATH is not looked through: whoever can change it would have a program of theirs run. */
const places: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: ['/usr/bin/gpg', '/usr/local/bin/gpg', '/run/current-system/sw/bin/gpg'],
  darwin: ['/usr/local/bin/gpg', '/opt/homebrew/bin/gpg', '/usr/local/MacGPG2/bin/gpg'],
  win32: ['C:\\Program Files\\GnuPG\\bin\\gpg.exe', 'C:\\Program Files (x86)\\GnuPG\\bin\\gpg.exe'],
};

/** Null where it is not installed. */
export function findGpg(): Gpg | null {
  const file = places[process.platform]?.find((place) => existsSync(place));
  return file === undefined ? null : { file, env: { ...process.env } };
}

/**
 * The same for every file, none of which is named: it comes on the standard input. No options of the person's own, such as
 * one that writes a file; nothing is fetched; what is decrypted goes to the standard output and never to the disk. The
 * passphrase of a key is asked by GnuPG's own dialog.
 */
const args = [
  ...['--no-options', '--batch', '--no-tty', '--quiet', '--status-fd', '2'],
  ...['--no-auto-key-retrieve', '--disable-dirmngr', '--output', '-', '--decrypt'],
];

const armor = '-----BEGIN PGP MESSAGE-----';

/** Whether it begins a message in OpenPGP: a session key, compressed data, or the same as letters. */
export function isPgp(head: Buffer): boolean {
  const text = head.toString('latin1');
  return (
    text.startsWith(armor) ||
    /^(?:(?:\x84.|\x85..|\xc1(?:[\0-\xbf]|[\xc0-\xdf].))\x03.{8}[\x01\x02\x10\x12]|(?:\x8c.|\xc3[\0-\xbf])[\x04\x05][\x01-\x0b]|\xa3[\x01-\x03])/s.test(
      text,
    )
  );
}

/**
 * Of a message that is encrypted for a key of the person's, or with a passphrase. Only at the end it is known to be whole
 * and unaltered. Throws `Refusal`: file.not-a-table without GnuPG and for what is signed alone; file.pgp-key where no key
 * that it is for is here; file.pgp-locked where the passphrase was not given; file.archive-damaged; file.archive-too-large.
 */
export async function* decryptPgp(
  bytes: Bytes,
  gpg: Gpg | null,
  helper: HelperProcess,
): AsyncGenerator<Buffer, void> {
  if (gpg === null) throw notOpened();
  // A thread that is being ended needs no answer.
  if (!helper.begin()) throw notOpened();
  const child = start(gpg, helper);
  const ended = once(child, 'close').then(
    ([code]) => code as number | null,
    () => null,
  );
  if (child.pid === undefined) throw notOpened();
  let bytesIn = 0;
  async function* counted(): AsyncGenerator<Buffer, void> {
    for await (const piece of bytes) {
      bytesIn += piece.length;
      yield piece;
    }
  }
  const source: { unread: Refusal | null } = { unread: null };
  // It stops reading where it fails, and says why.
  const feeding = pipeline(Readable.from(counted(), { objectMode: false }), child.stdin).catch(
    (error: unknown) => {
      if (error instanceof Refusal) source.unread = error;
    },
  );
  const said = statusOf(child.stderr);
  let bytesOut = 0;
  let isRead = false;
  try {
    for await (const piece of child.stdout as AsyncIterable<Buffer>) {
      bytesOut += piece.length;
      if (bytesOut > packageLimits.ratioFrom && bytesOut > bytesIn * packageLimits.ratio)
        throw new Refusal('file.archive-too-large');
      yield piece;
    }
    isRead = true;
  } finally {
    // One that has written all ends by itself, and how it ends counts.
    if (!isRead) child.kill();
    await ended;
    helper.ended();
  }
  await feeding;
  if (source.unread !== null) throw source.unread;
  const refusal = refusalOf(await said, await ended);
  if (refusal !== null) throw refusal;
}

function start({ file, env }: Gpg, helper: HelperProcess): ChildProcessWithoutNullStreams {
  let pid: number | null = null;
  try {
    const child = spawn(file, args, { env, windowsHide: true });
    pid = child.pid ?? null;
    return child;
  } finally {
    helper.began(pid);
  }
}

const notOpened = (): Refusal => new Refusal('file.not-a-table', 'file encrypted with PGP');

/** What it wrote is believed where one message was decrypted whole, and nothing stands behind it. */
function refusalOf(status: ReadonlySet<string>, code: number | null): Refusal | null {
  const has = (...keywords: readonly string[]): boolean => keywords.some((keyword) => status.has(keyword));
  // A signature that can't be checked for want of the signer's key is an error too, and says nothing against the encryption.
  const isWhole =
    (code === 0 || has('NO_PUBKEY')) &&
    status.has('GOODMDC') &&
    !has('DECRYPTION_FAILED', 'NODATA', 'BADMDC', 'BADSIG');
  if (has('DECRYPTION_OKAY') && isWhole) return null;
  if (
    !has('PLAINTEXT') &&
    has('PINENTRY_LAUNCHED', 'CANCELED_BY_USER', 'BAD_PASSPHRASE', 'MISSING_PASSPHRASE')
  )
    return new Refusal('file.pgp-locked');
  if (has('ENC_TO') && !has('DECRYPTION_KEY', 'PLAINTEXT')) return new Refusal('file.pgp-key');
  if (has('BEGIN_DECRYPTION', 'NODATA', 'BADMDC')) return new Refusal('file.archive-damaged');
  if (has('PLAINTEXT')) return new Refusal('file.not-a-table', 'file encrypted or signed with PGP');
  return new Refusal('file.pgp-locked');
}

/** The keywords of the status lines; other lines are for people, and may have what is in the file. */
async function statusOf(stream: Readable): Promise<ReadonlySet<string>> {
  const keywords = new Set<string>();
  let rest = '';
  for await (const piece of stream.setEncoding('latin1') as AsyncIterable<string>) {
    const lines = (rest + piece).split('\n');
    rest = (lines.pop() ?? '').slice(0, 1_000);
    for (const line of lines) {
      const keyword = /^\[GNUPG:\] ([A-Z_]{1,40})/.exec(line)?.[1];
      if (keyword !== undefined) keywords.add(keyword);
    }
  }
  return keywords;
}
