import { describe, expect, it } from 'vitest';
import { done, failed } from '../../../electron/contract/errors.ts';
import type { Counted, DisclosureCounts } from '../../../electron/contract/models/disclosures.ts';
import {
  createDisclosures,
  defaultLimits,
  noCounts,
  type Disclosures,
} from '../../../electron/privacy/disclosures.ts';
import { codeOf, valueOf } from '../../support/batch-app.ts';
import { sharedCounts } from '../../support/disclosures.ts';

const noon = new Date(2026, 10, 22, 12).getTime();
const expression = 'aaaaaaaaaaaaaaaa';

/** Opened as often as one likes, over the same log and keychain. */
function setUp(limits = defaultLimits, others: Partial<DisclosureCounts> = {}) {
  const shared = sharedCounts(others);
  const person = {
    now: noon,
    logged: {} as Counted,
    shared,
    open: (over: Partial<Parameters<typeof createDisclosures>[0]> = {}): Disclosures =>
      createDisclosures({
        logged: () => Promise.resolve(done(person.logged)),
        shared,
        key: () => Promise.resolve(done(new Uint8Array(32).fill(3))),
        clock: { now: () => person.now },
        limits,
        ...over,
      }),
    today: async () => valueOf(await person.open().today()),
  };
  return person;
}

async function take(disclosures: Disclosures, counted: Counted): Promise<string> {
  const taken = await disclosures.take(counted);
  if (taken.ok) valueOf(await disclosures.store());
  return codeOf(taken);
}

