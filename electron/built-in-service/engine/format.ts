import { hkdfSync } from 'node:crypto';

/** Why a value can't be tokenized, or a token not be detokenized. Names the reason, never the content. */
export type FormatFailure = 'ValueEmpty' | 'ValueInvalid' | 'ValueTooLong' | 'TokenInvalid';

export type FormatOutcome =
  { readonly ok: true; readonly value: string } | { readonly ok: false; readonly code: FormatFailure };

/**
 * One kind of data with its tokens. For every value v that `tokenize` accepts,
 * `detokenize(tokenize(v))` is v, character by character; the same v always has the same token; a token is
 * itself well formed for the kind. A string that is no token of this definition is refused as TokenInvalid as
 * far as the kind leaves room to tell.
 */
export interface Format {
  tokenize(value: string): FormatOutcome;
  detokenize(token: string): FormatOutcome;
  /** What `tokenize` and `detokenize` say of each, where a batch is faster together. */
  tokenizeAll?(values: readonly string[]): FormatOutcome[];
  detokenizeAll?(tokens: readonly string[]): FormatOutcome[];
  /** The masking format of the definition (spec §2), applied to a value that `detokenize` gave. */
  mask(value: string): string;
}

export const good = (value: string): FormatOutcome => ({ ok: true, value });
export const bad = (code: FormatFailure): FormatOutcome => ({ ok: false, code });

export const tokenizeAll = (format: Format, values: readonly string[]): FormatOutcome[] =>
  format.tokenizeAll?.(values) ?? values.map((value) => format.tokenize(value));
export const detokenizeAll = (format: Format, tokens: readonly string[]): FormatOutcome[] =>
  format.detokenizeAll?.(tokens) ?? tokens.map((token) => format.detokenize(token));

const SALT = 'tokendesk embedded service v1';

/**
 * A key or password for one purpose, from the service's secret (32 bytes or more). The same secret and purpose
 * always give the same bytes: tokens and credentials survive a restart, and nothing secret is shipped.
 */
export function derive(secret: Uint8Array, purpose: string, bytes = 32): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, SALT, purpose, bytes));
}

/** A password a person can copy: 120 bits, letters and digits with `-` and `_`. */
export function derivePassword(secret: Uint8Array, purpose: string): string {
  return derive(secret, `password/${purpose}`, 15).toString('base64url');
}

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
