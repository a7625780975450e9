import { z } from 'zod';
import { connectionView } from './connection.ts';
import { count, id, instant, name } from './names.ts';
import { settings } from './settings.ts';

/** How the session and the pace of the active connection stand; drawn in the top strip. */
export const serviceStatus = z.strictObject({
  connectionId: id,
  policy: name,
  /** When the current session was made; null while there is none. */
  sessionSince: instant.nullable(),
  /** As the service's rate headers told last (spec §8); null before the first answer. */
  remaining: count.nullable(),
  limit: count.nullable(),
  /** Requests wait until then: backing off, or the day's transfers are spent. */
  pausedUntil: instant.nullable(),
  pausedWhy: z.enum(['busy', 'failing', 'quota', 'offline']).nullable(),
  transfersToday: count,
});
export type ServiceStatus = z.infer<typeof serviceStatus>;

export const keychainState = z.enum(['ready', 'locked', 'unavailable', 'stalled']);
export type KeychainState = z.infer<typeof keychainState>;

export const lockState = z.strictObject({
  locked: z.boolean(),
  /** Whether unlocking asks for a passphrase. */
  passphraseSet: z.boolean(),
  /** After wrong tries the next one has to wait this long. */
  waitMs: count,
});
export type LockState = z.infer<typeof lockState>;

/** All that the frame around the pages needs. Sent whole when any of it changes. */
export const deskState = z.strictObject({
  version: z.string(),
  host: z.enum(['electron', 'chromium']),
  connections: z.array(connectionView),
  active: z.strictObject({ connectionId: id, policy: name }).nullable(),
  service: serviceStatus.nullable(),
  keychain: keychainState,
  audit: z.enum(['ready', 'unwritable', 'broken']),
  lock: lockState,
  settings,
});
export type DeskState = z.infer<typeof deskState>;

/** What the desk is made of, for its About section. */
export const about = z.strictObject({
  version: z.string(),
  host: z.string(),
  /** Packages in the bundle and under which licence each is. */
  licences: z.array(z.strictObject({ name: z.string(), version: z.string(), licence: z.string() })),
});
export type About = z.infer<typeof about>;
