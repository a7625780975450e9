import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { type ConnectionProfiles, createConnectionProfiles } from '../../../electron/connections/profiles.ts';
import { done, type Outcome } from '../../../electron/contract/errors.ts';
import { matchElements } from '../../../electron/service/match-elements.ts';
import { readList, readSingle } from '../../../electron/service/read-answers.ts';
import type { OperationName } from '../../../electron/service/operations.ts';
import type { SettingsDocument } from '../../../electron/settings/settings.ts';
import type { Store } from '../../../electron/settings/store.ts';

type Profiles = ReturnType<Store<Pick<SettingsDocument, 'profiles'>>['read']>;
const connection = { id: 'c1', builtIn: false };
let stored: Profiles;
let profiles: ConnectionProfiles;

beforeEach(() => {
  stored = {};
  profiles = createConnectionProfiles({
    platform: { resources: path.resolve('resources'), site: path.resolve('resources/none') },
    store: { read: () => structuredClone(stored) as never },
    seals: {
      keep: (_, make) => {
        stored = make().profiles ?? {};
        return Promise.resolve(done(null));
      },
    },
  });
});

function value<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.failure));
  return outcome.value;
}

const note = (operation: OperationName, json: unknown, submitted: string[] = []) =>
  profiles.noteUnread('c1', { operation, json, submitted });
const fit = (operation: OperationName, answer: string[] | null, ref: string[] | null = null) =>
  profiles.fit(connection, { operation, answer, ref });

test('4.17 a single answer is read once its member is named, wrapped or not', async () => {
  const json = { outcome: { data: { redacted: '41**11', note: 'x' } } };
  note('GetMasked', json);
  expect(await fit('GetMasked', ['outcome', 'data', 'redacted'])).toMatchObject({ ok: true });
  expect(readSingle(value(await profiles.read(connection)), 'GetMasked', json)).toEqual(done('41**11'));
  expect(profiles.view('c1')).toEqual({ name: null, fitted: ['GetMasked'] });
  // The answers of before are no longer what they were.
  expect(profiles.unread('c1')).toEqual([]);
});

test('4.17 a batch answer is read once its value and its RefId are named, and an earlier fitting stays', async () => {
  note('GetMasked', { redacted: 'x' });
  value(await fit('GetMasked', ['redacted']));
  const json = { page: { rows: [{ id: '0', surrogate: 'T0' }] } };
  note('BatchTokenize', json);
  const [answer, ref] = ['surrogate', 'id'].map((name) => ['page', 'rows', '[]', name]);
  expect(await fit('BatchTokenize', answer ?? [], ref)).toMatchObject({ ok: true });
  const profile = value(await profiles.read(connection));
  const list = value(readList(profile, json, { valueName: 'surrogate', mayLack: false }));
  const members = {
    ...profile.element,
    value: profile.operations.BatchTokenize.answer,
    emptyValues: false,
    maxLength: 100,
    elementCodes: profile.elementCodes,
    refusesEcho: true,
    refusesPart: true,
    returns: null,
  };
  expect(matchElements([{ ref: '0', value: 'clear' }], list, members)).toEqual(
    done([{ ref: '0', ok: true, value: 'T0' }]),
  );
  expect(profiles.view('c1').fitted).toEqual(['GetMasked', 'BatchTokenize']);
  expect(readSingle(profile, 'GetMasked', { redacted: '4**1' })).toEqual(done('4**1'));
});

test('a list at the root is read too', async () => {
  note('BatchDetokenize', [{ id: '0', plain: 'C' }]);
  expect(await fit('BatchDetokenize', ['[]', 'plain'], ['[]', 'id'])).toMatchObject({ ok: true });
  expect(value(await profiles.read(connection)).operations.BatchDetokenize.answer).toEqual(['plain']);
});

