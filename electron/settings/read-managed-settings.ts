import { execFile } from 'node:child_process';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { done, type Outcome } from '../contract/errors.ts';
import { readProfile } from '../service/profile.ts';
import type { Deployment } from '../contract/models/deployment.ts';
import { managedSettings, type ManagedName, type ManagedSettings } from '../contract/models/app.ts';
import { readSmallFile } from '../storage/read-small-file.ts';
import { parseDeployment } from './parse-deployment.ts';
import { flawsTogether, policyFlaws } from './policy-flaws.ts';
import { readRegistry, type RunProgram, type Source } from './registry.ts';
import { maxProvidedBytes, readTrustedFile, type Administrator } from './trusted-file.ts';

/** A sentence to stop with: what an administrator fixed is never left out because it can't be read. */
export type ManagedResult =
  | {
      readonly ok: true;
      readonly managed: ManagedSettings;
      readonly sources: readonly string[];
      /** Which of them each setting that is in force comes from. */
      readonly sourceOf: Sources;
      /** What a person's first start begins with; null where the administrator provides nothing. */
      readonly deployment: Deployment | null;
      /** The file it is from, where there is one. */
      readonly deploymentSource: string | null;
      /** Text of the service profile for all connections, valid; null where the administrator has none. */
      readonly profile: string | null;
    }
  | {
      readonly ok: false;
      readonly sentence: string;
      readonly source: string;
      /** All that is wrong in it, in words. */
      readonly flaws: readonly string[];
      /** What was read up to there, and its sources: for a report, nothing of it is in force. */
      readonly managed: ManagedSettings;
      readonly sourceOf: Sources;
    };

type Sources = Readonly<Partial<Record<ManagedName, string>>>;

/** What stands in one source, and what is wrong with it. */
export interface CheckedPolicy {
  readonly source: string;
  /** Those that are right, also where others are not. */
  readonly managed: ManagedSettings;
  readonly sourceOf: Sources;
  readonly flaws: readonly string[];
}

export interface ManagedOptions extends Administrator {
  /** Folder of the administrator's files. */
  readonly folder: string;
  /** Windows: folder beside the program, where only whoever may change the program can write. */
  readonly site?: string;
  /** Runs one of the system's programs, and answers what it prints. Rejects where it is missing or fails. */
  readonly run: RunProgram;
  /** Files of the libraries that this process has loaded. Asked for on Windows alone: it takes a moment. */
  readonly libraries?: () => readonly string[];
  /** The account's name, by which macOS keeps what is managed for one person. */
  readonly user: string;
  /** Where macOS keeps managed preferences. */
  readonly managedPreferences?: string;
}

const policyFile = 'policy.json';
const connectionsFile = 'connections.json';
const profileFile = 'service-profile.json';
const bundleId = 'app.tokendesk';

/** Where the administrator's files are. Empty on Windows, where anybody may make folders in %ProgramData%. */
export function administratorFolder(system: NodeJS.Platform): string {
  switch (system) {
    case 'win32':
      return '';
    case 'darwin':
      return '/Library/Application Support/Tokendesk';
    default:
      return '/etc/tokendesk';
  }
}

/** As this machine has them. */
export function systemOptions(system: NodeJS.Platform): ManagedOptions {
  return {
    os: system,
    uid: 0,
    folder: administratorFolder(system),
    run: async (file, args, encoding = 'utf8') => {
      const { stdout } = await promisify(execFile)(file, [...args], {
        timeout: 20_000,
        windowsHide: true,
        encoding,
      });
      return stdout;
    },
    libraries: loadedLibraries,
    user: os.userInfo().username,
  };
}

function loadedLibraries(): readonly string[] {
  const { sharedObjects } = process.report.getReport() as { readonly sharedObjects?: readonly string[] };
  return sharedObjects ?? [];
}

/**
 * Reads what the administrator has fixed. Linux: policy.json. macOS: policy.json, then the managed preferences, whose
 * members go before. Windows: the registry under HKLM, which only administrators can write; its files need no check of
 * ours. A source that is there and can't be read, belongs to somebody else or has an unknown member is a failure.
 */
export async function readManagedSettings(options: ManagedOptions): Promise<ManagedResult> {
  const sources =
    options.os === 'win32'
      ? [await readRegistry(options)]
      : options.os === 'darwin'
        ? [await readPolicyFile(options), ...(await readPreferences(options))]
        : [await readPolicyFile(options)];
  let managed: ManagedSettings = {};
  let sourceOf: Sources = {};
  const names: string[] = [];
  const stop = (source: string, flaws: readonly string[]): ManagedResult => ({
    ok: false,
    sentence: `The settings of your administrator can’t be used: ${source}: ${flaws.join('; ')}. Tell the administrator.`,
    source,
    flaws,
    managed,
    sourceOf,
  });
  for (const source of sources) {
    if (source === null) continue;
    if ('reason' in source) return stop(source.name, [source.reason]);
    const checked = checkMembers(source.name, source.value);
    managed = { ...managed, ...checked.managed };
    sourceOf = { ...sourceOf, ...checked.sourceOf };
    if (checked.flaws.length > 0) return stop(source.name, checked.flaws);
    names.push(source.name);
  }
  const together = flawsTogether(managed, options.os);
  if (together.length > 0) return stop(names.join(', '), together);
  const provided = await readProvided(options, connectionsFile, parseDeployment);
  if (provided !== null && 'reason' in provided) return stop(provided.name, [provided.reason]);
  if (provided !== null && managed.connectionsFile !== undefined)
    return stop(provided.name, ['it is there although connectionsFile names another: keep one of the two']);
  const profile = await readProvided(options, profileFile, parseProfile);
  if (profile !== null && 'reason' in profile) return stop(profile.name, [profile.reason]);
  return {
    ok: true,
    managed,
    sources: names,
    sourceOf,
    deployment: provided?.value ?? null,
    deploymentSource: provided?.name ?? null,
    profile: profile?.value ?? null,
  };
}

