import type { MatchParts } from './models/batch.ts';
import type { DefinitionKind } from './models/connection.ts';

/** A regular expression in RE2's syntax, and whether its answer tells nothing but what the mask shows. */
export interface MatchExpression {
  readonly pattern: string;
  readonly isFree: boolean;
}

/** How many digits a value may have for its mask to show what is asked for, as `maskCard` and `maskDigits` count. */
const shownLengths = {
  cardStart: { min: 15, max: 19 },
  cardEnd: { min: 10, max: 19 },
  ssnEnd: { min: 9, max: 9 },
} as const;

/**
 * The expression that parts of a value stand for; null while they are empty or contradict each other. Main makes it of
 * the plan's parts; the window only shows it. It is free where equal masks always get equal answers, so a free one is
 * limited to the values whose mask shows these parts. RE2 has no lookaround, so lengths are calculated here.
 */
export function matchExpression(kind: DefinitionKind, parts: MatchParts): MatchExpression | null {
  if (parts.by === 'domain') {
    const domain = parts.domain.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
    return { pattern: `(?i)^[^@\\s]+@${domain}$`, isFree: kind === 'email' };
  }
  const { bin, lastFour, length } = parts;
  const fixed = bin.length + lastFour.length;
  if (fixed === 0 && length === null) return null;
  if (length !== null && length < fixed) return null;
  if (kind === 'text' && fixed === 0) return { pattern: `(?s)^.{${length}}$`, isFree: true };
  const shown = shownLength(kind, parts);
  const isFree = shown !== null && (length === null || (length >= shown.min && length <= shown.max));
  const { min, max } = length !== null || !isFree ? { min: length, max: length } : shown;
  return { pattern: `^${bin}[0-9]${times(min, max, fixed)}${lastFour}$`, isFree };
}

function shownLength(
  kind: DefinitionKind,
  { bin, lastFour }: { bin: string; lastFour: string },
): { min: number; max: number } | null {
  if (bin.length > 6 || lastFour.length > 4) return null;
  if (kind === 'card') return bin === '' ? shownLengths.cardEnd : shownLengths.cardStart;
  return kind === 'ssn' && bin === '' ? shownLengths.ssnEnd : null;
}

function times(min: number | null, max: number | null, fixed: number): string {
  if (min === null || max === null) return '*';
  return min === max ? `{${min - fixed}}` : `{${min - fixed},${max - fixed}}`;
}
