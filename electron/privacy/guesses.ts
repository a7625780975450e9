import { randomInt } from 'node:crypto';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Connection } from '../contract/models/connection.ts';
import { plainText } from '../masking/plain-text.ts';

/**
 * Tokens are the same for the same value. Who sees a number masked can tokenize every number that has this mask (100,000
 * of a card, with its check digit) and look for the token: the mask is then the number, and nobody was asked. So what is
 * tokenized is counted by mask, for each definition of a service: beyond `freeOfMask` different values of one mask in a
 * day it is a disclosing act. A file of five million cards of one BIN has about 500 of a mask. Of the masks of 15 digits
 * each stands for a tenth of the numbers, so each of their values counts as ten.
 */
export interface Guesses {
  /**
   * Before values are tokenized: all of them pass here. Failures: guess.reason-required, where too many of a mask would be
   * sent without a reason; nothing may be sent then. audit.unwritable, where the day's log can't be read.
   */
  admit(to: Definition, values: readonly string[], job?: string): Promise<Outcome<null>>;
  /**
   * A reason was given, and so many values were counted for it: of this job as many are admitted beyond what is free, until
   * the app ends. For more it needs another reason.
   */
  allow(job: string, values: number): void;
  /** Counts what a file would send, with what was sent this day; nothing is remembered. */
  foresee(to: Definition): Promise<Foreseen>;
  /** The most values of one mask that were tokenized for a definition this day: for the audit log. */
  alike(definition: string): number;
}

/** Of the service: another connection to the same one has the same tokens. */
export interface Definition {
  readonly connection: Pick<Connection, 'baseUrl' | 'builtIn'>;
  readonly definition: string;
}

/** The built-in service has another port each time. */
const originOf = ({ baseUrl, builtIn }: Definition['connection']): string =>
  builtIn ? 'built-in' : (URL.parse(baseUrl)?.origin ?? baseUrl);

interface Foreseen {
  add(value: string): void;
  /** Values beyond what is free. */
  readonly guesses: number;
}

export const freeOfMask = 2_000;

interface GuessesOptions {
  /** What the log says was the most of one mask, by definition, since an instant: an app that is started again goes on there. */
  readonly logged: (since: Date) => Promise<Outcome<ReadonlyMap<string, number>>>;
  readonly now: () => Date;
}

/** How many values a mask has is estimated, in another order when they are sent. */
const withMargin = (values: number): number => Math.ceil(values * 1.1) + freeOfMask / 20;

export function createGuesses({ logged, now }: GuessesOptions): Guesses {
  const seed = randomInt(2 ** 32);
  const allowed = new Map<string, number>();
  let day: {
    readonly begin: number;
    readonly table: MaskTable;
    readonly earlier: Map<string, number>;
  } | null = null;
  const most = new Map<string, number>();

  async function today(): Promise<Outcome<NonNullable<typeof day>>> {
    const midnight = now();
    midnight.setHours(0, 0, 0, 0);
    if (day?.begin === midnight.getTime()) return done(day);
    const read = await logged(midnight);
    if (!read.ok) return read;
    most.clear();
    day = { begin: midnight.getTime(), table: createMaskTable(), earlier: new Map(read.value) };
    return done(day);
  }

  /** How many of a mask there are with this value; 0 for what is no such number. */
  const addTo = (table: MaskTable, { connection, definition }: Definition) => {
    const salt = hashText(`${originOf(connection)}\n${definition}`, seed);
    return (value: string): number => table.add(value, salt);
  };

  return {
    async admit(to, values, job) {
      const found = await today();
      if (!found.ok) return found;
      const { table, earlier } = found.value;
      const before = earlier.get(to.definition) ?? 0;
      const add = addTo(table, to);
      let largest = most.get(to.definition) ?? 0;
      let beyond = 0;
      for (const value of values) {
        const alike = add(value);
        if (alike === 0) continue;
        if (alike + before > largest) largest = alike + before;
        if (alike + before > freeOfMask) beyond += 1;
      }
      most.set(to.definition, largest);
      const left = allowed.get(job ?? '') ?? 0;
      if (beyond > left) return failed('guess.reason-required', { definition: to.definition });
      if (beyond > 0 && job !== undefined) allowed.set(job, left - beyond);
      return done(null);
    },
    allow: (job, values) => void allowed.set(job, (allowed.get(job) ?? 0) + withMargin(values)),
    async foresee(to) {
      const found = await today();
      const before = found.ok ? (found.value.earlier.get(to.definition) ?? 0) : 0;
      const add = addTo(found.ok ? found.value.table.copy() : createMaskTable(), to);
      let guesses = 0;
      return {
        add(value) {
          if (add(value) + before > freeOfMask) guesses += 1;
        },
        get guesses() {
          return guesses;
        },
      };
    },
    alike: (definition) => most.get(definition) ?? 0,
  };
}

