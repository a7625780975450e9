import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDamagedRecords } from '../../fidelity/damaged-records.ts';
import { realRecords } from '../../fidelity/real-records.ts';
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

  it(
    'do so as programs write them, and send nothing foreign of damaged ones',
    { timeout: 120_000 },
    async () => {
      const reader = openRecordReader();
      const real = await realRecords();
      const report = await runRecordCases(app, real, reader.read);
      expect(report.differing).toEqual([]);
      const damaged = await runDamagedRecords(
        app,
        real,
        async (one) => new Set((await reader.read(one)).flatMap(([values]) => values ?? [])),
      );
      reader.close();
      expect(damaged.differing).toEqual([]);
      // Three files of six have no line ends, and each is damaged nine times.
      expect(damaged.refused['file.record-length']).toBeGreaterThan(20);
    },
  );
});
