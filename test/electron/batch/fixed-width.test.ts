import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApp, type TestApp } from '../../support/batch-app.ts';
import {
  fixedWidthCorpora,
  hasPython,
  openRecordReader,
  runRecordCases,
} from '../../fidelity/fixed-width.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openApp();
});
afterAll(() => app.close());

/** A part of `npm run fidelity`. */
describe.skipIf(!hasPython())('records of fixed width', () => {
  it.each(Object.entries(fixedWidthCorpora))(
    'keep every byte outside the changed fields, and come back as they were: %s',
    { timeout: 120_000 },
    async (_, cases) => {
      const reader = openRecordReader();
      const report = await runRecordCases(app, cases(20), reader.read);
      reader.close();
      expect(report.differing).toEqual([]);
    },
  );
});
