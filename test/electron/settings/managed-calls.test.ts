import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { CallInput, CallName } from '../../../electron/contract/calls.ts';
import type { Outcome } from '../../../electron/contract/errors.ts';
import { obscureText } from '../../../electron/contract/obscured.ts';
import {
  defaultSettings,
  type AppState,
  type ManagedSettings,
} from '../../../electron/contract/models/app.ts';
import type { Job } from '../../../electron/contract/models/batch.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import { detokenize, planOf, plainExport, valueOf } from '../../support/batch-app.ts';
import { fakeKeyring } from '../../support/fake-keyring.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { openWholeApp, type WholeApp, type WholeAppOptions } from '../../support/whole-app.ts';

const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.failure.code);
const reason = { reason: 'Refund', caseReference: 'D-1' };
const xorKey = 'abcd'.repeat(8);
const obscured = (text: string) => ({ xorKey, obscured: obscureText(text, xorKey) });
const secret = () => obscured('canary');

async function opened(managed: ManagedSettings, more: WholeAppOptions = {}): Promise<WholeApp> {
  const app = await openWholeApp({ ...more, managed });
  onTestFinished(() => app.close());
  return app;
}

/** With the built-in service in use. */
async function withService(managed: ManagedSettings, more: WholeAppOptions = {}): Promise<WholeApp> {
  const app = await opened(managed, more);
  const { id } = valueOf(await app.ask('connections.startBuiltIn', {}));
  valueOf(await app.ask('connections.choose', { id, policy: 'analyst' }));
  return app;
}

async function stateOf(app: WholeApp): Promise<AppState> {
  const state = valueOf(await app.ask('app.state', {}));
  if (!('settings' in state)) throw new Error('locked');
  return state;
}

async function lookUp(app: WholeApp): Promise<string> {
  const { definition, token } = valueOf(await app.ask('lookup.sample', {}));
  const input = { policy: 'analyst', definition, token, caseReference: '' };
  return valueOf(await app.ask('lookup.mask', input)).id;
}

/** A batch of the sample's tokens, run to its end. */
async function runBatch(app: WholeApp): Promise<string> {
  const { definition, token } = valueOf(await app.ask('lookup.sample', {}));
  const { sourceId } = valueOf(await app.ask('batch.paste', { text: `card\n${token}\n` }));
  const plan = planOf([detokenize(0, { policy: 'analyst', definition })]);
  const { jobId } = valueOf(await app.ask('batch.start', { sourceId, plan, grounds: null }));
  await expect.poll(async () => (await jobOf(app, jobId))?.state, { timeout: 20_000 }).toBe('finished');
  // It is finished a moment before it can be exported.
  const tooShort = { ...plainExport, jobId, passphrase: obscured('short') };
  await expect.poll(async () => codeOf(await app.ask('batch.export', tooShort))).toBe('export.passphrase');
  return jobId;
}

const jobOf = async (app: WholeApp, jobId: string): Promise<Job | undefined> =>
  valueOf(await app.ask('batch.jobs', {})).find((job) => job.jobId === jobId);

