import fs from 'node:fs';
import path from 'node:path';
import { getCACertificates } from 'node:tls';
import type { Failure } from '../contract/errors.ts';
import { readPkcs12 } from '../parsing/pkcs12.ts';
import { createNativeCalls, type KeyringBackend } from '../storage/keytar.ts';
import type { Clock } from '../util/clock.ts';
import { wrongFuses, wrongFiles, filesWithoutHash } from '../platform/package-integrity.ts';
import { loadProfile } from '../connections/profiles.ts';
import { checkConnections, localConnections } from '../settings/check-policy.ts';
import { describeManaged } from '../settings/managed-settings.ts';
import { readManagedSettings, type ManagedOptions } from '../settings/read-managed-settings.ts';

export interface SelfCheckOptions {
  /** The program's own file, with the fuses in it. */
  readonly executable: string;
  /** The archive the application runs from. */
  readonly archive: string;
  /** The application's folder; Electron shows the archive as one. */
  readonly root: string;
  /** The folder that the archive is packed into. */
  readonly resources: string;
  readonly preload: string;
  /** Folder beside the program for the administrator's own files. */
  readonly site: string;
  readonly os: NodeJS.Platform;
  /** Where the administrator's settings are. */
  readonly managed: ManagedOptions;
  readonly loadKeytar: () => Promise<KeyringBackend>;
  readonly clock: Clock;
  /** The certificates the system trusts, as PEM. */
  readonly systemCertificates?: () => readonly string[];
  /** Options Node took, and where a debugger could attach to it. */
  readonly node: { readonly options: readonly string[]; readonly inspector: string | undefined };
  /** What a person reads about a failure. */
  readonly words: (failure: Failure) => string;
}

export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
}

const keyringLimitMs = 5_000;

/**
 * What an administrator wants to know of an installed app before a person works with it. Opens no window, reads no
 * settings, no log and no secret, and writes nothing. A check that throws counts as failed.
 */
export async function selfCheck(options: SelfCheckOptions): Promise<readonly CheckResult[]> {
  const checks: readonly (readonly [string, () => Verdict | Promise<Verdict>])[] = [
    ['fuses', () => fuses(options)],
    ['archive', () => archive(options)],
    ['files', () => files(options)],
    ['preload', () => preload(options)],
    ['node options', () => nodeOptions(options)],
    ['keychain module', () => options.loadKeytar().then(() => good('loads'))],
    ['keyring', () => keyring(options)],
    ['system certificates', () => systemCertificates(options)],
    ['client certificates', clientCertificates],
    ['service profile', () => profile(options)],
    ['managed settings', () => managedSettings(options)],
    ['provided connections', () => providedConnections(options)],
  ];
  const results: CheckResult[] = [];
  for (const [name, check] of checks) {
    try {
      results.push({ name, ...(await check()) });
    } catch (error) {
      // The class only: a message could quote what was being read.
      results.push({
        name,
        ...bad(`could not be checked (${error instanceof Error ? error.name : 'unknown'})`),
      });
    }
  }
  return results;
}

/** A line each, and the exit code. */
export function report(results: readonly CheckResult[]): { readonly text: string; readonly code: 0 | 1 } {
  const line = ({ ok, name, detail }: CheckResult): string =>
    `${ok ? 'ok    ' : 'not ok'}  ${name}: ${detail}\n`;
  return { text: results.map(line).join(''), code: results.every(({ ok }) => ok) ? 0 : 1 };
}

type Verdict = Omit<CheckResult, 'name'>;
const good = (detail: string): Verdict => ({ ok: true, detail });
const bad = (detail: string): Verdict => ({ ok: false, detail });

function fuses({ executable }: SelfCheckOptions): Verdict {
  const wrong = wrongFuses(executable);
  if (wrong === null) return bad('none in this program');
  return wrong.length === 0
    ? good('as they were set at packaging')
    : bad(`not as expected: ${wrong.join(', ')}`);
}

