import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createSharedCounts } from '../../electron/privacy/shared-counts.ts';
import { noCounts } from '../../electron/privacy/disclosures.ts';
import { createKeychain } from '../../electron/storage/keychain.ts';
import { logFolder, value } from '../support/audit-folder.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { fakeKeyring, testHomeId } from '../support/fake-keyring.ts';
import { codeOf, valueOf } from '../support/batch-app.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { openWholeApp, type WholeApp } from '../support/whole-app.ts';

/*
 * The person that a limit is set against owns every file of the app. A file that is removed, put back as it was, or another
 * folder for the app's files must not bring the day back.
 */

const grounds = { reason: 'Fraud review', caseReference: 'D-1' };
const xorKey = 'abcd'.repeat(8);

async function start(given: Parameters<typeof openWholeApp>[0]): Promise<WholeApp> {
  const app = await openWholeApp({ ...given, managed: { maxRevealsPerDay: 2 } });
  onTestFinished(() => app.close());
  const { id } = valueOf(await app.ask('connections.startBuiltIn', {}));
  valueOf(await app.ask('connections.choose', { id, policy: 'analyst' }));
  return app;
}

async function reveal(app: WholeApp): Promise<string> {
  const { definition, token } = valueOf(await app.ask('lookup.sample', {}));
  const asked = { policy: 'analyst', definition, token, caseReference: '' };
  const { id: lookupId } = valueOf(await app.ask('lookup.mask', asked));
  const answer = await app.ask('lookup.reveal', { ...grounds, xorKey, lookupId });
  // A value that is still shown is not revealed a second time, and counts once.
  if (answer.ok) await app.ask('lookup.hide', { revealId: valueOf(answer).revealId });
  return codeOf(answer);
}

const remove = (home: string, ...names: string[]): void =>
  names.forEach((name) => fs.rmSync(path.join(home, name), { recursive: true, force: true }));

describe('a day that is used up stays so', () => {
  test.each<[string, (home: string, copy: string) => void]>([
    ['nothing is touched', () => undefined],
    ['the log and its checkpoints are removed', (home) => remove(home, 'audit', 'checkpoints')],
    [
      'a copy of the folder from before is put back',
      (home, copy) => {
        remove(home, ...fs.readdirSync(home));
        fs.cpSync(copy, home, { recursive: true });
      },
    ],
  ])('when %s', async (_what, attack) => {
    const home = tempFolder();
    const copy = tempFolder();
    const first = await start({ home });
    const { keyring } = first;
    expect(await reveal(first)).toBe('ok');
    await first.close();
    fs.cpSync(home, copy, { recursive: true });
    const second = await start({ home, keyring });
    expect(await reveal(second)).toBe('ok');
    expect(await reveal(second)).toBe('disclosure.limit');
    await second.close();
    attack(home, copy);
    expect(await reveal(await start({ home, keyring }))).toBe('disclosure.limit');
  });

  test('when the keychain’s entry is removed', async () => {
    const home = tempFolder();
    const first = await start({ home });
    const { keyring } = first;
    expect([await reveal(first), await reveal(first)]).toEqual(['ok', 'ok']);
    await first.close();
    expect(keyring.entries.delete('machine:disclosures')).toBe(true);
    expect(await reveal(await start({ home, keyring }))).toBe('disclosure.limit');
  });

  test('in another folder of the same person, and the other way round', async () => {
    const first = await start({ home: tempFolder() });
    const { keyring } = first;
    expect(await reveal(first)).toBe('ok');
    const second = await start({ home: tempFolder(), keyring });
    expect(await reveal(second)).toBe('ok');
    expect([await reveal(second), await reveal(first)]).toEqual(['disclosure.limit', 'disclosure.limit']);
    expect(valueOf(await first.ask('app.disclosures', {}))).toMatchObject({ reveals: 2 });
  });
});

