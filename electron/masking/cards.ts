/** Shortest and longest card number. */
export const shortestCard = 13;
const longestCard = 19;

const isIn = (value: number, least: number, most: number): boolean => value >= least && value <= most;

/**
 * Whether a network gives out numbers of this beginning and length: those of the large networks and of Maestro's common
 * ranges, UnionPay, RuPay, Mir, Troy, Verve, Humo, Uzcard and Napas. All of Maestro's would be half of all numbers that
 * begin with 5 or 6, in any length; UATP's would be all that begin with 1.
 */
function isIssued(digits: ArrayLike<number>, from: number, length: number): boolean {
  const next = (count: number): number => {
    let value = 0;
    for (let index = from; index < from + count; index++) value = value * 10 + (digits[index] ?? 0);
    return value;
  };
  const four = next(4);
  const two = Math.floor(four / 100);
  const three = Math.floor(four / 10);
  if (isIn(two, 40, 49)) return length === 13 || length === 16 || length === 19; // Visa
  if (isIn(two, 51, 55) || isIn(four, 2221, 2720)) return length === 16; // Mastercard
  if (two === 34 || two === 37) return length === 15; // American Express
  if (isIn(three, 300, 305) || two === 36 || two === 38) return length === 14; // Diners
  if (two === 62) return length >= 16; // UnionPay
  if (isIn(four, 3528, 3589)) return length === 16; // JCB
  if (four === 1800) return length === 15; // JCB
  if (isIn(four, 2200, 2204)) return length >= 16; // Mir
  if ([5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763].includes(four)) return true; // Maestro
  const six = next(6);
  if (isIn(six, 506_099, 506_198) || isIn(six, 507_865, 507_964) || isIn(six, 650_002, 650_027))
    return length === 16 || length === 18 || length === 19; // Verve
  if (isIn(four, 8110, 8171)) return length >= 16; // UnionPay
  if (four === 9704) return length === 16 || length === 19; // Napas
  // Discover, RuPay, Troy, Uzcard, Humo
  const isOther =
    isIn(three, 644, 649) ||
    [60, 65, 81, 82].includes(two) ||
    three === 508 ||
    [9792, 8600, 9860].includes(four);
  return isOther && length === 16;
}

/** Digits of a text, as numbers, and where in it each is. */
interface Digits {
  readonly digits: Uint8Array;
  readonly at: Uint32Array;
  count: number;
  readonly luhn: readonly [Uint32Array, Uint32Array];
}

const createScratch = (length: number): Digits => ({
  digits: new Uint8Array(length),
  at: new Uint32Array(length),
  count: 0,
  luhn: [new Uint32Array(length + 1), new Uint32Array(length + 1)],
});
/** For the runs of nearly all texts. */
const scratch = createScratch(200);

function readDigits(run: string): Digits {
  const read = run.length > scratch.digits.length ? createScratch(run.length) : scratch;
  const { digits, at } = read;
  let count = 0;
  for (let index = 0; index < run.length; index++) {
    const digit = run.charCodeAt(index) - 0x30;
    if (digit < 0 || digit > 9) continue;
    at[count] = index;
    digits[count++] = digit;
  }
  read.count = count;
  return read;
}

/** Gets a card number: digits from one to before another, and where each is in the run. True ends the search. */
type VisitCard = (digits: Uint8Array, from: number, end: number, at: Uint32Array) => boolean;

/**
 * `aligned`: as in cells, where a number begins and ends with a group. `issued`: of these the ones that are hardly anything
 * else, to be counted. `any`: wherever one may be. `all`: also those that overlap.
 */
export type CardSearch = 'aligned' | 'issued' | 'any' | 'all';

/**
 * The card numbers of a run of digits with whatever stands between them: their check digit fits, and they begin as cards do.
 * In any run of digits some part passes by chance. So `aligned` takes a part that begins or ends within a group only if a
 * group is longer than any card, or else if a network gives out such numbers and the other end is that of a group of
 * 17 to 19 digits, or groups of four are between: a security code or a row's number joined to a card.
 */
