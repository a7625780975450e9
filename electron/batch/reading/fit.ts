import type { FailureCode } from '../../contract/errors.ts';
import type { DefinitionKind } from '../../contract/models/connection.ts';
import type { ColumnPlan } from '../../contract/models/batch.ts';
import { openCleartext, type Cleartext } from '../../util/cleartext.ts';
import { isIban } from '../../masking/ibans.ts';
import { hidesSomething, isPossibleSsn, mask, maskCell } from '../../masking/masking.ts';
import { plainText } from '../../masking/plain-text.ts';
import { tableLimits } from '../../parsing/table-limits.ts';
import { isBlank } from '../../util/blank.ts';

/** A number that a spreadsheet rounded and wrote in scientific notation: its digits are gone. */
export const isScientific = (value: Cleartext | string): boolean =>
  /^\s*[+-]?\d(?:[.,]\d+)?E\+\d{1,3}\s*$/i.test(openCleartext(value));

/** Whether a cell holds nothing to act on. */
export const isBlankCell = (value: Cleartext): boolean => isBlank(openCleartext(value));

const isDigit = (unit: number): boolean => unit >= 0x30 && unit <= 0x39;
const digits = (text: string): string => text.replace(/[ -]/g, '');
const isCard = (text: string): boolean => /^\d{12,19}$/.test(digits(text));
const isSsn = (text: string): boolean => /^\d{3}[ -]?\d{2}[ -]?\d{4}$/.test(text.trim());
const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+$/.test(text.trim());

/**
 * Whether a value may be sent. Cleartext must look like its kind. What a token looks like is up to the
 * definition and unknown here, so only what can't be a token is refused.
 */
