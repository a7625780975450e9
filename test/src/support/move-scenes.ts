import { done, failed } from '../../../electron/contract/errors.ts';
import type { InventoryFile } from '../../../electron/contract/models/inventory.ts';
import type { FakeOptions } from './fake-bridge.ts';
import * as data from './fake-data.ts';
import { inventoryOf, nothingFound } from './fake-inventory.ts';

/** Files with tokens of an old service, and a second connection of production. */
const second = { ...data.production, id: 'acme-us', name: 'Acme US', baseUrl: 'https://us.tokens.example' };
const state = data.appState({
  active: { connectionId: data.production.id, policy: 'analyst' },
  connections: [data.production, second, data.staging],
});

const nameOf = (n: number): string =>
  n === 6
    ? 'settlement-with-a-very-long-name-that-a-card-scheme-sends-every-day-of-the-year-2026-11-25.csv'
    : `cards-2026-${String(n + 1).padStart(2, '0')}.csv`;
const names = (count: number): string[] => Array.from({ length: count }, (_, n) => nameOf(n));

function fileOf(name: string, n: number): InventoryFile {
  const rows = 100_000 + n * 311;
  const { columns } = inventoryOf(data.preview.columns);
  return inventoryOf([], {
    ...{ name, rows, leftOut: 0 },
    columns: columns.map((column) => ({
      ...column,
      blank: 12,
      tokens: column.tokens > 0 ? rows - 12 : 0,
      found: n % 5 === 3 ? column.found : nothingFound(),
    })),
    ...(n === 5 && { failure: { code: 'row.field-too-long', subject: '310,001' } }),
  });
}

const withFiles = (count: number): FakeOptions => ({
  state,
  answers: {
    'batch.chooseFiles': () =>
      done({
        source: { ...data.preview.source, name: nameOf(0) },
        queue: data.queueOf(names(count), {}),
      }),
    'batch.compareQueue': () => done({}),
    'batch.startQueue': () => failed('reveal.reason-required'),
    'inventory.look': () => done({ files: names(count).map(fileOf), more: 0 }),
  },
});

export const moveScenes: Record<string, FakeOptions> = {
  move: withFiles(3),
  'move-forty': withFiles(40),
};
