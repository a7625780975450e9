import type { Failure } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
import type { Deployment } from '../contract/models/deployment.ts';
import type { Clock } from '../util/clock.ts';
import { isAllowedHost } from './managed-settings.ts';
import { policyMembers } from './policy-flaws.ts';
import { checkProvidedFile, providedFileOf } from './provided-file.ts';
import {
  readManagedSettings,
  readPolicyFileAt,
  type CheckedPolicy,
  type ManagedOptions,
  type ManagedResult,
} from './read-managed-settings.ts';

interface CheckOptions {
  /** A policy.json that need not be in force yet, whoever owns it; null takes what is in force on this machine. */
  readonly file: string | null;
  readonly managed: ManagedOptions;
  readonly clock: Pick<Clock, 'after'>;
  /** What a person reads about a failure. */
  readonly words: (failure: Failure) => string;
}

interface LocalConnections {
  readonly source: string;
  readonly deployment: Deployment;
}

/** The administrator's connections, as far as a check sees them. */
export interface CheckedConnections {
  /** Where they are from; null where none are provided. */
  readonly source: string | null;
  readonly names: readonly string[];
  readonly flaws: readonly string[];
}

/**
 * `--check-policy`: every setting an administrator can fix, its value, where it comes from, the connections that are provided,
 * and all that is wrong, as lines to print. Code 0: nothing is wrong. 2: something is, or it could not be read.
 */
export async function checkPolicy(
  options: CheckOptions,
): Promise<{ readonly text: string; readonly code: 0 | 2 }> {
  const { file, managed } = options;
  const { checked, local } =
    file === null
      ? await readInForce(managed)
      : { checked: await readPolicyFileAt(file, managed.os), local: null };
  const connections =
    checked.flaws.length > 0 && local === null
      ? none
      : await checkConnections({ ...options, managed: checked.managed, local });
  const isWrong = checked.flaws.length + connections.flaws.length > 0;
  const head =
    checked.flaws.length > 0
      ? [`${checked.source} can’t be used:`, ...checked.flaws.map((flaw) => `  ${flaw}`)]
      : connections.flaws.length > 0
        ? [`${checked.source}: the connections that it provides can’t be used.`, ...flawLines(connections)]
        : [`${checked.source}: nothing is wrong.`];
  const lines = [
    ...head,
    '',
    ...settingLines(checked),
    ...(connections.source === null ? [] : ['', ...connectionLines(connections.source, connections)]),
  ];
  return { text: `${lines.join('\n')}\n`, code: isWrong ? 2 : 0 };
}

const none: CheckedConnections = { source: null, names: [], flaws: [] };

/** Looks at what is provided, beside the policy (`local`) or in the signed file that it names. */
export async function checkConnections({
  managed,
  local,
  clock,
  words,
}: Pick<CheckOptions, 'clock' | 'words'> & {
  readonly managed: ManagedSettings;
  readonly local: LocalConnections | null;
}): Promise<CheckedConnections> {
  if (local !== null) return { source: local.source, ...hostsOf(local.deployment, managed) };
  const named = providedFileOf(managed);
  if (named === null) return none;
  const read = await checkProvidedFile(named, clock);
  if (!read.ok) return { source: named.file, names: [], flaws: [words(read.failure)] };
  const { deployment, issued, signer } = read.value;
  return {
    source: `${named.file}, issued ${issued}, signed by ${signer}`,
    ...hostsOf(deployment, managed),
  };
}

function hostsOf(
  { connections }: Deployment,
  managed: ManagedSettings,
): Pick<CheckedConnections, 'names' | 'flaws'> {
  return {
    names: connections.map(({ name }) => name),
    flaws: connections
      .filter(({ baseUrl }) => !isAllowedHost(baseUrl, managed))
      .map(({ name, baseUrl }) => `${name}: its host ${new URL(baseUrl).hostname} is none of allowedHosts`),
  };
}

async function readInForce(options: ManagedOptions) {
  const read = await readManagedSettings(options);
  const { managed, sourceOf } = read;
  if (!read.ok) {
    const checked: CheckedPolicy = { source: read.source, managed, sourceOf, flaws: read.flaws };
    return { checked, local: null };
  }
  const source = read.sources.length === 0 ? 'No settings of an administrator' : read.sources.join(', ');
  const checked: CheckedPolicy = { source, managed, sourceOf, flaws: [] };
  return { checked, local: localConnections(read) };
}

/** Those beside the policy. */
export function localConnections({
  deployment,
  deploymentSource: source,
}: Pick<Extract<ManagedResult, { ok: true }>, 'deployment' | 'deploymentSource'>): LocalConnections | null {
  return deployment === null || source === null ? null : { source, deployment };
}

function settingLines({ managed, sourceOf, flaws }: CheckedPolicy): string[] {
  const members = policyMembers();
  const width = Math.max(...members.map(({ name }) => name.length));
  const isWrong = (name: string): boolean =>
    flaws.some((flaw) => flaw.startsWith(`${name} `) || flaw.startsWith(`${name}, `));
  return members.flatMap(({ name, description }) => {
    const value = managed[name];
    const shown =
      value === undefined
        ? isWrong(name)
          ? 'wrong, see above'
          : 'not set'
        : `${JSON.stringify(value)}  (${sourceOf[name] ?? ''})`;
    return [`${name.padEnd(width)}  ${shown}`, `${' '.repeat(width)}  ${description}`];
  });
}

const flawLines = ({ flaws }: CheckedConnections): string[] => flaws.map((flaw) => `  ${flaw}`);

const connectionLines = (source: string, { names, flaws }: CheckedConnections): string[] => [
  `Connections of ${source}${flaws.length === 0 ? ': nothing is wrong.' : ': see above.'}`,
  ...names.map((name) => `  ${name}`),
];
