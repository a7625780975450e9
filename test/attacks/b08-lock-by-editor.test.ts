import fs from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { failed, type Outcome } from '../../electron/contract/errors.ts';
import { defaultSettings } from '../../electron/contract/models/app.ts';
import { entryName } from '../../electron/storage/keychain-accounts.ts';
import { systemClock } from '../../electron/util/clock.ts';
import { messageFor } from '../../src/messages/messages.ts';
import { value } from '../support/audit-folder.ts';
import { acme, makeHome, secretsOfAcme, type EditedFile, type HomeApp } from '../support/edited-home.ts';
import { fakeKeyring, type FakeKeyring } from '../support/fake-keyring.ts';
import { startBatch } from '../support/running-batch.ts';
import { obscured } from '../support/whole-app.ts';

const right = 'correct horse';
/** What stops a connection whose secrets are there: the address answers nobody. */
const reached = 'service.unreachable';
const codeOf = (outcome: Outcome<unknown>) => (outcome.ok ? 'ok' : outcome.failure.code);
const setPassphrase = (app: HomeApp, current: string, next: string) =>
  app.ask('lock.setPassphrase', { current: obscured(current), next: obscured(next) });
const accountsIn = ({ entries }: FakeKeyring) =>
  [...entries.keys()].map((name) => name.split(':').slice(1).join(':'));
const keyOf = ({ entries }: FakeKeyring) => [...entries].find(([name]) => name.endsWith(':secrets:key'))?.[1];
const isLocked = async (app: HomeApp) => value(await app.ask('app.state', {})).lock.locked;

/** A home with a passphrase, closed. */
async function withPassphrase() {
  const home = await makeHome();
  const app = await home.open();
  value(await setPassphrase(app, '', right));
  await app.close();
  const homeId = [...home.keyring.entries.keys()]
    .find((name) => name.endsWith(':secrets:key'))
    ?.split(':')[0];
  return { ...home, homeId: homeId ?? '' };
}

test('with a passphrase set the keyring has no key of the secrets but under it', async () => {
  const { open, keyring } = await withPassphrase();
  expect(keyOf(keyring)).toMatch(/^scrypt-key:/);
  const all = [...keyring.entries.values()].join('\n');
  for (const secret of [...secretsOfAcme, right]) expect(all).not.toContain(secret);
  const app = await open();
  expect([await isLocked(app), await app.use()]).toEqual([true, 'app.locked']);
  value(await app.unlock(right));
  expect(await app.use()).toBe(reached);
});

test('a passphrase whose removal failed is still in force', async () => {
  const { open, keyring } = await withPassphrase();
  const app = await open();
  value(await app.unlock(right));
  const original = keyring.setPassword.bind(keyring);
  keyring.setPassword = (service, name, secret) =>
    name.endsWith(':secrets:key')
      ? Promise.reject(new Error('The bus timed out'))
      : original(service, name, secret);
  expect(await setPassphrase(app, right, '')).toEqual(failed('keychain.stalled'));
  keyring.setPassword = original;
  value(await app.ask('lock.now', {}));
  value(await app.unlock(right));
  expect(keyOf(keyring)).toMatch(/^scrypt-key:/);
  expect(await app.use()).toBe(reached);
});

const forget = (file: EditedFile) => {
  file.keychainIndex = file.keychainIndex.filter((name) => !/^(lock|secrets):/.test(name));
  file.passphrase = false;
  file.unlock = { wrong: 0, until: null };
};

test('whoever removes the key under the passphrase from keyring and settings gets in, but to nothing', async () => {
  const { open, keyring, homeId } = await withPassphrase();
  keyring.entries.delete(entryName(homeId, 'secrets:key'));
  const app = await open(forget);
  expect([await isLocked(app), await app.use()]).toEqual([false, 'connection.changed']);
  expect(await app.view()).toMatchObject({ apiKey: 'missing' });
});

test('nor is anything opened by the key and passphrase of somebody else', async () => {
  const { open, keyring, homeId } = await withPassphrase();
  const other = await withPassphrase();
  keyring.entries.set(entryName(homeId, 'secrets:key'), keyOf(other.keyring) ?? '');
  const app = await open();
  value(await app.unlock(right));
  expect(await app.use()).toBe('connection.changed');
});