/** What of a source is right, and what is wrong in it. */
function checkMembers(source: string, value: unknown): CheckedPolicy {
  const checked = managedSettings.safeParse(value);
  const managed = checked.success ? checked.data : rightMembers(value);
  const sourceOf = Object.fromEntries(Object.keys(managed).map((name) => [name, source]));
  return { source, managed, sourceOf, flaws: checked.success ? [] : policyFlaws(checked.error) };
}

function rightMembers(value: unknown): ManagedSettings {
  if (typeof value !== 'object' || value === null) return {};
  const right = Object.entries(value).filter(
    ([name, member]) =>
      Object.hasOwn(managedSettings.shape, name) &&
      managedSettings.shape[name as ManagedName].safeParse(member).success,
  );
  return Object.fromEntries(right);
}

/** A file of the administrator's beside the policy; on Windows, which has no such folder, beside the program. */
async function readProvided<T>(
  options: ManagedOptions,
  fileName: string,
  parse: (bytes: Uint8Array) => Outcome<T>,
): Promise<{ name: string; value: T } | { name: string; reason: string } | null> {
  const isWindows = options.os === 'win32';
  const folder = isWindows ? options.site : options.folder;
  if (folder === undefined) return null;
  const name = path.join(folder, fileName);
  // On Windows, whose rights Node can't read, it is protected as the program beside it is.
  const file = isWindows
    ? await readSmallFile(name, { maxBytes: maxProvidedBytes })
    : await readTrustedFile(name, options);
  if (file.kind === 'missing') return null;
  if (file.kind !== 'read') return { name, reason: file.reason };
  const parsed = parse(file.bytes);
  return parsed.ok ? { name, value: parsed.value } : { name, reason: parsed.failure.subject ?? 'wrong' };
}

function parseProfile(bytes: Uint8Array): Outcome<string> {
  const text = Buffer.from(bytes)
    .toString('utf8')
    .replace(/^\uFEFF/, '');
  const profile = readProfile(text);
  return profile.ok ? done(text) : profile;
}

async function readPolicyFile(options: ManagedOptions): Promise<Source> {
  const name = path.join(options.folder, policyFile);
  const file = await readTrustedFile(name, options);
  if (file.kind === 'missing') return null;
  if (file.kind !== 'read') return { name, reason: file.reason };
  const value = parsePolicy(file.bytes);
  return value === null ? { name, reason: notJson } : { name, value };
}

const notJson = 'it is not JSON';

/** `$schema` is what an editor takes its help from. Null where it is not JSON. */
function parsePolicy(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value = JSON.parse(text) as unknown;
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    return Object.fromEntries(Object.entries(value).filter(([key]) => key !== '$schema'));
  } catch {
    return null;
  }
}

/** A policy.json that is not in force: whoever owns it. */
export async function readPolicyFileAt(source: string, os: NodeJS.Platform): Promise<CheckedPolicy> {
  const wrong = (flaw: string): CheckedPolicy => ({ source, managed: {}, sourceOf: {}, flaws: [flaw] });
  const file = await readSmallFile(source, { maxBytes: maxProvidedBytes });
  if (file.kind !== 'read') return wrong(file.kind === 'missing' ? 'there is no such file' : file.reason);
  const value = parsePolicy(file.bytes);
  if (value === null) return wrong(notJson);
  const checked = checkMembers(source, value);
  // What is wrong by itself is missing here, and must not be called so.
  const isMissing = (flaw: string): boolean =>
    checked.flaws.some((one) => one.startsWith('connectionsSigners') || one.startsWith('connectionsFile')) &&
    flaw.includes(' needs ');
  const together = flawsTogether(checked.managed, os).filter((flaw) => !isMissing(flaw));
  return { ...checked, flaws: [...checked.flaws, ...together] };
}

/**
 * The files that a device management system writes. `getUserDefault` would give what a person wrote with `defaults`
 * just the same, so the files are read, which only root can write.
 */
async function readPreferences(options: ManagedOptions): Promise<Source[]> {
  const { managedPreferences = '/Library/Managed Preferences', user, run } = options;
  const folders = [managedPreferences, path.join(managedPreferences, user)];
  return Promise.all(
    folders.map(async (folder): Promise<Source> => {
      const name = path.join(folder, `${bundleId}.plist`);
      const file = await readTrustedFile(name, options);
      if (file.kind === 'missing') return null;
      if (file.kind !== 'read') return { name, reason: file.reason };
      try {
        const json = await run('/usr/bin/plutil', ['-convert', 'json', '-o', '-', name]);
        return { name, value: withoutSystemKeys(JSON.parse(json)) };
      } catch {
        return { name, reason: 'it is no property list' };
      }
    }),
  );
}

/** The system adds members of its own, such as PayloadUUID. */
function withoutSystemKeys(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith('Payload')));
}
