import { z } from 'zod';
import { connectionView, environment } from './connection.ts';
import { count, id, instant, name } from './fields.ts';

/** Session and rate limit of the active connection, as the toolbar shows them. */
export const serviceStatus = z.strictObject({
  connectionId: id,
  policy: name,
  /** When the current session was made; null while there is none. */
  sessionSince: instant.nullable(),
  /** From the latest rate headers (spec §8); null before the first answer. */
  remaining: count.nullable(),
  limit: count.nullable(),
  /** Where the service names the period of its rule in place of the number. */
  limitPeriodSeconds: count.nullable(),
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
  /** No passphrase can be checked any more: only `lock.reset` opens the app. */
  verifierLost: z.boolean().optional(),
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

/** What of the settings file could not be used at this start; defaults are in use for it. */
export const settingsDamage = z.strictObject({
  /** `unreadable`: all of it. `unfit`: parts of it. `newer`: it was written by a newer version. */
  reason: z.enum(['unreadable', 'unfit', 'newer']),
  /** Name of the copy of the file as it was, in the same folder. */
  keptAs: z.string(),
});
export type SettingsDamage = z.infer<typeof settingsDamage>;

/** All that the frame around the pages needs. Sent whole when any of it changes. */
export const appState = z.strictObject({
  version: z.string(),
  platform: z.enum(['electron', 'chromium']),
  connections: z.array(connectionView),
  active: z.strictObject({ connectionId: id, policy: name }).nullable(),
  service: serviceStatus.nullable(),
  keychain: keychainState,
  audit: z.enum(['ready', 'unwritable', 'broken']),
  lock: lockState,
  settings,
  settingsDamage: settingsDamage.nullable(),
});
export type AppState = z.infer<typeof appState>;

/** What left the main process in clear on one day. */
export const disclosureCounts = z.strictObject({
  reveals: count,
  /** Cleartext put on the clipboard. */
  copies: count,
  /** Rows of exports in cleartext. */
  exportedRows: count,
  /** Values that were asked about with a typed expression. */
  matchAnswers: count,
  /** Different typed expressions. */
  expressions: count,
});
export type DisclosureCounts = z.infer<typeof disclosureCounts>;

/** Null is no limit. */
export const disclosureLimits = z.strictObject({
  reveals: count.nullable(),
  copies: count.nullable(),
  exportedRows: count.nullable(),
  matchAnswers: count.nullable(),
  expressions: count.nullable(),
});
export type DisclosureLimits = z.infer<typeof disclosureLimits>;

/** The local day as YYYY-MM-DD; later than today where the clock was set back. */
export const localDay = z.string().regex(/^\d{4}-\d{2}-\d{2}$/);

export const disclosureFigures = disclosureCounts.extend({ day: localDay, limits: disclosureLimits });
export type DisclosureFigures = z.infer<typeof disclosureFigures>;

/** All that a locked window is told: what the lock page needs, with the colour of the environment in use. */
export const lockedAppState = z.strictObject({
  version: z.string(),
  theme: settings.shape.theme,
  environment: environment.nullable(),
  lock: lockState.extend({ locked: z.literal(true) }),
});
export type LockedAppState = z.infer<typeof lockedAppState>;

/** For the About section. */
export const about = z.strictObject({
  version: z.string(),
  /** Packages in the bundle and under which licence each is. */
  licences: z.array(z.strictObject({ name: z.string(), version: z.string(), licence: z.string() })),
});
export type About = z.infer<typeof about>;
