import { mask } from '../privacy/masking.ts';

const cardLike = /(?<![0-9])[2-6][0-9]{3}(?:[ -]?[0-9]){9,15}(?![0-9])/g;
const ssnLike = /(?<![0-9-])[0-9]{3}-[0-9]{2}-[0-9]{4}(?![0-9-])/g;

/**
 * Reasons, cases and notes are typed by people, and people paste the wrong thing: what looks like a card number
 * (with its check digit) or an SSN is masked before it can get into a log that is kept for years.
 */
export function withoutNumbers(text: string): string {
  return text
    .replaceAll(cardLike, (number) => (passesLuhn(number) ? mask('card', number) : number))
    .replaceAll(ssnLike, (number) => mask('ssn', number));
}

function passesLuhn(number: string): boolean {
  const digits = Array.from(number.replaceAll(/[ -]/g, ''), Number).reverse();
  const sum = digits.reduce((total, digit, place) => {
    const weighted = place % 2 === 1 ? digit * 2 : digit;
    return total + (weighted > 9 ? weighted - 9 : weighted);
  }, 0);
  return sum % 10 === 0;
}
