import type { DefinitionKind } from '../../../../electron/contract/models/connection.ts';
import { digits, type PatternParts } from './pattern.ts';

/**
 * Made-up values of a kind to try an expression on, never from a file. The cards are the networks' published test
 * numbers, the social security numbers are of ranges that are never issued, the domains are reserved (RFC 2606).
 */
const madeUp: Record<DefinitionKind, readonly string[]> = {
  card: ['4111111111111111', '5555555555554444', '378282246310005', '6011111111111117'],
  ssn: ['900-12-3456', '987-65-4329', '000-12-3456'],
  email: ['ada@example.com', 'bo.sample@example.org', 'cy@shop.example.com'],
  text: ['Ada Example', 'AB-1234', '2026-11-21'],
};

const usualLength: Record<DefinitionKind, number> = { card: 16, ssn: 9, email: 0, text: 10 };

/** What was said comes first, as a value that has it; some of the others do not. */
export function samplesFor(kind: DefinitionKind, parts: PatternParts): string[] {
  return [...new Set([...fitting(kind, parts), ...madeUp[kind]])].slice(0, 4);
}

function fitting(kind: DefinitionKind, parts: PatternParts): string[] {
  if (parts.by === 'domain') {
    const domain = parts.domain.trim().replace(/^@/, '');
    return domain === '' ? [] : [`ada@${domain}`, `ada@mail.${domain}`];
  }
  if (parts.by === 'raw') return [];
  const bin = digits(parts.bin);
  const lastFour = digits(parts.lastFour);
  const length = digits(parts.length);
  if (bin === '' && lastFour === '' && length === '') return [];
  const middle = (length === '' ? usualLength[kind] : Number(length)) - bin.length - lastFour.length;
  if (middle < 0 && length !== '') return [];
  return [madeUpNumber(bin, Math.max(0, middle), lastFour)];
}

/** A wrong check digit, wherever there is a digit to choose: so it is nobody's card. */
function madeUpNumber(bin: string, middle: number, lastFour: string): string {
  const number = bin + '0'.repeat(middle) + lastFour;
  if (middle === 0 || !checks(number)) return number;
  return bin + '0'.repeat(middle - 1) + '1' + lastFour;
}

/** ISO/IEC 7812-1, annex B. */
function checks(number: string): boolean {
  const sum = Array.from(number)
    .reverse()
    .reduce((total, digit, place) => {
      const twice = Number(digit) * (place % 2 === 0 ? 1 : 2);
      return total + (twice > 9 ? twice - 9 : twice);
    }, 0);
  return sum % 10 === 0;
}
