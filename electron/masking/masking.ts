import type { DefinitionKind } from '../contract/models/connection.ts';
import { openCleartext, type Cleartext } from '../util/cleartext.ts';
import { someCard, type CardSearch } from './cards.ts';
import { replaceIbans } from './ibans.ts';
import { bytesOf, outsideIds, plainText, repeatsIn, replaceRepeated } from './plain-text.ts';
import { dot, type IsValue, maskBoth, type VisitValue } from './readings.ts';

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
      return maskDigits(cleartext, endsOfCard);
    case 'ssn':
      return maskDigits(cleartext, endsOfSsn);
    case 'email':
      return maskEmail(cleartext);
    case 'text':
      return hideLong(cleartext);
  }
}

type Ends = readonly [first: number, last: number];
const none: Ends = [0, 0];
const lastFour: Ends = [0, 4];
const sixAndFour: Ends = [6, 4];

/** Below 15 digits, first six and last four together would leave too few to guess, one of them Luhn's. */
function endsOfCard(digits: number): Ends {
  if (digits >= 15 && digits <= 19) return sixAndFour;
  return digits >= 10 && digits < 15 ? lastFour : none;
}

const endsOfSsn = (digits: number): Ends => (digits === 9 ? lastFour : none);

/**
 * How many units `mask` shows at the beginning and at the end of a text of plain ASCII, and hides all others, by how many of
 * them are digits, spaces and hyphens. Null where it shows others too.
 */
export function shownEnds(
  kind: DefinitionKind,
  { length, digits, joints }: { readonly length: number; readonly digits: number; readonly joints: number },
): Ends | null {
  if (kind === 'text') return none;
  if (kind === 'email') return null;
  if (digits + joints < length) return none;
  if (joints > 0) return null;
  return kind === 'card' ? endsOfCard(digits) : endsOfSsn(digits);
}

