import { z } from 'zod';

/** A member on the wire. */
export const member = z.string().min(1).max(100);
/** Accepted members, the first that is there wins. */
export const members = z.array(member).min(1).max(40);
/** Joined to {base_url}: no host, no query, no way up. */
export const path = z
  .string()
  .max(500)
  .regex(/^(?:\/[A-Za-z0-9._~-]+)+$/)
  .refine((text) => !text.split('/').some((segment) => segment === '..' || segment === '.'));
