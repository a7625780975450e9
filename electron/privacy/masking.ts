import type { DefinitionKind } from '../contract/models/connection.ts';

const dot = '•';

/**
 * A mask made here, for values the service has no mask of. As wide as the value, in code points, with `•` for what is
 * hidden. Never more than the BIN's first six and the last four digits of a card (PCI DSS 3.4.1), the last four of an
 * SSN, the first letter and the domain of an e-mail address, and nothing of text. A value that is too short to hide
 * enough of it, or not of its kind, is hidden whole.
 */
export function mask(kind: DefinitionKind, cleartext: string): string {
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
  let position = 0;
  return cleartext.replaceAll(/[0-9]/g, (digit) => {
    position++;
    return position <= first || position > digits - last ? digit : dot;
  });
}

function maskEmail(cleartext: string): string {
  const match = /^([^@\s]+)@([^@\s]+\.[^@\s.]+)$/u.exec(cleartext);
  const [local = '', domain = ''] = match?.slice(1) ?? [];
  const letters = Array.from(local);
  if (letters.length < 3) return match ? `${hide(local)}@${domain}` : hide(cleartext);
  return `${letters[0] ?? ''}${dot.repeat(letters.length - 1)}@${domain}`;
}

const hide = (text: string) => dot.repeat(Array.from(text).length);

const cardLike = /(?<![0-9])[2-6][0-9]{3}(?:[ -]?[0-9]){9,15}(?![0-9])/g;
const ssnLike = /(?<![0-9-])[0-9]{3}-[0-9]{2}-[0-9]{4}(?![0-9-])/g;

/**
 * Masks what looks like a card number (with its check digit) or an SSN in a text that a person typed, such as a
 * reason or a case: people paste the wrong thing, and logs are kept for years.
 */
export function maskNumbers(text: string): string {
  return text
    .replaceAll(cardLike, (number) => (passesLuhn(number) ? mask('card', number) : number))
    .replaceAll(ssnLike, (number) => mask('ssn', number));
}

function passesLuhn(number: string): boolean {
  const digits = Array.from(number.replaceAll(/[ -]/g, ''), Number).reverse();
  const sum = digits.reduce((total, digit, position) => {
    const weighted = position % 2 === 1 ? digit * 2 : digit;
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return sum % 10 === 0;
}
