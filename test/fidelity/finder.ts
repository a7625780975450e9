import type { ValueKind } from '../../electron/contract/value-kinds.ts';
import { valueSpans } from '../../electron/masking/value-spans.ts';
import { createNotes } from '../support/notes.ts';

const all: ReadonlySet<ValueKind> = new Set(['card', 'ssn', 'iban', 'email']);

export interface FinderFigures {
  /** Values that stand in the texts, those of them that are found where they stand, and what else is found. */
  readonly written: number;
  readonly found: number;
  readonly wrong: number;
}

/** How well values are found in so many cells of notes, by kind, and how many cells are refused since one is spelled. */
export function measureFinder(
  cells: number,
  seed: number,
): { readonly kinds: Readonly<Record<ValueKind, FinderFigures>>; readonly refused: number } {
  const none = { written: 0, found: 0, wrong: 0 };
  const kinds = { card: { ...none }, ssn: { ...none }, iban: { ...none }, email: { ...none } };
  const notes = createNotes(seed);
  let refused = 0;
  for (let cell = 0; cell < cells; cell++) {
    const { text, values } = notes.next();
    const spans = valueSpans(text, all);
    if (!spans.ok) refused += 1;
    for (const { kind } of values) kinds[kind].written += 1;
    for (const { kind, from, to } of spans.ok ? spans.value : []) {
      const isOne = values.some(
        (one) => one.kind === kind && one.at === from && one.value.length === to - from,
      );
      kinds[kind][isOne ? 'found' : 'wrong'] += 1;
    }
  }
  return { kinds, refused };
}