describe('settings that the administrator has fixed', () => {
  test.each([
    ['caseRequired', true, false],
    ['reasons', ['Refund'], ['Refund', 'Curiosity']],
    ['revealSeconds', 5, 60],
    ['clipboardSeconds', 5, 120],
    ['lockAfterMinutes', 2, 15],
    ['keepResultsDays', 30, 0],
  ] as const)('%s is in force, is shown as managed, and no call changes it', async (name, fixed, other) => {
    const app = await opened({ [name]: fixed });
    const { settings, managed } = await stateOf(app);
    expect(settings[name]).toEqual(fixed);
    expect(managed).toEqual({ [name]: fixed });
    const refused = await app.ask('settings.save', { ...settings, [name]: other });
    expect(refused).toEqual({ ok: false, failure: { code: 'settings.managed', subject: name } });
    expect((await stateOf(app)).settings[name]).toEqual(fixed);
    // The others stay the person's.
    expect(codeOf(await app.ask('settings.save', { ...settings, theme: 'dark' }))).toBe('ok');
    expect((await stateOf(app)).settings).toMatchObject({ theme: 'dark', [name]: fixed });
  });

  test('come before the person’s, which come back when the administrator’s go', async () => {
    const place = { home: tempFolder(), keyring: fakeKeyring() };
    const first = await openWholeApp(place);
    const kept = { ...defaultSettings, revealSeconds: 60, clipboardSeconds: 100 };
    valueOf(await first.ask('settings.save', kept));
    await first.close();

    const second = await openWholeApp({ ...place, managed: { revealSeconds: 5 } });
    expect((await stateOf(second)).settings).toEqual({ ...kept, revealSeconds: 5 });
    valueOf(await second.ask('settings.save', { ...kept, revealSeconds: 5, theme: 'light' }));
    await second.close();
    const third = await openWholeApp(place);
    expect((await stateOf(third)).settings).toEqual({ ...kept, theme: 'light' });
    await third.close();
  });

  test('a case is asked for by reveal and copy, whatever the settings file says', async () => {
    const app = await withService({ caseRequired: true });
    const lookupId = await lookUp(app);
    const file = path.join(app.home, 'desk.json');
    const document = JSON.parse(fs.readFileSync(file, 'utf8')) as object;
    fs.writeFileSync(
      file,
      JSON.stringify({ ...document, settings: { ...defaultSettings, caseRequired: false } }),
    );
    const without = { reason: 'Refund', caseReference: '' };
    expect(codeOf(await app.ask('lookup.reveal', { ...without, xorKey, lookupId }))).toBe(
      'reveal.reason-required',
    );
    expect(codeOf(await app.ask('lookup.copy', { ...without, what: 'cleartext', lookupId }))).toBe(
      'reveal.reason-required',
    );
    expect(codeOf(await app.ask('lookup.reveal', { ...reason, xorKey, lookupId }))).toBe('ok');
  });
});

test('reveal, copy and lock end after the administrator’s times', async () => {
  const app = await withService({ revealSeconds: 5, clipboardSeconds: 7, lockAfterMinutes: 1 });
  const lookupId = await lookUp(app);
  const revealed = valueOf(await app.ask('lookup.reveal', { ...reason, xorKey, lookupId }));
  expect(revealed.hideAfterMs).toBe(5_000);
  const copied = valueOf(await app.ask('lookup.copy', { ...reason, what: 'cleartext', lookupId }));
  expect(copied.clearAfterMs).toBe(7_000);
  const later = vi.spyOn(systemClock, 'monotonic').mockImplementation(() => performance.now() + 61_000);
  await app.ask('lock.active', {});
  later.mockRestore();
  expect(valueOf(await app.ask('app.state', {})).lock.locked).toBe(true);
});

test('a case is asked for in batches too: by cells, exports and matches', async () => {
  const app = await withService({ caseRequired: true });
  const jobId = await runBatch(app);
  const without = { reason: 'Refund', caseReference: '' };
  const { sourceId } = valueOf(await app.ask('batch.paste', { text: 'card\n4111111111111111\n' }));
  const match = { sourceId, plan: matchPlan(), grounds: without };
  for (const refused of [
    app.ask('batch.reveal', { ...without, xorKey, jobId, row: 1, column: 0 }),
    app.ask('batch.export', { ...plainExport, grounds: without, jobId }),
    app.ask('batch.try', match),
    app.ask('batch.start', match),
  ])
    expect(codeOf(await refused)).toBe('reveal.reason-required');
});

test('a reason that is not the administrator’s is refused for reveals, copies, cells, exports and matches', async () => {
  const app = await withService({ reasons: ['Refund'] });
  const lookupId = await lookUp(app);
  const jobId = await runBatch(app);
  const other = { reason: 'Curiosity', caseReference: 'D-1' };
  const asks = (given: typeof reason): Promise<Outcome<unknown>>[] => [
    app.ask('lookup.reveal', { ...given, xorKey, lookupId }),
    app.ask('lookup.copy', { ...given, what: 'cleartext', lookupId }),
    app.ask('batch.reveal', { ...given, xorKey, jobId, row: 1, column: 0 }),
    app.ask('batch.export', { ...plainExport, grounds: given, jobId }),
  ];
  for (const refused of await Promise.all(asks(other))) expect(codeOf(refused)).toBe('reveal.reason-refused');
  for (const accepted of await Promise.all(asks(reason))) expect(codeOf(accepted)).toBe('ok');

  const { sourceId } = valueOf(await app.ask('batch.paste', { text: 'card\n4111111111111111\n' }));
  const match = { ...other, confirmRows: null };
  const plan = matchPlan();
  expect(codeOf(await app.ask('batch.try', { sourceId, plan, grounds: match }))).toBe(
    'reveal.reason-refused',
  );
  expect(codeOf(await app.ask('batch.start', { sourceId, plan, grounds: match }))).toBe(
    'reveal.reason-refused',
  );
});

