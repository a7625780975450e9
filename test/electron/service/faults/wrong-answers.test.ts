import { expect, it } from 'vitest';
import { applyAnswer, type Slot } from '../../../../electron/batch/running/coalescing.ts';
import { createSameAnswers } from '../../../../electron/batch/running/same-answers.ts';
import { rowStates } from '../../../../electron/batch/storing/results.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import { readAnswer, rightAnswers, wrongAnswers } from '../../../faults/wrong-answers.ts';
import { runWrongService } from '../../../faults/wrong-at-random.ts';

const call = { operation: 'BatchTokenize', policy: 'P', definition: 'card' } as const;
const tokenOf = (value: string): string => `tok:${value}`;

it.each(wrongAnswers)('$fault: $expected', async ({ expected, answer }) => {
  const slots = Array.from({ length: 4 }, (_, n): Slot => ({
    ref: String(n),
    value: `src${n}x`,
    row: n + 1,
    state: 'pending',
    text: cleartext(''),
    request: null,
  }));
  const at = 2;
  const outcome = await readAnswer(call, slots, (part) => {
    const right = rightAnswers(part, tokenOf);
    return part.length === 1 && expected === 'service.mismatched-answer'
      ? answer(right, 0, part)
      : answer(right, Math.min(at, part.length - 1), part);
  });
  if (!outcome.ok) {
    expect(outcome.failure.code).toBe(expected);
    return;
  }
  applyAnswer(call, slots, outcome.value);
  createSameAnswers(() => null).add(slots);
  const slot = slots[at];
  if (expected.startsWith('service.'))
    expect(slot).toMatchObject({ state: rowStates.failed, text: expected });
  else expect(slot?.state).toBe(rowStates.ok);
});

it('no wrong value stands as succeeded where a service is wrong at random', async () => {
  const counts = await runWrongService({ rounds: 4, values: 600, seed: 7 });
  expect(counts.right).toBeGreaterThan(0);
  expect(counts.failed).toBeGreaterThan(0);
});
