import { z } from 'zod';

/** As `../covered.ts` makes them: four hexadecimal digits a unit. Apart from it, since the window bundles no schema. */
export const pad = z.string().regex(/^(?:[0-9a-f]{4}){1,256}$/);
/** Up to 2,560 units, which is what a keychain takes. */
export const coveredText = z.strictObject({ pad, covered: z.string().regex(/^(?:[0-9a-f]{4}){1,2560}$/) });
/** A portal's JWT may be longer than a keychain takes; it is then kept in memory. */
export const coveredToken = z.strictObject({ pad, covered: z.string().regex(/^(?:[0-9a-f]{4}){1,16384}$/) });
