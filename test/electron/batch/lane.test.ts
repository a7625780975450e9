import { describe, expect, it } from 'vitest';
import { Lane, type Request } from '../../../electron/batch/running/coalescing.ts';

const call = { operation: 'BatchDetokenize', policy: 'p', definition: 'd' } as const;
const limits = { first: 100, most: 400, characters: 1_000_000 };

function fill(values: Iterable<string>): string[] {
  const sent: string[] = [];
  const lane = new Lane(
    call,
    (request: Request) => sent.push(...request.slots.map(({ value }) => value)),
    limits,
  );
  let count = 0;
  for (const value of values) {
    lane.want(value, 10);
    if (++count % 20 === 0) lane.remember(1_000);
  }
  lane.flush();
  return sent;
}

describe('a lane', () => {
  it('sends a value once as long as it keeps coming back', () => {
    const values = Array.from({ length: 20_000 }, (_, i) => (i % 30 === 0 ? 'often' : `once ${i}`));
    const sent = fill(values);
    expect(sent.filter((value) => value === 'often')).toHaveLength(1);
    expect(sent).toHaveLength(new Set(values).size);
  });

  it('remembers more while that finds something, and never without bound', () => {
    const values = (distinct: number) =>
      Array.from({ length: 20_000 }, (_, i) => `value ${(i * 7) % distinct}`);
    expect(fill(values(150)).length).toBeLessThan(400);
    expect(fill(values(5_000)).length).toBeGreaterThan(5_000);
  });

  it('forgets sooner where its values keep much text alive', () => {
    const sent: string[] = [];
    const lane = new Lane(
      call,
      (request: Request) => sent.push(...request.slots.map(({ value }) => value)),
      limits,
    );
    lane.want('a', 1);
    lane.remember(limits.characters);
    lane.want('b', 1);
    lane.remember(limits.characters);
    lane.want('a', 1);
    expect(sent).toEqual(['a', 'b', 'a']);
  });
});
