import { expect, test } from 'vitest';
import { createRunFinder, textOf } from '../../../../electron/batch/output/digit-runs.ts';

/** Runs of at least 13 digits in a piece of a text, and places where digits of other forms may be. */
function foundIn(text: string, from: number, to: number) {
  const runs: string[] = [];
  const others: number[] = [];
  const find = createRunFinder(
    ',',
    13,
    (run) => runs.push(textOf(run)),
    (position) => others.push(position),
  );
  find(Buffer.from(text, 'latin1'), from, to);
  return { runs, others };
}

const card = '4111111111111';

test('a piece ends where it is said to, whatever stands behind it', () => {
  expect(foundIn(`${card}\u00a0`, 0, 13)).toEqual({ runs: [card], others: [] });
  expect(foundIn(`${card}\u00a01`, 0, 14)).toEqual({ runs: [card], others: [0] });
  expect(foundIn(`${card}1`, 0, 12)).toEqual({ runs: [], others: [] });
});

test.each([Uint8Array, Uint16Array])('a run of a million digits in %o is told as it stands', (unitsOf) => {
  const digits = '41'.repeat(500_000);
  const runs: string[] = [];
  const find = createRunFinder(
    ',',
    13,
    (run) => runs.push(textOf(run)),
    () => undefined,
  );
  // Within longer memory, as a chunk's units may be.
  const units = unitsOf.from(Buffer.from(`xyz,${digits},z`)).subarray(2);
  find(units, 0, units.length);
  expect(runs.map((run) => run.length)).toEqual([digits.length]);
  expect(runs[0] === digits).toBe(true);
});
