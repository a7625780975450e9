import { z } from 'zod';
import { name } from './fields.ts';

/** One thing of a file of connections, and what taking it in does. */
export const importItem = z.strictObject({
  kind: z.enum(['connection', 'mapping', 'reasons']),
  name: name.or(z.literal('')),
  change: z.enum(['new', 'changed', 'same', 'refused']),
  /** Which members change. */
  members: z.array(z.string().max(60)).max(30),
  /** Why it is refused, as a failure's code; empty otherwise. */
  code: z.enum([
    '',
    'connection.environment',
    'connection.host',
    'connection.built-in',
    'connection.invalid',
    'file.unwritable',
    'settings.managed',
  ]),
  /** The secrets stored for it are removed, since its address moves. */
  forgetsSecrets: z.boolean(),
});
export type ImportItem = z.infer<typeof importItem>;