const matchPlan = () =>
  planOf([
    detokenize(0, { operation: 'match', policy: 'analyst', definition: 'card-number', pattern: '^4[0-7]' }),
  ]);

describe('exports in clear', () => {
  test('forbidden, only what holds no cleartext is written', async () => {
    const app = await withService({ cleartextExport: 'forbidden' });
    const jobId = await runBatch(app);
    const before = fs.readdirSync(app.home);
    const inClear = { ...plainExport, grounds: reason, jobId };
    const passphrase = obscured('correct horse');
    expect(codeOf(await app.ask('batch.export', inClear))).toBe('export.forbidden');
    expect(codeOf(await app.ask('batch.export', { ...inClear, passphrase }))).toBe('export.forbidden');
    expect(fs.readdirSync(app.home)).toEqual(before);
    expect(codeOf(await app.ask('batch.export', { ...inClear, content: 'masked' }))).toBe('ok');
  });

  test('encrypted only, a plain file is refused', async () => {
    const app = await withService({ cleartextExport: 'encrypted' });
    const jobId = await runBatch(app);
    const inClear = { ...plainExport, grounds: reason, jobId };
    expect(codeOf(await app.ask('batch.export', inClear))).toBe('export.unencrypted');
    const passphrase = obscured('correct horse');
    expect(codeOf(await app.ask('batch.export', { ...inClear, passphrase }))).toBe('ok');
  });
});

describe('matching in batches', () => {
  test('forbidden, neither a trial nor a batch is run', async () => {
    const app = await withService({ bulkMatch: false });
    const { sourceId } = valueOf(await app.ask('batch.paste', { text: 'card\n4111111111111111\n' }));
    const grounds = reason;
    for (const call of ['batch.try', 'batch.start'] as const)
      expect(codeOf(await app.ask(call, { sourceId, plan: matchPlan(), grounds }))).toBe('pattern.forbidden');
    expect(codeOf(await app.ask('batch.preflight', { sourceId, plan: matchPlan() }))).toBe(
      'pattern.forbidden',
    );
  });

  test('a batch of earlier is not gone on with', async () => {
    const first = await withService({});
    const { sourceId } = valueOf(await first.ask('batch.paste', { text: 'card\n4111111111111111\n' }));
    const grounds = reason;
    const { jobId } = valueOf(await first.ask('batch.start', { sourceId, plan: matchPlan(), grounds }));
    await expect.poll(async () => (await jobOf(first, jobId))?.state, { timeout: 20_000 }).toBe('finished');
    const home = path.join(first.home, 'again');
    fs.mkdirSync(home);
    fs.cpSync(path.join(first.home, 'jobs'), path.join(home, 'jobs'), { recursive: true });
    fs.copyFileSync(path.join(first.home, 'desk.json'), path.join(home, 'desk.json'));
    // Moved, not copied: the keychain's entries go along.
    fs.renameSync(path.join(first.home, 'home-id'), path.join(home, 'home-id'));
    const app = await opened({ bulkMatch: false }, { home, keyring: first.keyring });
    expect(codeOf(await app.ask('batch.retry', { jobId, code: null }))).toBe('pattern.forbidden');
  });
});

