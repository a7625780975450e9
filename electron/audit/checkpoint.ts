import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { done, type Outcome } from '../contract/errors.ts';
import { count } from '../contract/models/fields.ts';
import type { Keychain } from '../storage/keychain.ts';
import { errorCode } from '../storage/file-failures.ts';
import { type AuditKey, hmac, keyIdOf } from './lines.ts';

/** How far the log had got, stored apart from it: a log that ends earlier, or differently, was cut. */
const checkpoint = z.strictObject({
  checkpoint: z.literal(1),
  segment: z.int().positive(),
  size: count,
  sequence: count,
  head: z.string().regex(/^[0-9a-f]{64}$/),
  key: z.string().regex(/^[0-9a-f]{16}$/),
  mac: z.string().regex(/^[0-9a-f]{64}$/),
});
export type Checkpoint = z.infer<typeof checkpoint>;
export type ChainPosition = Pick<Checkpoint, 'segment' | 'size' | 'sequence' | 'head'>;

/** Stores checkpoints outside the log's folder. Texts are under 400 bytes. */
export interface CheckpointStore {
  /** All that is there, some of it possibly half-written; empty when there never was one. */
  read(): Promise<readonly string[]>;
  /** Rejects when it could not be written. */
  write(text: string): Promise<void>;
  close?(): Promise<void>;
}

export function signCheckpoint(key: Uint8Array, at: ChainPosition): string {
  const body = { checkpoint: 1, ...at, key: keyIdOf(key) };
  return JSON.stringify({ ...body, mac: hmac(key, JSON.stringify(body)) });
}

/** The furthest valid one; `foreign` is the furthest under another key. */
export function readCheckpoints(
  key: Uint8Array,
  texts: readonly string[],
): { newest: Checkpoint | null; foreign: Checkpoint | null } {
  const keyId = keyIdOf(key);
  let newest: Checkpoint | null = null;
  let foreign: Checkpoint | null = null;
  for (const text of texts) {
    const found = parse(text);
    if (found === null) continue;
    if (found.key !== keyId) {
      if (foreign === null || isFurther(found, foreign)) foreign = found;
      continue;
    }
    const { mac, ...body } = found;
    if (hmac(key, JSON.stringify(body)) !== mac) continue;
    if (newest === null || isFurther(found, newest)) newest = found;
  }
  return { newest, foreign };
}

const isFurther = (one: Checkpoint, other: Checkpoint) =>
  one.segment > other.segment || (one.segment === other.segment && one.size > other.size);

function parse(text: string): Checkpoint | null {
  try {
    const parsed = checkpoint.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

const slotSize = 4_096;

/**
 * Checkpoints in a file of two slots, a disk block each, written alternately: a crash during a write leaves the other
 * slot, and a full disk does not matter, since the file does not grow. It is not synced at each write. The log is
 * synced before, so a checkpoint is never ahead of it.
 */
export function createCheckpointFile(file: string): CheckpointStore {
  let handle: fs.FileHandle | null = null;
  let nextSlot = 0;
  return {
    async read() {
      const bytes = await fs.readFile(file).catch((error: unknown) => {
        if (errorCode(error) === 'ENOENT') return Buffer.alloc(0);
        throw error;
      });
      return [bytes.subarray(0, slotSize), bytes.subarray(slotSize, 2 * slotSize)]
        .map((slot) => slot.toString('utf8').replaceAll('\0', '').trim())
        .filter((text) => text !== '');
    },
    async write(text) {
      if (handle === null) {
        await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
        const flags = fs.constants.O_RDWR | fs.constants.O_CREAT;
        const opened = await fs.open(file, flags, 0o600);
        try {
          const { size } = await opened.stat();
          if (size < 2 * slotSize) await opened.write(Buffer.alloc(2 * slotSize, ' '), 0, 2 * slotSize, 0);
        } catch (error) {
          await opened.close();
          throw error;
        }
        handle = opened;
      }
      await handle.write(Buffer.from(text.padEnd(slotSize)), 0, slotSize, nextSlot * slotSize);
      nextSlot = 1 - nextSlot;
    },
    async close() {
      await handle?.datasync();
      await handle?.close();
      handle = null;
    },
  };
}

/** Where the chain's key is in the keychain. */
export const auditKeyAccount = 'audit:key';
const anchorAccount = 'audit:anchor';

/** The chain's key. Not persistent where the machine has no keyring and the key ends with this run. */
export async function readChainKey(keychain: Pick<Keychain, 'key' | 'peek'>): Promise<Outcome<AuditKey>> {
  const key = await keychain.key(auditKeyAccount);
  return key.ok ? done({ bytes: key.value, persistent: keychain.peek(auditKeyAccount) !== 'memory' }) : key;
}

/**
 * The log's end in the keychain: who can change every file of this user still needs the keyring to remove a log, or to
 * put an older one back, unnoticed. Written less often than the checkpoint file, so it may be behind it. Not written to
 * memory in place of a keyring that is gone, unless the chain's key is there too.
 */
export function createKeychainAnchor(keychain: Pick<Keychain, 'read' | 'store' | 'peek'>): CheckpointStore {
  return {
    async read() {
      const found = await keychain.read(anchorAccount);
      if (found.ok) return [found.value];
      if (found.failure.code === 'credentials.missing') return [];
      throw new Error(found.failure.code);
    },
    async write(text) {
      const stored = await keychain.store(anchorAccount, text);
      if (!stored.ok) throw new Error(stored.failure.code);
      if (stored.value === 'memory' && keychain.peek(auditKeyAccount) !== 'memory')
        throw new Error('keychain.unavailable');
    },
  };
}
