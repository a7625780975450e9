import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundleMove, killMoves } from '../../../faults/killed-moves.ts';

/* Files that are moved to another service: a killed process changes neither their bytes nor the report's sums. */

let bundle: Awaited<ReturnType<typeof bundleMove>>;
beforeAll(async () => {
  bundle = await bundleMove();
});
afterAll(() => {
  bundle.remove();
});

test('five files, killed five times', () => {
  const { killed, wrong, sum } = killMoves(bundle.file, { rows: 700, kills: 5, seed: 3 });
  expect(wrong).toEqual([]);
  expect(killed).toBeGreaterThan(2);
  expect(sum).toMatchObject({ rows: 3_500, finished: 5, failed: 5, left: 5 });
}, 120_000);
