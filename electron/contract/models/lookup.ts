import { z } from 'zod';
import { count, obscuredValue, xorKey, caseReference, id, instant, name, reason, value } from './fields.ts';

/** One lookup as it is listed: never cleartext. */
export const lookup = z.strictObject({
  id,
  at: instant,
  connectionId: id,
  policy: name,
  definition: name,
  token: value,
  /** As the service's own GetMasked gave it, or masked again where that showed a whole number. */
  masked: z.string(),
  maskedAgain: z.boolean().optional(),
  /** How it came about. */
  kind: z.enum(['masked', 'tokenized', 'translated']),
  /** The case of the last act that gave one. */
  caseReference,
  /** The last reveal of it in this run. */
  revealedAt: instant.nullable(),
  /** The last time its cleartext was copied in this run. */
  copiedAt: instant.nullable(),
  requestId: z.string(),
  /** Every answered request about it in this run, the first included, as the audit log names them. */
  requestIds: z.array(z.string()).max(50),
});
export type Lookup = z.infer<typeof lookup>;

export const maskInput = z.strictObject({ policy: name, definition: name, token: value, caseReference });
export const tokenizeInput = z.strictObject({
  policy: name,
  definition: name,
  cleartext: obscuredValue,
  caseReference,
});
export const translateInput = z.strictObject({
  lookupId: id,
  targetPolicy: name,
  targetDefinition: name,
});

/**
 * Why cleartext is needed. Asked for before everything that gives cleartext out, or an answer that is as good, and written
 * to the audit log. A new member is a field of `ReasonFields` in the window, and a rule of the gate in main.
 */
export const grounds = z.strictObject({
  reason,
  caseReference,
  /** The row count as typed, asked for before many rows of production. */
  confirmRows: count.nullable().optional(),
});
export type Grounds = z.infer<typeof grounds>;

/** What a reveal takes beside the value it is about. */
export const revealInput = grounds.extend({ xorKey });

export const reveal = z.strictObject({
  revealId: id,
  /** The value, obscured with the xorKey of the call, see `obscured.ts`. */
  obscured: z.string(),
  /** Main hides it then, whatever the window does. */
  hideAfterMs: z.int().positive(),
  requestId: z.string(),
});
export type Reveal = z.infer<typeof reveal>;

/** What was put on the clipboard, and for how long. */
export const copied = z.strictObject({
  clearAfterMs: z.int().positive(),
  /** Under Wayland: without the focus it is cleared no earlier than at the window's next focus. */
  needsFocus: z.boolean().optional(),
});
export type Copied = z.infer<typeof copied>;
