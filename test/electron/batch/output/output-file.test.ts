import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Decrypter, Encrypter, type Recipient } from 'age-encryption';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSsl } from '../../../../dev/electron-on-chromium/boringssl.ts';
import { openOutputFile, transformFile } from '../../../../electron/batch/output/output-file.ts';
import { workbookFile } from '../../../../electron/batch/output/write-workbook.ts';
import { openAtomicFile, type AtomicFile } from '../../../../electron/storage/atomic-file.ts';
import { codeOf, valueOf } from '../../../support/batch-app.ts';

let folder: string;

const encryptFile = (file: AtomicFile, encrypter: Pick<Encrypter, 'encrypt'>): AtomicFile =>
  transformFile(file, (bytes) => encrypter.encrypt(bytes));
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokendesk-output-'));
});
afterEach(() => rm(folder, { recursive: true }));

it('is not there until it is whole', async () => {
  const target = join(folder, 'out.csv');
  await writeFile(target, 'earlier');
  const output = valueOf(await openOutputFile(target, { passphrase: null }));
  valueOf(await output.write(Buffer.from('one')));
  expect(await readFile(target, 'utf8')).toBe('earlier');
  expect((await stat(`${target}.partial`)).mode & 0o777).toBe(0o600);
  expect(valueOf(await output.finish())).toBe(3);
  expect(await readFile(target, 'utf8')).toBe('one');
  expect(await readdir(folder)).toEqual(['out.csv']);
});

it('leaves nothing behind when it is abandoned, and never writes through a link', async () => {
  const elsewhere = join(folder, 'elsewhere');
  await writeFile(elsewhere, 'untouched');
  await symlink(elsewhere, join(folder, 'out.csv.partial'));
  const output = valueOf(await openOutputFile(join(folder, 'out.csv'), { passphrase: null }));
  valueOf(await output.write(Buffer.from('secret')));
  await output.abandon(false);
  expect(await readdir(folder)).toEqual(['elsewhere']);
  expect(await readFile(elsewhere, 'utf8')).toBe('untouched');
});

it('decrypts with its passphrase by any program that reads age files, and with no other', async () => {
  const target = join(folder, 'out.csv.age');
  const output = valueOf(await openOutputFile(target, { passphrase: 'correct horse', workFactor: 12 }));
  const text = 'pan,4111111111111111\r\n'.repeat(20_000);
  for (let at = 0; at < text.length; at += 100_000) {
    valueOf(await output.write(Buffer.from(text.slice(at, at + 100_000))));
  }
  const bytes = valueOf(await output.finish());
  const file = await readFile(target);
  expect(file).toHaveLength(bytes);
  const right = new Decrypter();
  right.addPassphrase('correct horse');
  expect(await right.decrypt(file, 'text')).toBe(text);
  expect(openStanza(file, 'correct horse')).toHaveLength(16);
  const wrong = new Decrypter();
  wrong.addPassphrase('wrong horse');
  await expect(wrong.decrypt(file)).rejects.toThrow();
});

/**
 * The key of an age file from its first recipient, as the format describes it, with OpenSSL: the library that reads the
 * file has its cipher from where the product has it. Throws where the passphrase is another one.
 */
function openStanza(file: Buffer, passphrase: string): Buffer {
  const [, recipient = '', body = ''] = file.toString('latin1').split('\n');
  const [, , salt = '', cost = ''] = recipient.split(' ');
  const N = 2 ** Number(cost);
  const label = Buffer.from('age-encryption.org/v1/scrypt');
  const salted = Buffer.concat([label, Buffer.from(salt, 'base64')]);
  const key = openSsl.scryptSync(passphrase, salted, 32, { N, r: 8, p: 1, maxmem: 2048 * N });
  const encrypted = Buffer.from(body, 'base64');
  const decipher = openSsl.createDecipheriv('chacha20-poly1305', key, Buffer.alloc(12), {
    authTagLength: 16,
  });
  decipher.setAuthTag(encrypted.subarray(-16));
  return Buffer.concat([decipher.update(encrypted.subarray(0, -16)), decipher.final()]);
}

describe('an encrypter that throws', () => {
  /** A real one, whose recipient answers with `wrapFileKey`. */
  function encrypterFor(wrapFileKey: Recipient['wrapFileKey']): Encrypter {
    const encrypter = new Encrypter();
    encrypter.addRecipient({ wrapFileKey });
    return encrypter;
  }
  const throwing = (): never => {
    throw new Error('out of memory');
  };

  /** Writes, finishes and abandons as an export does, and looks at what is left of it. */
  async function expectFailure(encrypted: AtomicFile): Promise<void> {
    const row = Buffer.alloc(300_000, 'x');
    let outcome: { ok: boolean } = await encrypted.write(row);
    for (let rows = 1; outcome.ok && rows < 10; rows++) outcome = await encrypted.write(row);
    if (outcome.ok) outcome = await encrypted.finish();
    expect(outcome).toEqual({ ok: false, failure: { code: 'export.encryption' } });
    expect(codeOf(await encrypted.write(row))).toBe('export.encryption');
    expect(codeOf(await encrypted.finish())).toBe('export.encryption');
    await encrypted.abandon(false);
    expect(await readdir(folder)).toEqual([]);
  }
  const openTarget = async (): Promise<AtomicFile> => valueOf(await openAtomicFile(join(folder, 'out.age')));

  it('before the first write fails the file', async () => {
    await expectFailure(encryptFile(await openTarget(), encrypterFor(throwing)));
  });

  it('while the first write waits for it fails the file', async () => {
    const { promise, reject } = Promise.withResolvers<never>();
    const encrypted = encryptFile(
      await openTarget(),
      encrypterFor(() => promise),
    );
    const writing = encrypted.write(Buffer.from('one'));
    reject(new Error('out of memory'));
    expect(codeOf(await writing)).toBe('export.encryption');
    await expectFailure(encrypted);
  });

  it('in the middle of the stream fails the file', async () => {
    const encrypter = new Encrypter();
    encrypter.setScryptWorkFactor(2);
    encrypter.setPassphrase('correct horse');
    let blocks = 0;
    const breaking = {
      async encrypt(file: ReadableStream<Uint8Array>) {
        const encrypted = await encrypter.encrypt(file);
        const broken = encrypted.pipeThrough(
          new TransformStream<Uint8Array, Uint8Array>({
            transform(bytes, controller) {
              if (++blocks === 5) throwing();
              controller.enqueue(bytes);
            },
          }),
        );
        return Object.assign(broken, { size: (bytes: number) => encrypted.size(bytes) });
      },
    } as Pick<Encrypter, 'encrypt'>;
    await expectFailure(encryptFile(await openTarget(), breaking));
    expect(blocks).toBe(5);
  });

  it('leaves nothing of a file that is abandoned without a write', async () => {
    const encrypted = encryptFile(await openTarget(), encrypterFor(throwing));
    await encrypted.abandon(false);
    expect(await readdir(folder)).toEqual([]);
  });

  it('fails a workbook', async () => {
    await expectFailure(workbookFile(encryptFile(await openTarget(), encrypterFor(throwing))));
  });

  it('since scrypt refuses its cost fails the file', async () => {
    await expectFailure(
      valueOf(await openOutputFile(join(folder, 'out.age'), { passphrase: 'correct horse', workFactor: 32 })),
    );
  });
});
