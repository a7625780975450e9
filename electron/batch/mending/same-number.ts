/** A number in any notation: its digits without zeros at either end, and the power of ten of the last one. */
interface Decimal {
  readonly sign: string;
  readonly digits: string;
  readonly exponent: number;
  /** Zeros that the text has before the number, which only a text can have. */
  readonly leadingZeros: number;
  readonly isScientific: boolean;
}

/** Digits that a spreadsheet keeps of a number. */
const keptDigits = 15;
const currency = /^(?:[$€£¥₹]|[A-Z]{3}(?=[\s\d.+-]))\s*|\s*(?:[$€£¥₹]|(?<=[\s\d.])[A-Z]{3})$/g;
const bothDigits = /^\d+$/;
const plainNumber = /^([+-]?)(\d*)(?:\.(\d*))?(?:E([+-]?\d{1,3}))?$/i;

/** What a spreadsheet made of a number; null where the other is no number, or another one. */
export function compareNumbers(value: string, listed: string): 'zeros' | 'rounded' | 'number' | null {
  // Most cells that a person corrects are numbers of as many digits, and no other notation of one another.
  if (value.length === listed.length && value.length <= keptDigits && bothDigits.test(value + listed))
    return null;
  const listedNumbers = readNumbers(listed);
  if (listedNumbers.length === 0) return null;
  for (const before of readNumbers(value)) {
    for (const after of listedNumbers) {
      if (before.sign !== after.sign) continue;
      // A spreadsheet drops zeros before a number, and never adds any.
      if (after.leadingZeros > before.leadingZeros) continue;
      if (before.digits === after.digits && before.exponent === after.exponent)
        return before.leadingZeros > after.leadingZeros ? 'zeros' : 'number';
      if (isRounded(before, after)) return 'rounded';
    }
  }
  return null;
}

export const isNumber = (text: string): boolean => readNumbers(text).length > 0;

/** What a text may say as a number: the point or the comma is the decimal sign. */
function readNumbers(text: string): Decimal[] {
  if (/^\d+$/.test(text)) return readAll([text], 0);
  if (!/\d/.test(text) || /[^\d\s.,+\-()%$€£¥₹'’A-Ze]/.test(text) || text.length > 60) return [];
  let plain = text.trim().replaceAll(currency, '');
  const bracketed = /^\((.*)\)$/.exec(plain);
  if (bracketed !== null) plain = `-${bracketed[1] ?? ''}`;
  const percent = /^(.*?)\s*%$/.exec(plain);
  if (percent !== null) plain = percent[1] ?? '';
  const forms = [plain, plain.replace(',', '.')];
  if (commaGroups.test(plain)) forms.push(plain.replaceAll(',', ''));
  if (pointGroups.test(plain)) forms.push(plain.replaceAll('.', '').replace(',', '.'));
  if (otherGroups.test(plain)) forms.push(plain.replaceAll(/[\s'’]/g, '').replace(',', '.'));
  return readAll(forms, percent === null ? 0 : -2);
}

const commaGroups = /^[+-]?\d{1,3}(?:,\d{3})+(?!\d)/;
const pointGroups = /^[+-]?\d{1,3}(?:\.\d{3})+(?!\d)/;
const otherGroups = /^[+-]?\d{1,3}(?:[\s'’]\d{3})+(?!\d)/;

const readAll = (forms: readonly string[], power: number): Decimal[] =>
  [...new Set(forms)].flatMap((form) => readNumber(form, power) ?? []);

function readNumber(text: string, power: number): Decimal | null {
  const [, sign = '', whole = '', fraction = '', exponent = ''] = plainNumber.exec(text) ?? [];
  if (whole + fraction === '') return null;
  const leadingZeros = Math.min(/^0*/.exec(whole)?.[0].length ?? 0, Math.max(whole.length - 1, 0));
  const all = (whole + fraction).replace(/^0+/, '');
  const digits = all.replace(/0+$/, '');
  if (digits === '') return { sign: '', digits: '0', exponent: 0, leadingZeros, isScientific: false };
  const dropped = all.length - digits.length;
  return {
    sign: sign === '-' ? sign : '',
    digits,
    exponent: Number(exponent === '' ? 0 : exponent) - fraction.length + dropped + power,
    leadingZeros,
    isScientific: exponent !== '',
  };
}

/** To fewer digits, as a spreadsheet shows a long number, or keeps it. */
function isRounded(before: Decimal, after: Decimal): boolean {
  const { digits } = before;
  const isWhole = before.exponent >= 0;
  if (isWhole && !after.isScientific && digits.length + before.exponent <= keptDigits) return false;
  const place = before.exponent + digits.length;
  // Zeros at the end of what it was rounded to are not among its digits.
  for (let length = after.digits.length; length <= Math.min(keptDigits, digits.length - 1); length++) {
    const cut = BigInt(digits.slice(0, length));
    // Of a whole number too long for it, a spreadsheet keeps the first digits as they are.
    const isUp = digits.charAt(length) >= '5' && (!isWhole || after.isScientific);
    for (const rounded of isUp ? [cut, cut + 1n] : [cut]) {
      const text = String(rounded);
      const carried = text.length - length;
      if (text.replace(/0+$/, '') !== after.digits) continue;
      if (after.exponent + after.digits.length === place + carried) return true;
    }
  }
  return false;
}
