import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { waitByHeader } from '../../../electron/service/limits/retries.ts';
import { ServerClock } from '../../../electron/service/limits/health.ts';

const NOW = Date.UTC(2026, 10, 21, 11, 0, 0);
const DAY = 86_400_000;

describe('a reset header', () => {
  it('is understood in all its forms', () => {
    expect(waitByHeader('Sat, 21 Nov 2026 11:00:30 GMT', NOW)).toBe(30_000);
    expect(waitByHeader('2026-11-21T11:00:30Z', NOW)).toBe(30_000);
    expect(waitByHeader('2026-11-21T12:00:30.5000000+01:00', NOW)).toBe(30_500);
    expect(waitByHeader('2026-11-21T11:00:30.25', NOW)).toBe(30_250);
    expect(waitByHeader(String(NOW / 1000 + 30), NOW)).toBe(30_000);
    expect(waitByHeader(String(NOW + 30_000), NOW)).toBe(30_000);
    expect(waitByHeader('30', NOW)).toBe(30_000);
    expect(waitByHeader(' 1.5 ', NOW)).toBe(1500);
  });

  it('says nothing when it is in the past or garbage', () => {
    const useless = [
      'Sat, 21 Nov 2026 10:59:30 GMT',
      '2026-11-21T10:00:00Z',
      String(NOW / 1000 - 5),
      String(NOW - 1),
      '0',
      '-5',
      'soon',
      '',
      '2026-13-41T11:00:30Z',
      '99999999999999999999',
      'NaN',
      '1e9',
      '0x10',
      '21/11/2026',
    ];
    for (const header of useless) expect(waitByHeader(header, NOW), header).toBeNull();
    expect(waitByHeader(undefined, NOW)).toBeNull();
    expect(waitByHeader(['30', '60'], NOW)).toBeNull();
  });

  it('is never believed beyond a day', () => {
    expect(waitByHeader('2036-01-01T00:00:00Z', NOW)).toBe(DAY);
    expect(waitByHeader('999999999', NOW)).toBe(DAY);
  });

  it('says the same in every form, and never more than a day or less than nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 * 86_400 }), (seconds) => {
        const at = NOW + seconds * 1000;
        const forms = [
          new Date(at).toUTCString(),
          new Date(at).toISOString(),
          String(at / 1000),
          String(at),
          String(seconds),
        ];
        for (const form of forms) expect(waitByHeader(form, NOW)).toBe(Math.min(DAY, seconds * 1000));
      }),
    );
    fc.assert(
      fc.property(fc.string(), (text) => {
        const wait = waitByHeader(text, NOW);
        expect(wait === null || (wait > 0 && wait <= DAY)).toBe(true);
      }),
    );
  });
});

describe("the service's clock", () => {
  it('is learned from Date headers, and wins over ours', () => {
    const clock = new ServerClock();
    expect(clock.at(5000, 42)).toBe(42);
    expect(clock.skew(42, 5000)).toBeNull();
    clock.observe('Sat, 21 Nov 2026 11:00:00 GMT', 900);
    // A later answer of the same second tells less than an earlier one, and the next second more.
    clock.observe('Sat, 21 Nov 2026 11:00:00 GMT', 1000);
    expect(clock.at(900, 0)).toBe(NOW);
    clock.observe('Sat, 21 Nov 2026 11:00:01 GMT', 1100);
    expect(clock.at(1100, 0)).toBe(NOW + 1000);
    expect(clock.skew(NOW + 91_000, 1100)).toBe(90_000);
  });

  it('is learned anew when it steps back', () => {
    const clock = new ServerClock();
    clock.observe('Sat, 21 Nov 2026 12:00:00 GMT', 0);
    clock.observe('Sat, 21 Nov 2026 11:00:00 GMT', 0);
    expect(clock.at(0, 0)).toBe(NOW);
    clock.observe('nonsense', 0);
    expect(clock.at(0, 0)).toBe(NOW);
  });
});
