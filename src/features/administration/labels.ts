import type { DefinitionDraft } from '../../../electron/contract/models/administration.ts';
import type { DefinitionKind } from '../../../electron/contract/models/connection.ts';

export const kindLabels: Record<DefinitionKind, string> = {
  card: 'Card number',
  ssn: 'Social security number',
  email: 'E-mail address',
  text: 'Free text',
};

export const luhnLabels: Record<NonNullable<DefinitionDraft['luhn']>, string> = {
  invalid: 'Never passes the Luhn check: can’t be taken for a card',
  valid: 'Always passes the Luhn check',
  any: 'Either; values need not pass it',
};

/** The most that a mask may show, by kind. The service decides; these are the built-in one's. */
export const maskLimits: Record<DefinitionKind, { keepFirst: number | null; keepLast: number | null }> = {
  card: { keepFirst: 6, keepLast: 4 },
  ssn: { keepFirst: null, keepLast: 4 },
  email: { keepFirst: 3, keepLast: null },
  text: { keepFirst: 3, keepLast: 3 },
};

const characters = (count: number, kind: DefinitionKind | null): string => {
  const unit = kind === 'card' || kind === 'ssn' ? 'digit' : 'character';
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
};

/** What a mask shows: `First 6 and last 4 digits`. */
export function describeMask({
  kind,
  keepFirst,
  keepLast,
}: {
  kind: DefinitionKind | null;
  keepFirst: number | null;
  keepLast: number | null;
}): string {
  const [first, last] = [keepFirst ?? 0, keepLast ?? 0];
  if (first > 0 && last > 0) return `First ${first} and last ${characters(last, kind)}`;
  if (first > 0) return `First ${characters(first, kind)}`;
  if (last > 0) return `Last ${characters(last, kind)}`;
  return 'Nothing';
}

/** Letters, digits, dot, hyphen and underscore, as in an API call's tokenName. */
const objectName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** Why a name can't be given to a new definition or policy; null where it can. */
export function nameProblem(name: string, taken: readonly { name: string }[]): string | null {
  const text = name.trim();
  if (text === '') return null;
  if (!objectName.test(text))
    return 'Up to 64 letters, digits, dots, hyphens and underscores, beginning with a letter or digit';
  return taken.some((one) => one.name === text) ? 'This name is taken; names stay taken for good' : null;
}
