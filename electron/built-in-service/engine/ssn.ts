import type { AesKey } from './ff1.ts';
import { bad, good, type Format, maskDigits, refillDigits, type DigitMask } from './format.ts';
import { createPermutation } from './free-text.ts';

const SHAPE = /^(?:\d{9}|\d{3}-\d{2}-\d{4}|\d{3} \d{2} \d{4})$/;
const AREAS = 898;
const GROUPS = 99;
const SERIALS = 9999;
const NO_TWEAK = new Uint8Array(0);

/** Numbers which the Social Security Administration can issue: no area 000, 666 or 9xx, group 00, serial 0000. */
function rankOf(digits: string): number | null {
  const area = Number(digits.slice(0, 3));
  const group = Number(digits.slice(3, 5));
  const serial = Number(digits.slice(5));
  if (area === 0 || area === 666 || area >= 900 || group === 0 || serial === 0) return null;
  const areaRank = area < 666 ? area - 1 : area - 2;
  return (areaRank * GROUPS + group - 1) * SERIALS + serial - 1;
}

function spell(rank: number): string {
  const serial = (rank % SERIALS) + 1;
  const group = (Math.floor(rank / SERIALS) % GROUPS) + 1;
  const areaRank = Math.floor(rank / SERIALS / GROUPS);
  const area = areaRank + 1 < 666 ? areaRank + 1 : areaRank + 2;
  return String(area).padStart(3, '0') + String(group).padStart(2, '0') + String(serial).padStart(4, '0');
}

/** Nine digits, plain or written 123-45-6789 or 123 45 6789 (kept). A token is again a number that can be issued. */
export function createSsn(key: AesKey, mask: DigitMask): Format {
  const permutation = createPermutation(key, AREAS * GROUPS * SERIALS, NO_TWEAK.length);
  return {
    tokenize(value) {
      if (value === '') return bad('ValueEmpty');
      const rank = SHAPE.test(value) ? rankOf(value.replace(/\D/g, '')) : null;
      if (rank === null) return bad('ValueInvalid');
      return good(refillDigits(value, spell(permutation.forward(NO_TWEAK, rank))));
    },
    detokenize(token) {
      const rank = SHAPE.test(token) ? rankOf(token.replace(/\D/g, '')) : null;
      if (rank === null) return bad('TokenInvalid');
      return good(refillDigits(token, spell(permutation.backward(NO_TWEAK, rank))));
    },
    mask: (value) => maskDigits(value, mask),
  };
}
