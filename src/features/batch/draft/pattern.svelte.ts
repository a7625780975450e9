import { obscureText, newXorKey } from '../../../../electron/contract/obscured.ts';
import type { Failure } from '../../../../electron/contract/errors.ts';
import { matchExpression, type MatchExpression } from '../../../../electron/contract/match-expression.ts';
import type { ColumnPlan, MatchParts } from '../../../../electron/contract/models/batch.ts';
import type { DefinitionKind } from '../../../../electron/contract/models/connection.ts';
import type { Api } from '../../../lib/api.ts';

/** What a person filled in of what a matching value looks like, or a regular expression in RE2's syntax (`raw`). */
export interface PatternParts {
  by: 'digits' | 'domain' | 'raw';
  bin: string;
  lastFour: string;
  length: string;
  domain: string;
  raw: string;
}

export const emptyPattern: PatternParts = {
  by: 'digits',
  bin: '',
  lastFour: '',
  length: '',
  domain: '',
  raw: '',
};

/** Starts with the form that suits values of this kind. */
export const emptyPatternFor = (kind: DefinitionKind): PatternParts => ({
  ...emptyPattern,
  by: kind === 'email' ? 'domain' : kind === 'text' ? 'raw' : 'digits',
});

export const isEmptyPattern = ({ by: _, ...texts }: PatternParts): boolean =>
  Object.values(texts).every((text) => text === '');

const onlyDigits = (text: string): string => text.replace(/\D/g, '');
const domainOf = (text: string): string => text.trim().replace(/^@/, '');

/** What of a column's plan these parts make; nulls while they are empty, unfinished or contradict each other. */
export function planOf(
  kind: DefinitionKind,
  parts: PatternParts,
): { parts: MatchParts | null; pattern: string | null } {
  if (parts.by === 'raw') return { parts: null, pattern: parts.raw.trim() === '' ? null : parts.raw };
  const asked = partsOf(parts);
  return { parts: asked !== null && matchExpression(kind, asked) !== null ? asked : null, pattern: null };
}

/** The expression that main will make of the parts. */
export function buildPattern(kind: DefinitionKind, parts: PatternParts): MatchExpression | null {
  const { parts: asked, pattern } = planOf(kind, parts);
  if (pattern !== null) return { pattern, isFree: false };
  return asked === null ? null : matchExpression(kind, asked);
}

/** The form of a saved match. */
export function patternPartsOf({ parts, pattern }: Pick<ColumnPlan, 'parts' | 'pattern'>): PatternParts {
  if (parts === null) return { ...emptyPattern, by: 'raw', raw: pattern ?? '' };
  if (parts.by === 'domain') return { ...emptyPattern, ...parts };
  return { ...emptyPattern, ...parts, length: parts.length === null ? '' : String(parts.length) };
}

function partsOf(parts: PatternParts): MatchParts | null {
  if (parts.by === 'domain') {
    const domain = domainOf(parts.domain);
    return /^[^@\s]+\.[^@\s.]+$/.test(domain) ? { by: 'domain', domain } : null;
  }
  const length = onlyDigits(parts.length);
  return {
    by: 'digits',
    bin: onlyDigits(parts.bin),
    lastFour: onlyDigits(parts.lastFour),
    length: Number(length) === 0 ? null : Number(length),
  };
}

/**
 * Values to try an expression on, never from a file. The cards are the networks' published test numbers, the social
 * security numbers are in ranges that are never issued, the domains are reserved (RFC 2606).
 */
const sampleValues: Record<DefinitionKind, readonly string[]> = {
  card: ['4111111111111111', '5555555555554444', '378282246310005', '6011111111111117'],
  ssn: ['900-12-3456', '987-65-4329', '000-12-3456'],
  email: ['ada@example.com', 'bo.sample@example.org', 'cy@shop.example.com'],
  text: ['Ada Example', 'AB-1234', '2026-11-21'],
};

