import { z } from 'zod';
import { menuCommands } from '../commands.ts';
import { failureSchema } from '../errors.ts';
import { pages } from '../pages.ts';
import { connectionView, environment } from './connection.ts';
import { count, id, instant, name } from './fields.ts';
import { importItem } from './import-item.ts';
import { webhookState } from './service-event.ts';

/** Session and rate limit of the active connection, as the toolbar shows them. Each is a fact with its time. */
const serviceStatus = z.strictObject({
  connectionId: id,
  /** Whose session it is: of the policy that was asked for, or else of the one that signed in last. */
  policy: name,
  /** When the current session was made; null while there is none. */
  sessionSince: instant.nullable(),
  /** The first request without an answer; null since the last answer. */
  offlineSince: instant.nullable(),
  /** From the latest rate headers (spec §8); null before the first answer. */
  remaining: count.nullable(),
  limit: count.nullable(),
  /** Where the service names the period of its rule in place of the number. */
  limitPeriodSeconds: count.nullable(),
  /** Until when `remaining` says anything: the end of the service's second or period. */
  remainingUntil: instant.nullable(),
  /** Requests wait until then: backing off, or the day's transfers are spent. */
  pausedUntil: instant.nullable(),
  pauseReason: z.enum(['busy', 'failing', 'quota', 'offline']).nullable(),
  transfersToday: count,
});
export type ServiceStatus = z.infer<typeof serviceStatus>;

const keychainState = z.enum(['ready', 'locked', 'unavailable', 'stalled']);
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
const keptDays = z.int().min(0).max(3_650);

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
  /** Days after its end for which a batch and its results are kept; 0 until somebody removes them. */
  keepResultsDays: keptDays.default(0),
  /** Whether one key without a modifier is a command outside of fields (WCAG 2.1.4). */
  singleKeys: z.boolean().default(true),
  theme: z.enum(['system', 'light', 'dark']),
});
export type Settings = z.infer<typeof settings>;

export const defaultSettings: Settings = {
  revealSeconds: 20,
  clipboardSeconds: 30,
  lockAfterMinutes: 15,
  reasons: ['Chargeback response', 'Refund', 'Fraud review', 'Customer request', 'Regulator or court order'],
  caseRequired: true,
  keepResultsDays: 0,
  singleKeys: true,
  theme: 'system',
};

const { caseRequired, reasons, revealSeconds, clipboardSeconds, lockAfterMinutes } = settings.shape;
const limit = z.int().min(0).max(1_000_000_000);