test.each([
  ['the file', (_: FakeKeyring, file: EditedFile) => (file.unlock = { wrong: 0, until: null })],
  [
    'the keyring',
    (ring: FakeKeyring) =>
      [...ring.entries.keys()]
        .filter((name) => name.endsWith(':lock:attempts'))
        .forEach((name) => ring.entries.delete(name)),
  ],
])('tries and waits survive an edit of %s between starts', async (_name, edit) => {
  const { open, keyring } = await withPassphrase();
  // Time stands still, however busy the machine is: a wait that has begun is not over at any start.
  const clocks = [vi.spyOn(systemClock, 'now'), vi.spyOn(systemClock, 'monotonic')];
  onTestFinished(() => {
    for (const clock of clocks) clock.mockRestore();
  });
  clocks.forEach((clock, at) => clock.mockReturnValue(at === 0 ? Date.now() : performance.now()));
  const codes: string[] = [];
  for (let start = 0; start < 3; start++) {
    const app = await open((file) => void edit(keyring, file));
    codes.push(codeOf(await app.unlock('wrong')), codeOf(await app.unlock(right)));
    await app.close();
  }
  expect(codes).toEqual(['unlock.wrong', ...Array<string>(5).fill('unlock.wait')]);
});

test('as a new user: set, lock, restart, change, remove', async () => {
  const { open, keyring, enterSecrets } = await makeHome();
  const app = await open();
  value(await setPassphrase(app, '', right));
  value(await app.ask('lock.now', {}));
  expect(codeOf(await app.unlock(''))).toBe('unlock.wrong');
  value(await app.unlock(right));
  await app.close();
  const again = await open();
  expect(await isLocked(again)).toBe(true);
  value(await again.unlock(right));
  expect(await again.use()).toBe(reached);
  value(await setPassphrase(again, right, 'battery staple'));
  await enterSecrets(again);
  await again.close();
  const third = await open();
  value(await third.unlock('battery staple'));
  expect(await third.use()).toBe(reached);
  value(await setPassphrase(third, 'battery staple', ''));
  expect(keyOf(keyring)).toMatch(/^[^:]{44}$/);
  await third.close();
  const last = await open();
  expect([await isLocked(last), await last.use()]).toEqual([false, reached]);
});

test('as a new user: the folder is moved, and a backup of yesterday is put back', async () => {
  const { open, place, lines, settings } = await withPassphrase();
  const yesterday = fs.readFileSync(settings());
  const moved = `${place.home}-moved`;
  fs.renameSync(place.home, moved);
  place.home = moved;
  const app = await open();
  value(await app.unlock(right));
  expect(await app.use()).toBe(reached);
  value(await setPassphrase(app, right, 'battery staple'));
  await app.close();
  fs.writeFileSync(settings(), yesterday);
  const restored = await open();
  // The passphrase is the keychain's: a backup of the folder brings no earlier one back.
  expect(codeOf(await restored.unlock(right))).toBe('unlock.wrong');
  await vi.waitFor(async () => value(await restored.unlock('battery staple')), 5_000);
  expect([await restored.use(), lines('ChangedOutside')]).toEqual([reached, 0]);
});

test('as a new user: another computer, and a keyring that was lost, end in a sentence and a way on', async () => {
  const { id, open, enterSecrets, lines } = await withPassphrase();
  const elsewhere = fakeKeyring();
  const app = await open(undefined, elsewhere);
  expect(value(await app.ask('app.state', {})).lock).toMatchObject({ locked: true, verifierLost: true });
  expect(await app.unlock(right)).toEqual(failed('unlock.verifier-lost'));
  const { summary, advice } = messageFor({ code: 'unlock.verifier-lost' });
  expect(`${summary} ${advice}`).toContain('This folder came from another computer, or somebody removed it.');
  value(await app.ask('lock.reset', {}));
  expect([await app.use(), lines('ChangedOutside')]).toEqual(['connection.changed', 0]);
  value(await app.ask('connections.save', { ...acme, id }));
  await enterSecrets(app);
  expect(await app.use()).toBe(reached);
  await app.close();
  const again = await open(undefined, elsewhere);
  expect([await isLocked(again), await again.use(), lines('ChangedOutside')]).toEqual([false, reached, 0]);
});

