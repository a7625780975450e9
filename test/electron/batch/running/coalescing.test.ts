import { describe, expect, it } from 'vitest';
import { ValueCoalescer, type BatchRequest } from '../../../../electron/batch/running/coalescing.ts';

const call = { operation: 'BatchDetokenize', policy: 'p', definition: 'd' } as const;
const limits = { firstSize: 100, maxSize: 400, maxCharacters: 1_000_000 };

function fill(values: Iterable<string>): string[] {
  const sent: string[] = [];
  const coalescer = new ValueCoalescer(
    call,
    (request: BatchRequest) => sent.push(...request.slots.map(({ value }) => value)),
    limits,
  );
  let count = 0;
  for (const value of values) {
    coalescer.slotFor(value, 10, 1);
    if (++count % 20 === 0) coalescer.addSourceText(1_000);
  }
  coalescer.flush();
  return sent;
}

describe('value coalescing', () => {
  it('sends a value once as long as it repeats', () => {
    const values = Array.from({ length: 20_000 }, (_, i) => (i % 30 === 0 ? 'often' : `once ${i}`));
    const sent = fill(values);
    expect(sent.filter((value) => value === 'often')).toHaveLength(1);
    expect(sent).toHaveLength(new Set(values).size);
  });

  it('remembers more values while they repeat, and never without bound', () => {
    const values = (distinct: number) =>
      Array.from({ length: 20_000 }, (_, i) => `value ${(i * 7) % distinct}`);
    expect(fill(values(150)).length).toBeLessThan(400);
    expect(fill(values(5_000)).length).toBeGreaterThan(5_000);
  });

  it('forgets sooner where its values keep much source text in memory', () => {
    const sent: string[] = [];
    const coalescer = new ValueCoalescer(
      call,
      (request: BatchRequest) => sent.push(...request.slots.map(({ value }) => value)),
      limits,
    );
    coalescer.slotFor('a', 1, 1);
    coalescer.addSourceText(limits.maxCharacters);
    coalescer.slotFor('b', 1, 1);
    coalescer.addSourceText(limits.maxCharacters);
    coalescer.slotFor('a', 1, 1);
    expect(sent).toEqual(['a', 'b', 'a']);
  });
});
