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
