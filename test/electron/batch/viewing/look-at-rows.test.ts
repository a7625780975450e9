import { afterEach, expect, it, vi } from 'vitest';
import { lookAtRows } from '../../../../electron/batch/viewing/look-at-rows.ts';
import { done } from '../../../../electron/contract/errors.ts';
import { jobRowsOf } from '../../../support/job-rows.ts';
import { valueOf } from '../../../support/batch-app.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

it('gives others their turn after each row that could not be sent, should it take long', async () => {
  let now = performance.now();
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const { entries, load } = jobRowsOf(['1', '2', '3', '4']);
  const happened: string[] = [];
  const looked = await lookAtRows(
    {
      entries,
      async loadNext(index, needed) {
        const { chunk, results } = valueOf(await load(index, needed));
        return done({ chunk, results: { ...results, flaws: { 1: 'row.malformed', 2: 'row.malformed' } } });
      },
    },
    (_, index) => {
      happened.push(`row ${index}`);
      setImmediate(() => happened.push(`other ${index}`));
      now += 10;
    },
    { withResults: true, signal: new AbortController().signal, report: () => undefined },
  );
  valueOf(looked);
  expect(happened).toEqual(['row 0', 'other 0', 'row 1', 'other 1', 'row 2', 'other 2', 'row 3']);
});
