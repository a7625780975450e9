import { describe, it } from 'vitest';
import { matrix } from '../../../faults/matrix.ts';

for (const { part, rows } of matrix) {
  describe(part, () => {
    for (const { fault, expected, run } of rows) it(`${fault}: ${expected}`, run);
  });
}
