/*
 * What a text says, however it is written. The masks, the check of what leaves, the check for echoes and what is made of a
 * service's words all read by this, so that none of them takes for harmless what another one would hide.
 */

/**
 * Letters and signs of any width as the plain ones, digits of any script and in circles as those of ASCII. What is seen
 * as nothing or as a blank is that: Korean has letters which are blank.
 */
export function plainText(text: string): string {
  if (isAscii(text)) return text;
  return text
    .replaceAll(/[\u115f\u1160\u3164\uffa0]/g, ' ')
    .replaceAll(/[\p{Cf}\u034f\ufe00-\ufe0f]/gu, '')
    .replaceAll(
      /[\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792\u{1f10b}\u{1f10c}]/gu,
      circledDigit,
    )
    .normalize('NFKC')
    .replaceAll(/(?![0-9])\p{Nd}/gu, asciiDigit);
}

/** Those that are no other form of a digit by Unicode's tables: they begin with one, or are a zero. */
const circledOnes = [0x24f5, 0x2776, 0x2780, 0x278a];
function circledDigit(sign: string): string {
  const point = sign.codePointAt(0) ?? 0;
  const one = circledOnes.find((first) => point >= first && point < first + 9);
  return String(one === undefined ? 0 : point - one + 1);
}

// eslint-disable-next-line no-control-regex -- all of ASCII
const isAscii = (text: string): boolean => /^[\x00-\x7f]*$/.test(text);

/** Unicode has the ten digits of each script in a row. Rows may adjoin, so where one begins is told by tens. */
function asciiDigit(digit: string): string {
  const point = digit.codePointAt(0) ?? 0;
  let before = 0;
  while (/\p{Nd}/u.test(String.fromCodePoint(point - before - 1))) before++;
  return String(before % 10);
}

