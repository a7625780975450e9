import { z } from 'zod';

/** What a text may be compressed in. */
export const archive = z.enum(['gzip', 'zip']);
export type Archive = z.infer<typeof archive>;

/** What was taken off around a table: it may be put around the result again. */
export const packed = z.strictObject({ archive: archive.nullable(), isEncrypted: z.boolean() });
export type Packed = z.infer<typeof packed>;
