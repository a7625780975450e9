import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { memberNames } from '../../../electron/service/answers.ts';
import { readList, readSingle } from '../../../electron/service/read-answers.ts';
import { operationNames, operations } from '../../../electron/service/operations.ts';
import { meaningOf, readProfile } from '../../../electron/service/profile.ts';
import { shippedProfile } from '../../faults/client-side.ts';

const text = readFileSync(new URL('../../../resources/service-profile.json', import.meta.url), 'utf8');
const profile = shippedProfile();

interface Editable {
  version: number;
  operations: Record<string, { path: string; request: Record<string, string>; answer: string[] }>;
  element: Record<string, unknown>;
}
/** The shipped file with one change. */
function changed(change: (json: Editable) => void): string {
  const json = JSON.parse(text) as Editable;
  change(json);
  return JSON.stringify(json);
}
const at = (json: Editable, name: string) => {
  const found = json.operations[name];
  if (!found) throw new Error(name);
  return found;
};

describe('the service profile', () => {
  it('holds every operation of the table with exactly its parameters', () => {
    for (const name of operationNames) {
      expect(Object.keys(profile.operations[name].request).sort()).toEqual(
        [...operations[name].parameters].sort(),
      );
    }
  });

  it('may move what the specification does not show', () => {
    const moved = readProfile(changed((json) => (at(json, 'Detokenize').path = '/api/v2/detok')));
    expect(moved).toMatchObject({ ok: true });
  });

  it.each<[string, (json: Editable) => void]>([
    ['operations.CreateSession.path', (json) => (at(json, 'CreateSession').path = '/elsewhere')],
    ['operations.Tokenize.path', (json) => (at(json, 'Tokenize').path = '/api/tokenise')],
    ['operations.Detokenize.path', (json) => (at(json, 'Detokenize').path = 'https://evil.example/x')],
    ['operations.Detokenize.path', (json) => (at(json, 'Detokenize').path = '/a/../b')],
    ['operations.Detokenize.path', (json) => (at(json, 'Detokenize').path = '/a/./b')],
    ['operations.Detokenize.path', (json) => (at(json, 'Detokenize').path = '//evil.example/x')],
    ['operations.GetMasked.request', (json) => (at(json, 'GetMasked').request.tokenValue = 'tokenName')],
    ['operations.PatternMatch.answer', (json) => (at(json, 'PatternMatch').answer = [])],
    ['version', (json) => (json.version = 2)],
    ['element.surprise', (json) => (json.element.surprise = 1)],
    ['surprise', (json) => Object.assign(json, { surprise: 1 })],
    ['operations.Detokenize.method', (json) => Object.assign(at(json, 'Detokenize'), { method: 'GET' })],
    ['operations.Tokenize.method', (json) => Object.assign(at(json, 'Tokenize'), { method: 'PUT' })],
    ['operations', (json) => Object.assign(json.operations, { Shred: {} })],
    ['version', (json) => Reflect.deleteProperty(json, 'version')],
  ])('is refused by the place that does not hold: %s', (place, change) => {
    const outcome = readProfile(changed(change));
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'connection.invalid' } });
    expect(!outcome.ok && outcome.failure.subject).toContain(place);
  });

  it('may name its schema, as editors do', () => {
    const text = (more: object): string => JSON.stringify({ version: 1, ...more });
    expect(readProfile(text({ $schema: 'service-profile.schema.json' }))).toEqual(readProfile(text({})));
  });

  // Else Tokenize would detokenize whole files, with no reason and no count.
  it.each([
    ['BatchTokenize', '/api/services/evtservice/batchdetokenize'],
    ['BatchTokenize', '/API/services/evtservice/BatchDetokenize'],
    ['BatchTokenize', '/api/services/evtservice/patternmatch'],
    ['BatchTranslate', '/api/services/evtservice/batchdetokenize/'],
    ['GetMasked', '/api/services/evtservice/detokenize'],
    ['GetMasked', '/api/services/evtservice//detokenize'],
    ['GetMasked', '/api/services/evtservice/%64etokenize'],
    ['Translate', '/moved/detokenize'],
  ])('gives %s no path of an operation that gives cleartext: %s', (name, path) => {
    const operations = { [name]: { path }, ...(path.startsWith('/moved') && { Detokenize: { path } }) };
    const outcome = readProfile(JSON.stringify({ version: 1, operations }));
    expect(outcome).toMatchObject({ ok: false, failure: { code: 'connection.invalid' } });
    expect(!outcome.ok && outcome.failure.subject).toContain(`operations.${name}.path`);
    // What fits a connection is held to the same.
    expect(readProfile('{"version":1}', { fitted: { operations } })).toMatchObject({ ok: false });
  });

  it.each(['{', '[]', 'null', '"x"', '7', '{"version":1,"__proto__":{"version":1}}'])(
    'is refused when it is no profile: %s',
    (json) => {
      expect(readProfile(json)).toMatchObject({ ok: false, failure: { code: 'connection.invalid' } });
    },
  );

  it('is that of the shipped file but for what a file says differently', () => {
    const { operations: shipped, ...rest } = profile;
    const own = { version: 1, operations: { Detokenize: { answer: ['clearText'] } }, lists: ['rows'] };
    expect(readProfile(JSON.stringify(own))).toEqual({
      ok: true,
      value: {
        ...rest,
        lists: ['rows'],
        // Another service's administration is named by its own file or not at all.
        administration: null,
        operations: { ...shipped, Detokenize: { ...shipped.Detokenize, answer: ['clearText'] } },
      },
    });
  });

  it('knows what error codes mean', () => {
    expect(meaningOf(profile, 'InvalidCredentials')).toBe('credentials');
    expect(meaningOf(profile, 'ApiKeyExpired')).toBe('keyExpired');
    expect(meaningOf(profile, 'SessionUnknown')).toBe('session');
    expect(meaningOf(profile, 'OperationNotGranted')).toBe('notGranted');
    expect(meaningOf(profile, 'NewInVersion9')).toBeNull();
  });
});

