import { expect, it } from 'vitest';
import type { Slot } from '../../../../electron/batch/running/coalescing.ts';
import { createAnswerCheck } from '../../../../electron/batch/running/same-answers.ts';
import { rowStates } from '../../../../electron/batch/storing/results.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';

it('one answer may be right for Translate where one value has several tokens, as a profile says', () => {
  const slots = (of: number): Slot[] =>
    Array.from({ length: of }, (_, row): Slot => ({
      ref: String(row),
      value: `t${row}`,
      row: row + 1,
      state: rowStates.ok,
      text: cleartext(`T${Math.floor(row / 2)}`),
      request: null,
    }));
  const call = { operation: 'BatchTranslate' } as const;
  const failing = slots(40);
  expect(createAnswerCheck(call, { randomTokens: false })?.add(failing)?.pairs).toBe(20);
  expect(failing.every(({ state }) => state === rowStates.failed)).toBe(true);
  const right = slots(400);
  expect(createAnswerCheck(call, { randomTokens: true })?.add(right)).toBeNull();
  expect(right.every(({ state }) => state === rowStates.ok)).toBe(true);
});
