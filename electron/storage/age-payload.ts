import { hkdfSync } from 'node:crypto';

/*
 * What stands behind the header of a file that age encrypted (age-encryption.org/v1, "Payload"): a nonce, and chunks by
 * ChaCha20-Poly1305, of which the last one is marked. The library's own cipher is JavaScript; libsodium's, as
 * WebAssembly, does four times as much in the same time. Node's own is no choice: Electron's library has this cipher for
 * TLS alone.
 */

export const nonceBytes = 16;
const chunkBytes = 64 * 1024;
const tagBytes = 16;

export interface AgeCipher {
  seal(bytes: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array;
  /** Throws where the bytes are not what was sealed. */
  open(bytes: Uint8Array, nonce: Uint8Array, key: Uint8Array): Uint8Array;
}

/** Loaded when it is needed: the app would start later by it. */
export async function loadCipher(): Promise<AgeCipher> {
  const { default: sodium } = await import('libsodium-wrappers');
  await sodium.ready;
  return {
    seal: (bytes, nonce, key) =>
      sodium.crypto_aead_chacha20poly1305_ietf_encrypt(bytes, null, null, nonce, key),
    open: (bytes, nonce, key) =>
      sodium.crypto_aead_chacha20poly1305_ietf_decrypt(null, bytes, null, nonce, key),
  };
}

interface Payload {
  readonly bytes: AsyncIterable<Uint8Array>;
  readonly fileKey: Uint8Array;
  readonly nonce: Uint8Array;
}

const keyOf = ({ fileKey, nonce }: Payload): Uint8Array =>
  new Uint8Array(hkdfSync('sha256', fileKey, nonce, 'payload', 32));

/** The chunks of the cleartext, encrypted. */
export async function* sealPayload(payload: Payload, cipher: AgeCipher): AsyncGenerator<Uint8Array, void> {
  const key = keyOf(payload);
  const next = chunkNonces();
  for await (const { chunk, isLast } of inChunks(payload.bytes, chunkBytes))
    yield cipher.seal(chunk, next(isLast), key);
}

/** The cleartext again. Throws where a chunk was altered, where one is missing, and where anything follows the last. */
export async function* openPayload(payload: Payload, cipher: AgeCipher): AsyncGenerator<Uint8Array, void> {
  const key = keyOf(payload);
  const next = chunkNonces();
  let isFirst = true;
  for await (const { chunk, isLast } of inChunks(payload.bytes, chunkBytes + tagBytes)) {
    const opened = cipher.open(chunk, next(isLast), key);
    // Else one cleartext would have two forms.
    if (opened.length === 0 && !isFirst) throw new Error('the last chunk is empty');
    isFirst = false;
    yield opened;
  }
}

/** Eleven bytes count the chunks, from the left the most significant one; the last tells the last chunk. */
function chunkNonces(): (isLast: boolean) => Uint8Array {
  const nonce = Buffer.alloc(12);
  let count = 0;
  return (isLast) => {
    nonce.writeUInt32BE(count, 7);
    nonce[11] = isLast ? 1 : 0;
    count += 1;
    return nonce;
  };
}

/** Pieces of that size; the last one has what is left, and is empty only where there was nothing. */
async function* inChunks(
  bytes: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ readonly chunk: Uint8Array; readonly isLast: boolean }, void> {
  const chunk = new Uint8Array(size);
  let filled = 0;
  for await (const piece of bytes) {
    for (let at = 0; at < piece.length;) {
      if (filled === size) {
        yield { chunk, isLast: false };
        filled = 0;
      }
      const part = piece.subarray(at, at + size - filled);
      chunk.set(part, filled);
      filled += part.length;
      at += part.length;
    }
  }
  yield { chunk: chunk.subarray(0, filled), isLast: true };
}
