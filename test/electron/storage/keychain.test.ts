import { expect, test, vi } from 'vitest';
import { done, failed, type Outcome } from '../../../electron/contract/errors.ts';
import { createKeychain } from '../../../electron/storage/keychain.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { fakeKeyring, testEntry, testHomeId } from '../../support/fake-keyring.ts';
import { failAt, saysNothing } from '../../support/failing-keyring.ts';

function app(keyring = fakeKeyring(), stored: string[] = []) {
  const clock = fakeClock();
  const index = { names: stored };
  const states: string[] = [];
  const keychain = createKeychain({
    homeId: testHomeId,
    load: () => Promise.resolve(keyring),
    index: { read: () => index.names, write: (names) => (index.names = [...names]) },
    clock,
  });
  keychain.onState(() => states.push(keychain.state()));
  return { keychain, keyring, clock, index, states };
}

function value<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.failure.code);
  return outcome.value;
}

const called = (keyring: ReturnType<typeof fakeKeyring>, count: number) =>
  vi.waitFor(() => expect(keyring.calls.length).toBe(count));

test('stores, reads and removes, with the name in the index and the value nowhere but the keyring', async () => {
  const { keychain, keyring, index } = app();
  expect(keychain.peek('c1:apiKey')).toBe('missing');
  expect(await keychain.read('c1:apiKey')).toEqual(failed('credentials.missing'));
  expect(await keychain.store('c1:apiKey', 's3cret')).toEqual(done('stored'));
  expect(index.names).toEqual(['c1:apiKey']);
  expect(keychain.peek('c1:apiKey')).toBe('stored');
  expect(await keychain.read('c1:apiKey')).toEqual(done('s3cret'));
  expect(await keychain.remove('c1:apiKey')).toEqual(done(null));
  expect(keyring.entries.has(testEntry('c1:apiKey'))).toBe(false);
  expect(index.names).toEqual([]);
  expect(await keychain.read('c1:apiKey')).toEqual(failed('credentials.missing'));
});

test('an indexed secret that the keyring does not return is locked, never missing', async () => {
  const { keychain, keyring, states } = app(fakeKeyring({ [testEntry('a')]: 'x' }), ['a']);
  keyring.mood = 'locked';
  expect(await keychain.read('a')).toEqual(failed('keychain.locked'));
  expect(await keychain.read('a')).toEqual(failed('keychain.locked'));
  expect(keychain.state()).toBe('locked');
  expect(keychain.peek('a')).toBe('locked');
  expect(await keychain.store('b', 'y')).toEqual(failed('keychain.locked'));
  keyring.mood = 'open';
  expect(await keychain.read('a')).toEqual(done('x'));
  expect(states).toEqual(['locked', 'ready']);
});

test('a keyring that stores and returns nothing is locked too', async () => {
  const keyring = fakeKeyring();
  keyring.getPassword = () => Promise.resolve(null);
  const { keychain, index } = app(keyring, ['a']);
  expect(await keychain.read('a')).toEqual(failed('keychain.locked'));
  expect(index.names).toEqual(['a']);
  expect(await keychain.key('b')).toEqual(failed('keychain.locked'));
  expect(keyring.entries.has(testEntry('b'))).toBe(false);
});

test('a secret that somebody else removed from an open keyring is missing', async () => {
  const { keychain, index } = app(fakeKeyring(), ['a']);
  expect(await keychain.read('a')).toEqual(failed('credentials.missing'));
  expect(index.names).toEqual([]);
  expect(keychain.state()).toBe('ready');
});

test('nothing is reported as removed while the keyring is locked', async () => {
  const { keychain, keyring, index } = app(fakeKeyring({ [testEntry('a')]: 'x' }), ['a']);
  keyring.mood = 'locked';
  expect(await keychain.remove('a')).toEqual(failed('keychain.locked'));
  expect(index.names).toEqual(['a']);
  keyring.mood = 'open';
  expect(await keychain.remove('a')).toEqual(done(null));
  expect(keyring.entries.has(testEntry('a'))).toBe(false);
});