/** A home with a passphrase whose app answers the system's question as `agrees` says, and counts the questions. */
async function withQuestion() {
  const asked = { questions: [] as string[], agrees: false };
  const home = await makeHome({
    platform: {
      confirm: ({ message, detail }) => {
        asked.questions.push(`${message} ${detail}`);
        return Promise.resolve(asked.agrees ? true : null);
      },
    },
  });
  const app = await home.open();
  value(await setPassphrase(app, '', right));
  return { ...home, app, asked };
}

test('a batch that runs is named in the question, and stopped before its key goes', async () => {
  const { app, asked } = await withQuestion();
  const jobId = await startBatch(app);
  value(await app.ask('lock.now', {}));
  value(await app.ask('lock.reset', {}));
  expect(asked.questions[0]).toContain('A batch is still running. It is stopped');
  asked.agrees = true;
  expect(value(await app.ask('lock.reset', {}))).toMatchObject({ locked: false });
  const jobs = value(await app.ask('batch.jobs', {}));
  // Not by itself: it would go on once somebody answers.
  expect(jobs.map((job) => [job.jobId, job.state, job.waiting, job.failure])).toEqual([
    [jobId, 'paused', null, null],
  ]);
});

test('as a new user: the passphrase is forgotten, and the one way on is the loss of what it protects', async () => {
  const { app, asked, open, keyring, id, stored, lines, settings, enterSecrets } = await withQuestion();
  value(await app.ask('lock.now', {}));
  await app.unlock('wrong');
  // The person changes their mind: nothing is lost, and the way back is there.
  expect(value(await app.ask('lock.reset', {}))).toMatchObject({ locked: true, passphraseSet: true });
  expect([stored(), lines('ResetLock'), asked.questions.length]).toEqual([2, 0, 1]);
  expect(asked.questions[0]).toMatch(/API keys, passwords.*are removed.*settings and the audit log stay/s);
  asked.agrees = true;
  const before = JSON.parse(fs.readFileSync(settings(), 'utf8')) as EditedFile;
  const state = value(await app.ask('lock.reset', {}));
  expect(state).toEqual({ locked: false, passphraseSet: false, waitMs: 0 });
  expect([stored(), lines('ResetLock'), lines('ChangedOutside')]).toEqual([0, 1, 0]);
  expect(accountsIn(keyring)).not.toContain('lock:verifier');
  expect(await app.use()).toBe('connection.changed');
  expect(await app.view()).toMatchObject({ id, apiKey: 'missing', environment: 'production' });
  const after = JSON.parse(fs.readFileSync(settings(), 'utf8')) as EditedFile;
  // What the lock hangs on begins anew: nothing says any more that it is as it was left.
  expect([after.connections, after.settings]).toEqual([before.connections, defaultSettings]);
  // Once it is saved, what is entered again is used in the same run and in the next one, and proves itself.
  value(await app.ask('connections.save', { ...acme, id }));
  await enterSecrets(app);
  expect(await app.use()).toBe(reached);
  await app.close();
  const again = await open();
  expect([await isLocked(again), await again.use(), lines('ChangedOutside')]).toEqual([false, reached, 0]);
  await again.close();
  const edited = await open((file) => {
    for (const one of file.connections) one['environment'] = 'test';
  });
  expect([await edited.use(), lines('ChangedOutside')]).toEqual(['connection.changed', 1]);
});

