import type { Lookup } from '../contract/models/lookup.ts';

/** Enough for a day of disputes; the oldest leave first. */
const kept = 200;

/** The lookups of this run, newest first: token, mask, case, time. Held in memory and never with cleartext. */
export interface Recent {
  add(lookup: Lookup): void;
  find(id: string): Lookup | undefined;
  markRevealed(id: string, at: string): void;
  list(connectionId: string): Lookup[];
  clear(): void;
}

export function createRecent(): Recent {
  let lookups: Lookup[] = [];
  return {
    add: (lookup) => {
      lookups = [lookup, ...lookups].slice(0, kept);
    },
    find: (id) => lookups.find((lookup) => lookup.id === id),
    markRevealed: (id, at) => {
      lookups = lookups.map((lookup) => (lookup.id === id ? { ...lookup, revealedAt: at } : lookup));
    },
    list: (connectionId) => lookups.filter((lookup) => lookup.connectionId === connectionId),
    clear: () => {
      lookups = [];
    },
  };
}
