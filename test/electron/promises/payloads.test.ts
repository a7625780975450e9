import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { calls, type CallName, type Handlers } from '../../../electron/contract/calls.ts';
import { failed } from '../../../electron/contract/errors.ts';
import { createRouter } from '../../../electron/ipc/router.ts';
import { fitting, optionalMembers, spoil, spoils, type Json } from '../../support/payloads.ts';

const origin = 'app://tokendesk';
const sender = { origin, isMainFrame: true };
const names = Object.keys(calls) as CallName[];
const payloadsPerCall = 2_000;
const seed = 20_261;

/** A router behind which every call notes that it was reached. */
function countingRouter() {
  const reached: unknown[] = [];
  const bugs: string[] = [];
  const note = (input: unknown) => {
    reached.push(input);
    return Promise.resolve(failed('reveal.gone'));
  };
  const handlers = Object.fromEntries(names.map((name) => [name, note])) as unknown as Handlers;
  const router = createRouter({
    handlers,
    origin,
    locked: () => false,
    allowed: (_, message) => message,
    log: { bug: (place) => bugs.push(place) },
  });
  return { router, reached, bugs };
}

/** A small generator of its own: ten thousand times fast-check's would be minutes. */
function dice(): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return below === 0 ? 0 : Math.floor((state / 2 ** 32) * below);
  };
}

describe.each(names)('%s', (name) => {
  const mayBeAbsent = optionalMembers(calls[name].input);
  const samples: Json[] = fc.sample(fitting(calls[name].input), { numRuns: 200, seed });

  test('takes what fits', async () => {
    const { router, reached } = countingRouter();
    for (const sample of samples) await router(sender, name, sample);
    // What a refinement beyond the shape refuses (an address, a plan that contradicts itself) is not counted against it.
    expect(reached.length).toBeGreaterThan(0);
  });

  test(`refuses ${payloadsPerCall} payloads that are spoilt in one place`, async () => {
    const { router, reached, bugs } = countingRouter();
    const pick = dice();
    let tried = 0;
    while (tried < payloadsPerCall) {
      const how = spoils[pick(spoils.length)] ?? 'a member more';
      const payload = spoil(samples[pick(samples.length)] ?? {}, how, pick, mayBeAbsent);
      if (payload === null) continue;
      tried += 1;
      const outcome = await router(sender, name, payload);
      if (outcome.ok || outcome.failure.code !== 'call.invalid')
        expect.fail(`${how} was let in: ${JSON.stringify(payload).slice(0, 500)}`);
    }
    expect(reached).toEqual([]);
    expect(bugs).toEqual([]);
  });
});
