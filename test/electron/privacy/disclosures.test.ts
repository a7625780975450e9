import { describe, expect, it } from 'vitest';
import { done, failed, type Outcome } from '../../../electron/contract/errors.ts';
import {
  createDisclosures,
  defaultLimits,
  type DisclosureRecord,
  type Disclosures,
} from '../../../electron/privacy/disclosures.ts';
import { codeOf, valueOf } from '../../support/batch-app.ts';

const noon = new Date(2026, 10, 22, 12).getTime();

/** Opened as often as one likes over the same record. */
function setUp(limits = defaultLimits) {
  const fake = {
    now: noon,
    stored: null as DisclosureRecord | null,
    write: done(null) as Outcome<null>,
    open: (): Disclosures =>
      createDisclosures({
        record: {
          read: () => fake.stored,
          write(record) {
            if (fake.write.ok) fake.stored = record;
            return fake.write;
          },
        },
        key: () => Promise.resolve(done(new Uint8Array(32).fill(3))),
        clock: { now: () => fake.now },
        limits,
      }),
  };
  return fake;
}

const none = { reveals: 0, copies: 0, exportedRows: 0, matchAnswers: 0, expressions: 0 };

describe('disclosures', () => {
  it('add up over restarts, by day', () => {
    const fake = setUp();
    expect(fake.open().today()).toEqual({ day: '2026-11-22', ...none, limits: defaultLimits });
    fake.open().count('reveals', 1);
    fake.open().count('reveals', 1);
    fake.open().count('copies', 1);
    fake.open().count('exportedRows', 500);
    fake.open().countMatch(['aaaaaaaaaaaaaaaa'], 70);
    fake.open().countMatch(['aaaaaaaaaaaaaaaa'], 70);
    const figures = { reveals: 2, copies: 1, exportedRows: 500, matchAnswers: 140, expressions: 1 };
    expect(fake.open().today()).toMatchObject({ day: '2026-11-22', ...figures });
    fake.now += 12 * 3_600_000;
    expect(fake.open().today()).toMatchObject({ day: '2026-11-23', ...none });
    fake.now -= 24 * 3_600_000;
    fake.open().count('reveals', 1);
    fake.now = noon;
    expect(fake.open().today()).toMatchObject({ day: '2026-11-22', reveals: 3 });
  });

  it('stop at a limit, and say when the next day begins', () => {
    const fake = setUp({ ...defaultLimits, reveals: 2, exportedRows: 100, matchAnswers: 50 });
    expect(codeOf(fake.open().count('reveals', 2))).toBe('ok');
    expect(fake.open().count('reveals', 1)).toEqual(
      failed('disclosure.limit', { subject: 'reveals', retryAfterMs: 12 * 3_600_000 }),
    );
    expect(codeOf(fake.open().count('exportedRows', 101))).toBe('disclosure.limit');
    expect(codeOf(fake.open().count('exportedRows', 100))).toBe('ok');
    expect(codeOf(fake.open().count('exportedRows', 0))).toBe('ok');
    expect(fake.open().countMatch(['aaaaaaaaaaaaaaaa'], 51)).toMatchObject({
      failure: { subject: 'matchAnswers' },
    });
    // What was refused is not counted.
    expect(fake.open().today()).toMatchObject({ reveals: 2, exportedRows: 100, expressions: 0 });
  });

  it('that can not be stored are refused', () => {
    const fake = setUp();
    fake.write = failed('file.disk-full');
    expect(codeOf(fake.open().count('reveals', 1))).toBe('file.disk-full');
    expect(codeOf(fake.open().countMatch(['aaaaaaaaaaaaaaaa'], 1))).toBe('file.disk-full');
  });

  it('have a fingerprint of an expression, the same after a restart, and not its plain hash', async () => {
    const fake = setUp();
    const print = async (pattern: string) => valueOf(await fake.open().fingerprint(pattern));
    expect(await print('^4')).toMatch(/^[0-9a-f]{16}$/);
    expect(await print('^4')).toBe(await print('^4'));
    expect(await print('^4')).not.toBe(await print('^5'));
  });
});
