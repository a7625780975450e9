import { describe, expect, it } from 'vitest';
import type { ServiceStatus } from '../../../electron/contract/models/app.ts';
import { describeService } from '../../../src/lib/service-line.ts';
import * as data from '../support/fake-data.ts';

const now = Date.parse('2026-11-20T14:00:00.000Z');
const at = (seconds: number): string => new Date(now + seconds * 1_000).toISOString();
const idle: ServiceStatus = {
  connectionId: 'c1',
  policy: 'analyst',
  sessionSince: null,
  offlineSince: null,
  remaining: null,
  limit: null,
  limitPeriodSeconds: null,
  remainingUntil: null,
  pausedUntil: null,
  pauseReason: null,
  transfersToday: 0,
};
const say = (over: Partial<ServiceStatus>, connection = data.builtIn): string => {
  const line = describeService({ service: { ...idle, ...over }, policy: 'analyst' }, connection, now);
  return [...line.parts, ...(line.canTry ? ['Try now'] : [])].join(' · ');
};

describe('W8 the line on the connection', () => {
  it.each<[Partial<ServiceStatus>, RegExp]>([
    [{}, /^Ready$/],
    [{ sessionSince: at(-60) }, /^Signed in \d\d:\d\d$/],
    // A batch under another policy signed in: nobody is "not signed in yet".
    [{ sessionSince: at(-60), policy: 'intake' }, /^Signed in as intake \d\d:\d\d$/],
    // Nothing counts down to zero: it is offline since then, until something answers.
    [
      { offlineSince: at(-900), pausedUntil: at(-840), pauseReason: 'offline' },
      /^Offline since \d\d:\d\d · Try now$/,
    ],
    [{ pausedUntil: at(18), pauseReason: 'busy' }, /^Request limit reached · nothing is sent for 18 s$/],
    [{ pausedUntil: at(-1), pauseReason: 'busy' }, /^Ready$/],
    [
      { pausedUntil: at(7_200), pauseReason: 'quota' },
      /^Today’s quota used up · nothing is sent until \d\d:\d\d$/,
    ],
    [
      { pausedUntil: at(18), pauseReason: 'failing' },
      /^Service failing · nothing is sent for 18 s · Try now$/,
    ],
  ])('%j', (status, line) => {
    expect(say(status)).toMatch(line);
  });

  it('names the limit only when little is left of it, and only as long as its second', () => {
    const low = { remaining: 100, limit: 600, remainingUntil: at(0.5) };
    expect(say(low)).toBe('Ready · 100 of 600 requests left this second');
    expect(say({ ...low, remainingUntil: at(0) })).toBe('Ready');
    expect(say({ ...low, remaining: 542 })).toBe('Ready');
  });

  it('says what is missing in place of all else', () => {
    expect(say({ sessionSince: at(-60) }, data.staging)).toBe('No API key is stored.');
  });
});
