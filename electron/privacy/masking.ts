import type { DefinitionKind } from '../contract/models/connection.ts';
import { openCleartext, type Cleartext } from '../util/cleartext.ts';

const dot = '•';

/**
 * A mask made here, for values the service has no mask of. As wide as the value, in code points, with `•` for what is
 * hidden. Never more than the BIN's first six and the last four digits of a card (PCI DSS 3.4.1), the last four of an
 * SSN, the first letter and the domain of an e-mail address, and nothing of text. A value that is too short to hide
 * enough of it, or not of its kind, is hidden whole.
 */
export function mask(kind: DefinitionKind, value: Cleartext | string): string {
  const cleartext = openCleartext(value);
  switch (kind) {
    case 'card':
      return maskCard(cleartext);
    case 'ssn':
      return maskDigits(cleartext, (digits) => (digits === 9 ? [0, 4] : [0, 0]));
    case 'email':
      return maskEmail(cleartext);
    case 'text':
      return hide(cleartext);
  }
}

/** Below 15 digits, first six and last four together would leave too few to guess, one of them Luhn's. */
function maskCard(cleartext: string): string {
  return maskDigits(cleartext, (digits) => {
    if (digits >= 15 && digits <= 19) return [6, 4];
    if (digits >= 10 && digits < 15) return [0, 4];
    return [0, 0];
  });
}

/** Shows that many first and last digits and the separators; anything but digits, spaces and hyphens hides all. */
function maskDigits(
  cleartext: string,
  shown: (digits: number) => readonly [first: number, last: number],
): string {
  if (!/^[0-9 -]*$/.test(cleartext)) return hide(cleartext);
  const digits = cleartext.replaceAll(/[ -]/g, '').length;
  const [first, last] = shown(digits);
  if (first + last === 0) return hide(cleartext);
  // Without separators, as nearly all are that a million rows hold.
  if (digits === cleartext.length)
    return cleartext.slice(0, first) + dot.repeat(digits - first - last) + cleartext.slice(digits - last);
  let position = 0;
  return cleartext.replaceAll(/[0-9]/g, (digit) => {
    position++;
    return position <= first || position > digits - last ? digit : dot;
  });
}

function maskEmail(cleartext: string): string {
  const match = /^([^@\s]+)@([^@\s]+\.[^@\s.]+)$/u.exec(cleartext);
  const [local = '', domain = ''] = match?.slice(1) ?? [];
  // Something may be joined to it.
  if (maskCell(domain) !== domain) return hide(cleartext);
  const letters = Array.from(local);
  if (letters.length < 3) return match ? `${hide(local)}@${domain}` : hide(cleartext);
  return `${letters[0] ?? ''}${dot.repeat(letters.length - 1)}@${domain}`;
}

const hide = (text: string) => dot.repeat(Array.from(text).length);

/** Digits with up to six characters between two of them that are no letters, or letters that stand for a dash or a blank. */
export const digitRun = /[0-9](?:(?:[^\p{L}0-9•]|[\u30fc\uff70\u3164]){0,6}[0-9])*/gu;
/** An SSN: nine digits that stand alone, in one piece or as 3, 2 and 4. */
const ssnLike = /(?<![\p{L}0-9])[0-9]{3}([^\p{L}0-9]{0,3})[0-9]{2}\1[0-9]{4}(?![\p{L}0-9])/gu;
/** With all that is joined to it by another @. What divides the parts of a link or of a list divides addresses as well. */
export const emailLike =
  /(?<![^\s<>(),;:"'|&=/?\\[\]{}])[^\s@<>(),;:"'|&=/?\\[\]{}]{1,64}(?:@[^\s@<>(),;:"'|&=/?\\[\]{}]{1,255})+/gu;
const plainWords = /^[ -/:-?A-~]*$/;
/** Shortest and longest card number, and the digits one may begin with. */
export const cardLengths = [19, 18, 17, 16, 15, 14, 13];

/**
 * Masks what looks like a card number (with its check digit), an SSN or an e-mail address in a text that a person typed,
 * such as a reason or a case: people paste the wrong thing, and logs are kept for years. Digits of other scripts' width
 * become plain ones. A card is found inside a longer run of digits too, and whatever separates its digits.
 */
export function maskNumbers(text: string): string {
  if (plainWords.test(text)) return text;
  return outsideIds(text, (part) => maskTyped(part).replaceAll(ssnLike, maskSsn));
}

/**
 * A UUID with a letter in it is nobody's card, and one in two hundred passes for one: a request's ID would not be found
 * again by those who run the service. So with the SHA-256 of a certificate, which a person compares.
 */
