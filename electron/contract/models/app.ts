import { z } from 'zod';
import { connectionView } from './connection.ts';
import { count, id, instant, name } from './fields.ts';

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
  pauseReason: z.enum(['busy', 'failing', 'quota', 'offline']).nullable(),
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

/** Preferences of this workstation. Nothing secret is ever a setting. */
export const settings = z.strictObject({
  /** How long a revealed value stays on the screen. */
  revealSeconds: z.int().min(5).max(60),
  /** How long a copied value stays on the clipboard. */
  clipboardSeconds: z.int().min(5).max(120),
  /** Idle minutes until the app locks; never more than 15 (PCI DSS 8.2.8). */
  lockAfterMinutes: z.int().min(1).max(15),
  /** Offered when a reason is asked for; a person may type another. */
  reasons: z.array(z.string().trim().min(1).max(200)).min(1).max(30),
  caseRequired: z.boolean(),
  theme: z.enum(['system', 'light', 'dark']),
});
export type Settings = z.infer<typeof settings>;

export const defaultSettings: Settings = {
  revealSeconds: 20,
  clipboardSeconds: 30,
  lockAfterMinutes: 15,
  reasons: ['Chargeback response', 'Refund', 'Fraud review', 'Customer request', 'Regulator or court order'],
  caseRequired: true,
  theme: 'system',
};

/** All that the frame around the pages needs. Sent whole when any of it changes. */
export const appState = z.strictObject({
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
export type AppState = z.infer<typeof appState>;

/** What the app is made of, for its About section. */
export const about = z.strictObject({
  version: z.string(),
  host: z.string(),
  /** Packages in the bundle and under which licence each is. */
  licences: z.array(z.strictObject({ name: z.string(), version: z.string(), licence: z.string() })),
});
export type About = z.infer<typeof about>;
