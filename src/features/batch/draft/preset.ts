import type { ColumnPlan } from '../../../../electron/contract/models/batch.ts';
import type { Desk } from '../../../desk.svelte.ts';
import { actWords } from '../words.ts';

/** What is known beforehand of a batch that is to be tried again. '' is not known, or not known here. */
export interface Preset {
  operation: ColumnPlan['operation'];
  definition: string;
  policy: string;
}

export function sayPreset({ operation, definition, policy }: Preset, desk: Desk): string {
  const parts = [actWords[operation], definition === '' ? '' : desk.definition(definition).label];
  if (policy !== '') parts.push(`policy ${policy}`);
  return parts.filter((part) => part !== '').join(' · ');
}