const nobodysCard =
  /(?<![\p{L}\d-])((?=[\d-]*[a-f])[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|(?=[\d:]*[a-f])[\da-f]{2}(?::[\da-f]{2}){31})(?![\p{L}\d-])/giu;

const outsideIds = (text: string, masked: (part: string) => string): string =>
  text
    .split(nobodysCard)
    .map((part, index) => (index % 2 === 1 ? part : masked(part)))
    .join('');

/**
 * The same for a case reference, in which nine digits in one piece stay: many cases are numbered so, and two masked
 * ones could not be told apart.
 */
export function maskCaseReference(text: string): string {
  // Most of what an audit line holds: plain words, in which nothing could be found.
  if (plainWords.test(text)) return text;
  return outsideIds(text, maskTyped);
}

function maskTyped(text: string): string {
  return replaceIbans(text.normalize('NFKC'), maskIban)
    .replaceAll(emailLike, (address) => mask('email', address))
    .replaceAll(digitRun, (run) => maskCards(run))
    .replaceAll(ssnLike, (number, separator: string) => (separator === '' ? number : maskSsn(number)));
}

/**
 * What a service says about a value may repeat it: the value itself is masked as its kind, and whatever else looks like
 * a card number, an SSN or an e-mail address. `value` is '' where it may be seen.
 */
export function maskReason(reason: string, value: string, kind: DefinitionKind): string {
  return maskNumbers(value === '' ? reason : reason.replaceAll(value, mask(kind, value)));
}

const maskSsn = (number: string): string => mask('ssn', number.replaceAll(/[^0-9]/g, '-'));

/**
 * What the window may see of a cell whose column says nothing about it: a card number (with its check digit), an SSN, an
 * IBAN (with its check digits) and an e-mail address are masked where they stand, whatever separates their digits, in
 * digits of any script, and in the bytes of a text that was read as UTF-16 and is none. All else stays as it is, also nine
 * digits that are the whole cell: nearly all of those are numbers of something else, and the column's name tells an SSN.
 */
export function maskCell(cell: Cleartext | string): string {
  const text = openCleartext(cell);
  if (!mayHoldNumber(text)) return text;
  const plain = plainDigits(text.normalize('NFKC'));
  const masked = maskNumbersOfCell(plain.replaceAll(emailLike, (address) => mask('email', address)));
  if (masked !== plain) return masked;
  return holdsNumbersAsUtf16(text) ? hide(text) : text;
}

/**
 * A mask of the service's, masked again where it shows a whole number or address: a service may be set up to mask nothing.
 * `again`: whether it was. With a kind, what has all digits of one is hidden as well, whether it passes a check or not.
 */
export function maskAgain(
  masked: Cleartext | string,
  kind: DefinitionKind | null,
): { readonly masked: string; readonly again: boolean } {
  const text = openCleartext(masked);
  const digits = /^[0-9 -]*$/.test(text) ? text.replaceAll(/[ -]/g, '').length : 0;
  const isWhole = (kind === 'card' && digits >= 13) || (kind === 'ssn' && digits === 9);
  const shown = isWhole ? mask(kind, text) : maskCell(text);
  // The dots of a service's own mask may be others.
  return { masked: shown, again: shown !== text && !/[•*#●×]|[Xx]{2}/.test(text) };
}

const maskNumbersOfCell = (text: string): string => outsideIds(text, maskNumbersOfPart);

function maskNumbersOfPart(text: string): string {
  return replaceIbans(text, maskIban)
    .replaceAll(digitRun, (run) => maskCards(run, { splitsGroups: false }))
    .replaceAll(ssnLike, (number, separator: string) => {
      const isLoose = separator === '' && (number === text.trim() || !isPossibleSsn(number));
      return isLoose ? number : maskSsn(number);
    });
}

/** Most cells are told by this alone. The shortest of what is looked for has nine digits, or an @. */
function mayHoldNumber(text: string): boolean {
  let digits = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80 || unit === 0x40) return true;
    if (unit >= 0x30 && unit <= 0x39) digits++;
  }
  return digits >= 9;
}

/** In some encodings the letters of a wrongly read file are two letters of it each. */
function holdsNumbersAsUtf16(text: string): boolean {
  // eslint-disable-next-line no-control-regex -- all that is no byte
  if (!/[^\x00-\xff]/.test(text)) return false;
  const bytes = Buffer.from(text, 'utf16le');
  const orders = [bytes.toString('latin1'), Buffer.from(bytes).swap16().toString('latin1')];
  return orders.some((bare) => asciiEmail.test(bare) || maskNumbersOfCell(bare) !== bare);
}

const asciiEmail = /[\w.+-]{2,}@[a-z0-9-]{2,}\.[a-z]{2,}/i;

/** The digits of every script as those of ASCII. In Unicode each script has its ten in a row. */
export function plainDigits(text: string): string {
  return text.replaceAll(/(?![0-9])\p{Nd}/gu, (digit) => {
    const point = digit.codePointAt(0) ?? 0;
    let value = 0;
    while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(point - value - 1))) value++;
    return String(value);
  });
}