function archive({ archive, os }: SelfCheckOptions): Verdict {
  const bare = filesWithoutHash(archive);
  if (bare === null) return bad('this app does not run from one');
  if (bare.length > 0) return bad(`${bare.length} files without a hash, first ${bare[0] ?? ''}`);
  return good(
    os === 'linux'
      ? 'every file has a hash, which Electron does not compare on Linux'
      : 'every file has a hash, which Electron compares',
  );
}

function files({ resources }: SelfCheckOptions): Verdict {
  const compared = wrongFiles(resources);
  if (compared === null) return bad('there is no list of what was packed');
  const { count, wrong } = compared;
  if (wrong.length === 0) return good(`${count}, all as they were packed`);
  return bad(`${wrong.length} missing, changed or added, first ${wrong[0] ?? ''}`);
}

function preload({ preload }: SelfCheckOptions): Verdict {
  return fs.statSync(preload, { throwIfNoEntry: false })?.isFile() === true ? good('there') : bad('missing');
}

function nodeOptions({ node }: SelfCheckOptions): Verdict {
  if (node.inspector !== undefined) return bad('a debugger can attach');
  return node.options.length === 0 ? good('none taken') : bad(`taken: ${node.options.join(' ')}`);
}

/** Asks for an entry that never exists, so that no prompt appears. */
async function keyring({ loadKeytar, clock, os }: SelfCheckOptions): Promise<Verdict> {
  const calls = createNativeCalls({
    load: loadKeytar,
    clock,
    timeoutMs: keyringLimitMs,
    onReturn: () => undefined,
  });
  const { kind } = await calls.call((backend) => backend.getPassword('Tokendesk', 'self-check'));
  if (kind === 'stalled') return bad(`no answer in ${keyringLimitMs / 1000} seconds`);
  if (kind === 'unavailable') return good('no keyring: secrets in memory only');
  if (kind === 'locked') return good('reachable, locked');
  return good(os === 'linux' ? 'Secret Service reachable' : 'reachable');
}

/** None is no fault: public authorities come with the program, and a connection may name its own. */
function systemCertificates({ systemCertificates: read }: SelfCheckOptions): Verdict {
  const count = (read ?? (() => getCACertificates('system')))().length;
  return good(
    count === 0
      ? 'none found: a company’s own authority has to be given to its connection'
      : `${count} trusted besides those that come with the program`,
  );
}

/** Whether this program's TLS opens a PKCS #12 file at all: its cryptography is another one than Node's. */
function clientCertificates(): Verdict {
  const opened = readPkcs12(Buffer.from(samplePfx.join(''), 'base64'), 'self-check');
  return opened.ok ? good('a PKCS #12 file opens') : bad('a PKCS #12 file does not open');
}

