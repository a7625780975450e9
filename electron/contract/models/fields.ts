import { z } from 'zod';
import { operationNames } from '../operations.ts';

/** Shared by the other models: the short strings that name things, with the limits the router enforces. */
export const id = z.string().regex(/^[A-Za-z0-9-]{1,64}$/);
export const name = z.string().trim().min(1).max(200);
/** A token or cleartext typed or pasted by a person; the service's own limit is not shown (spec §8). */
export const value = z.string().min(1).max(8_192);
/**
 * Without control and format characters: a terminal that shows the log would obey them. Nor with what nobody sees: a reason
 * of such letters alone is none. What is too long to be accepted is not searched.
 */
const plainText = z
  .string()
  .overwrite((text) =>
    text.length > 1_000
      ? text
      : text.replaceAll(/[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu, ''),
  );
export const reason = plainText.trim().min(1).max(200);
export const caseReference = plainText.trim().max(100);
/** Of a file that was written: only main makes one, with its numbers masked, see `shownName`. */
export const fileName = z.string().max(300).brand<'FileName'>();
export type FileName = z.infer<typeof fileName>;
/** ISO 8601 in UTC with milliseconds. */
export const instant = z.iso.datetime();
export const count = z.int().nonnegative();

/** See `../operations.ts`. */
export const operation = z.enum(operationNames);

/** As `../obscured.ts` makes them: four hexadecimal digits a unit. Apart from it, since the window bundles no schema. */
export const xorKey = z.string().regex(/^(?:[0-9a-f]{4}){1,256}$/);
/** Up to 2,560 units, which is what a keychain takes. */
export const obscuredText = z.strictObject({
  xorKey,
  obscured: z.string().regex(/^(?:[0-9a-f]{4}){1,2560}$/),
});
/** A portal's JWT may be longer than a keychain takes; it is then stored in memory. */
export const obscuredToken = z.strictObject({
  xorKey,
  obscured: z.string().regex(/^(?:[0-9a-f]{4}){1,16384}$/),
});
/** A value in clear, as long as `value` may be. */
export const obscuredValue = z.strictObject({
  xorKey,
  obscured: z.string().regex(/^(?:[0-9a-f]{4}){1,8192}$/),
});
/** Examples of a service's calls: a document, or what was copied from one. They may hold keys and values. */
export const obscuredExamples = z.strictObject({
  xorKey,
  obscured: z
    .string()
    .max(4 * 500_000)
    .regex(/^(?:[0-9a-f]{4})+$/),
});
/** Up to 1,000 units, and empty where there is none. */
export const obscuredPassphrase = z.strictObject({
  xorKey,
  obscured: z.string().regex(/^(?:[0-9a-f]{4}){0,1000}$/),
});
