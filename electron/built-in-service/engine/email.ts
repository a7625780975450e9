import { createHash } from 'node:crypto';
import { createFf1, type AesKey, type Ff1 } from './ff1.ts';
import { bad, good, type Format } from './format.ts';

export interface EmailOptions {
  readonly mask: { readonly keepFirst: number; readonly character: string };
}

const NAME = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+(?:\.[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+)*$/;
const DOMAIN =
  /^(?=.{4,189}$)(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$/;
const TOKEN_NAME = /^[0-9a-z]+$/;

const ALPHABET = ".!#$%&'*+-/0123456789=?ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz{|}~";
const BASE = BigInt(ALPHABET.length + 1);
const TWEAK_LENGTH = 8;

/** Name lengths are rounded up to a step; a step's tokens have a length of their own, at most RFC 5321's 64. */
const STEPS = [8, 12, 16, 24, 32, 48].map((symbols) => ({
  symbols,
  digits: Math.ceil((symbols * Math.log(Number(BASE))) / Math.log(36)) + 4,
}));
type Step = (typeof STEPS)[number];

/** A name as an integer: digit 0 fills up on the right, so that names of different lengths differ. */
function encode(name: string, { symbols }: Step): bigint {
  let sum = 0n;
  for (let i = 0; i < symbols; i++) {
    sum = sum * BASE + (i < name.length ? BigInt(ALPHABET.indexOf(name.charAt(i)) + 1) : 0n);
  }
  return sum;
}

function decode(number: bigint, { symbols }: Step): string | null {
  if (number >= BASE ** BigInt(symbols)) return null;
  let rest = number;
  let name = '';
  for (let i = 0; i < symbols; i++, rest /= BASE) {
    const digit = Number(rest % BASE);
    if (digit === 0 && name !== '') return null;
    if (digit !== 0) name = ALPHABET.charAt(digit - 1) + name;
  }
  return NAME.test(name) ? name : null;
}

function parseBase36(text: string): bigint {
  let sum = 0n;
  for (const c of text) sum = sum * 36n + BigInt(parseInt(c, 36));
  return sum;
}

/**
 * An address with a name of 1 to 48 characters (RFC 5321 dot-atom) and a domain name. The domain stays and is
 * the tweak (in lower case); the name becomes 14 to 64 lower-case letters and digits. The four digits to spare
 * are a check: of names made up by hand, fewer than one in a million passes for a token.
 */
export function createEmail(key: AesKey, { mask }: EmailOptions): Format {
  const ciphers = new Map<Step, Ff1>(
    STEPS.map((step) => [
      step,
      createFf1(key, { radix: 36, length: step.digits, tweakLength: TWEAK_LENGTH }),
    ]),
  );
  const split = (address: string) => {
    const at = address.lastIndexOf('@');
    const name = address.slice(0, Math.max(at, 0));
    const domain = address.slice(at + 1);
    return { name, domain, sound: at > 0 && DOMAIN.test(domain) };
  };
  const tweakOf = (domain: string): Uint8Array =>
    createHash('sha256').update(domain.toLowerCase()).digest().subarray(0, TWEAK_LENGTH);

  return {
    tokenize(value) {
      if (value === '') return bad('ValueEmpty');
      if (value.length > 254) return bad('ValueTooLong');
      const { name, domain, sound } = split(value);
      if (!sound || !NAME.test(name)) return bad('ValueInvalid');
      const step = STEPS.find(({ symbols }) => name.length <= symbols);
      const ff1 = step && ciphers.get(step);
      if (!ff1) return bad('ValueTooLong');
      const y = ff1.encrypt(tweakOf(domain), encode(name, step));
      return good(`${y.toString(36).padStart(step.digits, '0')}@${domain}`);
    },
    detokenize(token) {
      const { name, domain, sound } = split(token);
      const step = STEPS.find(({ digits }) => name.length === digits);
      const ff1 = step && ciphers.get(step);
      if (!sound || !ff1 || !TOKEN_NAME.test(name)) return bad('TokenInvalid');
      const clear = decode(ff1.decrypt(tweakOf(domain), parseBase36(name)), step);
      const smallest = clear && STEPS.find(({ symbols }) => clear.length <= symbols);
      return clear && smallest === step ? good(`${clear}@${domain}`) : bad('TokenInvalid');
    },
    mask(value) {
      const { name, domain } = split(value);
      const kept = name.length > mask.keepFirst ? name.slice(0, mask.keepFirst) : '';
      return `${kept}${mask.character.repeat(3)}@${domain}`;
    },
  };
}
