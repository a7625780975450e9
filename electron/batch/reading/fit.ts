import type { DefinitionKind } from '../../contract/models/connection.ts';
import type { ColumnPlan } from '../../contract/models/batch.ts';
import { mask } from '../../privacy/masking.ts';

/** A number that a spreadsheet rounded and wrote in scientific notation: its digits are gone. */
export const isScientific = (text: string): boolean => /^[+-]?\d(?:[.,]\d+)?E\+\d{1,3}$/i.test(text.trim());

const digits = (text: string): string => text.replace(/[ -]/g, '');
const isCard = (text: string): boolean => /^\d{12,19}$/.test(digits(text));
const isSsn = (text: string): boolean => /^\d{3}[ -]?\d{2}[ -]?\d{4}$/.test(text.trim());
const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text.trim());

export const isBlank = (text: string): boolean => text.trim() === '';

/**
 * Whether a value may be sent. Cleartext must look like its kind. What a token looks like is up to the
 * definition and unknown here, so only what can't be a token is refused.
 */
export function fits(
  value: string,
  kind: DefinitionKind,
  { operation, maxLength }: { readonly operation: ColumnPlan['operation']; readonly maxLength: number },
): boolean {
  if (value.length > maxLength) return false;
  if (kind === 'card' || kind === 'ssn') {
    const first = value.charCodeAt(0);
    // Fast for tokens: 'E' can only follow a digit or sign.
    if (first < 0x3a && isScientific(value)) return false;
  }
  if (operation !== 'tokenize') return true;
  switch (kind) {
    case 'card':
      return isCard(value);
    case 'ssn':
      return isSsn(value);
    case 'email':
      return isEmail(value);
    case 'text':
      return true;
  }
}

/** What most of a column's values look like, or null when there are none. */
export function looksLike(values: readonly string[]): DefinitionKind | null {
  const filled = values.filter((value) => !isBlank(value));
  if (filled.length === 0) return null;
  const mostAre = (test: (text: string) => boolean): boolean =>
    filled.filter(test).length >= filled.length * 0.6;
  if (mostAre(isEmail)) return 'email';
  if (mostAre(isSsn)) return 'ssn';
  if (mostAre(isCard)) return 'card';
  return 'text';
}

const namesTokens = (header: string): boolean => /tok(en)?|mask|hash|ref(erence)?\b|type|brand/i.test(header);

/** Whether a header says that its column holds cleartext worth hiding, and not tokens. */
export function namesCleartext(header: string): boolean {
  if (namesTokens(header)) return false;
  return /\bpan\b|card.?(no|num)|cc.?(no|num)|ssn|social|iban|e-?mail|passport|tax.?id|date.?of.?birth|\bdob\b/i.test(
    header,
  );
}

/**
 * Whether a column of card-like numbers is taken for real ones: nearly all of them pass Luhn's check, as one in ten
 * would by chance, and the header doesn't call them tokens. Tokens made to pass the check are then shown masked until
 * the column is mapped, which does less harm than a card in clear.
 */
export function holdsCards(header: string, values: readonly string[]): boolean {
  if (namesTokens(header)) return false;
  const cards = values.filter(isCard);
  return cards.length > 0 && cards.filter(passesLuhn).length >= cards.length * 0.9;
}

function passesLuhn(card: string): boolean {
  const sum = Array.from(digits(card))
    .reverse()
    .reduce((total, digit, position) => {
      const twice = Number(digit) * (position % 2 === 0 ? 1 : 2);
      return total + (twice > 9 ? twice - 9 : twice);
    }, 0);
  return sum % 10 === 0;
}

/** The columns of a malformed row are not known, so each field is masked by what it looks like. */
export function hideAnywhere(field: string): string {
  const like = looksLike([field]);
  if (like !== null && like !== 'text') return mask(like, field);
  return /\d{9}|\d[\d -]{10,}\d|@/.test(field) ? mask('text', field) : field;
}