const usualLength: Record<DefinitionKind, number> = { card: 16, ssn: 9, email: 0, text: 10 };

/** Four samples at most: first a value that matches the parts, then some of the kind that may not. */
export function samplesFor(kind: DefinitionKind, parts: PatternParts): string[] {
  return [...new Set([...matchingSamples(kind, parts), ...sampleValues[kind]])].slice(0, 4);
}

function matchingSamples(kind: DefinitionKind, parts: PatternParts): string[] {
  if (parts.by === 'raw') return [];
  if (parts.by === 'domain') {
    const domain = domainOf(parts.domain);
    return domain === '' ? [] : [`ada@${domain}`, `ada@mail.${domain}`];
  }
  const bin = onlyDigits(parts.bin);
  const lastFour = onlyDigits(parts.lastFour);
  const length = onlyDigits(parts.length);
  if (bin === '' && lastFour === '' && length === '') return [];
  const middle = (length === '' ? usualLength[kind] : Number(length)) - bin.length - lastFour.length;
  if (middle < 0 && length !== '') return [];
  return [sampleNumber(bin, Math.max(0, middle), lastFour)];
}

/** Its check digit is wrong wherever a digit can be chosen, so it is nobody's card number. */
function sampleNumber(bin: string, middle: number, lastFour: string): string {
  const number = bin + '0'.repeat(middle) + lastFour;
  if (middle === 0 || !passesLuhn(number)) return number;
  return bin + '0'.repeat(middle - 1) + '1' + lastFour;
}

/** ISO/IEC 7812-1, annex B. */
function passesLuhn(number: string): boolean {
  const sum = Array.from(number)
    .reverse()
    .reduce((total, digit, position) => {
      const product = Number(digit) * (position % 2 === 0 ? 1 : 2);
      return total + (product > 9 ? product - 9 : product);
    }, 0);
  return sum % 10 === 0;
}

/** The main process tries one expression on the samples and on the person's own value. */
export class PatternTest {
  samples = $state.raw<readonly string[]>([]);
  /** In the order of the samples; null while there is no expression or no answer. */
  matches = $state.raw<readonly boolean[] | null>(null);
  /** Whether the person's own value matches; null while there is none. */
  own = $state<boolean | null>(null);
  /** Why the expression is refused. */
  failure = $state.raw<Failure | null>(null);
  /** Only the service knows the dialect: nothing can be tried here. */
  isLeftToService = $state(false);
  /** Reads the person's own value from its input: it is cleartext and stored nowhere else. */
  readOwn: () => string = () => '';

  matchCount = $derived(this.matches?.filter(Boolean).length ?? 0);

  readonly #api: Api;
  #turn = 0;
  #pattern: string | null = null;

  constructor(api: Api) {
    this.#api = api;
  }

  /** False when a later run began before the answer came: only the last answer counts. */
  async run(pattern: string | null, samples: readonly string[]): Promise<boolean> {
    this.#pattern = pattern;
    this.samples = samples;
    return await this.rerun();
  }

  /** The same expression again, because the person's own value changed. */
  async rerun(): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    const pattern = this.#pattern;
    if (pattern === null) {
      this.isLeftToService = false;
      this.#set(null, null, null);
      return true;
    }
    const text = this.readOwn();
    const xorKey = newXorKey();
    const own = text === '' ? null : { xorKey, obscured: obscureText(text, xorKey) };
    const outcome = await this.#api.call('batch.testPattern', { pattern, samples: [...this.samples], own });
    if (turn !== this.#turn) return false;
    this.isLeftToService = outcome.ok && outcome.value.matches === null;
    if (outcome.ok) this.#set(outcome.value.matches, outcome.value.own, null);
    else this.#set(null, null, outcome.failure);
    return true;
  }

  #set(matches: readonly boolean[] | null, own: boolean | null, failure: Failure | null): void {
    this.matches = matches;
    this.own = own;
    this.failure = failure;
  }
}
