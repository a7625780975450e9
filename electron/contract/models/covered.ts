import { z } from 'zod';

/** As `../covered.ts` makes them: four hexadecimal digits a unit. Apart from it, since the window bundles no schema. */
export const pad = z.string().regex(/^(?:[0-9a-f]{4}){1,256}$/);
/** Up to 2,560 units, which is what a keychain takes. */
export const coveredText = z.strictObject({ pad, covered: z.string().regex(/^(?:[0-9a-f]{4}){1,2560}$/) });
/** A portal's JWT may be longer than a keychain takes; it is then kept in memory. */
export const coveredToken = z.strictObject({ pad, covered: z.string().regex(/^(?:[0-9a-f]{4}){1,16384}$/) });
/** A value in clear, as long as `value` in names.ts may be. */
export const coveredValue = z.strictObject({ pad, covered: z.string().regex(/^(?:[0-9a-f]{4}){1,8192}$/) });
/** Up to 1,000 units, and empty where there is none. */
export const coveredPassphrase = z.strictObject({
  pad,
  covered: z.string().regex(/^(?:[0-9a-f]{4}){0,1000}$/),
});
