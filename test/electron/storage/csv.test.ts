import fc from 'fast-check';
import { expect, it } from 'vitest';
import { inQuotes } from '../../../electron/storage/csv.ts';

it('a field between quotes has two for each of its own, however long it is', () => {
  const unit = fc.constantFrom('"', '""', 'a', 'é', '字', '\ud800', '\n', ',');
  const short = fc.string({ unit, maxLength: 20 });
  const field = fc.oneof(short, fc.tuple(short, fc.integer({ min: 200, max: 2_000 })));
  fc.assert(
    fc.property(field, (some) => {
      const text = typeof some === 'string' ? some : some[0].repeat(some[1]);
      expect(inQuotes(text) === `"${text.split('"').join('""')}"`).toBe(true);
    }),
  );
});
