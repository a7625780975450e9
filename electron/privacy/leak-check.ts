import { randomFillSync } from 'node:crypto';
import type { CleartextWatch } from '../util/cleartext.ts';
import { someCard } from '../masking/cards.ts';
import { replaceIbans } from '../masking/ibans.ts';
import { digitRun, emailLike, mask, writtenSsn } from '../masking/masking.ts';
import { bytesOf, outsideIds, readingsOf } from '../masking/plain-text.ts';

/*
 * The last look at what leaves for the window: the masks decide what is hidden, and this does not ask them. What a text
 * came by does not matter: a cell, an error's detail, a name, an event.
 *
 * Looked for is what `maskCell` hides wherever it stands: card numbers with their check digit, IBANs, SSNs with
 * separators, e-mail addresses. Anything else may rightly be hidden in one file and shown in another (a name, an account,
 * nine digits), and the person would be kept from a page that is as it should be.
 */

/** What was seen in clear and must not leave. */
export interface LeakCheck extends CleartextWatch {
  /** Whether the answer of a call, or an event, has a value that was seen in clear and is shown nowhere as a token. */
  finds(name: string, message: unknown): boolean;
  /**
   * What of such a message may leave: all but the cells of a table that have such a value, or nothing, where it stands
   * elsewhere.
   */
  withoutCells<T>(name: string, message: T): T | null;
}

/** Where cells are: texts in lists of lists, or the `text` and `reason` of one. */
const tables: ReadonlySet<string> = new Set(['rows', 'above', 'last', 'below', 'cells']);
const cellTexts: ReadonlySet<string> = new Set(['text', 'reason']);

/**
 * A token; what the window sent itself; what a person has named so. A file's name is not among these: it is masked where
 * it is read.
 */
const named: ReadonlySet<string> = new Set(['token', 'caseReference', 'pattern', 'folder']);
/** Elsewhere an address is a name: of who signed in, or of a proxy's user. */
const holdsValues = /^(batch|lookup)\./;

const address = /[\w.+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+/gi;
const minDigits = 9;
/** Of the shortest address. */
const minLength = 6;

/** Gets characters from one to before another, as numbers. */
type Visit = (characters: ArrayLike<number>, from: number, end: number) => boolean;

/** `slots`: places for values, in each of two generations of 8 bytes a place. */
export function createLeakCheck({ slots = 2 ** 18 } = {}): LeakCheck {
  const hashes = createRecentHashes(slots);

  /**
   * Gives every number and address of a text to `visit` until that is true for one. `isExact`: of a card's digits only
   * where a number may begin and end, as the masks take them; or else every part of a run, whatever is put before it.
   */
  function some(
    text: string,
    { isExact, addresses = true }: { isExact: boolean; addresses?: boolean },
    visit: Visit,
  ): boolean {
    const visitText = (found: string): boolean => visited(Buffer.from(found), 0, found.length);
    const search = isExact ? 'aligned' : 'all';
    let hasFound = false as boolean;
    const visited: Visit = (...found) => ((hasFound = true), visit(...found));
    for (const { view, isSpelled } of viewsOf(text)) {
      // As the masks do: what a text spells is looked at without what was hidden before.
      if (isExact && isSpelled && hasFound) continue;
      if (!/[^0-9]/.test(view)) {
        if (someCard(view, search, visited)) return true;
        continue;
      }
      // What the masks have taken for one thing they don't take for another, so neither does what is recorded.
      let rest = view;
      if (addresses && view.includes('@')) {
        for (const part of isExact ? (view.match(emailLike) ?? []) : [view])
          for (const [found] of part.matchAll(address)) if (visitText(found.toLowerCase())) return true;
        if (isExact) rest = rest.replaceAll(emailLike, (found) => mask('email', found));
      }
      let isFound = false as boolean;
      const look = (part: string): string => {
        for (const [run] of part.matchAll(digitRun)) isFound ||= someCard(run, search, visited);
        for (const [ssn] of part.matchAll(writtenSsn)) isFound ||= visitText(ssn.replaceAll(/[^0-9]/g, ''));
        return part;
      };
      outsideIds(rest, (part) => {
        const visitIban = (iban: string): string => {
          isFound ||= visitText(iban.replaceAll(/[^a-z0-9]/gi, '').toUpperCase());
          return iban;
        };
        replaceIbans(part, visitIban, isExact ? look : undefined);
        return isExact ? part : look(part);
      });
      if (isFound) return true;
    }
    return false;
  }

  const record = (text: string, isToken: boolean): void => {
    some(text, { isExact: true }, (characters, from, end) => {
      hashes.add(characters, from, end, isToken);
      return false;
    });
  };
  const isInClear: Visit = (characters, from, end) => hashes.isInClear(characters, from, end);

  function isIn(value: unknown, addresses: boolean): boolean {
    if (typeof value === 'string')
      return value.length >= minLength && some(value, { isExact: false, addresses }, isInClear);
    if (typeof value !== 'object' || value === null) return false;
    if (Array.isArray(value)) return value.some((one) => isIn(one, addresses));
    for (const member in value) {
      if (named.has(member)) continue;
      if (isIn((value as Record<string, unknown>)[member], addresses) || isIn(member, addresses)) return true;
    }
    return false;
  }

  function hideCells(value: unknown, isCell: boolean, addresses: boolean): unknown {
    if (typeof value === 'string')
      return isCell && isIn(value, addresses) ? '•'.repeat(Array.from(value).length) : value;
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((one) => hideCells(one, isCell, addresses));
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        hideCells(inner, tables.has(name) || (isCell && cellTexts.has(name)), addresses),
      ]),
    );
  }

  return {
    saw: (text) => record(text, false),
    showed: (text) => record(text, true),
    finds: (name, message) => isIn(message, holdsValues.test(name)),
    withoutCells<T>(name: string, message: T): T | null {
      const addresses = holdsValues.test(name);
      const left = hideCells(message, false, addresses);
      return isIn(left, addresses) ? null : (left as T);
    },
  };
}

