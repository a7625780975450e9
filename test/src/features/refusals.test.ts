import { describe, expect, it } from 'vitest';
import { fittingPolicy, policyOptions, refusalsOf } from '../../../src/features/batch/run/refusals.ts';
import * as data from '../support/fake-data.ts';

const detokenizeCards = { operation: 'detokenize', definition: 'card-number' } as const;
const refusedJob = data.job({
  jobId: 'refused',
  state: 'finished',
  startedAt: '2026-11-20T10:00:00.000Z',
  endedAt: '2026-11-20T10:01:00.000Z',
  tally: { rows: 3, ok: 0, failed: 3, unmatched: 0, blank: 0 },
  failures: [{ column: 1, code: 'service.refused', count: 3, firstRow: 1, retriable: false }],
});
const laterJob = data.job({
  jobId: 'later',
  state: 'finished',
  startedAt: '2026-11-20T11:00:00.000Z',
  tally: { rows: 3, ok: 3, failed: 0, unmatched: 0, blank: 0 },
  failures: [],
});
const { id } = data.production;

describe('what batches teach about policies', () => {
  it('is that one was refused an operation for a definition, and when', () => {
    expect(refusalsOf([refusedJob], id)).toEqual([
      { policy: 'analyst', ...detokenizeCards, at: '2026-11-20T10:01:00.000Z' },
    ]);
    expect(refusalsOf([refusedJob], 'another connection')).toEqual([]);
  });

  it('is known from a batch that paused by it, and forgotten once a later batch was granted it', () => {
    const failure = { code: 'service.refused', definition: 'card-number' } as const;
    const paused = data.job({
      ...refusedJob,
      failures: [],
      state: 'paused',
      waiting: { failure, until: null },
    });
    expect(refusalsOf([paused], id)).toHaveLength(1);
    expect(refusalsOf([laterJob, refusedJob], id)).toEqual([]);
    // The same hour before says nothing.
    expect(refusalsOf([{ ...laterJob, startedAt: '2026-11-20T09:00:00.000Z' }, refusedJob], id)).toHaveLength(
      1,
    );
  });

  it('greys the policy in menus for that alone, and another is chosen instead', () => {
    const refusals = refusalsOf([refusedJob], id);
    const policies = ['analyst', 'intake'].map((name) => ({ value: name, label: name }));
    const [analyst, intake] = policyOptions(policies, detokenizeCards, refusals);
    expect(analyst).toMatchObject({ quiet: true, note: expect.stringMatching(/^refused /) as string });
    expect(intake).toEqual({ value: 'intake', label: 'intake' });
    expect(
      policyOptions(policies, { ...detokenizeCards, operation: 'tokenize' }, refusals)[0]?.note,
    ).toBeUndefined();
    const choice = { preferred: 'analyst', refusals };
    const names = policies.map(({ value }) => value);
    expect(fittingPolicy(names, detokenizeCards, choice)).toBe('intake');
    expect(fittingPolicy(names, { ...detokenizeCards, definition: 'ssn' }, choice)).toBe('analyst');
    expect(fittingPolicy(['analyst'], detokenizeCards, choice)).toBe('analyst');
  });
});
