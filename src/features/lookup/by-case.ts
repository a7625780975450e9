import type { Lookup } from '../../../electron/contract/models/lookup.ts';

export interface CaseGroup {
  caseReference: string;
  lookups: Lookup[];
}

/** Gathered by case, the cases in the order of their latest lookup. */
export function byCase(lookups: Lookup[]): CaseGroup[] {
  const groups = new Map<string, Lookup[]>();
  for (const lookup of lookups) {
    const known = groups.get(lookup.caseReference);
    if (known === undefined) groups.set(lookup.caseReference, [lookup]);
    else known.push(lookup);
  }
  return [...groups].map(([caseReference, of]) => ({ caseReference, lookups: of }));
}