/** `example.com`, or `*.example.com` for all that is below it; without scheme, port and path. */
const allowedHost = z
  .string()
  .max(253)
  .regex(/^(\*\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$|^\[[0-9a-f:.]+\]$/);

/** SHA-256 of a public key. */
const fingerprint = z.string().regex(/^[0-9a-f]{64}$/);

/** `export`, `export from 100`, `export from 100 in production`. */
export const secondPersonPattern =
  /^(reveal|copy|export|match|guess)(?: from ([1-9][0-9]{0,8}))?(?: in (development|test|production))?$/;
const secondPersonRule = z.string().regex(secondPersonPattern);
const approver = z.string().regex(/^[0-9a-f]{64} \S.{0,58}\S$/);

/**
 * What an administrator may fix, all of it optional. Each member is one value or a list of texts, so that a file, the
 * registry and a property list can all hold it. What is described here is what the templates for administrators say.
 */
export const managedSettings = z
  .strictObject({
    caseRequired: caseRequired.describe(
      'A case must be given for every reveal, copy, export and match in clear.',
    ),
    reasons: reasons.describe('The only reasons that are accepted for a reveal, copy, export or match.'),
    revealSeconds: revealSeconds.describe('Seconds after which a revealed value is hidden.'),
    clipboardSeconds: clipboardSeconds.describe('Seconds after which a copied value is cleared.'),
    lockAfterMinutes: lockAfterMinutes.describe('Minutes without use after which the app locks.'),
    keepResultsDays: keptDays.describe(
      'Days after which the results of a batch that has ended are removed; 0 for never.',
    ),
    passphraseRequired: z
      .boolean()
      .describe('The app does nothing until a passphrase is set, and the passphrase can’t be removed.'),
    cleartextExport: z
      .enum(['allowed', 'encrypted', 'forbidden'])
      .describe('Whether exports may hold cleartext: any, only those encrypted with a passphrase, or none.'),
    remainingCleartext: z
      .enum(['allowed', 'reason', 'forbidden'])
      .describe(
        'Whether files of masks or tokens may be written when card numbers or values that were sent stay in clear in other cells: any, only with a reason, or none.',
      ),
    bulkMatch: z.boolean().describe('Whether batches may match values with expressions.'),
    maxRevealsPerDay: limit.describe('Values a person may reveal in a day.'),
    maxCopiesPerDay: limit.describe('Values a person may copy in clear in a day.'),
    maxExportedRowsPerDay: limit.describe('Rows a person may export in clear in a day.'),
    maxMatchAnswersPerDay: limit.describe(
      'Values a person may match with expressions of their own in a day.',
    ),
    maxExpressionsPerDay: limit.describe('Different expressions of their own a person may match in a day.'),
    maxGuessesPerDay: limit.describe(
      'Values a person may tokenize in a day of masks that many other values of the day have.',
    ),
    secondPerson: z
      .array(secondPersonRule)
      .min(1)
      .max(20)
      .describe(
        'Acts that a second person has to approve, such as "export from 100 in production": reveal, copy, export, match or guess; from how many of a day on, and in which environment.',
      ),
    approvers: z
      .array(approver)
      .min(1)
      .max(200)
      .describe(
        'The only people who may approve: the fingerprint of their key, as Settings shows it, a space, and their name.',
      ),
    allowedHosts: z
      .array(allowedHost)
      .max(200)
      .describe(
        'The only hosts a connection may name. *.example.com stands for all hosts below example.com.',
      ),
    connectionsFile: z
      .string()
      .min(1)
      .max(1_000)
      .describe(
        'File with the connections you provide, by its whole path, such as on a share; signed with the switch sign-connections.',
      ),
    connectionsSigners: z
      .array(fingerprint)
      .min(1)
      .max(20)
      .describe(
        'Fingerprints of the keys one of which has to have signed connectionsFile, as the signing prints them.',
      ),
    extraCa: z
      .boolean()
      .describe('Whether a connection may be given a certificate authority that it did not trust before.'),
    openPgp: z
      .boolean()
      .describe(
        'Whether a file that is encrypted with OpenPGP is decrypted by the GnuPG that is installed; if absent it is.',
      ),
    tokenStory: z
      .boolean()
      .describe(
        'Whether keyed hashes of tokens are kept, by which every act on one is found again; if absent they are.',
      ),
    profileImport: z.boolean().describe('Whether a service profile may be imported into a connection.'),
    webhookPort: z
      .int()
      .min(0)
      .max(65_535)
      .describe(
        'Switches the receiver of the service’s events (webhooks) on, at this port; 0 for one that is free.',
      ),
    webhookAddress: z
      .union([z.ipv4(), z.ipv6()])
      .describe('The address of this machine at which events are received; 127.0.0.1 if absent.'),
    webhookCertificate: z
      .string()
      .min(1)
      .max(1_000)
      .describe(
        'File with the certificate of the receiver, those above it, and its key without a passphrase, as PEM.',
      ),
    builtInService: z.boolean().describe('Whether the built-in service may be started.'),
    updateNotice: z
      .string()
      .trim()
      .min(1)
      .max(500)
      .describe('A sentence shown at the top of the window, such as where a new version is to be had.'),
  })
  .partial();
export type ManagedSettings = z.infer<typeof managedSettings>;
export type ManagedName = keyof ManagedSettings;

/** What of the settings was not as expected at this start. */
const settingsDamage = z.strictObject({
  /**
   * `unreadable`: all of the file; defaults are in use. `unfit`: parts of it. `uncopied`: parts of it, and no copy could
   * be made, so that nothing is written over it. `newer`: it was written by a newer version. `other`: there was a
   * second file, which is not in use. `changed`: those of the lock were changed outside of the app, and were set back.
   * `lost`: the key that tells it is gone from the keychain, and the secrets of all connections with it.
   */
  reason: z.enum(['unreadable', 'unfit', 'uncopied', 'newer', 'other', 'changed', 'lost']),
  /**
   * Names, in the same folder, of the copy of the file as it was and of files that are not in use. For `newer`: of the
   * file that this version has of its own.
   */
  keptAs: z.string(),
});
export type SettingsDamage = z.infer<typeof settingsDamage>;

/** All that the frame around the pages needs. Sent whole when any of it changes. */
export const appState = z.strictObject({
  version: z.string(),
  connections: z.array(connectionView),
  active: z.strictObject({ connectionId: id, policy: name }).nullable(),
  service: serviceStatus.nullable(),
  keychain: keychainState,
  audit: z.enum(['ready', 'unwritable', 'broken']),
  lock: lockState,
  settings,
  /** What of the settings, and of what else may be done, an administrator has fixed. */
  managed: managedSettings,
  /** The administrator asks for a passphrase, and none is set: nothing else is answered until it is. */
  passphraseMissing: z.boolean(),
  settingsDamage: settingsDamage.nullable(),
  /** Names of exports that ended in the middle in an earlier run; what they left was removed at this start. */
  removedPartials: z.array(z.string().max(300)).max(100),
  /** Of those whose rest may still be there, since it could not be looked at; '' where not even their names are known. */
  leftPartials: z.array(z.string().max(300)).max(100),
  /** The version that ran before, where this run is the first of a newer one. */
  upgradedFrom: z.string().max(50).nullable(),
  /** Null where no administrator switched it on. */
  webhooks: webhookState.nullable(),
  /** The connections of the administrator's file, and what this start made of each. */
  provided: z.array(importItem).max(200),
  /** Why the administrator's signed file was not taken when it was last read. What was taken before is in force. */
  providedFailure: failureSchema.nullable(),
});
export type AppState = z.infer<typeof appState>;

/** What the application's menu may ask of the window: a page, the lock, the commands, the list of shortcuts. */
export const appCommand = z.enum([...pages.map(({ id }) => id), ...menuCommands]);
export type AppCommand = z.infer<typeof appCommand>;

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
  /** The program it runs in, as that calls itself. */
  runtime: z.string(),
  /** Packages in the bundle and under which licence each is. */
  licences: z.array(z.strictObject({ name: z.string(), version: z.string(), licence: z.string() })),
});
export type About = z.infer<typeof about>;
