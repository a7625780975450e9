import type { Measure } from './figures.ts';
import { torture } from './torture.ts';

/** No figure of speed: whether a job survives 50 kills. SEED repeats a run. */
export const measureTorture: Measure = async () => {
  const report = await torture({ rows: 200_000, kills: 50, seed: Number(process.env.SEED ?? 1) });
  const { kills, identical, halfWritten, mostRepeats, mayRepeat, killsInExport } = report;
  return [
    {
      name: 'kills survived',
      value: kills,
      unit: 'kills',
      bar: 'byte-identical, no more sent again than was in flight',
      holds: identical && !halfWritten && mostRepeats <= mayRepeat,
      note: `at most ${mostRepeats} values sent again, ${mayRepeat} may be in flight; ${killsInExport} kills while exporting`,
    },
  ];
};
