import { afterAll, beforeAll, expect, it } from 'vitest';
import { openApp, type TestApp } from '../../support/batch-app.ts';
import { naughtyStrings, random, spectrum, writtenByHand, type Case } from '../../fidelity/corpora.ts';
import { runCases } from '../../fidelity/run-cases.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openApp();
});
afterAll(() => app.close());

/** A part of `npm run fidelity`. */
it.each<[string, () => Case[]]>([
  ['csv-spectrum', spectrum],
  ['the big list of naughty strings', () => naughtyStrings().filter((_, i) => i % 8 === 0)],
  ['files written by hand', () => writtenByHand().filter((_, i) => i % 2 === 0)],
  ['random tables', () => random(120, 13)],
])('changes no byte of %s', { timeout: 120_000 }, async (_, cases) => {
  const report = await runCases(app, cases());
  expect(report.differing).toEqual([]);
  expect(report.identical).toBeGreaterThan(report.cases * 0.9);
});