export function someCard(run: string, search: CardSearch, visit: VisitCard): boolean {
  const read = readDigits(run);
  const { digits, at, count, luhn } = read;
  if (count < shortestCard) return false;
  // Sums from the beginning, with every second digit doubled: one for numbers that end at an even digit, one for odd.
  const [even, odd] = luhn;
  even[0] = odd[0] = 0;
  for (let index = 0; index < count; index++) {
    const digit = digits[index] ?? 0;
    const doubled = digit > 4 ? digit * 2 - 9 : digit * 2;
    even[index + 1] = (even[index] ?? 0) + (index % 2 === 0 ? digit : doubled);
    odd[index + 1] = (odd[index] ?? 0) + (index % 2 === 0 ? doubled : digit);
  }
  const isOne = count === run.length && count < 17 && isAligned(search);
  const cuts = isOne ? null : cutsOf(read);
  const [lastFrom, minEnd] = isOne ? [0, count] : [count - shortestCard, shortestCard];
  for (let from = 0; from <= lastFrom; from++) {
    const first = digits[from] ?? 0;
    if (first === 0 || first === 7) continue;
    for (let end = Math.min(count, from + longestCard); end >= from + minEnd; end--) {
      const sums = end % 2 === 1 ? even : odd;
      if (((sums[end] ?? 0) - (sums[from] ?? 0)) % 10 !== 0) continue;
      if (!mayBeCard(read, { from, end, cuts, search })) continue;
      if (search !== 'all' && cuts !== null && isOutdone(read, from, end)) continue;
      if (visit(digits, from, end, at)) return true;
      if (search === 'all') continue;
      // The last four digits of this one are shown, and may be the first of the next.
      from = end - 5;
      break;
    }
  }
  return false;
}

const isAligned = (search: CardSearch): boolean => search === 'aligned' || search === 'issued';

interface Window {
  readonly from: number;
  readonly end: number;
  readonly cuts: Uint8Array | null;
  readonly search: CardSearch;
}

function mayBeCard(read: Digits, { from, end, cuts, search }: Window): boolean {
  const { digits } = read;
  const first = digits[from] ?? 0;
  const length = end - from;
  const isEdge = (digit: number): boolean => cuts === null || cuts[digit] === cut.edge;
  const isBetweenEdges = isEdge(from) && isEdge(end);
  if (isBetweenEdges && search === 'issued')
    return isIssued(digits, from, length) && isWritten(read, from, end);
  if (isBetweenEdges || !isAligned(search)) {
    // Of one piece that is longer than most cards a part would pass as well.
    if (first >= 2 && first <= 6 && (length < 17 || !isAligned(search))) return true;
    // UATP has all that begin with 1.
    if (first === 1 && length === 15) return isBetweenEdges;
    return isIssued(digits, from, length);
  }
  const isJoined =
    length >= 15 &&
    isOnePiece(read, from, length) &&
    (isEdge(from) || isEdge(end)) &&
    (cuts?.[from] === cut.within || cuts?.[end] === cut.within);
  const isInFours =
    length === 16 &&
    [4, 8, 12].every((digit) => isEdge(from + digit)) &&
    // The parts of a date are two digits each, and two of them four.
    (search !== 'issued' || [0, 4, 8, 12].every((digit) => isOnePiece(read, from + digit, 4)));
  return (isJoined || isInFours) && isIssued(digits, from, length);
}

/** As cards are embossed: of 16 digits, and of 15. */
const usualGroups = [
  [4, 4, 4, 4],
  [4, 6, 5],
] as const;

/**
 * Whether a number of groups in no usual sizes ends within one that has them: `345 4111 1111 1111 1111` is another number and
 * a card, of which a part passes together with that number one time in ten.
 */
function isOutdone(read: Digits, from: number, end: number): boolean {
  if (isOnePiece(read, from, end - from) || hasUsualGroups(read, from)) return false;
  for (let later = from + 1; later < end; later++) if (hasUsualGroups(read, later)) return true;
  return false;
}

