import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { ColumnProfile } from '../../contract/models/rows.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { createDistinctCounter } from '../planning/preflight.ts';
import { cardBrand, lengthOf } from './row-conditions.ts';
import { showCell, sourceOf } from './result-rows.ts';
import { lookAtRows, type JobRows } from './look-at-rows.ts';
import { isBlank } from '../../util/blank.ts';

type Bar = ColumnProfile['bars'][number];

/** As many of each kind are answered; what is beyond the most different ones is not counted. */
const maxBars = 8;
const maxDifferent = 10_000;

/**
 * What a column holds, in figures that a mask tells: schemes, first six digits, mail domains, lengths, and how many
 * cells are blank or failed. Distinct values are counted, as they are before a run, and not told; what the window wrote is
 * not among them.
 * Failures: those of reading; service.cancelled.
 */
export async function profileColumn(
  rows: JobRows,
  column: number,
  { signal, report }: { signal: AbortSignal; report: (share: number) => void },
): Promise<Outcome<ColumnProfile>> {
  const source = sourceOf(rows.view, column);
  const distinct = createDistinctCounter();
  const counts = { rows: 0, blank: 0, failed: 0, unmatched: 0 };
  const bars = { brand: createTally(), begins: createTally(), ends: createTally(), length: createTally() };
  const looked = await lookAtRows(
    rows,
    (loaded, index) => {
      counts.rows += 1;
      // Which of its fields is the column's is not known: it is no value of it.
      if (loaded.results.flaws[index] !== undefined) {
        counts.failed += 1;
        return;
      }
      const { text, state } = showCell(loaded, index, rows.view, column);
      const input = openCleartext(loaded.chunk.table.value(index, source));
      const isTyped = loaded.chunk.typed.has(loaded.chunk.start.row + index);
      if (!isBlank(input) && !isTyped) distinct.add(input, 0);
      if (state === 'failed') counts.failed += 1;
      else if (state === 'unmatched') counts.unmatched += 1;
      else if (state === 'blank' || (isBlank(text) && state !== 'matched')) counts.blank += 1;
      // Behind such a cell there is no value.
      else if (state !== 'matched') {
        bars.length.add(String(lengthOf(text)));
        const brand = cardBrand(text);
        if (brand !== null) bars.brand.add(brand);
        if (brand !== null && /^\d{6}\D*•/.test(text)) bars.begins.add(text.slice(0, 6));
        const at = text.lastIndexOf('@');
        if (at > 0) bars.ends.add(text.slice(at).toLowerCase().slice(0, 200));
      }
    },
    { withResults: true, columns: source + 1, signal, report },
  );
  if (!looked.ok) return looked;
  if (signal.aborted) return failed('service.cancelled');
  report(1);
  return done({
    column,
    ...counts,
    distinct: distinct.count,
    distinctExact: distinct.exact,
    bars: (['brand', 'begins', 'ends', 'length'] as const).flatMap((test) => bars[test].largest(test)),
  });
}

function createTally(): { add: (text: string) => void; largest: (test: Bar['test']) => Bar[] } {
  const counts = new Map<string, number>();
  return {
    add(text) {
      const known = counts.get(text);
      if (known !== undefined || counts.size < maxDifferent) counts.set(text, (known ?? 0) + 1);
    },
    largest: (test) =>
      [...counts]
        .map(([text, count]) => ({ test, text, count }))
        .sort((a, b) => b.count - a.count)
        .slice(0, maxBars),
  };
}
