import type { ColumnPlan } from '../../../../electron/contract/models/batch.ts';
import type { DefinitionKind } from '../../../../electron/contract/models/connection.ts';
import type { AppStore } from '../../../app-store.svelte.ts';
import { actWords } from '../labels.ts';

/** What a person says about the values to keep; made into a regular expression in RE2's syntax. */
export interface PatternParts {
  by: 'digits' | 'domain' | 'raw';
  bin: string;
  lastFour: string;
  length: string;
  domain: string;
  raw: string;
}

export const noPattern: PatternParts = {
  by: 'digits',
  bin: '',
  lastFour: '',
  length: '',
  domain: '',
  raw: '',
};

export const digits = (text: string): string => text.replace(/\D/g, '');
/** What a person most likely says about values of a kind. */
export const noPatternOf = (kind: DefinitionKind): PatternParts => ({
  ...noPattern,
  by: kind === 'email' ? 'domain' : kind === 'text' ? 'raw' : 'digits',
});

export const isEmpty = ({ by: _, ...said }: PatternParts): boolean =>
  Object.values(said).every((text) => text === '');

const literal = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Null while nothing, or nothing possible, is said. RE2 has no lookaround, so lengths are counted out here. */
export function buildPattern(parts: PatternParts): string | null {
  switch (parts.by) {
    case 'raw':
      return parts.raw.trim() === '' ? null : parts.raw;
    case 'domain': {
      const domain = parts.domain.trim().replace(/^@/, '');
      return domain === '' ? null : `(?i)^[^@]+@${literal(domain)}$`;
    }
    case 'digits': {
      const bin = digits(parts.bin);
      const lastFour = digits(parts.lastFour);
      const length = digits(parts.length);
      if (bin === '' && lastFour === '' && length === '') return null;
      if (length === '') return `^${bin}\\d*${lastFour}$`;
      const middle = Number(length) - bin.length - lastFour.length;
      return middle < 0 ? null : `^${bin}\\d{${middle}}${lastFour}$`;
    }
  }
}

/** What is known beforehand of a batch that is to be tried again. '' is not known, or not known here. */
export interface Preset {
  operation: ColumnPlan['operation'];
  definition: string;
  policy: string;
}

export function formatPreset({ operation, definition, policy }: Preset, app: AppStore): string {
  const parts = [actWords[operation], definition === '' ? '' : app.definition(definition).label];
  if (policy !== '') parts.push(`policy ${policy}`);
  return parts.filter((part) => part !== '').join(' · ');
}
