import type { AesKey } from './ff1.ts';
import { bad, good, maskDigits, replaceDigits, type DigitMask, type Format } from './format.ts';
import { createPermutation } from './permutation.ts';

const shape = /^(?:\d{9}|\d{3}-\d{2}-\d{4}|\d{3} \d{2} \d{4})$/;
const areaCount = 898;
const groupCount = 99;
const serialCount = 9999;
const emptyTweak = new Uint8Array(0);

/**
 * The rank of a number among those which the Social Security Administration can issue: no area 000, 666 or 9xx,
 * group 00 or serial 0000. Null for any other number.
 */
function rankOf(digits: string): number | null {
  const area = Number(digits.slice(0, 3));
  const group = Number(digits.slice(3, 5));
  const serial = Number(digits.slice(5));
  if (area === 0 || area === 666 || area >= 900 || group === 0 || serial === 0) return null;
  const areaRank = area < 666 ? area - 1 : area - 2;
  return (areaRank * groupCount + group - 1) * serialCount + serial - 1;
}

function digitsOf(rank: number): string {
  const serial = (rank % serialCount) + 1;
  const group = (Math.floor(rank / serialCount) % groupCount) + 1;
  const areaRank = Math.floor(rank / serialCount / groupCount);
  const area = areaRank + 1 < 666 ? areaRank + 1 : areaRank + 2;
  return String(area).padStart(3, '0') + String(group).padStart(2, '0') + String(serial).padStart(4, '0');
}

/** Nine digits, plain or written 123-45-6789 or 123 45 6789 (kept). A token is again a number that can be issued. */
export function createSsn(key: AesKey, mask: DigitMask): Format {
  const permutation = createPermutation(key, areaCount * groupCount * serialCount, emptyTweak.length);
  return {
    tokenize(value) {
      if (value === '') return bad('ValueEmpty');
      const rank = shape.test(value) ? rankOf(value.replace(/\D/g, '')) : null;
      if (rank === null) return bad('ValueInvalid');
      return good(replaceDigits(value, digitsOf(permutation.encrypt(emptyTweak, rank))));
    },
    detokenize(token) {
      const rank = shape.test(token) ? rankOf(token.replace(/\D/g, '')) : null;
      if (rank === null) return bad('TokenInvalid');
      return good(replaceDigits(token, digitsOf(permutation.decrypt(emptyTweak, rank))));
    },
    mask: (value) => maskDigits(value, mask),
  };
}
