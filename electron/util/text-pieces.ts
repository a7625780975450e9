/*
 * What is long is made a piece at a time: between two of them others can have their turn (`madeInTurns`), and all of it is never
 * in memory twice.
 */

const pieceLength = 256 * 1024;

/** Many parts, mostly short ones, in pieces that are worth a write. */
export function* piecesOf(parts: Iterable<string | Uint8Array>): Generator<Buffer> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for (const part of parts) {
    const bytes = typeof part === 'string' ? Buffer.from(part) : part;
    waiting.push(bytes);
    length += bytes.length;
    if (length < pieceLength) continue;
    yield Buffer.concat(waiting);
    waiting = [];
    length = 0;
  }
  yield Buffer.concat(waiting);
}

/** What `JSON.stringify` makes of plain objects, in parts. */
export function* jsonTexts(value: unknown): Generator<string> {
  if (value === null || typeof value !== 'object') {
    // In a list, what JSON has no word for.
    yield value === undefined ? 'null' : JSON.stringify(value);
    return;
  }
  const isList = Array.isArray(value);
  let separator = isList ? '[' : '{';
  for (const [name, member] of Object.entries(value)) {
    if (!isList && member === undefined) continue;
    yield isList ? separator : `${separator}${JSON.stringify(name)}:`;
    yield* jsonTexts(member);
    separator = ',';
  }
  if (separator !== ',') yield separator;
  yield isList ? ']' : '}';
}

/** The base64 of all parts as one. */
export function* base64Texts(parts: Iterable<Buffer>): Generator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for (const part of parts) {
    const bytes = rest.length === 0 ? part : Buffer.concat([rest, part]);
    // Three bytes are four of its signs.
    const whole = bytes.length - (bytes.length % 3);
    yield bytes.toString('base64', 0, whole);
    rest = bytes.subarray(whole);
  }
  yield rest.toString('base64');
}
