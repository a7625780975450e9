import type { ValueKind } from '../contract/value-kinds.ts';
import { openCleartext, type Cleartext } from '../util/cleartext.ts';
import { shortestCard, someCard } from './cards.ts';
import { isIbanCountry } from './ibans.ts';
import {
  bareSsn,
  isPossibleSsn,
  maskPart,
  maskReadings,
  maxMasked,
  mayBeSpelled,
  mayHoldNumber,
  minDigits,
  notOneByte,
  ssnWord,
  tellCard,
  toldSsn,
  writtenSsn,
} from './masking.ts';
import { bytesOf, outsideIds, plainText } from './plain-text.ts';
import type { IsValue, VisitValue } from './readings.ts';

/*
 * The values that stand in clear in a cell, found by what masks it: there is no second finder that could see less than the
 * masks, or more. What is counted is narrower: of card numbers the ones that are hardly anything else, of SSNs those that may
 * have been issued.
 */

const digitsAlone = /^[0-9]+$/;
/** No letter, and no sign that spells one: beside the digits there is nothing that could be more than between them. */
const numbersAlone = /^[ -$'-?[\]^_`{|}~]*$/;
/** As nearly all are written, with nothing but letters in its domain. */
const addressAlone = /^[A-Za-z0-9._-]+@[A-Za-z-]+(?:\.[A-Za-z-]+)*\.[A-Za-z]{2,}$/;
const hostNumber = /^(?:\[|\d{1,3}(?:\.\d{1,3}){3}(?![\p{L}\d.]))/u;

/**
 * The masks hide whatever has an @ between two signs. Counted is none in whose domain no part begins with a letter, nor a number
 * at a number behind a word: a price (`2@5.00`, `2@EUR5.00`) or a version (`zod@3.2.1`).
 */
function isAddress(found: string): boolean {
  const [local = '', ...domains] = found.split('@').map((one) => one.trim());
  const hasLetter = /\p{L}/u.test(local);
  return domains.some((domain) => {
    if (hostNumber.test(domain)) return true;
    const labels = domain.split('.');
    return labels.some((label) => /^\p{L}/u.test(label)) && (hasLetter || !/^\d/.test(labels.at(-1) ?? ''));
  });
}

/**
 * Tells each value of a cell, and its place in the plain text of it. `namedSsn`: its column is named so, and nine digits in one piece are an SSN. The first three cases
 * are what the last one comes to for most cells, many times as fast.
 */
export function eachValue(cell: Cleartext | string, visit: VisitValue, namedSsn = false): void {
  const text = openCleartext(cell);
  if (!mayHoldNumber(text)) return;
  const whole = { from: 0, to: text.length };
  if (digitsAlone.test(text)) {
    if (text.length === minDigits && namedSsn && isPossibleSsn(text)) visit('ssn', text, whole);
    visitCards(text, visit);
  } else if (addressAlone.test(text)) visit('email', text, whole);
  else if (!namedSsn && numbersAlone.test(text) && digitsOf(text).length < shortestCard)
    visitSsns(text, writtenSsn, visit);
  else visitReadings(text, visit, namedSsn);
}

function visitReadings(text: string, visit: VisitValue, namedSsn: boolean): void {
  let cards = 0;
  const seen: VisitValue = (kind, value, place) => {
    if (kind === 'card') cards++;
    visit(kind, value, place);
  };
  const isValue: IsValue = (kind, value) =>
    kind === 'ssn' ? isPossibleSsn(digitsOf(value)) : kind !== 'email' || isAddress(value);
  const look = (part: string, tell?: VisitValue): string => {
    const masked = maskPart(part, 'issued', tell);
    if (tell !== undefined && (namedSsn || ssnWord.test(masked)))
      visitSsns(masked, namedSsn ? bareSsn : toldSsn, tell);
    return masked;
  };
  maskReadings(plainText(text), look, seen, isValue);
  if (cards > 0 || !notOneByte.test(text)) return;
  const lookForCards = (part: string): string =>
    maskPart(part, 'issued', (kind, value) => {
      if (kind === 'card') visit(kind, value, null);
    });
  for (const bare of bytesOf(text)) outsideIds(bare, lookForCards);
}

const visitCards = (run: string, visit: VisitValue): boolean =>
  someCard(run, 'issued', (_, from, end, at) => {
    tellCard(run, { from, end, at }, visit);
    return false;
  });

function visitSsns(text: string, written: RegExp, visit: VisitValue): void {
  for (const { index: from, 0: ssn } of text.matchAll(written))
    if (isPossibleSsn(digitsOf(ssn))) visit('ssn', ssn, { from, to: from + ssn.length });
}

const digitsOf = (text: string): string => text.replaceAll(/[^0-9]/g, '');

/** How many values a cell holds; of one that is hidden whole for its length, how many it may hold. */
export function countValues(cell: Cleartext | string): number {
  const text = openCleartext(cell);
  if (text.length > maxMasked) return mostIn(text);
  let count = 0;
  eachValue(cell, () => count++);
  return count;
}

/** How many values a text may hold, by its digits of any script and its signs of an address alone, spelled or not. */
function mostIn(text: string): number {
  let digits = 0;
  let addresses = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x80 ? isOtherDigit(unit) : unit >= 0x30 && unit <= 0x39) digits++;
    else if (unit === 0x40 || unit === 0xff20 || unit === 0xfe6b) addresses++;
  }
  if (/[&%\\]/.test(text)) addresses += text.match(spelledAt)?.length ?? 0;
  return addresses + Math.floor(digits / minDigits);
}

