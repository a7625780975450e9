import { expect, it } from 'vitest';
import type { Layout } from '../../../electron/contract/models/batch.ts';
import { presetOf } from '../../../electron/contract/record-presets.ts';
import { hasPlace, isDelimited } from '../../../electron/contract/row-kinds.ts';

const records = { lines: true, columns: [{ name: 'A', start: 1, width: 4 }] };

it.each<[string, Partial<Layout>, boolean, boolean]>([
  ['delimited rows', {}, true, true],
  ['JSON Lines', { json: { rows: 'lines', pointers: ['/a'] } }, false, false],
  ['an array of JSON', { json: { rows: 'array', pointers: ['/a'] } }, false, false],
  ['lines of fixed width', { records }, true, false],
  ['records of one type', { records: presetOf('nacha') }, false, false],
  ['records without line ends', { records: { ...records, lines: false, bytes: 4 } }, false, false],
])('%s have a place in the file, and room for columns, or not', (_, layout, place, delimited) => {
  expect(hasPlace(layout)).toBe(place);
  expect(isDelimited(layout)).toBe(delimited);
});
