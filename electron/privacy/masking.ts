import type { DefinitionKind } from '../contract/models/connection.ts';

const dot = '•';

/**
 * A mask made here, for values the service has no mask of. As wide as the value, in code points, with `•` for what is
 * hidden. Never more than the BIN's first six and the last four digits of a card (PCI DSS 3.4.1), the last four of an
 * SSN, the first letter and the domain of an e-mail address, and nothing of text. A value too short to hide enough
 * of it, or that is not what its kind says, is hidden whole.
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
  let place = 0;
  return cleartext.replaceAll(/[0-9]/g, (digit) => {
    place++;
    return place <= first || place > digits - last ? digit : dot;
  });
}

function maskEmail(cleartext: string): string {
  const parts = /^([^@\s]+)@([^@\s]+\.[^@\s.]+)$/u.exec(cleartext);
  const [local = '', domain = ''] = parts?.slice(1) ?? [];
  const letters = Array.from(local);
  if (letters.length < 3) return parts ? `${hide(local)}@${domain}` : hide(cleartext);
  return `${letters[0] ?? ''}${dot.repeat(letters.length - 1)}@${domain}`;
}

const hide = (text: string) => dot.repeat(Array.from(text).length);
