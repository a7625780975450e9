import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { bundleMigration, killMigration } from '../../../faults/killed-migration.ts';
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

test('between two services with processes of their own, the app killed three times', async () => {
  const { file, remove } = await bundleMigration();
  onTestFinished(remove);
  const { killed, wrong, sum } = await killMigration(file, { rows: 600, kills: 3, seed: 2 });
  expect(wrong).toEqual([]);
  expect(killed).toBe(3);
  expect(sum).toMatchObject({ rows: 3_000, finished: 5, failed: 5 });
}, 180_000);
