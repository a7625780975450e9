import { z } from 'zod';

/** Shared by the other models: the short strings that name things, with the limits the door enforces. */
export const id = z.string().regex(/^[A-Za-z0-9-]{1,64}$/);
export const name = z.string().trim().min(1).max(200);
/** A token or cleartext typed or pasted by a person; the service's own limit is not shown (spec §8). */
export const value = z.string().min(1).max(8_192);
export const reason = z.string().trim().min(1).max(200);
export const caseReference = z.string().trim().max(100);
/** ISO 8601 in UTC with milliseconds. */
export const instant = z.iso.datetime();
export const count = z.int().nonnegative();

/** The operations of the specification that need a session (spec §4). */
export const operation = z.enum([
  'Tokenize',
  'Detokenize',
  'GetMasked',
  'Translate',
  'BatchTokenize',
  'BatchDetokenize',
  'BatchTranslate',
  'PatternMatch',
]);
export type Operation = z.infer<typeof operation>;
