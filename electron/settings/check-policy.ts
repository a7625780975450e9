import type { ManagedSettings } from '../contract/models/app.ts';
import { policyMembers } from './policy-flaws.ts';
import {
  readManagedSettings,
  readPolicyFileAt,
  type CheckedPolicy,
  type ManagedOptions,
} from './read-managed-settings.ts';

/**
 * `--check-policy`: every setting an administrator can fix with its value, and what is wrong, as lines to print. `file` is a
 * policy.json that need not be in force yet, whoever owns it; null takes what is in force on this machine. Code 0: nothing
 * is wrong. 2: something is, or it could not be read.
 */
export async function checkPolicy(
  file: string | null,
  options: ManagedOptions,
): Promise<{ readonly text: string; readonly code: 0 | 2 }> {
  const read = file === null ? await readInForce(options) : await readPolicyFileAt(file);
  const lines =
    read.flaws.length > 0
      ? [`${read.source} can’t be used:`, ...read.flaws.map((flaw) => `  ${flaw}`)]
      : [`${read.source}: nothing is wrong.`, '', ...settingLines(read.managed)];
  return { text: `${lines.join('\n')}\n`, code: read.flaws.length > 0 ? 2 : 0 };
}

async function readInForce(options: ManagedOptions): Promise<CheckedPolicy> {
  const read = await readManagedSettings(options);
  if (!read.ok) return { source: read.source, managed: {}, flaws: read.flaws };
  const source = read.sources.length === 0 ? 'No settings of an administrator' : read.sources.join(', ');
  return { source, managed: read.managed, flaws: [] };
}

function settingLines(managed: ManagedSettings): string[] {
  const width = Math.max(...policyMembers.map(({ name }) => name.length));
  return policyMembers.flatMap(({ name, description }) => {
    const value = managed[name];
    const shown = value === undefined ? 'not set' : JSON.stringify(value);
    return [`${name.padEnd(width)}  ${shown}`, `${' '.repeat(width)}  ${description}`];
  });
}
