import { readFileSync } from 'node:fs';
import Papa from 'papaparse';
import { expect, it } from 'vitest';
import { explainInvalid } from '../../../electron/batch/reading/fit.ts';

const file = new URL('../../../resources/samples/disputes.csv', import.meta.url);
const rows = Papa.parse<Record<string, string>>(readFileSync(file, 'utf8'), { header: true }).data;

/** Whoever takes the sample and does what is suggested must get results, and a few failed rows to look at. */
it.each([
  ['card_number', 'card'],
  ['ssn', 'ssn'],
] as const)('%s of the sample can be tokenized, but for a few values', (column, kind) => {
  const values = rows.map((row) => row[column] ?? '').filter((value) => value !== '');
  expect(values.length).toBeGreaterThan(150);
  const invalid = values.filter((value) => explainInvalid(value, kind) !== null);
  expect(invalid.length / values.length).toBeLessThan(0.05);
});