test('"nothing" that a keyring says once is neither believed of a secret nor of its removal', async () => {
  const { keychain, keyring, index } = app(fakeKeyring({ [testEntry('a')]: 'x' }), ['a']);
  const once = (method: 'getPassword' | 'deletePassword') => failAt(keyring, 0, saysNothing, method);
  let fault = once('getPassword');
  expect(await keychain.read('a')).toEqual(done('x'));
  expect([fault.restore(), index.names]).toEqual([true, ['a']]);
  fault = once('deletePassword');
  expect(await keychain.remove('a')).toEqual(done(null));
  expect([fault.restore(), index.names, keyring.entries.has(testEntry('a'))]).toEqual([true, [], false]);
});

test('calls go one at a time, in order', async () => {
  const { keychain, keyring } = app();
  await Promise.all([
    keychain.store('a', '1'),
    keychain.store('b', '2'),
    keychain.read('a'),
    keychain.remove('b'),
  ]);
  expect(keyring.atOnce.max).toBe(1);
  expect(keyring.calls).toEqual([
    `set ${testEntry('a')}`,
    `set ${testEntry('b')}`,
    `get ${testEntry('a')}`,
    `delete ${testEntry('b')}`,
  ]);
});

test('a call that does not return is given up on, and no other is made until it does', async () => {
  const { keychain, keyring, clock, states } = app(fakeKeyring({ [testEntry('a')]: 'x' }), ['a']);
  keyring.mood = 'hanging';
  const first = keychain.read('a');
  const behind = keychain.read('a');
  await called(keyring, 1);
  clock.advance(4_999);
  expect(keychain.state()).toBe('ready');
  clock.advance(1);
  expect(await first).toEqual(failed('keychain.stalled'));
  expect(await behind).toEqual(failed('keychain.stalled'));
  expect(await keychain.store('b', 'y')).toEqual(failed('keychain.stalled'));
  expect(await keychain.remove('a')).toEqual(failed('keychain.stalled'));
  expect((await keychain.key('k')).ok).toBe(false);
  expect(keychain.peek('a')).toBe('locked');
  expect(keyring.calls).toEqual([`get ${testEntry('a')}`]);

  keyring.mood = 'open';
  keyring.release();
  await vi.waitFor(() => expect(keychain.state()).toBe('ready'));
  expect(await keychain.read('a')).toEqual(done('x'));
  expect(states).toEqual(['stalled', 'ready']);
  expect(clock.pending()).toBe(0);
});

test('a secret stored after its call was given up on is in the index', async () => {
  const { keychain, keyring, clock, index } = app();
  keyring.mood = 'hanging';
  const storing = keychain.store('a', 'x');
  await called(keyring, 1);
  clock.advance(5_000);
  expect(await storing).toEqual(failed('keychain.stalled'));
  keyring.mood = 'open';
  keyring.release();
  await vi.waitFor(() => expect(index.names).toEqual(['a']));
});

test('without a keyring secrets are in memory for this run', async () => {
  const { keychain, keyring, index } = app();
  keyring.mood = 'gone';
  expect(await keychain.store('a', 'x')).toEqual(done('memory'));
  expect(keychain.state()).toBe('unavailable');
  expect(keychain.peek('a')).toBe('memory');
  expect(await keychain.read('a')).toEqual(done('x'));
  expect(await keychain.read('b')).toEqual(failed('credentials.missing'));
  expect(index.names).toEqual([]);
  const key = value(await keychain.key('k'));
  expect(value(await keychain.key('k'))).toEqual(key);
  expect(await keychain.remove('a')).toEqual(done(null));
  expect(keychain.peek('a')).toBe('missing');
});