describe('limits of a day', () => {
  test.each(['lookup.reveal', 'lookup.copy', 'batch.export'] as const)(
    '%s is refused beyond',
    async (call) => {
      const app = await withService({ maxRevealsPerDay: 1, maxCopiesPerDay: 1, maxExportedRowsPerDay: 1 });
      const lookupId = await lookUp(app);
      const jobId = call === 'batch.export' ? await runBatch(app) : '';
      const ask = (): Promise<Outcome<unknown>> =>
        call === 'lookup.reveal'
          ? app.ask(call, { ...reason, xorKey, lookupId })
          : call === 'lookup.copy'
            ? app.ask(call, { ...reason, what: 'cleartext', lookupId })
            : app.ask(call, { ...plainExport, grounds: reason, jobId });
      const first = await ask();
      expect(codeOf(first)).toBe('ok');
      // The same value is not revealed again while it is shown.
      if (call === 'lookup.reveal') {
        const { revealId } = valueOf(first) as { revealId: string };
        valueOf(await app.ask('lookup.hide', { revealId }));
      }
      expect(codeOf(await ask())).toBe('disclosure.limit');
      expect(valueOf(await app.ask('app.disclosures', {})).limits).toMatchObject({
        reveals: 1,
        copies: 1,
        exportedRows: 1,
        matchAnswers: null,
        expressions: 3,
      });
    },
  );

  test('a restart brings none of them back', async () => {
    const home = tempFolder();
    const managed = { maxRevealsPerDay: 2 };
    const codes: string[] = [];
    let keyring: WholeApp['keyring'] | undefined;
    for (let start = 0; start < 3; start++) {
      const app = await withService(managed, { home, ...(keyring && { keyring }) });
      codes.push(codeOf(await app.ask('lookup.reveal', { ...reason, xorKey, lookupId: await lookUp(app) })));
      keyring = app.keyring;
      await app.close();
    }
    expect(codes).toEqual(['ok', 'ok', 'disclosure.limit']);
    // Counting leaves the settings alone.
    const settings = JSON.parse(fs.readFileSync(path.join(home, 'desk.json'), 'utf8')) as object;
    expect(settings).not.toHaveProperty('disclosures.reveals');
  });

  test('no more values are matched than may be', async () => {
    const app = await withService({ maxMatchAnswersPerDay: 1 });
    const text = 'card\n4111111111111111\n5555555555554444\n';
    const { sourceId } = valueOf(await app.ask('batch.paste', { text }));
    const grounds = reason;
    const tried = await app.ask('batch.try', { sourceId, plan: matchPlan(), grounds });
    expect(tried).toMatchObject({
      ok: false,
      failure: { code: 'disclosure.limit', subject: 'matchAnswers' },
    });
  });

  test('no expression of their own is sent where none is allowed', async () => {
    const app = await withService({ maxExpressionsPerDay: 0 });
    const { sourceId } = valueOf(await app.ask('batch.paste', { text: 'card\n4111111111111111\n' }));
    const grounds = reason;
    const tried = await app.ask('batch.try', { sourceId, plan: matchPlan(), grounds });
    expect(tried).toMatchObject({ ok: false, failure: { code: 'disclosure.limit', subject: 'expressions' } });
  });
});

const draft: CallInput<'connections.save'> = {
  id: null,
  name: 'Acme',
  environment: 'test',
  baseUrl: 'https://tokens.example',
  extraCa: null,
  proxyUser: '',
  policies: ['analyst'],
  definitions: [{ name: 'card', label: 'Card', kind: 'card' }],
  accountId: '',
  tenantId: '',
  apiKeyExpires: null,
  requestsPerSecond: 600,
  transfersPerDay: 1000,
};

describe('hosts', () => {
  test('a connection to another is neither added nor changed to', async () => {
    const app = await opened({ allowedHosts: ['tokens.example'] });
    const other = { ...draft, baseUrl: 'https://other.example' };
    const refused = { ok: false, failure: { code: 'connection.host', subject: 'other.example' } };
    expect(await app.ask('connections.save', other)).toEqual(refused);
    const { id } = valueOf(await app.ask('connections.save', draft));
    expect(await app.ask('connections.save', { ...other, id })).toEqual(refused);
  });

  test('one that was there before is not used by any page, though it says it is the built-in service', async () => {
    const asked: string[] = [];
    const app = await openWholeApp({
      platform: { proxyFor: (url) => (asked.push(url), Promise.resolve(null)) },
    });
    const { id } = valueOf(await app.ask('connections.save', draft));
    valueOf(await app.ask('connections.storeSecret', { id, secret: { kind: 'apiKey' }, value: secret() }));
    valueOf(
      await app.ask('connections.storeSecret', {
        id,
        secret: { kind: 'policyPassword', policy: 'analyst' },
        value: secret(),
      }),
    );
    valueOf(await app.ask('connections.choose', { id, policy: 'analyst' }));
    const document = JSON.parse(fs.readFileSync(path.join(app.home, 'desk.json'), 'utf8')) as {
      connections: object[];
    };
    await app.close();
    const lying = {
      ...document,
      connections: document.connections.map((one) => ({ ...one, builtIn: true })),
    };
    for (const kept of [document, lying]) {
      fs.mkdirSync(app.home, { recursive: true });
      fs.writeFileSync(path.join(app.home, 'desk.json'), JSON.stringify(kept));
      asked.length = 0;
      const again = await openWholeApp({
        home: app.home,
        keyring: app.keyring,
        managed: { allowedHosts: ['127.0.0.1'] },
        platform: { proxyFor: (url) => (asked.push(url), Promise.resolve(null)) },
      });
      const mask = { policy: 'analyst', definition: 'card', token: '4111', caseReference: '' };
      const calls: [CallName, object][] = [
        ['lookup.mask', mask],
        ['connections.test', { id, policy: 'analyst' }],
        ['reports.toolServer', {}],
        ['reports.signIn', { user: 'ada', password: secret() }],
      ];
      for (const [call, input] of calls)
        expect([call, codeOf(await again.ask(call, input as never))]).toEqual([call, 'connection.host']);
      expect(asked).toEqual([]);
      await again.close();
    }
    fs.rmSync(app.home, { recursive: true, force: true });
  });
});

