import type { DefinitionKind } from './models/connection.ts';

/** What is looked for in every cell, with the one finder that the masks have. Apart from the models, since the window bundles no schema. */
export const valueKinds = ['card', 'ssn', 'iban', 'email'] as const;
export type ValueKind = (typeof valueKinds)[number];

/** What a definition takes them as. One of texts takes any of them. */
export const definedAs = {
  card: 'card',
  ssn: 'ssn',
  iban: 'text',
  email: 'email',
} as const satisfies Record<ValueKind, DefinitionKind>;

/** Such a mark stands on each side of a token in a text, so that it is found again. A colon parts what is in between. */
export const markPattern = /^[!-/;-@[-`{-~§«»‹›]{1,8}$/;

/** What stands around tokens in a text, where nobody chooses other marks. */
export const usualMarks = { open: '[[', close: ']]' } as const;