/**
 * A text as it may be read: as plain text, as what it spells, and its UTF-16 as bytes, in both orders, where these have
 * letters of their own. None for a text that can't hold what is looked for: nearly all of them.
 */
function viewsOf(text: string): { readonly view: string; readonly isSpelled: boolean }[] {
  let digits = 0;
  let packed = 0;
  let isPlain = true;
  let hasAt = false;
  let spells = false;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) {
      if (unit >= 0x30 && unit <= 0x39) digits++;
      else if (unit === 0x40) hasAt = true;
      // It may spell a digit or an @: % & \
      else if (unit === 0x26 || unit === 0x25 || unit === 0x5c) spells = true;
      // What masks and cut texts are full of.
    } else if (unit !== 0x2022 && unit !== 0x2026) {
      isPlain = false;
      // It may be a digit of another script.
      digits++;
      packed += asDigits(unit & 0xff) + asDigits(unit >> 8);
      if (unit === 0xff20 || unit === 0xfe6b) hasAt = true;
    }
  }
  const isLooked = digits >= minDigits || hasAt || spells;
  const readings = !isLooked ? [] : isPlain && !spells ? [text] : readingsOf(text);
  const views = readings.map((view, index) => ({ view, isSpelled: index > 0 }));
  if (packed < minDigits) return views;
  return [...views, ...bytesOf(text).map((view) => ({ view, isSpelled: false }))];
}

/** What a byte counts towards nine digits; an address is told by its @. */
function asDigits(byte: number): number {
  if (byte === 0x40) return minDigits;
  return byte >= 0x30 && byte <= 0x39 ? 1 : 0;
}

/**
 * The latest values, three in four of the places at least, as 52 bits of a hash; that of a token is negative. The key is this
 * process's own, so that nobody can choose values that push others out. It hides nothing from who reads this memory: the
 * values are there too.
 */
function createRecentHashes(slots: number) {
  const maxUsed = slots * 0.75;
  const [key0 = 0, key1 = 0] = randomFillSync(new Int32Array(2));
  let current = new Float64Array(slots);
  let older = new Float64Array(slots);
  let used = 0;

  /** FNV-1a in two lanes, mixed at the end. Never 0. */
  function hashOf(characters: ArrayLike<number>, from: number, end: number): number {
    let a = key0 ^ (end - from);
    let b = key1;
    for (let index = from; index < end; index++) {
      const unit = characters[index] ?? 0;
      a = Math.imul(a ^ unit, 0x01000193);
      b = Math.imul(b ^ unit, 0x85ebca6b);
    }
    a = Math.imul(a ^ (a >>> 15) ^ b, 0x2c1b3c6d);
    b = Math.imul(b ^ (b >>> 13) ^ a, 0x297a2d39);
    a ^= a >>> 14;
    b ^= b >>> 16;
    return (b >>> 12) * 2 ** 32 + (a >>> 0) + 1;
  }

  /** Where a hash is, or would be. */
  function slotOf(table: Float64Array, hash: number): number {
    for (let at = hash % slots; ; at = (at + 1) % slots) {
      const found = Math.abs(table[at] ?? 0);
      if (found === 0 || found === hash) return at;
    }
  }

  /** The hash, negative for a token; 0 where it is not known. */
  const find = (hash: number): number =>
    (current[slotOf(current, hash)] ?? 0) || (older[slotOf(older, hash)] ?? 0);

  return {
    add(characters: ArrayLike<number>, from: number, end: number, isToken: boolean): void {
      const hash = hashOf(characters, from, end);
      const isKnownToken = find(hash) < 0;
      if (used >= maxUsed) {
        [current, older] = [older.fill(0), current];
        used = 0;
      }
      const at = slotOf(current, hash);
      if (current[at] === 0) used++;
      // What is a token stays one: it is read again for each page that shows it.
      current[at] = isToken || isKnownToken ? -hash : hash;
    },
    isInClear: (characters: ArrayLike<number>, from: number, end: number): boolean =>
      find(hashOf(characters, from, end)) > 0,
  };
}
