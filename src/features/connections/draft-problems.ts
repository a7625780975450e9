import type { ConnectionDraft } from '../../../electron/contract/models/connection.ts';
import { formatCount } from '../../lib/format.ts';

/** The pages of the form, in their order. */
export const steps = ['service', 'access', 'test'] as const;
export type Step = (typeof steps)[number];

/** Why a draft can't be saved. `field` is the member, with its index in a list: `definitions.2.name`. */
export interface Problem {
  readonly step: Step;
  readonly field: string;
  readonly message: string;
}

const maxPerSecond = 10_000;
const maxPerDay = 1_000_000_000;

/** In the order of the fields. `names` are those of the other connections. Main checks everything once more. */
export function problemsOf(draft: ConnectionDraft, names: readonly string[]): Problem[] {
  const found: Problem[] = [];
  const add = (step: Step, field: string, message: string | null): void => {
    if (message !== null) found.push({ step, field, message });
  };
  add('service', 'name', nameProblem(draft.name, names));
  add('service', 'baseUrl', urlProblem(draft.baseUrl.trim()));
  add('service', 'requestsPerSecond', countProblem(draft.requestsPerSecond, maxPerSecond));
  add('service', 'transfersPerDay', countProblem(draft.transfersPerDay, maxPerDay));
  const isEmptyCa = draft.extraCa?.trim() === '';
  add('service', 'extraCa', isEmptyCa ? 'Paste the certificate, or clear the checkbox.' : null);
  add('access', 'policies', draft.policies.length === 0 ? 'Add at least one policy.' : null);
  add('access', 'definitions', draft.definitions.length === 0 ? 'Add at least one token definition.' : null);
  const seen = new Set<string>();
  for (const [index, { name, label }] of draft.definitions.entries()) {
    const isTwice = seen.has(name.trim());
    seen.add(name.trim());
    const message = name.trim() === '' ? 'Enter its name at the service.' : isTwice ? 'Listed twice.' : null;
    add('access', `definitions.${index}.name`, message);
    add('access', `definitions.${index}.label`, label.trim() === '' ? 'Enter a name to show.' : null);
  }
  const isColon = draft.proxyUser.includes(':');
  add('access', 'proxyUser', isColon ? 'A proxy user name can’t contain a colon.' : null);
  return found;
}

function nameProblem(name: string, others: readonly string[]): string | null {
  const wanted = name.trim().toLowerCase();
  if (wanted === '') return 'Enter a name.';
  return others.some((other) => other.toLowerCase() === wanted)
    ? 'Another connection has this name. Enter a different one.'
    : null;
}

function urlProblem(text: string): string | null {
  if (!text.startsWith('https://')) return 'Start the URL with https://';
  if (!URL.canParse(text) || new URL(text).hostname === '')
    return 'Enter the whole URL, such as https://acme.example';
  const { username, password, search, hash } = new URL(text);
  if (username !== '' || password !== '') return 'Leave out the user name and password.';
  return search !== '' || hash !== '' ? 'Leave out everything from the ? or # on.' : null;
}

function countProblem(value: number, max: number): string | null {
  return Number.isInteger(value) && value >= 1 && value <= max ? null : `Enter 1 to ${formatCount(max)}.`;
}