test.each<[string, unknown, string[] | null, string[], object]>([
  [
    'the value',
    { found: [{ id: '0', plain: 'C' }] },
    ['found', '[]', 'plain'],
    ['found', '[]', 'id'],
    { answer: ['plain'], returns: 'value' },
  ],
  [
    'what was sent',
    { found: [{ id: '0', data: 'T-0' }] },
    ['found', '[]', 'data'],
    ['found', '[]', 'id'],
    { answer: ['data'], returns: 'element' },
  ],
  ['a RefId alone', { found: [{ id: '0' }] }, null, ['found', '[]', 'id'], { returns: 'reference' }],
  ['a list of RefIds', { found: ['0'] }, null, ['found', '[]'], { returns: 'reference' }],
])('4.14 a match that answers %s is recognised', async (_, ...row) => {
  const [json, answer, ref, expected] = row;
  note('PatternMatch', json, ['T-0']);
  value(await fit('PatternMatch', answer, ref));
  const profile = value(await profiles.read(connection));
  expect(profile.operations.PatternMatch).toMatchObject(expected);
  const list = value(readList(profile, json, { valueName: 'surrogate', mayLack: false }));
  const { element, elementCodes, operations } = profile;
  const { answer: names, returns } = operations.PatternMatch;
  const members = {
    ...element,
    value: names,
    elementCodes,
    emptyValues: false,
    maxLength: 100,
    refusesEcho: false,
    refusesPart: false,
    returns,
  };
  const read = returns === 'value' ? 'C' : null;
  expect(matchElements([{ ref: '0', value: 'T-0' }], list, members)).toEqual(
    done([{ ref: '0', ok: true, value: read }]),
  );
  expect(profiles.view('c1').fitted).toEqual(['PatternMatch']);
});

type Refused = [OperationName, unknown, string[] | null, string[] | null, string];

test.each<[string, ...Refused]>([
  ['one that did not come', 'GetMasked', { a: 'x' }, ['b'], null, 'profile.member'],
  ['a number', 'GetMasked', { a: 7 }, ['a'], null, 'profile.member'],
  ['an object', 'GetMasked', { a: {} }, ['a'], null, 'profile.member'],
  ['a list', 'GetMasked', { a: ['x'] }, ['a', '[]'], null, 'profile.member'],
  [
    'nothing, but for a match',
    'BatchDetokenize',
    { a: [{ id: '0' }] },
    null,
    ['a', '[]', 'id'],
    'profile.member',
  ],
  [
    'a value beside a list of RefIds',
    'PatternMatch',
    { a: ['0'], b: 'x' },
    ['b'],
    ['a', '[]'],
    'profile.member',
  ],
  ['cleartext for a mask', 'GetMasked', { value: 'x' }, ['value'], null, 'profile.cleartext'],
  ['cleartext for a token', 'Tokenize', { plainText: 'x' }, ['plainText'], null, 'profile.cleartext'],
  [
    'an element of a list for one answer',
    'GetMasked',
    { a: [{ b: 'x' }] },
    ['a', '[]', 'b'],
    null,
    'profile.member',
  ],
  ['no RefId for a batch', 'BatchTokenize', { a: [{ b: 'x' }] }, ['a', '[]', 'b'], null, 'profile.member'],
  [
    'the same for both',
    'BatchTokenize',
    { a: [{ b: 'x' }] },
    ['a', '[]', 'b'],
    ['a', '[]', 'b'],
    'profile.member',
  ],
  [
    'a RefId from elsewhere',
    'BatchTokenize',
    { a: [{ b: 'x' }], c: 'x' },
    ['a', '[]', 'b'],
    ['c'],
    'profile.member',
  ],
  [
    'cleartext in an element',
    'BatchTranslate',
    { a: [{ clearText: 'x', id: '1' }] },
    ['a', '[]', 'clearText'],
    ['a', '[]', 'id'],
    'connection.invalid',
  ],
])('a person can’t choose %s', async (_, ...refused) => {
  const [operation, json, answer, ref, code] = refused;
  note(operation, json);
  expect(await fit(operation, answer, ref)).toMatchObject({ failure: { code } });
  expect(stored).toEqual({});
});

test('nothing can be fitted that no answer asked for', async () => {
  expect(await fit('GetMasked', ['a'])).toMatchObject({ failure: { code: 'profile.member' } });
  note('GetMasked', { a: 'x' });
  expect(await fit('Tokenize', ['a'])).toMatchObject({ failure: { code: 'profile.member' } });
});

test('no value of an answer is remembered, stored or told', async () => {
  const secret = 'canary-4111111111111111';
  const json = { surrogate: secret, [secret]: secret, rows: [{ [secret]: secret }], jane: 'x' };
  note('Tokenize', json, ['Jane']);
  expect(profiles.unread('c1')).toEqual([
    {
      operation: 'Tokenize',
      members: [
        { path: ['surrogate'], kind: 'text' },
        { path: ['rows'], kind: 'list' },
      ],
    },
  ]);
  value(await fit('Tokenize', ['surrogate']));
  expect(JSON.stringify([stored, profiles.unread('c1')])).not.toContain('canary');
});

test('a damaged profile in the settings is a failure, not the shipped one', async () => {
  stored = { c1: { imported: { name: 'x.json', text: '{"version":1,"lists":[]}' }, fitted: {} } };
  expect(await profiles.read(connection)).toMatchObject({
    failure: { code: 'connection.invalid', subject: 'service profile: lists' },
  });
});