test('a reset that the keychain answers too late is one: it opens without a passphrase, and nobody is accused', async () => {
  const { id, open, keyring, lines, enterSecrets } = await withPassphrase();
  const app = await open();
  // What this run knows is under the key that goes.
  value(await app.unlock(right));
  expect(await app.use()).toBe(reached);
  await app.ask('lock.now', {});
  const original = keyring.setPassword.bind(keyring);
  const wait = systemClock.after.bind(systemClock);
  const clock = vi.spyOn(systemClock, 'after');
  onTestFinished(() => {
    clock.mockRestore();
  });
  clock.mockImplementation((ms, run) => wait(ms === 5_000 ? 100 : ms, run));
  let late = (): void => undefined;
  keyring.setPassword = (service, name, secret) =>
    name.endsWith(':secrets:key')
      ? new Promise((resolve) => {
          late = () => {
            resolve(original(service, name, secret));
          };
        })
      : original(service, name, secret);
  expect(await app.ask('lock.reset', {})).toEqual(failed('unlock.unsure'));
  expect(await isLocked(app)).toBe(true);
  late();
  keyring.setPassword = original;
  await vi.waitFor(async () => value(await app.unlock('anything')), 5_000);
  expect([await app.use(), lines('ChangedOutside')]).toEqual(['connection.changed', 0]);
  value(await app.ask('connections.save', { ...acme, id }));
  await enterSecrets(app);
  await app.close();
  const again = await open();
  expect([await isLocked(again), await again.use(), lines('ChangedOutside')]).toEqual([false, reached, 0]);
});

test('nobody is asked to forget where nothing is locked, and an index that lost an entry leaves none', async () => {
  const { app, asked, open, keyring } = await withQuestion();
  asked.agrees = true;
  expect(codeOf(await app.ask('lock.reset', {}))).toBe('call.refused');
  expect(asked.questions).toEqual([]);
  await app.close();
  const again = await open((file) => {
    file.keychainIndex = file.keychainIndex.filter((name) => name.startsWith('lock:'));
  });
  value(await again.ask('lock.reset', {}));
  await again.close();
  expect(accountsIn(keyring).filter((name) => /apiKey|policy-|lock:verifier/.test(name))).toEqual([]);
});

test('a passphrase of an earlier version opens its home once more, and wraps the key from then on', async () => {
  const { open, keyring, homeId, id } = await withPassphrase();
  // Of the passphrase "correct horse", as that version stored it; the secrets beside it were as they were typed.
  const { scryptSync } = await import('node:crypto');
  const salt = Buffer.from('sixteen bytes...');
  const hash = scryptSync(right, salt, 32, { N: 2 ** 10, r: 8, p: 1 });
  const verifier = `scrypt:10:${salt.toString('base64')}:${hash.toString('base64')}`;
  keyring.entries.set(entryName(homeId, 'lock:verifier'), verifier);
  keyring.entries.delete(entryName(homeId, 'secrets:key'));
  keyring.entries.delete(entryName(homeId, `connection-key:${id}`));
  for (const name of [...keyring.entries.keys()].filter((one) => one.includes(`:${id}:`)))
    keyring.entries.set(name, (name.includes(':policy-') ? secretsOfAcme[1] : secretsOfAcme[0]) ?? '');
  const app = await open((file) => delete file.seals);
  expect(codeOf(await app.unlock('wrong'))).toBe('unlock.wrong');
  await vi.waitFor(async () => value(await app.unlock(right)), 5_000);
  expect(await app.use()).toBe(reached);
  const all = [...keyring.entries.values()].join('\n');
  for (const secret of secretsOfAcme) expect(all).not.toContain(secret);
  expect(keyOf(keyring)).toMatch(/^scrypt-key:10:/);
  expect(accountsIn(keyring)).not.toContain('lock:verifier');
  await app.close();
  const again = await open();
  value(await again.unlock(right));
  expect(await again.use()).toBe(reached);
});

test('till what an editor changed is dealt with the app stays locked, however long that takes', async () => {
  const { open, keyring } = await withPassphrase();
  const original = keyring.deletePassword.bind(keyring);
  let go = (): void => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  const app = await open((file) => {
    file.settings = { ...defaultSettings, caseRequired: false };
    for (const one of file.connections) one['environment'] = 'development';
  });
  let isHeld = false;
  keyring.deletePassword = async (...given) => {
    isHeld = true;
    await held;
    return original(...given);
  };
  const unlocking = app.unlock(right);
  await vi.waitFor(() => expect(isHeld).toBe(true), 5_000);
  expect([await isLocked(app), await app.use()]).toEqual([true, 'app.locked']);
  go();
  value(await unlocking);
  expect(value(await app.ask('app.state', {}))).toMatchObject({
    lock: { locked: false },
    settings: { caseRequired: true },
    connections: [{ changedOutside: true }],
  });
});

