import { promisify } from 'node:util';
import { brotliDecompress, gunzip } from 'node:zlib';

const unzip = promisify(gunzip);
const unbrotli = promisify(brotliDecompress);

/**
 * Unpacks a body packed once at most, to `limit` bytes at most. Null where it is packed in layers, in a way nobody
 * asked for, damaged, or larger: packed layers are how a small answer becomes one that fills the memory.
 */
export async function decodeBody(
  bytes: Buffer,
  encoding: string | string[] | undefined,
  limit: number,
): Promise<Buffer | null> {
  const layers = [encoding ?? []]
    .flat()
    .flatMap((text) => text.split(','))
    .map((text) => text.trim().toLowerCase())
    .filter((text) => text !== '' && text !== 'identity');
  if (layers.length === 0) return bytes;
  if (layers.length > 1) return null;
  try {
    if (layers[0] === 'gzip') return await unzip(bytes, { maxOutputLength: limit });
    if (layers[0] === 'br') return await unbrotli(bytes, { maxOutputLength: limit });
    return null;
  } catch {
    return null;
  }
}
