import { afterAll, beforeAll, expect, it } from 'vitest';
import { openApp, type TestApp } from '../../support/batch-app.ts';
import { containers } from '../../fidelity/containers.ts';
import { naughtyStrings, random, spectrum, writtenByHand, type Case } from '../../fidelity/corpora.ts';
import { runCorrectedLists } from '../../fidelity/corrected-lists.ts';
import { checkGuesses, customerFiles } from '../../fidelity/customer-files.ts';
import { jsonCases, realJson, runJson } from '../../fidelity/json-files.ts';
import { runCases } from '../../fidelity/run-cases.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openApp({ scryptCost: 8 });
});
afterAll(() => app.close());

/** A part of `npm run fidelity`. */
it.each<[string, () => Case[]]>([
  ['csv-spectrum', spectrum],
  ['the big list of naughty strings', () => naughtyStrings().filter((_, i) => i % 8 === 0)],
  ['files written by hand', () => writtenByHand().filter((_, i) => i % 4 === 0)],
  ['random tables', () => random(40, 13)],
  ['files as customers have them', () => customerFiles(1, 5).filter((_, i) => i % 5 === 0)],
])('changes no byte of %s', { timeout: 120_000 }, async (_, cases) => {
  const report = await runCases(app, cases());
  expect(report.differing).toEqual([]);
  expect(report.identical).toBeGreaterThan(report.cases * 0.9);
});

it.each(Object.entries(containers))('changes no byte in %s', { timeout: 120_000 }, async (_, container) => {
  const report = await runCases(app, random(5, 17), null, container);
  expect(report.differing).toEqual([]);
  expect(report.identical).toBeGreaterThan(3);
});

it('changes no byte of JSON but in mapped strings', { timeout: 120_000 }, async () => {
  const cases = [...jsonCases('lines', 12, 3), ...jsonCases('array', 12, 4), ...realJson()];
  expect((await runJson(app, cases)).differing).toEqual([]);
});

it(
  'changes nothing that nobody corrected in lists that spreadsheets saved again',
  { timeout: 120_000 },
  async () => {
    const lists = await openApp();
    try {
      const report = await runCorrectedLists(lists, (at) => at % 7 === 0);
      expect(report.differing).toEqual([]);
    } finally {
      await lists.close();
    }
  },
);

it('reads no file wrongly without a question', { timeout: 120_000 }, async () => {
  const { right, asked, silent } = await checkGuesses(customerFiles(2, 11));
  expect(silent).toEqual([]);
  expect(right).toBeGreaterThan(asked);
});
