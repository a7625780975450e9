import type { Column } from '../../../electron/contract/models/batch.ts';
import type { InventoryColumn, InventoryFile } from '../../../electron/contract/models/inventory.ts';

export const nothingFound = (): InventoryColumn['found'] => ({
  card: { are: 0, contain: 0, first: [] },
  ssn: { are: 0, contain: 0, first: [] },
  iban: { are: 0, contain: 0, first: [] },
  email: { are: 0, contain: 0, first: [] },
});

/** What a column of the fake file holds, by its name. */
function foundIn(name: string): InventoryColumn['found'] {
  const found = nothingFound();
  if (name === 'card_number')
    return { ...found, card: { are: 499_911, contain: 12, first: [1, 2, 3, 4, 5] } };
  if (name === 'note' || name === 'customer_name')
    return {
      ...found,
      card: { are: 0, contain: 212, first: [71, 1_204, 20_413, 120_331, 480_002] },
      iban: { are: 0, contain: 3, first: [88_012, 88_013, 310_777] },
      email: { are: 41, contain: 1_804, first: [7, 19, 23, 104, 109] },
    };
  return found;
}

/** A file of these columns, with what some of them hold. */
export const inventoryOf = (
  columns: readonly Pick<Column, 'index' | 'name'>[],
  over: Partial<InventoryFile> = {},
): InventoryFile => ({
  ...{ name: 'disputes-q3.csv', sheet: null, failure: null, ownReading: false, rows: 500_000, leftOut: 37 },
  columns: columns.map(({ index, name }) => ({
    ...{ index, name, blank: name.startsWith('note') ? 411_020 : 48, leaves: null },
    tokens: name.endsWith('_token') ? 499_915 : 0,
    found: foundIn(name),
  })),
  outside: { lines: 0, found: nothingFound() },
  ...over,
});
