import { createHash } from 'node:crypto';
import { createFf1, type AesKey, type Ff1 } from './ff1.ts';
import { bad, good, type Format } from './format.ts';

export interface EmailOptions {
  readonly mask: { readonly keepFirst: number; readonly character: string };
}

const namePattern = /^[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+(?:\.[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+)*$/;
const domainPattern =
  /^(?=.{4,189}$)(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])$/;
const tokenNamePattern = /^[0-9a-z]+$/;

const alphabet = ".!#$%&'*+-/0123456789=?ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz{|}~";
const base = BigInt(alphabet.length + 1);
const tweakLength = 8;

/** Name lengths are rounded up to one of these; each has tokens of one length, at most the 64 of RFC 5321. */
const lengthSteps = [8, 12, 16, 24, 32, 48].map((symbols) => ({
  symbols,
  digits: Math.ceil((symbols * Math.log(Number(base))) / Math.log(36)) + 4,
}));
type LengthStep = (typeof lengthSteps)[number];

/** A name as an integer. It is padded with digit 0 on the right, so that names of different lengths differ. */
function encode(name: string, { symbols }: LengthStep): bigint {
  let sum = 0n;
  for (let i = 0; i < symbols; i++) {
    sum = sum * base + (i < name.length ? BigInt(alphabet.indexOf(name.charAt(i)) + 1) : 0n);
  }
  return sum;
}

function decode(number: bigint, { symbols }: LengthStep): string | null {
  if (number >= base ** BigInt(symbols)) return null;
  let rest = number;
  let name = '';
  for (let i = 0; i < symbols; i++, rest /= base) {
    const digit = Number(rest % base);
    if (digit === 0 && name !== '') return null;
    if (digit !== 0) name = alphabet.charAt(digit - 1) + name;
  }
  return namePattern.test(name) ? name : null;
}

function parseBase36(text: string): bigint {
  let sum = 0n;
  for (const digit of text) sum = sum * 36n + BigInt(parseInt(digit, 36));
  return sum;
}

/**
 * An address with a name of 1 to 48 characters (RFC 5321 dot-atom) and a domain name. The domain stays and is
 * the tweak (in lower case); the name becomes 14 to 64 lower-case letters and digits. Four digits more than
 * the name needs are a check: fewer than one in a million names that are no tokens pass for one.
 */
export function createEmail(key: AesKey, { mask }: EmailOptions): Format {
  const ciphers = new Map<LengthStep, Ff1>(
    lengthSteps.map((step) => [step, createFf1(key, { radix: 36, length: step.digits, tweakLength })]),
  );
  const split = (address: string) => {
    const at = address.lastIndexOf('@');
    const name = address.slice(0, Math.max(at, 0));
    const domain = address.slice(at + 1);
    return { name, domain, valid: at > 0 && domainPattern.test(domain) };
  };
  const tweakOf = (domain: string): Uint8Array =>
    createHash('sha256').update(domain.toLowerCase()).digest().subarray(0, tweakLength);

  return {
    tokenize(value) {
      if (value === '') return bad('ValueEmpty');
      if (value.length > 254) return bad('ValueTooLong');
      const { name, domain, valid } = split(value);
      if (!valid || !namePattern.test(name)) return bad('ValueInvalid');
      const step = lengthSteps.find(({ symbols }) => name.length <= symbols);
      const ff1 = step && ciphers.get(step);
      if (!ff1) return bad('ValueTooLong');
      const y = ff1.encrypt(tweakOf(domain), encode(name, step));
      return good(`${y.toString(36).padStart(step.digits, '0')}@${domain}`);
    },
    detokenize(token) {
      const { name, domain, valid } = split(token);
      const step = lengthSteps.find(({ digits }) => name.length === digits);
      const ff1 = step && ciphers.get(step);
      if (!valid || !ff1 || !tokenNamePattern.test(name)) return bad('TokenInvalid');
      const clear = decode(ff1.decrypt(tweakOf(domain), parseBase36(name)), step);
      const smallest = clear && lengthSteps.find(({ symbols }) => clear.length <= symbols);
      return clear && smallest === step ? good(`${clear}@${domain}`) : bad('TokenInvalid');
    },
    mask(value) {
      const { name, domain } = split(value);
      const kept = name.length > mask.keepFirst ? name.slice(0, mask.keepFirst) : '';
      return `${kept}${mask.character.repeat(3)}@${domain}`;
    },
  };
}
