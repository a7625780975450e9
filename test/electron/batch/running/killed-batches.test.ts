import { expect, it } from 'vitest';
import { runLives } from '../../../faults/lives.ts';

/** A part of `node test/faults/kills.ts`. */
it.each(['kill', 'full'] as const)(
  'a batch that is read, run, corrected and exported comes to the same bytes, whatever its disk does (%s)',
  { timeout: 240_000 },
  async (what) => {
    const { phases, wrong } = await runLives(what, 12);
    expect(wrong).toEqual([]);
    expect(Object.keys(phases)).toEqual(expect.arrayContaining(['running', 'mending', 'exporting']));
  },
);
