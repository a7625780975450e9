import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { done, type Outcome } from '../contract/errors.ts';
import { count } from '../contract/models/fields.ts';
import type { Keychain } from '../credentials/keychain.ts';
import { fingerprint, hmac } from './lines.ts';
import type { AuditKey } from './log-writer.ts';

/** How far the log had got, kept apart from it: a log that ends earlier, or elsewhere, was cut. */
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

/** A place for checkpoints outside the log's folder. Texts are under 400 bytes. */
export interface CheckpointStore {
  /** All that is there, also what may be torn; empty when there never was one. */
  read(): Promise<readonly string[]>;
  /** Rejects when it could not be written. */
  write(text: string): Promise<void>;
  close?(): Promise<void>;
}

export function sealCheckpoint(
  key: Uint8Array,
  at: Pick<Checkpoint, 'segment' | 'size' | 'sequence' | 'head'>,
): string {
  const body = { checkpoint: 1, ...at, key: fingerprint(key) };
  return JSON.stringify({ ...body, mac: hmac(key, JSON.stringify(body)) });
}

/** The furthest one that holds; `foreign` ones are under a key that is gone. */
export function readCheckpoints(
  key: Uint8Array,
  texts: readonly string[],
): { newest: Checkpoint | null; foreign: Checkpoint | null } {
  const print = fingerprint(key);
  let newest: Checkpoint | null = null;
  let foreign: Checkpoint | null = null;
  for (const text of texts) {
    const found = parse(text);
    if (found === null) continue;
    if (found.key !== print) {
      if (foreign === null || further(found, foreign)) foreign = found;
      continue;
    }
    const { mac, ...body } = found;
    if (hmac(key, JSON.stringify(body)) !== mac) continue;
    if (newest === null || further(found, newest)) newest = found;
  }
  return { newest, foreign };
}

const further = (one: Checkpoint, other: Checkpoint) =>
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
 * Checkpoints in a file of two places, a disk block each, written in turn: a crash in the middle of one leaves the
 * other, and a full disk does not matter, since the file does not grow. Not synced each time: the log is, before, so
 * that a checkpoint is never ahead of it.
 */
export function checkpointFile(file: string): CheckpointStore {
  let handle: fs.FileHandle | null = null;
  let turn = 0;
  return {
    async read() {
      const bytes = await fs.readFile(file).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0);
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
      await handle.write(Buffer.from(text.padEnd(slotSize)), 0, slotSize, turn * slotSize);
      turn = 1 - turn;
    },
    async close() {
      await handle?.datasync();
      await handle?.close();
      handle = null;
    },
  };
}

const keyAccount = 'audit:key';
const anchorAccount = 'audit:anchor';

/** The chain's key. `kept` is false where the machine has no keyring and the key ends with this run. */
export async function chainKey(keychain: Pick<Keychain, 'key' | 'peek'>): Promise<Outcome<AuditKey>> {
  const key = await keychain.key(keyAccount);
  return key.ok ? done({ bytes: key.value, kept: keychain.peek(keyAccount) !== 'memory' }) : key;
}

/**
 * The log's end in the keychain: whoever can change every file of this user still has to get into the keyring to
 * have a log taken away unnoticed. Written rarely, so it may be behind; the checkpoint's file is not.
 */
export function keychainAnchor(keychain: Pick<Keychain, 'read' | 'store'>): CheckpointStore {
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
    },
  };
}
