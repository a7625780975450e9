import { expect, it } from 'vitest';
import { torture } from '../../bench/torture.ts';

it(
  'exports the same bytes after its process is killed at eight random moments',
  { timeout: 240_000 },
  async () => {
    const report = await torture({ rows: 20_000, kills: 8, seed: 20_261_121 });
    expect(report).toMatchObject({ kills: 8, identical: true, halfWritten: false });
    expect(report.mostRepeats).toBeGreaterThan(0);
    expect(report.mostRepeats).toBeLessThanOrEqual(report.mayRepeat);
  },
);
