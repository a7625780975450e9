/** A list of objects that have the same two texts each, by columns. */
export interface Pairs {
  /** The member that holds the list; null where the list is the root. */
  readonly list: string | null;
  readonly names: readonly [string, string];
  readonly columns: readonly [readonly string[], readonly string[]];
}

const listBegins = /^(?:\{ *"([ !#-[\]-~]+)" *: *)?\[ */;
const firstElement = /(\{ *"([ !#-[\]-~]*)" *: *")[^"]*(" *, *"([ !#-[\]-~]*)" *: *")[^"]*(" *\})( *, *)?/y;
const listEnds = /^ *\][ \t\r\n]*$/;
const rootEnds = /^ *\] *\}[ \t\r\n]*$/;

/**
 * The JSON of nearly every batch's answer, `{"elements":[{"RefId":"0","Value":"…"},…]}`, in a third of the time that
 * JSON.parse and an object for each element take. Null for all that is not just this, written alike in each element.
 */
export function readPairs(body: Buffer): Pairs | null {
  const text = body.toString('latin1');
  const begins = listBegins.exec(text);
  if (begins === null) return null;
  firstElement.lastIndex = begins[0].length;
  const first = firstElement.exec(text);
  if (first === null) return null;
  const [, opens = '', oneName = '', between = '', otherName = '', closes = '', comma = ','] = first;
  if (oneName === otherName) return null;
  const [middle, next, last] = [between, `${closes}${comma}${opens}`, closes].map((part) =>
    Buffer.from(part, 'latin1'),
  ) as [Buffer, Buffer, Buffer];
  const ones: string[] = [];
  const others: string[] = [];
  for (let at = begins[0].length + opens.length; ;) {
    const oneEnds = endOfText(body, at);
    if (!standsAt(body, oneEnds, middle)) return null;
    ones.push(shortNumber(body, at, oneEnds) ?? text.slice(at, oneEnds));
    at = oneEnds + middle.length;
    const otherEnds = endOfText(body, at);
    others.push(text.slice(at, otherEnds));
    if (standsAt(body, otherEnds, next)) at = otherEnds + next.length;
    else if (!standsAt(body, otherEnds, last)) return null;
    else {
      const list = begins[1] ?? null;
      const isWhole = (list === null ? listEnds : rootEnds).test(text.slice(otherEnds + last.length));
      return isWhole ? { list, names: [oneName, otherName], columns: [ones, others] } : null;
    }
  }
}

/** The RefIds of a request, in nearly every answer: a text that exists needs not be made again. */
const shortNumbers = Array.from({ length: 1_000 }, (_, number) => String(number));

function shortNumber(body: Buffer, from: number, to: number): string | undefined {
  const first = body[from] ?? 0;
  if (to - from > 3 || to === from || (first === zero && to - from > 1)) return undefined;
  let number = 0;
  for (let at = from; at < to; at++) {
    const digit = (body[at] ?? 0) - zero;
    if (digit < 0 || digit > 9) return undefined;
    number = number * 10 + digit;
  }
  return shortNumbers[number];
}

const zero = 0x30;

/** Where the text ends that begins here; -1 where it holds something that says something else than it shows, or is no JSON. */
function endOfText(body: Buffer, from: number): number {
  for (let at = from; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (byte === 0x22) return at;
    if (byte === 0x5c || byte < 0x20 || byte > 0x7e) return -1;
  }
  return -1;
}

function standsAt(body: Buffer, at: number, part: Buffer): boolean {
  if (at < 0) return false;
  for (let index = 0; index < part.length; index++) if (body[at + index] !== part[index]) return false;
  return true;
}
