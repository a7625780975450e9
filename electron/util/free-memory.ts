/**
 * Gives the memory of a buffer back at once: it, and every part of it, is empty from then on. To leave that to V8 takes longer: for
 * each 64 MB it looks at all that the app has. A small buffer has its memory together with others, and keeps it.
 */
export function freeMemory({ buffer, byteLength }: Uint8Array): void {
  const isOwn = byteLength > 0 && buffer.byteLength === byteLength;
  if (isOwn && buffer instanceof ArrayBuffer) buffer.transfer(0);
}
