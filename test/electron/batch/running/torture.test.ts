import { expect, it } from 'vitest';
import { torture } from '../../../bench/torture.ts';

it(
  'exports the same bytes after its process is killed at eight random moments',
  { timeout: 240_000 },
  async () => {
    const report = await torture({ rows: 20_000, kills: 8, seed: 20_261_121 });
    expect(report).toMatchObject({ kills: 8, identical: true, halfWritten: false });
    expect(report.killsInExport).toBeGreaterThan(0);
    expect(report.mostRepeats).toBeGreaterThan(0);
    expect(report.mostRepeats).toBeLessThanOrEqual(report.mayRepeat);
  },
);

it(
  'exports the same masks after its process is killed, and does not begin anew',
  { timeout: 240_000 },
  async () => {
    const rows = 1_500;
    const report = await torture({ rows, kills: 3, seed: 20_261_122, operation: 'mask' });
    expect(report).toMatchObject({ kills: 3, identical: true, halfWritten: false });
    expect(report.mostRepeats).toBeLessThan(rows / 2);
  },
);
