import type { ColumnPlan } from '../../../../electron/contract/models/batch.ts';
import {
  definedAs,
  markPattern,
  usualMarks,
  type ValueKind,
  valueKinds,
} from '../../../../electron/contract/value-kinds.ts';
import type { AppStore } from '../../../lib/app-store.svelte.ts';

export type InsidePlan = NonNullable<ColumnPlan['inside']>;

export const valueNames: Readonly<Record<ValueKind, string>> = {
  card: 'Cards',
  ssn: 'Social security numbers',
  iban: 'IBANs',
  email: 'E-mail addresses',
};

/** The definitions that take values of a kind; one of texts takes any. */
export const definitionsFor = (kind: ValueKind, app: Pick<AppStore, 'definitions'>) =>
  app.definitions.filter((one) => one.kind === definedAs[kind] || one.kind === 'text');

/** Of IBANs only one that is named so is proposed: a text may be anything else. */
function proposed(kind: ValueKind, app: Pick<AppStore, 'definitions'>): string | undefined {
  const fitting = definitionsFor(kind, app).filter((one) => one.kind === definedAs[kind]);
  const named =
    kind === 'iban' ? fitting.filter(({ name, label }) => /iban/i.test(`${name} ${label}`)) : fitting;
  return named[0]?.name;
}

/** A column's plan for the values inside its texts. `chosen`: the definition that was chosen for whole values. */
export function insidePlan(
  chosen: string,
  before: InsidePlan | undefined,
  app: Pick<AppStore, 'definitions'>,
): Partial<Pick<ColumnPlan, 'definition' | 'inside'>> {
  const definitions: { [K in ValueKind]?: string | undefined } = { ...before?.definitions };
  if (before === undefined)
    for (const kind of valueKinds) {
      const isChosen = app.definitions.some(
        ({ name, kind: own }) => name === chosen && own === definedAs[kind],
      );
      const name = isChosen && kind !== 'iban' ? chosen : proposed(kind, app);
      if (name !== undefined) definitions[kind] = name;
    }
  return withInside({
    open: before?.open ?? usualMarks.open,
    close: before?.close ?? usualMarks.close,
    definitions,
  });
}

/** The first definition stands for the column where there is room for one. */
export const withInside = (inside: InsidePlan): Partial<Pick<ColumnPlan, 'definition' | 'inside'>> => {
  const first = valueKinds.flatMap((kind) => inside.definitions[kind] ?? [])[0];
  return { inside, ...(first !== undefined && { definition: first }) };
};

export const isMark = (text: string): boolean => markPattern.test(text);

export const isCompleteInside = ({ open, close, definitions }: InsidePlan): boolean =>
  isMark(open) && isMark(close) && Object.values(definitions).length > 0;
