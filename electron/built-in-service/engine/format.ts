/** Why a value can't be tokenized, or a token not be detokenized. Names the reason, never the content. */
export type FormatFailure = 'ValueEmpty' | 'ValueInvalid' | 'ValueTooLong' | 'TokenInvalid';

export type FormatOutcome =
  { readonly ok: true; readonly value: string } | { readonly ok: false; readonly code: FormatFailure };

export const good = (value: string): FormatOutcome => ({ ok: true, value });
export const bad = (code: FormatFailure): FormatOutcome => ({ ok: false, code });

/**
 * One kind of data with its tokens. For every value v that `tokenize` accepts, `detokenize(tokenize(v))` is v,
 * character by character. The same v always has the same token. A token is itself well formed for the kind. A string
 * that is no token of this definition is refused as TokenInvalid, as far as the kind has room for a check.
 */
export interface Format {
  tokenize(value: string): FormatOutcome;
  detokenize(token: string): FormatOutcome;
  /** The same outcomes for a batch, in its order. Only where a batch is faster than its values one by one. */
  tokenizeAll?(values: readonly string[]): FormatOutcome[];
  detokenizeAll?(tokens: readonly string[]): FormatOutcome[];
  /** The masking format of the definition (spec §2), applied to a value that `detokenize` returned. */
  mask(value: string): string;
}

export const tokenizeAll = (format: Format, values: readonly string[]): FormatOutcome[] =>
  format.tokenizeAll?.(values) ?? values.map((value) => format.tokenize(value));
export const detokenizeAll = (format: Format, tokens: readonly string[]): FormatOutcome[] =>
  format.detokenizeAll?.(tokens) ?? tokens.map((token) => format.detokenize(token));

export interface DigitMask {
  readonly keepFirst: number;
  readonly keepLast: number;
  readonly character: string;
}

/** Hides every digit but the first and last few; separators stay where they are. */
export function maskDigits(value: string, { keepFirst, keepLast, character }: DigitMask): string {
  const count = value.replace(/\D/g, '').length;
  let index = 0;
  return value.replace(/\d/g, (digit) => {
    index += 1;
    return index <= keepFirst || index > count - keepLast ? digit : character;
  });
}

/** Replaces the digits of a value with others, keeping its separators. */
export function replaceDigits(template: string, digits: string): string {
  if (template.length === digits.length) return digits;
  let index = 0;
  return template.replace(/\d/g, () => digits[index++] ?? '');
}