/**
 * Counts different values by mask in bounded memory: each mask has a bitmap in two rows of them, of which the emptier is
 * believed, since masks may share one. A value sets one bit. How many values so many bits stand for is estimated, within a
 * few in a hundred; a full one counts as endless.
 */
interface MaskTable {
  /** Answers how many of its mask there are now, a value of 15 digits as ten. 0 for what is no card and no SSN. */
  add(value: string, salt: number): number;
  copy(): MaskTable;
}

const rowSize = 2 ** 16;
const bitsOfMask = 1_024;
/** By the bits that are set: how many values set them, most likely. */
const estimates = Array.from({ length: bitsOfMask + 1 }, (_, set) =>
  set === bitsOfMask ? Infinity : Math.round(-bitsOfMask * Math.log(1 - set / bitsOfMask)),
);

function createMaskTable(from?: { readonly bits: Uint32Array; readonly counts: Uint16Array }): MaskTable {
  /** 16 MB, once there is a number to count. */
  let bits = from?.bits;
  let counts = from?.counts;
  const digits = new Uint8Array(19);

  return {
    add(value, salt) {
      const length = digitsOf(value, digits);
      if (length < 13 && length !== 9) return 0;
      bits ??= new Uint32Array((2 * rowSize * bitsOfMask) / 32);
      counts ??= new Uint16Array(2 * rowSize);
      // What the mask shows: first six and last four of a card of 15 digits or more, else the last four.
      let mask = mixed(salt, length);
      if (length >= 15) for (let at = 0; at < 6; at++) mask = mixed(mask, digits[at] ?? 0);
      for (let at = length - 4; at < length; at++) mask = mixed(mask, digits[at] ?? 0);
      let whole = mixed(salt, 31);
      for (let at = 0; at < length; at++) whole = mixed(whole, digits[at] ?? 0);
      const bit = finished(whole) % bitsOfMask;
      let least = bitsOfMask;
      for (let row = 0; row < 2; row++) {
        const slot = row * rowSize + (finished(mixed(mask, 101 + row)) % rowSize);
        const word = (slot * bitsOfMask + bit) >>> 5;
        const flag = 1 << (bit & 31);
        const known = bits[word] ?? 0;
        if ((known & flag) === 0) {
          bits[word] = known | flag;
          counts[slot] = (counts[slot] ?? 0) + 1;
        }
        least = Math.min(least, counts[slot] ?? 0);
      }
      return (estimates[least] ?? Infinity) * (length === 15 ? 10 : 1);
    },
    copy: () =>
      createMaskTable(
        bits === undefined || counts === undefined
          ? undefined
          : { bits: bits.slice(), counts: counts.slice() },
      ),
  };
}

/** The digits of a number, whatever is between and around them; 0 where there are letters, or too many. */
function digitsOf(value: string, into: Uint8Array): number {
  let length = 0;
  for (let at = 0; at < value.length; at++) {
    const unit = value.charCodeAt(at);
    if (unit >= 0x80) return digitsOf(asciiOf(value), into);
    if (unit >= 0x30 && unit <= 0x39) {
      if (length === into.length) return 0;
      into[length++] = unit - 0x30;
    } else if ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x7a) return 0;
  }
  return length;
}

/** A service may read a number that is written otherwise as the masks do. */
const asciiOf = (value: string): string =>
  plainText(value)
    .replaceAll(/(?![a-z])\p{L}/giu, 'x')
    // eslint-disable-next-line no-control-regex -- all that is not of ASCII
    .replaceAll(/[^\x00-\x7f]/g, ' ');

const mixed = (hash: number, digit: number): number => {
  const next = Math.imul(hash ^ (digit + 1), 0x9e3779b1);
  return next ^ (next >>> 15);
};

function finished(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35);
  return (twice ^ (twice >>> 16)) >>> 0;
}

const hashText = (text: string, seed: number): number => {
  let hash = seed | 0;
  for (let at = 0; at < text.length; at++) hash = mixed(hash, text.charCodeAt(at));
  return hash;
};