describe('disclosures', () => {
  it('are what the log says, or the keychain where it has more', async () => {
    const person = setUp();
    person.logged = { reveals: 2, exportedRows: 500, expressions: [expression], matchAnswers: 140 };
    const figures = { ...noCounts, reveals: 2, exportedRows: 500, expressions: 1, matchAnswers: 140 };
    expect(await person.today()).toEqual({ day: '2026-11-22', ...figures, limits: defaultLimits });
    await person.shared.write('2026-11-22', { ...noCounts, reveals: 3, copies: 1, expressions: 2 });
    expect(await person.today()).toMatchObject({ ...figures, reveals: 3, copies: 1, expressions: 2 });
    // An expression that only the keychain has is not known: none of today's is free for it.
    const disclosures = person.open();
    expect(await take(disclosures, { expressions: ['b'.repeat(16)], matchAnswers: 1 })).toBe('ok');
    expect(await take(disclosures, { expressions: ['c'.repeat(16)], matchAnswers: 1 })).toBe(
      'disclosure.limit',
    );
    expect(await take(disclosures, { expressions: [expression], matchAnswers: 1 })).toBe('ok');
  });

  it('of another day in the keychain are none', async () => {
    const person = setUp({ ...defaultLimits, reveals: 1 });
    for (const day of ['2026-11-21', '2026-11-23', '2099-01-01']) {
      await person.shared.write(day, { ...noCounts, reveals: 9 });
      expect(await person.today()).toMatchObject({ day: '2026-11-22', reveals: 0 });
    }
    expect(await take(person.open(), { reveals: 1 })).toBe('ok');
  });

  it('begin anew at midnight', async () => {
    const person = setUp({ ...defaultLimits, reveals: 1 });
    const disclosures = person.open();
    expect(await take(disclosures, { reveals: 1 })).toBe('ok');
    expect(await take(disclosures, { reveals: 1 })).toBe('disclosure.limit');
    person.now += 12 * 3_600_000;
    expect(await take(disclosures, { reveals: 1 })).toBe('ok');
    expect(valueOf(await disclosures.today())).toMatchObject({ day: '2026-11-23', reveals: 1 });
  });

  it('stop at a limit, and say when the next day begins', async () => {
    const person = setUp({ ...defaultLimits, reveals: 2, exportedRows: 100, matchAnswers: 50 });
    const disclosures = person.open();
    expect(await take(disclosures, { reveals: 2 })).toBe('ok');
    expect(await disclosures.take({ reveals: 1 })).toEqual(
      failed('disclosure.limit', { subject: 'reveals', retryAfterMs: 12 * 3_600_000 }),
    );
    expect(await take(disclosures, { exportedRows: 101 })).toBe('disclosure.limit');
    expect(await take(disclosures, { exportedRows: 100 })).toBe('ok');
    expect(await take(disclosures, { exportedRows: 0 })).toBe('ok');
    expect(await disclosures.take({ expressions: [expression], matchAnswers: 51 })).toMatchObject({
      failure: { subject: 'matchAnswers' },
    });
    expect(await disclosures.take({ guesses: 10_001 })).toMatchObject({ failure: { subject: 'guesses' } });
    // What was refused is not counted.
    const counted = { reveals: 2, exportedRows: 100, expressions: 0, guesses: 0 };
    expect(valueOf(await disclosures.today())).toMatchObject(counted);
    expect(await person.today()).toMatchObject(counted);
  });

  it('hold over all homes together', async () => {
    const person = setUp({ ...defaultLimits, reveals: 3 }, { reveals: 2, copies: 4 });
    expect(await take(person.open(), { reveals: 2 })).toBe('disclosure.limit');
    expect(await take(person.open(), { reveals: 1 })).toBe('ok');
    expect(await take(person.open(), { reveals: 1 })).toBe('disclosure.limit');
    expect(await person.today()).toMatchObject({ reveals: 3, copies: 4 });
    expect(person.shared.written?.own).toEqual({ ...noCounts, reveals: 1 });
  });

  it('of which there are more than a limit that was lowered leave acts of other kinds alone', async () => {
    const person = setUp({ ...defaultLimits, reveals: 3 }, { reveals: 5 });
    expect(await take(person.open(), { copies: 1 })).toBe('ok');
    expect(await take(person.open(), { reveals: 1 })).toBe('disclosure.limit');
  });

  it('at once are each counted, and no more than the limit', async () => {
    const person = setUp({ ...defaultLimits, reveals: 3 });
    const disclosures = person.open();
    const outcomes = await Promise.all([
      ...[1, 2, 3, 4, 5].map(() => disclosures.take({ reveals: 1 })),
      disclosures.take({ expressions: [expression], matchAnswers: 7 }),
    ]);
    expect(outcomes.map(codeOf)).toEqual([
      ...['ok', 'ok', 'ok', 'disclosure.limit', 'disclosure.limit'],
      'ok',
    ]);
    expect(valueOf(await disclosures.today())).toMatchObject({ reveals: 3, matchAnswers: 7, expressions: 1 });
  });

  it('that were given back can be taken again, an expression only by who took it first', async () => {
    const person = setUp({ ...defaultLimits, reveals: 1 });
    const disclosures = person.open();
    const first = valueOf(await disclosures.take({ reveals: 1 }));
    await disclosures.giveBack(first);
    expect(person.shared.written?.own.reveals).toBe(0);
    expect(await take(disclosures, { reveals: 1 })).toBe('ok');
    const asked = { matchAnswers: 5, expressions: [expression, expression] };
    expect(valueOf(await disclosures.take(asked))).toEqual({ matchAnswers: 5, expressions: [expression] });
    const again = valueOf(await disclosures.take(asked));
    expect(again).toEqual({ matchAnswers: 5, expressions: [] });
    await disclosures.giveBack(again);
    expect(valueOf(await disclosures.today())).toMatchObject({ matchAnswers: 5, expressions: 1 });
  });

  it('are refused where the log or the keychain can not be read, and not counted', async () => {
    const person = setUp({ ...defaultLimits, reveals: 1 });
    const unread = { logged: () => Promise.resolve(failed('audit.unwritable')) };
    expect(await take(person.open(unread), { reveals: 1 })).toBe('audit.unwritable');
    const read = () => Promise.resolve(failed('keychain.locked'));
    const locked = person.open({ shared: { ...person.shared, read } });
    expect(await take(locked, { reveals: 1 })).toBe('keychain.locked');
    expect(await take(person.open(), { reveals: 1 })).toBe('ok');
  });

  it('have a fingerprint of an expression, the same after a restart, and not its plain hash', async () => {
    const person = setUp();
    const print = async (pattern: string) => valueOf(await person.open().fingerprint(pattern));
    expect(await print('^4')).toMatch(/^[0-9a-f]{16}$/);
    expect(await print('^4')).toBe(await print('^4'));
    expect(await print('^4')).not.toBe(await print('^5'));
  });
});