const ofTokens = { valueName: 'token', mayLack: false };

describe('a single answer', () => {
  it.each<[string, unknown]>([
    ['a member', { token: 'T' }],
    ['an alternate member', { tokenValue: 'T' }],
    ['a bare string', 'T'],
    ['a wrapper', { data: { token: 'T' } }],
    ['a wrapped string', { data: 'T' }],
    ['wrappers within wrappers', { result: { data: { token: 'T' } } }],
    ['unknown members beside', { extra: { token: 'no' }, token: 'T', status: 'NEW' }],
    ['an empty member before', { token: null, Token: 'T' }],
  ])('is found as %s', (_, json) => {
    expect(readSingle(profile, 'Tokenize', json)).toEqual({ ok: true, value: 'T' });
  });

  it('is not taken from a number, which has lost digits already', () => {
    expect(readSingle(profile, 'Tokenize', { token: 4111111111111111 })).toEqual({
      ok: false,
      failure: { code: 'service.unexpected-answer', members: ['token'] },
    });
  });

  it.each<[unknown, string[]]>([
    [{ a: 1, b: 'x' }, ['a', 'b']],
    [{ data: { clear: 'x' } }, ['clear']],
    [[{ token: 'T' }], ['[]', 'token']],
    [null, []],
    [7, []],
    [{ '4111111111111111': 1, 'a b': 2 }, ['(unreadable)', '(unreadable)']],
  ])('that fits nothing is told by its members: %j', (json, members) => {
    expect(readSingle(profile, 'Tokenize', json)).toEqual({
      ok: false,
      failure: { code: 'service.unexpected-answer', members },
    });
  });

  it('bare strings are refused where the profile says so', () => {
    const strict = { ...profile, bareStrings: false, bareLists: false };
    expect(readSingle(strict, 'Tokenize', 'T').ok).toBe(false);
    expect(readList(strict, [], ofTokens).ok).toBe(false);
    expect(readList(strict, { elements: [] }, ofTokens).ok).toBe(true);
  });
});

describe('a batch answer', () => {
  it.each<[string, unknown]>([
    ['at the root', [1]],
    ['under elements', { elements: [1] }],
    ['under a wrapper', { data: { elements: [1] } }],
    ['under data itself', { data: [1] }],
  ])('is found %s', (_, json) => {
    expect(readList(profile, json, ofTokens)).toEqual({ ok: true, value: [1] });
  });

  it('that has no list is told by its members', () => {
    expect(readList(profile, { rows: [1], count: 1 }, ofTokens)).toMatchObject({
      failure: { code: 'service.unexpected-answer', members: ['rows', 'count'] },
    });
    expect(memberNames({ a: 1 })).toEqual(['a']);
  });
});
