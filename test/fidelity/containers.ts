import { Decrypter, Encrypter } from 'age-encryption';
import type { ExportChoice } from '../../electron/contract/models/batch.ts';
import { obscuredOf } from '../support/obscured-text.ts';
import { packWithOther, readWithOther } from '../support/unpack-with-other.ts';

/** What a case's file is put in, and taken out of, by a program that shares no code with the app's. */
export interface Container {
  readonly ending: string;
  readonly passphrase: string | null;
  pack(bytes: Buffer): Promise<Buffer> | Buffer;
  unpack(bytes: Buffer): Promise<Buffer> | Buffer;
  /** How the result goes back into the same. */
  readonly choice: Partial<ExportChoice>;
}

const passphrase = 'correct horse';

export const containers: Readonly<Record<string, Container>> = {
  'gzip archives': archiveOf('gzip', '.gz'),
  'ZIP archives': archiveOf('zip', '.zip'),
  'files under a passphrase': {
    ending: '.age',
    passphrase,
    async pack(bytes) {
      const encrypter = new Encrypter();
      encrypter.setPassphrase(passphrase);
      encrypter.setScryptWorkFactor(8);
      return Buffer.from(await encrypter.encrypt(bytes));
    },
    async unpack(bytes) {
      const decrypter = new Decrypter();
      decrypter.addPassphrase(passphrase);
      return Buffer.from(await decrypter.decrypt(bytes));
    },
    choice: { passphrase: obscuredOf(passphrase) },
  },
};

function archiveOf(archive: 'gzip' | 'zip', ending: string): Container {
  return {
    ending,
    passphrase: null,
    pack: (bytes) => packWithOther(archive, bytes),
    unpack: (bytes) => readWithOther(archive, bytes),
    choice: { archive },
  };
}