test('the built-in service, where it is off, is started by no call', async () => {
  const app = await opened({ builtInService: false });
  for (const call of ['connections.startBuiltIn', 'reports.signInBuiltIn'] as const)
    expect(codeOf(await app.ask(call, {}))).toBe(
      call === 'connections.startBuiltIn' ? 'connection.built-in-off' : 'connection.none',
    );
  expect(fs.existsSync(path.join(app.home, 'built-in'))).toBe(false);
});

test('one that was used before is not started again either', async () => {
  const first = await withService({});
  const copy = fs.readFileSync(path.join(first.home, 'desk.json'));
  const home = path.join(first.home, 'again');
  fs.mkdirSync(home);
  fs.writeFileSync(path.join(home, 'desk.json'), copy);
  const app = await opened({ builtInService: false }, { home, keyring: first.keyring });
  expect((await stateOf(app)).active?.connectionId).toBe('built-in');
  for (const call of [
    'lookup.sample',
    'batch.sample',
    'reports.signInBuiltIn',
    'reports.toolServer',
  ] as const)
    expect([call, codeOf(await app.ask(call, {}))]).toEqual([call, 'connection.built-in-off']);
});

describe('a passphrase that the administrator asks for', () => {
  test('nothing else is answered until it is set, and it can’t be removed', async () => {
    const app = await opened({ passphraseRequired: true });
    expect((await stateOf(app)).passphraseMissing).toBe(true);
    const calls: [CallName, object][] = [
      ['connections.save', draft],
      ['connections.startBuiltIn', {}],
      ['batch.jobs', {}],
      ['lookup.recent', {}],
      ['app.diagnostics', {}],
    ];
    for (const [call, input] of calls)
      expect([call, codeOf(await app.ask(call, input as never))]).toEqual([
        call,
        'unlock.passphrase-required',
      ]);

    const none = { xorKey, obscured: '' };
    const set = obscured('correct horse');
    expect(codeOf(await app.ask('lock.setPassphrase', { current: none, next: none }))).toBe(
      'settings.managed',
    );
    expect(codeOf(await app.ask('lock.setPassphrase', { current: none, next: set }))).toBe('ok');
    expect((await stateOf(app)).passphraseMissing).toBe(false);
    expect(codeOf(await app.ask('batch.jobs', {}))).toBe('ok');
    expect(codeOf(await app.ask('lock.setPassphrase', { current: set, next: none }))).toBe(
      'settings.managed',
    );
    expect((await stateOf(app)).lock.passphraseSet).toBe(true);
  });
});

test('the notice on updates is told to the window', async () => {
  const app = await opened({ updateNotice: 'Version 2 is in the Software Centre.' });
  expect((await stateOf(app)).managed.updateNotice).toBe('Version 2 is in the Software Centre.');
});

test('diagnostics say what is fixed, and name no host', async () => {
  const app = await opened({
    allowedHosts: ['canary.example'],
    cleartextExport: 'forbidden',
    revealSeconds: 5,
  });
  const { text } = valueOf(await app.ask('app.diagnostics', {}));
  expect(text).toContain('managed settings: allowedHosts, cleartextExport=forbidden, revealSeconds=5');
  expect(text).not.toContain('canary');
});