/** Country, check digits, and what may be an account: a word, or groups with a space between them. */
export const ibanLike = /(?<![\p{L}0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]){11,40}(?![\p{L}0-9])/giu;

/** Of what may be an account, the IBAN it begins with: words may follow it, so it ends where a group ends and the check digits fit. */
export function ibanIn(found: string): string | null {
  for (let end = found.length; end > 0; end = found.lastIndexOf(' ', end - 1)) {
    const iban = found.slice(0, end);
    if (isIban(iban)) return iban;
  }
  return null;
}

/** Words may stand before it and behind it. */
export function replaceIbans(text: string, replace: (iban: string) => string): string {
  return text.replaceAll(ibanLike, (found) => {
    const iban = ibanIn(found);
    if (iban !== null) return replace(iban) + replaceIbans(found.slice(iban.length), replace);
    const next = found.indexOf(' ') + 1;
    return next === 0 ? found : found.slice(0, next) + replaceIbans(found.slice(next), replace);
  });
}

/** The country and the last four stay. */
const maskIban = (iban: string): string =>
  iban.slice(0, 2) + iban.slice(2).replaceAll(/[^ ](?=(?: ?[^ ]){4})/g, dot);

/** By its check digits (ISO 13616). */
export function isIban(text: string): boolean {
  const iban = text.replaceAll(' ', '').toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban)) return false;
  const moved = `${iban.slice(4)}${iban.slice(0, 4)}`;
  let rest = 0;
  for (const character of moved) {
    const value = parseInt(character, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest === 1;
}

/** Areas 000, 666 and 900 to 999, group 00 and serial 0000 were never issued; one token in ten has one of them. */
export const isPossibleSsn = (digits: string): boolean => !/^(000|666|9)|^...00|0000$/.test(digits);

/**
 * Every window of a card's length that passes Luhn's check shows its first six and last four digits at most. With
 * `splitsGroups: false` it begins and ends where digits stand together, unless these are more than a card has: in any run
 * of digits some part passes by chance.
 */
function maskCards(run: string, { splitsGroups } = { splitsGroups: true }): string {
  const at: number[] = [];
  const digits: number[] = [];
  for (let index = 0; index < run.length; index++) {
    const digit = run.charCodeAt(index) - 0x30;
    if (digit < 0 || digit > 9) continue;
    at.push(index);
    digits.push(digit);
  }
  if (digits.length < Math.min(...cardLengths)) return run;
  const isCut = splitsGroups ? () => true : cutsBetween(at);
  const characters = Array.from({ length: run.length }, (_, index) => run.charAt(index));
  for (let from = 0; from < digits.length; from++) {
    const first = digits[from] ?? 0;
    if (first < 2 || first > 6 || !isCut(from)) continue;
    const length = cardLengths.find((size) => isCut(from + size) && passesLuhn(digits, from, size));
    if (length === undefined) continue;
    const shown = length >= 15 ? 6 : 0;
    for (let index = from + shown; index < from + length - 4; index++) characters[at[index] ?? 0] = dot;
    from += length - 1;
  }
  return characters.join('');
}

/** Whether a number may begin or end before a digit: where a group does, or within one that is longer than any card. */
export function cutsBetween(at: ArrayLike<number>): (digit: number) => boolean {
  const cuts = new Uint8Array(at.length + 1);
  for (let begin = 0, end = 1; end <= at.length; end++) {
    if (end < at.length && at[end] === (at[end - 1] ?? 0) + 1) continue;
    cuts[begin] = cuts[end] = 1;
    if (end - begin > Math.max(...cardLengths)) cuts.fill(1, begin, end);
    begin = end;
  }
  return (digit) => cuts[digit] === 1;
}

function passesLuhn(digits: readonly number[], from: number, length: number): boolean {
  if (from + length > digits.length) return false;
  let sum = 0;
  for (let position = 0; position < length; position++) {
    const digit = digits[from + length - 1 - position] ?? 0;
    const weighted = position % 2 === 1 ? digit * 2 : digit;
    sum += weighted > 9 ? weighted - 9 : weighted;
  }
  return sum % 10 === 0;
}
