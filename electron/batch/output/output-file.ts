import { createCipheriv, randomBytes, scrypt } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { Stanza, type Recipient, Encrypter } from 'age-encryption';
import { done, failed, type Failure, type Outcome } from '../../contract/errors.ts';
import { writeFailure, syncFolder } from '../storing/job-files.ts';

const label = 'age-encryption.org/v1/scrypt';
const derive = promisify<Buffer, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);

/**
 * A passphrase as age's scrypt recipient (age-encryption.org/v1). The library's own derives the key on this thread,
 * and the app would stand still for a second; this one leaves that to Node's thread pool.
 */
export function passphraseRecipient(passphrase: string, workFactor = 18): Recipient {
  return {
    async wrapFileKey(fileKey) {
      const salt = randomBytes(16);
      const N = 2 ** workFactor;
      const key = await derive(Buffer.from(passphrase), Buffer.concat([Buffer.from(label), salt]), 32, {
        N,
        r: 8,
        p: 1,
        maxmem: 2 * 128 * N * 8,
      });
      const cipher = createCipheriv('chacha20-poly1305', key, Buffer.alloc(12), { authTagLength: 16 });
      const body = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
      const args = ['scrypt', salt.toString('base64').replace(/=+$/, ''), String(workFactor)];
      return [new Stanza(args, body)];
    },
  };
}

/** A file that is there whole or not at all: written beside its target as `.partial`, synced, then renamed. */
export interface OutputFile {
  /** Failures: file.disk-full, file.unwritable. After one nothing more is taken and the target is untouched. */
  write(bytes: Buffer): Promise<Outcome<null>>;
  /** The number of bytes in the target. */
  finish(): Promise<Outcome<number>>;
  /** Leaves the target as it was. `keep` leaves the partial file, cut at the last whole write. */
  abandon(keep: boolean): Promise<void>;
}

const partialOf = (target: string): string => `${target}.partial`;

export async function createOutputFile(
  target: string,
  passphrase: string | null,
  workFactor?: number,
): Promise<Outcome<OutputFile>> {
  const path = partialOf(target);
  let handle: FileHandle;
  try {
    // A leftover is removed rather than opened: it might be a link, or readable by others.
    await rm(path, { force: true });
    handle = await open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
  } catch (error) {
    return writeFailure(error);
  }
  const plain = plainFile(handle, path, target);
  return done(passphrase === null ? plain : encryptedFile(plain, passphrase, workFactor));
}

/** The disk is kept busy as it goes: else the last sync has all of it to do, and someone waits. */
const syncEveryBytes = 8 * 1024 * 1024;

function plainFile(handle: FileHandle, path: string, target: string): OutputFile {
  let position = 0;
  let syncedTo = 0;
  let syncing: Promise<unknown> = Promise.resolve();
  let isSyncing = false;
  let lost: ReturnType<typeof failed> | null = null;

  function syncBehind(): void {
    if (isSyncing || position - syncedTo < syncEveryBytes) return;
    syncedTo = position;
    isSyncing = true;
    syncing = handle
      .datasync()
      // Kept: the system tells of a failed sync only once.
      .catch((error: unknown) => (lost ??= writeFailure(error)))
      .finally(() => (isSyncing = false));
  }

  return {
    async write(bytes) {
      try {
        let written = 0;
        while (written < bytes.length) {
          const some = await handle.write(bytes, written, bytes.length - written, position + written);
          written += some.bytesWritten;
        }
        position += bytes.length;
        syncBehind();
        return done(null);
      } catch (error) {
        return writeFailure(error);
      }
    },
    async finish() {
      try {
        await syncing;
        if (lost !== null) return lost;
        await handle.sync();
        await handle.close();
        await rename(path, target);
        await syncFolder(dirname(target));
        return done(position);
      } catch (error) {
        return writeFailure(error);
      }
    },
    async abandon(keep) {
      await syncing;
      if (keep) await handle.truncate(position).catch(() => undefined);
      await handle.close().catch(() => undefined);
      if (!keep) await rm(path, { force: true }).catch(() => undefined);
    },
  };
}

/** The same in the age format with a scrypt recipient, encrypted as it is written: no cleartext touches the disk. */
function encryptedFile(plain: OutputFile, passphrase: string, workFactor?: number): OutputFile {
  const encrypter = new Encrypter();
  encrypter.addRecipient(passphraseRecipient(passphrase, workFactor));
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const state: { failure?: { ok: false; failure: Failure } } = {};
  const copying = (async (): Promise<void> => {
    for await (const bytes of await encrypter.encrypt(readable)) {
      const outcome = await plain.write(Buffer.from(bytes));
      if (!outcome.ok) {
        state.failure = outcome;
        // Leaving the loop cancels the stream, which ends a write that waits for it.
        return;
      }
    }
  })();
  const settled = copying.catch(() => {
    // Only the encrypter throws: writing answers with a failure.
    state.failure = failed('file.unwritable');
  });
  return {
    async write(bytes) {
      await writer.write(bytes).catch(() => undefined);
      return state.failure ?? done(null);
    },
    async finish() {
      await writer.close().catch(() => undefined);
      await settled;
      if (state.failure !== undefined) return state.failure;
      return plain.finish();
    },
    async abandon(keep) {
      await writer.abort().catch(() => undefined);
      await settled;
      await plain.abandon(keep);
    },
  };
}