const spelledAt = /&(?:amp;|#0*38;|#x0*26;)*(?:commat|#0*64|#x0*40)|%(?:25)*40|\\(?:u0040|u\{0*40\}|x40)/gi;

/** By unit, made when one is first asked for. Of two units each pair may be one. */
let otherDigits: Uint8Array | null = null;
function isOtherDigit(unit: number): boolean {
  otherDigits ??= Uint8Array.from({ length: 0x10000 }, (_, one) =>
    Number(/[\p{Nd}\p{No}\ud800-\udbff]/u.test(String.fromCharCode(one))),
  );
  return otherDigits[unit] === 1;
}

/** The card numbers among them. */
export function cardsIn(cell: Cleartext | string): string[] {
  const cards: string[] = [];
  eachValue(cell, (kind, digits) => {
    if (kind === 'card') cards.push(digits);
  });
  return cards;
}

/** What a cell holds of each kind. `whole`: the value, and beside it nothing but signs. */
export type HeldValues = Partial<Record<ValueKind, 'whole' | 'inside'>>;

export function heldValues(cell: Cleartext | string, namedSsn = false): HeldValues {
  const held: HeldValues = {};
  let letters: number | null = null;
  eachValue(
    cell,
    (kind, value) => {
      letters ??= lettersOf(plainText(openCleartext(cell)));
      if (held[kind] !== 'whole') held[kind] = lettersOf(value) === letters ? 'whole' : 'inside';
    },
    namedSsn,
  );
  return held;
}

/** How many letters and digits a text has. */
function lettersOf(text: string): number {
  let letters = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit >= 0x80) return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
    const lower = unit | 0x20;
    if ((unit >= 0x30 && unit <= 0x39) || (lower >= 0x61 && lower <= 0x7a)) letters++;
  }
  return letters;
}

/** Between two of an IBAN's first three characters. */
const maxIbanGap = 3;

/** Whether `eachValue` may find something in a cell that is not decoded yet. */
export function mayHoldValue(units: Uint8Array | Uint16Array, from: number, end: number): boolean {
  let digits = 0;
  for (let at = from; at < end; at++) {
    const unit = units[at] ?? 0;
    if (unit >= 0x30 && unit <= 0x39) digits++;
    else if (mayBeSpelled(unit)) return true;
  }
  return digits >= minDigits && (hasGroupsOfNumber(units, from, end) || hasIbanStart(units, from, end));
}

/** For nearly all texts. */
const scratch = new Uint16Array(4_096);

/** The same of a text. */
export function mayHoldValueIn(text: string): boolean {
  if (!mayHoldNumber(text)) return false;
  const units = text.length <= scratch.length ? scratch : new Uint16Array(text.length);
  for (let at = 0; at < text.length; at++) units[at] = text.charCodeAt(at);
  return mayHoldValue(units, 0, text.length);
}

/**
 * Of plain ASCII: whether enough digits are in groups as a card's or an SSN's are. A card's are of three digits or more, or all
 * of one size, or begin and end at every fourth digit; an SSN's are three, two and four, or nine.
 */
function hasGroupsOfNumber(units: Uint8Array | Uint16Array, from: number, end: number): boolean {
  let digits = 0;
  /** Digits in a row of groups of three or more, and of one size. */
  let large = 0;
  let even = 0;
  let [size, before, twoBefore] = [0, 0, 0];
  /** A bit for each digit, the last one lowest: whether it begins a group. */
  let begins = 0;
  let fours = Infinity;
  for (let at = from; at <= end; at++) {
    const unit = at < end ? (units[at] ?? 0) : 0;
    if (unit >= 0x30 && unit <= 0x39) {
      begins = (begins << 1) | Number(size === 0);
      if ((begins & 0x111) === 0x111 && digits >= 12) fours = Math.min(fours, digits);
      digits++;
      size++;
    } else if (size > 0) {
      large += size;
      even = size <= before ? even + size : size;
      if (large >= shortestCard || even >= shortestCard || size === minDigits) return true;
      if (size === 4 && before === 2 && twoBefore === 3) return true;
      if (size < 3) large = 0;
      if (size < before) even = size;
      twoBefore = before;
      before = size;
      size = 0;
    }
  }
  return digits >= fours + 4;
}

/** Of plain ASCII: whether somewhere two letters of a country stand before a digit, with little between. */
function hasIbanStart(units: Uint8Array | Uint16Array, from: number, end: number): boolean {
  let [letter, letterBefore, gap, gapBefore] = [0, 0, 0, 0];
  for (let at = from; at < end; at++) {
    const unit = units[at] ?? 0;
    const lower = unit | 0x20;
    if (lower >= 0x61 && lower <= 0x7a) {
      letterBefore = letter;
      gapBefore = gap;
      letter = unit;
      gap = 0;
    } else if (unit < 0x30 || unit > 0x39) gap++;
    else {
      const isNear = letterBefore > 0 && gap <= maxIbanGap && gapBefore <= maxIbanGap;
      if (isNear && isIbanCountry(letterBefore, letter)) return true;
      letter = letterBefore = 0;
    }
  }
  return false;
}
