export interface DigitMask {
  readonly keepFirst: number;
  readonly keepLast: number;
  readonly character: string;
}

/** Hides every digit but the first and last few; separators stay where they are. */
export function maskDigits(value: string, { keepFirst, keepLast, character }: DigitMask): string {
  const digits = value.replace(/\D/g, '').length;
  let seen = 0;
  return value.replace(/\d/g, (digit) => {
    seen += 1;
    return seen <= keepFirst || seen > digits - keepLast ? digit : character;
  });
}

/** Puts digits into the places of another value's digits, keeping its separators. */
export function refillDigits(template: string, digits: string): string {
  let next = 0;
  return template.replace(/\d/g, () => digits[next++] ?? '');
}
