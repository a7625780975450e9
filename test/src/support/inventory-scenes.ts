import { done, failed } from '../../../electron/contract/errors.ts';
import type { InventoryFile } from '../../../electron/contract/models/inventory.ts';
import { inProduction } from './batch-scenes.ts';
import type { FakeOptions } from './fake-bridge.ts';
import * as data from './fake-data.ts';
import { inventoryOf, nothingFound } from './fake-inventory.ts';

const state = inProduction;
const { columns } = data.preview;

const planned: InventoryFile = inventoryOf(columns, {
  columns: inventoryOf(columns).columns.map((column) =>
    column.name === 'card_token' ? { ...column, leaves: 499_915 } : column,
  ),
  outside: { lines: 2, found: { ...nothingFound(), card: { are: 0, contain: 2, first: [] } } },
});

/** As a system exports a customer, column by column. */
const fortyNames = Array.from({ length: 40 }, (_, n) =>
  n === 3
    ? 'card_number'
    : n === 17
      ? 'note'
      : n === 21
        ? 'mandate_reference_of_the_first_collection'
        : `field_${n + 1}`,
);
const forty = fortyNames.map((name, index) => ({
  ...{ index, name, looksLike: null, content: null, masked: false },
}));

const fileOf = (name: string, over: Partial<InventoryFile> = {}): InventoryFile =>
  inventoryOf([], { name: `archive-2026/${name}`, rows: 12_400, leftOut: 0, ...over });
const emptyColumns = inventoryOf([
  { index: 0, name: 'id' },
  { index: 1, name: 'amount' },
]).columns;
const manyFiles: InventoryFile[] = [
  fileOf('cards/2026-01.csv', {
    columns: inventoryOf([
      { index: 0, name: 'card_number' },
      { index: 1, name: 'note' },
    ]).columns,
  }),
  fileOf('cards/2026-02.csv', { columns: inventoryOf([{ index: 0, name: 'card_number' }]).columns }),
  fileOf('contracts/scan.pdf', { failure: { code: 'file.not-a-table', subject: 'PDF document' }, rows: 0 }),
  fileOf('customers.xlsx', {
    sheet: 'Customers',
    columns: inventoryOf([{ index: 2, name: 'customer_name' }]).columns,
  }),
  fileOf('customers.xlsx', { sheet: 'Countries', columns: emptyColumns }),
  fileOf(
    'settlement/a-very-long-name-of-a-settlement-file-that-a-card-scheme-sends-every-day-2026-11-25.csv',
    {
      columns: inventoryOf([{ index: 0, name: 'card_number' }]).columns,
      failure: { code: 'file.changed', subject: 'settlement.csv' },
    },
  ),
  ...Array.from({ length: 9 }, (_, n) => fileOf(`amounts/2026-${n + 1}.csv`, { columns: emptyColumns })),
];

export const inventoryScenes: Record<string, FakeOptions> = {
  inventory: { state, answers: { 'inventory.look': () => done({ files: [planned], more: 0 }) } },
  'inventory-none': {
    state,
    answers: {
      'inventory.look': () =>
        done({
          files: [
            inventoryOf(columns, {
              leftOut: 0,
              columns: inventoryOf(columns).columns.map((column) => ({
                ...column,
                tokens: 0,
                found: nothingFound(),
              })),
            }),
          ],
          more: 0,
        }),
    },
  },
  'inventory-busy': { state, looking: { share: 0.43, rows: 215_000, file: 'disputes-q3.csv' } },
  'inventory-failed': {
    state,
    fail: { 'inventory.look': { code: 'file.changed', subject: 'disputes-q3.csv' } },
  },
  'inventory-cut': {
    state,
    answers: {
      'inventory.look': () =>
        done({
          files: [{ ...planned, failure: { code: 'row.field-too-long', subject: '310,001' } }],
          more: 0,
        }),
    },
  },
  'inventory-forty': {
    state,
    answers: {
      'batch.preview': () =>
        done({
          ...data.preview,
          columns: forty,
          rows: data.preview.rows.map((row) => fortyNames.map((_, n) => row[n % row.length] ?? '')),
          above: [fortyNames],
          notices: [],
        }),
      'inventory.look': () => done({ files: [inventoryOf(forty)], more: 0 }),
    },
  },
  'inventory-files': { state, answers: { 'inventory.look': () => done({ files: manyFiles, more: 312 }) } },
  'inventory-files-busy': {
    state,
    looking: { share: 0.21, rows: 1_204_311, file: 'archive-2026/settlement/2026-11-25.csv' },
  },
  'inventory-files-failed': {
    state,
    answers: { 'inventory.look': () => failed('file.empty') },
  },
};