test('where the native module can not be loaded there is no keyring', async () => {
  const keychain = createKeychain({
    homeId: testHomeId,
    load: () => Promise.reject(new Error('Failed to load keytar native addon')),
    index: { read: () => [], write: () => undefined },
    clock: fakeClock(),
  });
  expect(await keychain.store('a', 'x')).toEqual(done('memory'));
  expect(keychain.state()).toBe('unavailable');
});

test('a secret in a keyring that is gone is neither missing nor removed from the index', async () => {
  const { keychain, keyring, index } = app(fakeKeyring({ [testEntry('a')]: 'x' }), ['a']);
  keyring.mood = 'gone';
  expect(await keychain.read('a')).toEqual(failed('keychain.unavailable'));
  expect(await keychain.remove('a')).toEqual(failed('keychain.unavailable'));
  expect(await keychain.key('a')).toEqual(failed('keychain.unavailable'));
  expect(index.names).toEqual(['a']);
});

test('a keyring that was there in this run and is away takes nothing into memory', async () => {
  const { keychain, keyring, index } = app(fakeKeyring({ [testEntry('a')]: 'x' }), ['a']);
  expect(await keychain.read('a')).toEqual(done('x'));
  keyring.mood = 'gone';
  expect(await keychain.store('b', 'y')).toEqual(failed('keychain.stalled'));
  expect(await keychain.read('a')).toEqual(failed('keychain.stalled'));
  expect(await keychain.remove('a')).toEqual(failed('keychain.stalled'));
  expect(keychain.accounts()).toEqual(['a']);
  keyring.mood = 'open';
  expect(await keychain.store('b', 'y')).toEqual(done('stored'));
  expect(index.names).toEqual(['a', 'b']);
});

test('a secret in memory goes into the keyring when it is stored again', async () => {
  const { keychain, keyring } = app();
  keyring.mood = 'gone';
  await keychain.store('a', 'x');
  keyring.mood = 'open';
  expect(await keychain.store('a', 'y')).toEqual(done('stored'));
  expect(keychain.peek('a')).toBe('stored');
  expect(await keychain.read('a')).toEqual(done('y'));
});

test('a key is 32 random bytes, made once, also for two calls at a time', async () => {
  const { keychain, keyring } = app();
  const [one, two] = await Promise.all([keychain.key('audit'), keychain.key('audit')]);
  expect(value(one)).toHaveLength(32);
  expect(value(two)).toEqual(value(one));
  expect(value(await keychain.key('results'))).not.toEqual(value(one));
  const next = app(keyring, ['audit']);
  expect(value(await next.keychain.key('audit'))).toEqual(value(one));
});

test('a key in use is not replaced while the keyring is locked, even with the index lost', async () => {
  const stored = Buffer.alloc(32, 7).toString('base64');
  const { keychain, keyring } = app(fakeKeyring({ [testEntry('audit')]: stored }), []);
  keyring.mood = 'locked';
  expect(await keychain.key('audit')).toEqual(failed('keychain.locked'));
  const set = keyring.setPassword.bind(keyring);
  // The person unlocks the keyring when storing asks for it.
  keyring.setPassword = (...call) => ((keyring.mood = 'open'), set(...call));
  expect(value(await keychain.key('audit'))).toEqual(new Uint8Array(32).fill(7));
  expect(keyring.entries.get(testEntry('audit'))).toBe(stored);
});

test('a secret has at most 2,560 bytes, not characters', async () => {
  const { keychain, keyring } = app();
  expect(await keychain.store('a', 'é'.repeat(1_280))).toEqual(done('stored'));
  expect(await keychain.store('b', `${'é'.repeat(1_280)}x`)).toEqual(
    failed('credentials.too-long', { subject: '2560' }),
  );
  expect(await keychain.store('b', '')).toEqual(failed('credentials.missing'));
  expect([...keyring.entries.keys()]).toEqual([testEntry('a')]);
});

test('an account name with other characters is a bug', async () => {
  const { keychain } = app();
  await expect(keychain.read('c1/apiKey')).rejects.toThrow('Not an account name');
});