/** Made for this check alone (AES-256, SHA-256); nobody trusts its certificate. */
const samplePfx: readonly string[] = [
  'MIIETwIBAzCCBAUGCSqGSIb3DQEHAaCCA/YEggPyMIID7jCCApIGCSqGSIb3DQEHBqCCAoMwggJ/AgEAMIICeAYJKoZIhvcNAQcB',
  'MFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgj7FS9mnAOYgICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQMEASoEECl4',
  'VbwoTmlWq6FRRyZLwjSAggIQOiHEjyM1R1NgfZsA1Ub+pJ4XP3/PHEzOnjxdyCrIaXk1Gj9SAmUBatmqoNhafTxbyfmaYjzygIAi',
  'wDJKdnCBGagllQAf+vo7tWPWGJoJwm+L8cfVN+7NyjMQyJHttWvKdGrDStt8e9uc4jBsW/glPnGlkH8Q1KmRteAyv4UcuUimbJWp',
  'BdnhFIY6ED5IxppTalDro1bn9LI6/aRXbRuLTMUb/SMIUyPvlXAq8Wwe5klO2tXhZ4vTpML/7BqMpB3KJxSPxwzKdpg282eHDzCW',
  'QoUoO199vA9paMMbVXWlDmzH7M+9XsmoPoiAgDwUQhUijQE3soT2R63H7jCFsVrrOO0W0J5zoFJ8//vmHHAYSOQeIvjr9mdPSF0M',
  'eOkRoNiOs3m6msQjOlJVROdahKKr3zTEelZ1lMgIlqBtkIVzrkhqq7HJ9PMQfS3TJKfvO5KM4bnRYEZTmbI0E+BNfOA9m/tZDjZb',
  'fxXYGhsPVd28DCxWKIXm+Xb/le592Q+Xw+GRMaRbn2eDYgod+6fdkouYEwfbnXBJA9ixKZsQG1HYOPVMM62O4eWVGNKof+ucaXic',
  '++BzJHlTzMbRo6+xv50Z/u4broCOQ4zvyBTc2kMlhfeKBwmaGqRcLFjXvoW91sM7uwl0/fQUbk6wUzZ3zHV6DpxnauH1NxammttJ',
  'scsOxjawvh0YB3Jh2WpEZwR3wgpXMIIBVAYJKoZIhvcNAQcBoIIBRQSCAUEwggE9MIIBOQYLKoZIhvcNAQwKAQKgge8wgewwVwYJ',
  'KoZIhvcNAQUNMEowKQYJKoZIhvcNAQUMMBwECN9hysZPgHPEAgIIADAMBggqhkiG9w0CCQUAMB0GCWCGSAFlAwQBKgQQZ7Gl9FRm',
  'MDAdcb8l5+la7QSBkKVvjomAPthLbANyN0eD0Jwaw56mZBFON2v2vi7Xe88vyTYrFMwzgkL7+4+DZPcLK8SUPNxVcvjpJKOLQrvh',
  'nFoEWkd8unR+jE+cd66pvPASWU/lRLMguYVo/kGDaL2UqjWCeGajpWGzr/VCR+18EBGJkKHHZdTEqNkCCk/orY86mFjeZDAGo5es',
  'uGctgo9SaTE4MBEGCSqGSIb3DQEJFDEEHgIAeDAjBgkqhkiG9w0BCRUxFgQUKoldDv5sxaa9YPerk/wXCvJ3nEAwQTAxMA0GCWCG',
  'SAFlAwQCAQUABCDw7Eq+2RUZmZKJdY+AVJ4mEbCvC55WivqMyyN92xYPTQQIBaReVG5DhegCAggA',
];

async function managedSettings({ managed }: SelfCheckOptions): Promise<Verdict> {
  const read = await readManagedSettings(managed);
  if (!read.ok) return bad(read.sentence);
  const fixed = describeManaged(read.managed);
  return good(fixed.length === 0 ? 'none' : `${fixed.join(', ')}, of ${read.sources.join(' and ')}`);
}

async function providedConnections({ managed, clock, words }: SelfCheckOptions): Promise<Verdict> {
  const read = await readManagedSettings(managed);
  // Why not says the line above.
  if (!read.ok) return bad('not read');
  const { source, names, flaws } = await checkConnections({
    managed: read.managed,
    local: localConnections(read),
    clock,
    words,
  });
  if (flaws.length > 0) return bad(flaws.join('; '));
  return good(source === null ? 'none' : `${names.join(', ') || 'none'}, of ${source}`);
}

async function profile({ site, root, managed }: SelfCheckOptions): Promise<Verdict> {
  const read = await readManagedSettings(managed);
  const provided = read.ok ? read.profile : null;
  const loaded = await loadProfile({ site, resources: path.join(root, 'resources'), provided });
  const isBeside = fs.existsSync(path.join(site, 'service-profile.json'));
  const source =
    provided !== null ? "the administrator's" : isBeside ? "the site's own" : 'the one that is shipped';
  return loaded.ok ? good(`valid, ${source}`) : bad(`not valid, ${source} (${loaded.failure.subject ?? ''})`);
}
