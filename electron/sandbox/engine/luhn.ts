/** Whether a string of digits passes the Luhn check (ISO/IEC 7812-1). */
export function isLuhnValid(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    sum += i % 2 === 0 ? digit : digit < 5 ? digit * 2 : digit * 2 - 9;
  }
  return sum % 10 === 0;
}

/** The one digit which, between `before` and `after`, makes the whole pass the Luhn check. */
export function luhnDigitBetween(before: string, after: string): number {
  for (let digit = 0; digit < 9; digit++) if (isLuhnValid(`${before}${digit}${after}`)) return digit;
  return 9;
}
