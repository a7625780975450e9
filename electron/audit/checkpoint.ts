import fs from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { done, failed, type Outcome } from '../contract/errors.ts';
import { count } from '../contract/models/fields.ts';
import { newKey, type Keychain } from '../storage/keychain.ts';
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

/** Where the chain's key is in the keychain, with its anchor. */
export const auditKeyAccount = 'audit:key';
/** Where versions before this one had the anchor. */
const earlierAnchorAccount = 'audit:anchor';

/** In place of an anchor: there was a log, and what the keychain had of it was removed. Until the log says so itself. */
const lost = 'lost';
const entryPattern = /^([A-Za-z0-9+/]{43}=)(?: (.+))?$/;

/** The chain's key, and the log's end beside it. */
export interface ChainEntry {
  /** Failures: keychain.*. Not persistent where the machine has no keyring and the key ends with this run. */
  key(): Promise<Outcome<AuditKey>>;
  readonly anchor: CheckpointStore;
}

/**
 * The key and the log's end in one entry of the keychain, `KEY CHECKPOINT`: who can change every file of this user still
 * needs the keyring to remove a log, or to put an older one back, unnoticed, and can't remove the end without the key, which
 * leaves lines that nobody can verify. Written less often than the checkpoint file, so it may be behind it. Not written to
 * memory in place of a keyring that is gone, unless the key is there too.
 *
 * An entry of an earlier version is a key alone. Its end is taken from an entry of its own, once; where the keychain's index
 * names that entry and it is gone, it was removed. An index that names the key, which is gone, says the same.
 */
export function createChainEntry(
  keychain: Pick<Keychain, 'keep' | 'read' | 'store' | 'remove' | 'peek'> & {
    settled(): Promise<Outcome<unknown>>;
  },
): ChainEntry {
  let key = '';
  let beside: string | null = null;
  let isPersistent = true;

  async function put(text: string): Promise<Outcome<null>> {
    const stored = await keychain.store(auditKeyAccount, `${key} ${text}`);
    if (!stored.ok) return stored;
    return stored.value === 'memory' && isPersistent ? failed('keychain.unavailable') : done(null);
  }

  /** Failures: keychain.*; the entry is then as it was. */
  async function takeEarlierAnchor(isExpected: boolean): Promise<Outcome<null>> {
    const found = await keychain.read(earlierAnchorAccount);
    if (!found.ok && found.failure.code !== 'credentials.missing') return found;
    if (!found.ok && !isExpected) return done(null);
    beside = found.ok ? found.value : lost;
    const taken = await put(beside);
    return taken.ok && found.ok ? keychain.remove(earlierAnchorAccount) : taken;
  }

  return {
    async key() {
      const settled = await keychain.settled();
      if (!settled.ok) return settled;
      const isNamed = (account: string): boolean => ['stored', 'locked'].includes(keychain.peek(account));
      const [expectsKey, expectsAnchor] = [isNamed(auditKeyAccount), isNamed(earlierAnchorAccount)];
      const kept = await keychain.keep(auditKeyAccount, {
        make: () => (expectsKey ? `${newKey()} ${lost}` : newKey()),
        fits: (secret) => entryPattern.test(secret),
      });
      if (!kept.ok) return kept;
      const [, found = '', text = null] = entryPattern.exec(kept.value) ?? [];
      key = found;
      beside = text;
      isPersistent = keychain.peek(auditKeyAccount) !== 'memory';
      const taken = beside === null && isPersistent ? await takeEarlierAnchor(expectsAnchor) : done(null);
      if (!taken.ok) return taken;
      return done({
        bytes: new Uint8Array(Buffer.from(key, 'base64')),
        persistent: isPersistent,
        isLogLost: beside === lost,
      });
    },
    anchor: {
      read: () => Promise.resolve(beside === null ? [] : [beside]),
      async write(text) {
        const stored = await put(text);
        if (!stored.ok) throw new Error(stored.failure.code);
        beside = text;
      },
    },
  };
}