/** What stands for a character in pages, addresses and programs: `&#52;`, `&nbsp;`, `%20`, `\u0034`, `\n`. */
const spelled =
  /&(?:#([0-9]{1,7})|#x([0-9a-f]{1,6}));?|&([a-z][a-z0-9]{1,30});|%c2%a0|%([0-4][0-9a-f])|\\u(?:([0-9a-f]{4})|\{([0-9a-f]{1,6})\})|\\x([0-9a-f]{2})|\\[abfnrtv]/gi;
const named: Readonly<Record<string, string>> = { amp: '&', commat: '@', period: '.', hyphen: '-' };

type Found = readonly (string | undefined)[];
function meaningOf([, decimal, hex, name, ...others]: Found): string {
  if (name !== undefined) return named[name.toLowerCase()] ?? ' ';
  const code = hex ?? others.slice(0, 4).find((one) => one !== undefined);
  const point = decimal === undefined ? parseInt(code ?? '', 16) : Number(decimal);
  return point > 0 && point <= 0x10_ff_ff ? String.fromCodePoint(point) : ' ';
}

/** One may stand within another: `&amp;#52;`. */
const maxDepth = 3;
const mayBeSpelled = /[&%\\]/;

/** The same with each of those as the character itself; what has none that matters is a blank. */
export function spelledOut(text: string): string {
  let before = text;
  for (let depth = 0; depth < maxDepth && mayBeSpelled.test(before); depth++) {
    const after = before.replaceAll(spelled, (...found: Found) => meaningOf(found));
    if (after === before) break;
    before = after;
  }
  return before === text ? text : plainText(before);
}

/** A text as it is spelled out, and where in it each of its units stands: from, and up to. */
export interface SpelledText {
  readonly text: string;
  readonly from: Int32Array;
  readonly to: Int32Array;
}

/** The same of a plain text; null where it spells nothing. A letter and a mark on it that is spelled stay two. */
export function spelledWithPlaces(plain: string): SpelledText | null {
  let before: SpelledText | null = null;
  for (let depth = 0; depth < maxDepth; depth++) {
    const after: SpelledText | null = spellOnce(before?.text ?? plain, before);
    if (after === null) break;
    before = after;
  }
  return before;
}

function spellOnce(text: string, places: Omit<SpelledText, 'text'> | null): SpelledText | null {
  if (!mayBeSpelled.test(text)) return null;
  const signs: { readonly from: number; to: number; meaning: string }[] = [];
  for (const found of text.matchAll(spelled)) {
    const [meaning, last] = [meaningOf(found), signs.at(-1)];
    // Both halves of a character may have a sign of their own.
    const isSecond = /^[\udc00-\udfff]/.test(meaning) && last?.to === found.index;
    if (last !== undefined && isSecond && /^[\ud800-\udbff]$/.test(last.meaning)) {
      last.to += found[0].length;
      last.meaning += meaning;
    } else signs.push({ from: found.index, to: found.index + found[0].length, meaning });
  }
  if (signs.length === 0) return null;
  for (const sign of signs) sign.meaning = plainText(sign.meaning);
  const length = signs.reduce((sum, sign) => sum + sign.meaning.length - (sign.to - sign.from), text.length);
  const [from, to] = [new Int32Array(length), new Int32Array(length)];
  let made = '';
  let copied = 0;
  for (const sign of [...signs, { from: text.length, to: text.length, meaning: '' }]) {
    for (let at = copied, unit = made.length; at < sign.from; at++, unit++) {
      from[unit] = places?.from[at] ?? at;
      to[unit] = places?.to[at] ?? at + 1;
    }
    made += text.slice(copied, sign.from);
    from.fill(places?.from[sign.from] ?? sign.from, made.length, made.length + sign.meaning.length);
    to.fill(places?.to[sign.to - 1] ?? sign.to, made.length, made.length + sign.meaning.length);
    made += sign.meaning;
    copied = sign.to;
  }
  return { text: made, from, to };
}

/** A text as it is, and where that is another one, as it is spelled out. */
export function readingsOf(text: string): string[] {
  const plain = plainText(text);
  const other = spelledOut(plain);
  return other === plain ? [plain] : [plain, other];
}

/**
 * The bytes of a text as letters, in both orders: those of a file that was read as UTF-16 and is none are two in each of
 * its own. What is one byte is none of these, and no part of a number.
 */
export function bytesOf(text: string): string[] {
  // eslint-disable-next-line no-control-regex -- all that is one byte
  const bytes = Buffer.from(text.replaceAll(/[\x00-\xff]/g, '\uffff'), 'utf16le');
  return [bytes.toString('latin1'), Buffer.from(bytes).swap16().toString('latin1')];
}

/**
 * A UUID with a letter in it is nobody's card, and one in two hundred passes for one: a request's ID would not be found
 * again by those who run the service. So with the SHA-256 of a certificate, which a person compares, and a date with its
 * time, of which one in ten would pass. No card begins with a year.
 */
const nobodysNumber =
  /(?<![\p{L}\d-])((?=[\d-]*[a-f])[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|(?=[\d:]*[a-f])[\da-f]{2}(?::[\da-f]{2}){31}|(?:19|20)\d\d([-/.])(?:0[1-9]|1[0-2])\2(?:0[1-9]|[12]\d|3[01]) (?:[01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:[.,]\d{1,6})?)?)(?![\p{L}\d-])/giu;

/** Where what is nobody's number stands. Most texts have too few hyphens and no colon. */
function idsIn(text: string): { readonly from: number; readonly to: number }[] {
  if (!text.includes(':') && !hasHyphensOfUuid(text)) return [];
  return Array.from(text.matchAll(nobodysNumber), ({ index, 0: id }) => ({
    from: index,
    to: index + id.length,
  }));
}

function hasHyphensOfUuid(text: string): boolean {
  let at = -1;
  for (let hyphens = 0; hyphens < 4; hyphens++) {
    at = text.indexOf('-', at + 1);
    if (at < 0) return false;
  }
  return true;
}

/** Leaves out what is nobody's number; `change` gets each other part and where it begins. */
export function outsideIds(text: string, change: (part: string, from: number) => string): string {
  let changed = '';
  let end = 0;
  for (const { from, to } of idsIn(text)) {
    changed += change(text.slice(end, from), end) + text.slice(from, to);
    end = to;
  }
  return end === 0 ? change(text, 0) : changed + change(text.slice(end), end);
}

/** Fewer letters and digits are in other texts by chance. */
const minRepeated = 4;

/** Letters and digits alone, in capitals: a Greek word has its last letter in two small forms. */
export const bareText = (text: string): string =>
  plainWords.test(text)
    ? text.replaceAll(/[^A-Za-z0-9]/g, '').toUpperCase()
    : spelledOut(plainText(text))
        .replaceAll(/[^\p{L}\p{N}]/gu, '')
        .toUpperCase();
/** Nothing is spelled in these. */
const plainWords = /^[ -$'-[\]-~]*$/;

/** The same for all texts that `saysTheSame` takes for one; null for those it takes for no other's. */
export function whatItSays(text: string): string | null {
  const bare = bareText(text);
  return bare.length >= minRepeated ? bare : null;
}

/** Whether two texts are the same but for case, script, spelling and what stands between letters. */
export function saysTheSame(one: string, other: string): boolean {
  const said = whatItSays(one);
  return said !== null && said === bareText(other);
}

/** Whether a text has a value in it, written in whatever way. */
export function repeatsIn(text: string): (value: string) => boolean {
  const lower = text.toLowerCase();
  const bare = bareText(text);
  return (value) => {
    const exact = value.trim().toLowerCase();
    if (exact === '') return false;
    if (lower.includes(exact)) return true;
    const letters = bareText(value);
    return letters.length >= minRepeated && bare.includes(letters);
  };
}

/** The text with something else wherever the value is in it, written in whatever way. */
export function replaceRepeated(text: string, value: string, by: string): string {
  if (value === '') return text;
  const exact = text.replaceAll(value, by);
  const sought = bareText(value);
  if (sought.length < minRepeated || !bareText(exact).includes(sought)) return exact;
  const plain = spelledOut(plainText(exact));
  // The letters of the bare text, and where each begins and ends.
  const letters = Array.from(plain.matchAll(/[\p{L}\p{N}]/gu)).flatMap(({ index, 0: letter }) =>
    letter
      .toUpperCase()
      .split('')
      .map((unit) => ({ unit, from: index, end: index + letter.length })),
  );
  const bare = letters.map(({ unit }) => unit).join('');
  let changed = '';
  let end = 0;
  for (let found = bare.indexOf(sought); found >= 0;) {
    const last = found + sought.length - 1;
    changed += plain.slice(end, letters[found]?.from) + by;
    end = letters[last]?.end ?? plain.length;
    found = bare.indexOf(sought, last + 1);
  }
  return changed + plain.slice(end);
}