/** Whether a card that a network gives out begins there, in groups of these sizes and no others. */
function hasUsualGroups(read: Digits, from: number): boolean {
  for (const sizes of usualGroups) if (hasGroups(read, from, sizes)) return true;
  return false;
}

function hasGroups(read: Digits, from: number, sizes: readonly number[]): boolean {
  const { digits, count, luhn } = read;
  let end = from;
  for (const size of sizes) end += size;
  if (end > count || !isIssued(digits, from, end - from)) return false;
  const sums = luhn[end % 2 === 1 ? 0 : 1];
  if (((sums[end] ?? 0) - (sums[from] ?? 0)) % 10 !== 0) return false;
  let begin = from;
  for (const size of sizes) {
    if (!beginsGroup(read, begin)) return false;
    for (let digit = begin + 1; digit < begin + size; digit++) if (beginsGroup(read, digit)) return false;
    begin += size;
  }
  return beginsGroup(read, end);
}

const beginsGroup = ({ at, count }: Digits, digit: number): boolean =>
  digit === 0 || digit === count || (at[digit - 1] ?? 0) + 1 < (at[digit] ?? 0);

const isOnePiece = ({ at }: Digits, from: number, length: number): boolean =>
  (at[from + length - 1] ?? 0) - (at[from] ?? 0) === length - 1;

/**
 * Whether so many digits stand as a card's do. A part of a list of small numbers, a telephone's number, an article's (EAN)
 * and a part of the inside of a long number seldom are one, and pass the check one time in ten.
 */
function isWritten({ digits, at, count }: Digits, from: number, end: number): boolean {
  const begins = from === 0 || (at[from - 1] ?? 0) + 1 < (at[from] ?? 0);
  const ends = end === count || (at[end - 1] ?? 0) + 1 < (at[end] ?? 0);
  if ((!begins || !ends) && end - from < 15) return false;
  // In a record of fixed width numbers are filled up with zeros.
  const isPadded = (...digit: number[]): boolean =>
    digit.every((index) => digits[index] === 0 && index < count);
  if (!begins && !ends && !isPadded(from - 2, from - 1) && !isPadded(end, end + 1)) return false;
  const sizes: number[] = [];
  for (let digit = from, size = 1; digit < end; digit++, size++) {
    if (digit + 1 < end && (at[digit + 1] ?? 0) === (at[digit] ?? 0) + 1) continue;
    sizes.push(size);
    size = 0;
  }
  const [first = 0, ...rest] = sizes;
  if (rest.length === 0) return end - from !== shortestCard || !isArticle(digits, from);
  const last = rest.at(-1) ?? 0;
  const isEven = rest.slice(0, -1).every((size) => size === first) && last <= first;
  if (sizes.slice(0, -1).some((size) => size < 3)) return isEven && from === 0 && end === count;
  return isEven || end - from >= 15 || (first === 4 && rest[0] === 6 && rest.length === 2);
}

/** By its check digit (GS1). Those of Germany begin with 4, as Visa's old numbers of 13 digits do. */
function isArticle(digits: Uint8Array, from: number): boolean {
  let sum = 0;
  for (let position = 0; position < 13; position++)
    sum += (digits[from + position] ?? 0) * (position % 2 === 0 ? 1 : 3);
  return sum % 10 === 0;
}

/** What is before a digit: the edge of a group, or of any part of one that is longer than a card, or the inside of one that is longer than most. */
const cut = { none: 0, edge: 1, within: 2 } as const;

function cutsOf({ at, count }: Digits): Uint8Array {
  const cuts = new Uint8Array(count + 1);
  for (let begin = 0, end = 1; end <= count; end++) {
    if (end < count && at[end] === (at[end - 1] ?? 0) + 1) continue;
    const length = end - begin;
    if (length > longestCard) cuts.fill(cut.edge, begin, end);
    else if (length > 16) cuts.fill(cut.within, begin, end);
    cuts[begin] = cuts[end] = cut.edge;
    begin = end;
  }
  return cuts;
}
