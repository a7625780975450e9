/* What rows are found with: looking at an array is several times as fast as looking at a string. */

/** Used again by every call. A text that is longer than a chunk gets an array of its own. */
const scratch = new Uint16Array(128 * 1024);

/** The units of a text, and room for one more behind them. Good until the next call. */
export function scanUnits(text: string): Uint16Array {
  const units = text.length < scratch.length ? scratch : new Uint16Array(text.length + 1);
  Buffer.from(units.buffer).write(text, 'utf16le');
  return units;
}

export function twiceAsLong(array: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(array.length * 2);
  longer.set(array);
  return longer;
}