describe('the day of the log', () => {
  const clock = (text: string): Date => new Date(`2026-11-${text}:00`);
  const midnight = clock('22T00:00');

  /** A log of one reveal at each of these times, and what it says of the 22nd. */
  async function revealsOf(times: readonly Date[], now: Date): Promise<number | undefined> {
    const log = logFolder();
    let at = times[0] ?? now;
    const audit = await log.open({ now: () => at });
    for (const time of times) {
      at = time;
      value(await audit.begin({ action: 'Reveal', cleartext: true, counted: { reveals: 1 } }))({ ok: true });
    }
    at = now;
    return value(await audit.dayCounts(midnight)).counted.reveals;
  }

  test('is the local one, and counts each act once', async () => {
    const times = [clock('21T23:59'), clock('22T00:01'), clock('22T12:00'), clock('22T23:59')];
    expect(await revealsOf(times, clock('22T23:59'))).toBe(3);
  });

  test('is not brought back by a clock that is set back, or forward and back', async () => {
    expect(
      await revealsOf([clock('22T12:00'), clock('22T13:00'), clock('20T12:00')], clock('22T14:00')),
    ).toBe(2);
    expect(
      await revealsOf([clock('22T12:00'), clock('23T12:00'), clock('22T12:30')], clock('22T13:00')),
    ).toBe(3);
    const log = await revealsOf([clock('25T12:00'), clock('26T12:00')], clock('22T12:00'));
    expect(log).toBe(2);
  });

  test('is not used up by a clock that stood in 2099, once it was put right', async () => {
    const ahead = new Date('2099-01-01T12:00:00');
    expect(await revealsOf([ahead, ahead, clock('21T12:00')], clock('22T12:00'))).toBe(0);
    // On the day itself they count.
    expect(await revealsOf([ahead, ahead, clock('22T11:00')], clock('22T12:00'))).toBe(3);
  });

  test('ends before the next midnight, of whatever the clock said before', async () => {
    const last = new Date(2026, 10, 22, 23, 59, 59, 999);
    for (const [time, reveals] of [
      [last, 1],
      [new Date(2026, 10, 23), 0],
    ] as const)
      expect(await revealsOf([time, clock('21T12:00')], clock('22T12:00'))).toBe(reveals);
  });

  test('has what was given back only as its beginning says until its end does', async () => {
    const log = logFolder();
    const audit = await log.open({ now: () => clock('22T12:00') });
    const intent = { action: 'Export', counted: { exportedRows: 500 } };
    value(await audit.begin(intent))({ ok: true });
    const open = value(await audit.begin(intent));
    expect(value(await audit.dayCounts(midnight)).counted.exportedRows).toBe(1_000);
    open({ ok: false, counted: {} });
    expect(value(await audit.dayCounts(midnight)).counted.exportedRows).toBe(500);
    value(
      await audit.begin({ action: 'Match', counted: { expressions: ['a'.repeat(16)], matchAnswers: 7 } }),
    );
    value(await audit.begin({ action: 'BatchTokenize', definition: 'card', alike: 1_500 }));
    const { counted, alike } = value(await audit.dayCounts(midnight));
    expect(counted).toMatchObject({ expressions: ['a'.repeat(16)], matchAnswers: 7, exportedRows: 500 });
    expect(alike.get('card')).toBe(1_500);
  });
});

describe('the entry in the keychain', () => {
  const keychains = () => {
    const keyring = fakeKeyring();
    const names: string[] = [];
    return createKeychain({
      homeId: testHomeId,
      load: () => Promise.resolve(keyring),
      index: { read: () => names, write: (next) => names.splice(0, names.length, ...next) },
      clock: fakeClock(),
    });
  };

  test('has thirty homes, each apart, and those of another day not at all', async () => {
    const keychain = keychains();
    const of = (home: number) => createSharedCounts(keychain, () => String(home).repeat(32));
    for (let home = 0; home < 30; home++) {
      const counts = { ...noCounts, reveals: 1, exportedRows: 1_000_000 };
      valueOf(
        await createSharedCounts(keychain, () => `${10 + home}`.repeat(16)).write('2026-11-22', counts),
      );
    }
    const { own, others } = valueOf(
      await createSharedCounts(keychain, () => '10'.repeat(16)).read('2026-11-22'),
    );
    expect([own.reveals, others.reveals]).toEqual([1, 29]);
    expect(valueOf(await of(1).read('2026-11-23')).others).toEqual(noCounts);
    valueOf(await of(1).write('2026-11-23', { ...noCounts, copies: 2 }));
    expect(valueOf(await of(2).read('2026-11-23')).others).toEqual({ ...noCounts, copies: 2 });
  });

  test.each(['', '{', '{"day":1}', '{"day":"2026-11-22","homes":{"a":[1]}}'])(
    'that holds %j counts nothing, and is written anew',
    async (text) => {
      const keychain = keychains();
      if (text !== '') valueOf(await keychain.store('machine:disclosures', text));
      const shared = createSharedCounts(keychain, () => testHomeId);
      expect(valueOf(await shared.read('2026-11-22'))).toEqual({ own: noCounts, others: noCounts });
      valueOf(await shared.write('2026-11-22', { ...noCounts, reveals: 1 }));
      expect(valueOf(await shared.read('2026-11-22')).own.reveals).toBe(1);
    },
  );
});