test('an app that is to lock while it opens stays locked', async () => {
  const { open, keyring } = await withPassphrase();
  const original = keyring.getPassword.bind(keyring);
  const app = await open();
  let isLocking = false;
  keyring.getPassword = async (...given) => {
    // The first reading after the passphrase was checked.
    if (given[1].includes('connection-key:') && !isLocking) {
      isLocking = true;
      await app.ask('lock.now', {});
    }
    return original(...given);
  };
  value(await app.unlock(right));
  expect([isLocking, await isLocked(app)]).toEqual([true, true]);
});

test('a question of the lock is answered for that lock alone', async () => {
  let answer = (_agreed: true | null): void => undefined;
  let isAsked = false;
  const home = await makeHome({
    platform: {
      confirm() {
        isAsked = true;
        return new Promise((resolve) => (answer = resolve));
      },
    },
  });
  const app = await home.open();
  value(await setPassphrase(app, '', right));
  await app.ask('lock.now', {});
  const reset = app.ask('lock.reset', {});
  await vi.waitFor(() => expect(isAsked).toBe(true));
  value(await app.unlock(right));
  await app.ask('lock.now', {});
  answer(true);
  expect(value(await reset)).toMatchObject({ locked: true, passphraseSet: true });
  expect(home.stored()).toBe(2);
  value(await app.unlock(right));
  expect(await app.use()).toBe(reached);
});

test.each(['found before it', 'not yet found'])('a reset adopts no edit: one that was %s', async (when) => {
  const { open, lines, settings } = await withPassphrase();
  const app = await open((file) => {
    file.settings = { ...defaultSettings, caseRequired: false };
    for (const one of file.connections) one['environment'] = 'test';
  });
  if (when === 'found before it') {
    value(await app.unlock(right));
    await app.ask('lock.now', {});
  }
  value(await app.ask('lock.reset', {}));
  const expected = { settings: { caseRequired: true }, connections: [{ changedOutside: true }] };
  expect(value(await app.ask('app.state', {}))).toMatchObject(expected);
  const said = lines('ChangedOutside');
  await app.close();
  const again = await open();
  expect(value(await again.ask('app.state', {}))).toMatchObject({ lock: { locked: false }, ...expected });
  expect([await again.use(), lines('ChangedOutside')]).toEqual(['connection.changed', said]);
  expect(JSON.parse(fs.readFileSync(settings(), 'utf8'))).toMatchObject({ settings: { caseRequired: true } });
});

test('a run that began without the keyring takes no passphrase away that was set before', async () => {
  const { open, keyring } = await withPassphrase();
  keyring.mood = 'gone';
  const app = await open((file) => (file.keychainIndex = []));
  keyring.mood = 'open';
  expect(codeOf(await setPassphrase(app, '', ''))).toBe('app.locked');
  expect(codeOf(await setPassphrase(app, '', 'battery staple'))).toBe('app.locked');
  await app.close();
  const again = await open();
  expect(await isLocked(again)).toBe(true);
  value(await again.unlock(right));
  expect(await again.use()).toBe(reached);
});

test('a passphrase that could not be set is not in force at the next start', async () => {
  const { open, keyring } = await makeHome();
  const app = await open();
  const original = keyring.setPassword.bind(keyring);
  keyring.setPassword = (service, name, secret) =>
    name.endsWith(':secrets:key') ? Promise.reject(new Error('broken')) : original(service, name, secret);
  expect((await setPassphrase(app, '', right)).ok).toBe(false);
  keyring.setPassword = original;
  await app.close();
  const again = await open();
  expect([await isLocked(again), await again.use()]).toEqual([false, reached]);
});