/** Shows that many first and last digits and the separators; anything but digits, spaces and hyphens hides all. */
function maskDigits(cleartext: string, shown: (digits: number) => Ends): string {
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

/** A longer cell is hidden whole, by a mask of this width: to look for what it holds would take as long as it is. */
export const maxMasked = 128 * 1024;
const longMask = dot.repeat(1_024);
const hideLong = (text: string): string => (text.length > maxMasked ? longMask : hide(text));

const hide = (text: string) => dot.repeat(hasSurrogate.test(text) ? Array.from(text).length : text.length);
const hasSurrogate = /[\ud800-\udfff]/;

/**
 * Digits with up to six characters between two of them that are no letters, or a letter that stands for a dash. Of these up
 * to four may be dots: in a mask of a number there are more together, of what may be six digits of one number and four of
 * the next.
 */
export const digitRun = /[0-9](?:[0-9]|(?!(?:[^\p{L}0-9•]*•){5})(?:[^\p{L}0-9]|\u30fc){1,6}[0-9])*/gu;
/** An SSN: 3, 2 and 4 digits with the same between them, whatever they are joined to, or dashes and blanks of any kind. */
export const writtenSsn =
  /(?<![0-9])[0-9]{3}(?:([^\p{L}0-9]{1,3})[0-9]{2}\1|[\s\p{Pd}\u2212•]{1,3}[0-9]{2}[\s\p{Pd}\u2212•]{1,3})[0-9]{4}(?![0-9])/gu;
/** Nine digits that stand alone, or behind a word that says what they are: other words are of orders and of invoices. */
export const bareSsn =
  /(?<![\p{L}0-9])[0-9]{9}(?![\p{L}0-9])|(?<=ssn|social(?:security)?)[0-9]{9}(?![0-9])/giu;
/** A word that says what nine digits in one piece are, and they, whatever they are joined to: `SSN no. 123456789`. */
export const ssnWord = /\bssn|social/i;
export const toldSsn = /(?<=(?:\bssn|social)[^0-9]{0,20})[0-9]{9}(?![\p{L}0-9])/giu;
/** What divides the parts of a link or of a list divides addresses as well. */
const divider = String.raw`\s<>(),;:"'|&=/?\\[\]{}`;
const begins = `(?<![^${divider}])`;
const part = `[^@${divider}]`;
/** With all that is joined to it by another @. */
const domains = String.raw`(?:@(?:${part}{1,255}|\[[^\s\]]{1,50}\]))+`;
/**
 * An address: as it is mostly written; with another one within its own, as a returned message has it; what is quoted or in
 * brackets before the @; and with blanks around that.
 */
export const emailLike = new RegExp(
  [
    String.raw`"[^"\r\n]{1,256}"${domains}`,
    String.raw`${begins}(?=[^@+\-${divider}]{0,256}[+-])${part}{1,512}=${part}{1,256}\.\p{L}{2,}${domains}`,
    `${begins}${part}+${domains}`,
    String.raw`(?<!\S)[^\s@]+[)\]}>"']${domains}`,
    String.raw`${begins}${part}+(?:\s{1,3}@\s{0,3}|@\s{1,3})[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}`,
  ].join('|'),
  'gu',
);
const plainWords = /^[ -/:-?A-~]*$/;
/** Too short for an IBAN, with nothing that spells another sign; with fewer digits than an SSN it holds no number. */
const shortWords = /^[ -$'-?A-[\]-~]{0,14}$/;
export const minDigits = 9;

/**
 * Masks what looks like a card number (with its check digit), an SSN, an IBAN or an e-mail address in a text that a person
 * typed, such as a reason or a case: people paste the wrong thing, and logs are kept for years. What is left is plain text.
 * A card is found inside a longer run of digits too, and whatever separates its digits.
 */
export const maskNumbers = (text: string): string =>
  maskTyped(text, (part) => part.replaceAll(bareSsn, maskSsn));

/**
 * The same for a case reference, in which nine digits in one piece stay: many cases are numbered so, and two masked
 * ones could not be told apart.
 */
export const maskCaseReference = (text: string): string => maskTyped(text, (part) => part);

function maskTyped(text: string, maskMore: (part: string) => string): string {
  // Most of what an audit line holds: plain words, in which nothing could be found, and short numbers.
  if (plainWords.test(text)) return text;
  if (shortWords.test(text) && text.replaceAll(/[^0-9]/g, '').length < minDigits) return text;
  return maskReadings(plainText(text), (part) => maskMore(maskPart(part, 'any')));
}

/** Keeps the length of what it masks, so that places stay. `visit` gets places within the part. */
type MaskPart = (part: string, visit?: VisitValue) => string;

/** Masks in a text as it is, and in what it spells. */
export const maskReadings = (
  plain: string,
  masked: MaskPart,
  visit?: VisitValue,
  isValue?: IsValue,
): string => maskBoth(plain, (text, tell) => maskReading(text, masked, tell), visit, isValue);

/** Tells the same of a longer text, in which the part begins there. */
const further = (visit: VisitValue | undefined, begin: number): VisitValue | undefined =>
  visit === undefined || begin === 0
    ? visit
    : (kind, value, place) => {
        visit(kind, value, place && { from: begin + place.from, to: begin + place.to });
      };

function maskReading(plain: string, masked: MaskPart, visit?: VisitValue): string {
  const withoutAddresses = !plain.includes('@')
    ? plain
    : plain.replaceAll(emailLike, (address, from: number) => {
        visit?.('email', address, { from, to: from + address.length });
        return mask('email', address);
      });
  return outsideIds(withoutAddresses, (part, from) => masked(part, further(visit, from)));
}

/** One after the other: cards that overlap are not hidden twice. */
type MaskSearch = Exclude<CardSearch, 'all'>;

export function maskPart(part: string, search: MaskSearch, visit?: VisitValue): string {
  const hideIban = (iban: string, from: number): string => {
    visit?.('iban', iban, { from, to: from + iban.length });
    return maskIban(iban);
  };
  return replaceIbans(part, hideIban, (rest, begin) => {
    const hideCards = (run: string, from: number): string =>
      maskCards(run, search, further(visit, begin + from));
    const hideSsn = (number: string, _sign: unknown, from: number): string => {
      visit?.('ssn', number, { from: begin + from, to: begin + from + number.length });
      return maskSsn(number);
    };
    return rest.replaceAll(digitRun, hideCards).replaceAll(writtenSsn, hideSsn);
  });
}

/**
 * What a service says about a value may repeat it, in whatever form: the value itself is masked as its kind, and whatever
 * else looks like a card number, an SSN or an e-mail address. `value` is '' where it may be seen.
 */
export const maskReason = (reason: string, value: string, kind: DefinitionKind): string =>
  maskNumbers(value === '' ? reason : replaceRepeated(reason, value, mask(kind, value)));

/** Its last four digits stay, and what is between. */
const maskSsn = (number: string): string => hideDigits(number, [0, 5]);

/**
 * What the window may see of a cell whose column says nothing about it: a card number (with its check digit), an SSN, an
 * IBAN (with its check digits) and an e-mail address are masked where they stand, whatever separates their digits, in
 * digits of any script, spelled as a page would, and in the bytes of a text that was read as UTF-16 and is none. All else
 * stays as it is, also nine digits that are the whole cell: nearly all of those are numbers of something else, and the
 * column's name tells an SSN. A number that is divided over two cells is none in either of them. A cell of more than 128 K
 * characters that may hold a number is hidden whole.
 */
export function maskCell(cell: Cleartext | string): string {
  const text = openCleartext(cell);
  if (!mayHoldNumber(text)) return text;
  if (text.length > maxMasked) return hideLong(text);
  const plain = plainText(text);
  const masked = maskReadings(plain, maskPartOfCell);
  const shown = masked === plain ? text : masked;
  return holdsNumbersAsUtf16(shown) ? hide(shown) : shown;
}

function maskPartOfCell(part: string): string {
  const hideSsn = (digits: string): string => (isPossibleSsn(digits) ? maskSsn(digits) : digits);
  const masked = maskPart(part, 'aligned').replaceAll(bareSsn, (digits) =>
    digits === part.trim() ? digits : hideSsn(digits),
  );
  return ssnWord.test(masked) ? masked.replaceAll(toldSsn, hideSsn) : masked;
}

/**
 * A mask of the service's, masked again where it shows a whole number or address, all of the value, or more of one of its
 * kind than a mask made here: a service may be set up to mask nothing, or little. `again`: whether it was. With a kind, what
 * has all digits of one is hidden as well, whether it passes a check or not. `value`: where it is known.
 */
export function maskAgain(
  masked: Cleartext | string,
  kind: DefinitionKind | null,
  value: Cleartext | string = '',
): { readonly masked: string; readonly again: boolean } {
  const text = openCleartext(masked);
  const plain = plainText(text);
  const digits = plain.replaceAll(/[^0-9]/g, '').length;
  const isWhole =
    (kind === 'card' && digits >= 13) ||
    (kind === 'ssn' && digits === 9) ||
    (kind === 'text' && text !== '' && !hidesSomething.test(text)) ||
    repeatsIn(plain)(openCleartext(value));
  const less = isWhole ? mask(kind ?? 'text', plain) : maskMore(plain, digits, kind);
  const shown = less === plain ? maskCell(text) : less;
  // The dots of a service's own mask may be others.
  return { masked: shown, again: shown !== text && (less !== plain || !hidesSomething.test(text)) };
}

/** Less of what a mask shows, where that is more than one made here would. */
function maskMore(plain: string, digits: number, kind: DefinitionKind | null): string {
  switch (kind) {
    case 'card':
      return hideDigits(plain, digits > 10 ? [6, digits - 4] : [0, 0]);
    case 'ssn':
      // More are a number of another kind.
      return hideDigits(plain, digits < 9 ? [0, Math.max(digits - 4, 0)] : [0, 0]);
    case 'email':
    case 'text': {
      const own = kind === 'email' ? plain.slice(0, Math.max(plain.lastIndexOf('@'), 0)) : plain;
      const hidden = (own.match(hidingSigns) ?? []).reduce((sum, signs) => sum + signs.length, 0);
      const shown = own.replaceAll(hidingSigns, '').match(/[\p{L}\p{N}]/gu)?.length ?? 0;
      return hidden > 0 && shown > hidden ? mask(kind, plain) : plain;
    }
    case null:
      return plain;
  }
}

function hideDigits(text: string, [from, end]: readonly [from: number, end: number]): string {
  if (end <= from) return text;
  let position = 0;
  let [first, last] = [text.length, text.length];
  for (let at = 0; at < text.length && position <= end; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x30 || unit > 0x39) continue;
    if (position === from) first = at;
    if (position === end) last = at;
    position++;
  }
  return text.slice(0, first) + text.slice(first, last).replaceAll(/[0-9]/g, dot) + text.slice(last);
}

/** What a mask is made of: a sign that hides, or any one character again and again. */
export const hidesSomething = /[•*#●×]|([^\p{L}\p{N}\s]|[Xx])\1\1|\b[Xx]{2}\b/u;
const hidingSigns = /[•*#●×]|([^\p{L}\p{N}\s])\1\1+|[Xx]{2,}/gu;

/** What may spell a digit or an @, beside @ itself: % & \ and what is no ASCII. */
export const mayBeSpelled = (unit: number): boolean =>
  unit >= 0x80 || unit === 0x40 || unit === 0x25 || unit === 0x26 || unit === 0x5c;

/** Most cells are told by this alone. The shortest of what is looked for has nine digits, or an @. */
export function mayHoldNumber(text: string): boolean {
  let digits = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (mayBeSpelled(unit)) return true;
    if (unit >= 0x30 && unit <= 0x39) digits++;
  }
  return digits >= minDigits;
}

/** In some encodings the letters of a wrongly read file are two letters of it each. */
function holdsNumbersAsUtf16(text: string): boolean {
  if (!notOneByte.test(text)) return false;
  return bytesOf(text).some((bare) => asciiEmail.test(bare) || outsideIds(bare, maskPartOfCell) !== bare);
}

// eslint-disable-next-line no-control-regex -- all that is no byte
export const notOneByte = /[^\x00-\xff]/;
/** Looked for from the first sign of an address only: from each, a text of letters alone would take time square in its length. */
const asciiEmail = /(?<![\w.+-])[\w.+-]{2,}@[a-z0-9-]{2,}\.[a-z]{2,}/i;

/** The country and the last four stay. */
function maskIban(iban: string): string {
  let last = iban.length;
  for (let shown = 0; shown < 4 && last > 0;) if (/[a-z0-9]/i.test(iban.charAt(--last))) shown++;
  return iban.slice(0, 2) + iban.slice(2, last).replaceAll(/[a-z0-9]/gi, dot) + iban.slice(last);
}

/** Areas 000, 666 and 900 to 999, group 00 and serial 0000 were never issued; one token in ten has one of them. */
export const isPossibleSsn = (digits: string): boolean => !/^(000|666|9)|^...00|0000$/.test(digits);

/** Of each card number the first six and last four digits show at most. */
function maskCards(run: string, search: MaskSearch, visit?: VisitValue): string {
  let masked = '';
  // In time linear in its length: what is hidden of each begins where the last four of the one before do, or behind.
  let done = 0;
  someCard(run, search, (_, from, end, at) => {
    if (visit !== undefined) tellCard(run, { from, end, at }, visit);
    const begin = at[from + (end - from >= 15 ? 6 : 0)] ?? 0;
    const last = at[end - 4] ?? 0;
    masked += run.slice(done, begin) + run.slice(begin, last).replaceAll(/[0-9]/g, dot);
    done = last;
    return false;
  });
  return masked + run.slice(done);
}

/** Tells a card that `someCard` found in a run. */
export function tellCard(
  run: string,
  { from, end, at }: { readonly from: number; readonly end: number; readonly at: ArrayLike<number> },
  visit: VisitValue,
): void {
  const place = { from: at[from] ?? 0, to: (at[end - 1] ?? 0) + 1 };
  const written = run.slice(place.from, place.to);
  visit('card', written.length === end - from ? written : written.replaceAll(/[^0-9]/g, ''), place);
}