export function fits(
  cell: Cleartext | string,
  kind: DefinitionKind,
  { operation, maxLength }: { readonly operation: ColumnPlan['operation']; readonly maxLength: number },
): boolean {
  const value = openCleartext(cell);
  if (value.length > maxLength) return false;
  if (kind === 'card' || kind === 'ssn') {
    const first = value.charCodeAt(0);
    // Fast for most: no such number begins with a letter or with two digits.
    const isPlain = first > 0x39 || (isDigit(first) && isDigit(value.charCodeAt(1)));
    if (!isPlain && isScientific(value)) return false;
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

/** What is wrong with a cleartext that the service does not take for one of its kind; null where that is not known here. */
export function explainInvalid(value: string, kind: DefinitionKind): FailureCode | null {
  if (kind === 'card') {
    if (!isCard(value)) return 'value.length';
    return passesLuhn(value) ? null : 'value.check-digit';
  }
  if (kind !== 'ssn') return null;
  const [, area = '', group = '', serial = ''] = /^(\d{3})[ -]?(\d{2})[ -]?(\d{4})$/.exec(value.trim()) ?? [];
  if (area === '') return 'value.length';
  if (area === '000' || area === '666' || area >= '900') return 'value.ssn-area';
  return group === '00' || serial === '0000' ? 'value.ssn-zeros' : null;
}

/** What most of a column's values look like, or null when there are none. */
export function looksLike(values: readonly (Cleartext | string)[]): DefinitionKind | null {
  const filled = values.map(openCleartext).filter((value) => !isBlank(value));
  if (filled.length === 0) return null;
  const mostAre = (test: (text: string) => boolean): boolean =>
    filled.filter(test).length >= filled.length * 0.6;
  if (mostAre(isEmail)) return 'email';
  if (mostAre(isSsn)) return 'ssn';
  if (mostAre(isCard)) return 'card';
  return 'text';
}

/** A longer name has said by then what its column holds. */
const maxHeader = 400;

/** What was asked last: of one header several things are asked. */
let lastSpelled = { header: '', words: '' };

/** A header's words, one apart from the other however they are joined. */
function spelled(header: string): string {
  if (lastSpelled.header !== header) {
    const words = header
      .slice(0, maxHeader)
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .replaceAll(/[^\p{L}]+/gu, ' ');
    lastSpelled = { header, words };
  }
  return lastSpelled.words;
}

const tokenWord = /^(?!un|de)(?:[a-z]*tokens?|token[a-z]*|tok)$/;
const hiddenWord = /^(?:masks?|masked[a-z]*|hash(?:es|ed)?)$/;
const clearWord = /^(?:clear(?:text)?|plain(?:text)?|unmasked|detokeni[sz]ed|decrypted|unhashed)$/;

/** A word of its own: "Tokyo", "Basingstoke" and "unmasked" name none. */
function names(header: string, word: RegExp): boolean {
  const words = spelled(header).toLowerCase().split(' ');
  return words.some((one) => word.test(one)) && !words.some((one) => clearWord.test(one));
}

const isHash = (text: string): boolean =>
  /[a-z]/i.test(text) && /^(?:[0-9a-f]{16,}|[\w+/-]{22,}={0,2})$/i.test(text);

/**
 * Whether a column holds tokens, masks or hashes by its name. A mask or a hash looks like one: what is called so and does
 * not is a value.
 */
function saysHidden(header: string, values: readonly string[]): boolean {
  if (names(header, tokenWord)) return true;
  const filled = values.map((value) => value.trim()).filter((value) => value !== '');
  return (
    names(header, hiddenWord) &&
    filled.filter((value) => hidesSomething.test(value) || isHash(value)).length * 2 >= filled.length
  );
}

/** Whether a header says that its column holds cleartext worth hiding, and not tokens. */
export function namesCleartext(header: string, cells: readonly (Cleartext | string)[] = []): boolean {
  if (saysHidden(header, cells.map(openCleartext))) return false;
  return (
    /\bpan\b|card.?(no|num)|cc.?(no|num)|ssn|social|e-?mail/i.test(header) || personal.test(spelled(header))
  );
}

/** What a text of any form is hidden by: a document's or a tax number, an account, a date of birth. */
const personal =
  /pass ?port|\bpass ?no\b|reisepass|passeport|pasaporte|passaporto|ausweis|iban|bank.?account|kontonummer|tax.?(id|no|num)|\btin\b|steuer.?(id|nummer)|date.?of.?birth|birth.?(date|day|dt)|\bd ?o ?b\b|\bborn\b|geburts|\bgeb ?datum\b|naissance|driv(er|ing).?s?.?lic|national.?(id|insurance)|\bnat ins\b|\bid ?card|\bnino\b|\b(cpf|dni|aadhaar)\b|\bnhs ?n/i;
export const namesPersonal = (header: string, cells: readonly (Cleartext | string)[] = []): boolean =>
  personal.test(spelled(header)) && !saysHidden(header, cells.map(openCleartext));

/** A column of tokens by its name: what they look like is up to the service. */
export const namesTokens = (header: string): boolean => names(header, tokenWord);

/** Nine digits may be anything; what else a column of this name holds is hidden whole. */
export const namesSsn = (header: string, values: readonly string[]): boolean =>
  /\bssn|social ?(security|sec|insurance)/i.test(spelled(header)) && !saysHidden(header, values);

/** Fewer card numbers than this are no basis for saying that they are none. */
const enoughCards = 8;

/**
 * Whether a column of what `looksLike` found holds cleartext or tokens; null where neither is known. What the values are
 * decides, and the header only where they leave it open: a column of real cards is hidden whatever it is called.
 * `words`: the header's, and the first row's where that is taken for data.
 */
export function contentOf(
  like: DefinitionKind | null,
  cells: readonly (Cleartext | string)[],
  { header, words }: { header: string; words: readonly string[] },
): 'cleartext' | 'tokens' | null {
  const values = cells.map(openCleartext);
  const saysCleartext = words.some((word) => namesCleartext(word, values));
  const saysTokens = saysHidden(header, values);
  const byName = saysCleartext ? 'cleartext' : saysTokens ? 'tokens' : null;
  switch (like) {
    case null:
      // The first rows are blank: what comes later is hidden by its name.
      return saysCleartext ? 'cleartext' : null;
    case 'email':
      // A token of an address is one too. Of masks some may be none.
      if (!saysTokens) return 'cleartext';
      return names(header, tokenWord) ? 'tokens' : null;
    case 'card':
      if (holdsCards(values)) return 'cleartext';
      if (byName === 'cleartext' && values.filter(isCard).length >= enoughCards) return 'tokens';
      return byName;
    case 'ssn': {
      const ssns = values.filter(isSsn);
      if (!saysTokens) return saysCleartext || ssns.some((ssn) => /\D/.test(ssn.trim())) ? 'cleartext' : null;
      const impossible = ssns.filter((ssn) => !isPossibleSsn(digits(ssn.trim())));
      return impossible.length >= ssns.length * 0.05 ? 'tokens' : 'cleartext';
    }
    case 'text':
      return words.some((word) => namesPersonal(word, values) || namesSsn(word, values)) || holdsIbans(values)
        ? 'cleartext'
        : null;
  }
}

/**
 * All of them pass Luhn's check, or clearly more than the one in ten that would by chance (three standard deviations).
 * Tokens made to pass the check are then hidden too, which does less harm than a card in clear.
 */
function holdsCards(values: readonly string[]): boolean {
  const cards = values.filter(isCard);
  if (cards.length === 0) return false;
  const share = cards.filter(passesLuhn).length / cards.length;
  return share >= 0.9 || share > 0.1 + 3 * Math.sqrt(0.09 / cards.length);
}

function holdsIbans(values: readonly string[]): boolean {
  const filled = values.filter((value) => !isBlank(value));
  return filled.length > 0 && filled.filter(isIban).length * 2 > filled.length;
}

export function passesLuhn(card: string): boolean {
  let sum = 0;
  let position = 0;
  for (let i = card.length - 1; i >= 0; i--) {
    const digit = card.charCodeAt(i) - 48;
    // Separators.
    if (digit < 0) continue;
    const value = digit * (position % 2 === 0 ? 1 : 2);
    sum += value > 9 ? value - 9 : value;
    position += 1;
  }
  return sum % 10 === 0;
}

/**
 * Whether a value that is to be tokenized may be a token already: a card's last digit checks the others, and nine in ten
 * tokens of digits fail that check. Tokens of other kinds can't be told from values.
 */
export function looksTokenized(cell: Cleartext | string, kind: DefinitionKind): boolean {
  const value = openCleartext(cell);
  return kind === 'card' && isCard(value) && !passesLuhn(value);
}

/**
 * A cell of which the column is not known, as a name is. What looks like a value is masked as one, and all of it where only
 * a part does.
 */
export function hideAnywhere(cell: Cleartext | string): string {
  const field = openCleartext(cell);
  const like = looksLike([field]);
  if (like !== null && like !== 'text') return mask(like, field);
  const masked = maskCell(field);
  return /\d{9}|\d[\d -]{10,}\d|@/.test(plainText(masked)) ? mask('text', field) : masked;
}

/**
 * The columns of a malformed row are not known, so any field may be of one of the hidden ones, which are of these kinds.
 * A text looks like nothing: where it is hidden, every field is. So is one that is longer than any that is sent.
 */
export function hideFlawed(cell: Cleartext | string, kinds: Iterable<DefinitionKind>): string {
  const hidden = new Set(kinds);
  const isLong = openCleartext(cell).length > tableLimits.field;
  if (hidden.has('text') || (hidden.size > 0 && isLong)) return mask('text', cell);
  return hidden.size > 0 ? hideAnywhere(cell) : maskCell(cell);
}
