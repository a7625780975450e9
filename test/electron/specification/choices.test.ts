import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { batchCall, type CallContext } from '../../../electron/service/service-client.ts';
import { addressOf } from '../../../electron/service/addresses.ts';
import { readProfile } from '../../../electron/service/profile.ts';
import { createTransport } from '../../../electron/service/http/transport.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import { createClientSide } from '../../faults/client-side.ts';
import { fuzzAnswers } from '../../support/fuzz-answers.ts';
import {
  startSwitchedService,
  truth,
  type Switches,
  type ToldElement,
} from '../../support/switched-service.ts';

const shipped = readFileSync(new URL('../../../resources/service-profile.json', import.meta.url), 'utf8');
const cards = ['4111111111111111', '5555555555554444', '378282246310005'];
const context: CallContext = {};
const definition = 'card number';
const target = { policy: 'policy-2', definition };

let service: Awaited<ReturnType<typeof startSwitchedService>>;
beforeAll(async () => {
  service = await startSwitchedService();
});
afterAll(() => service.close());

function clientWith(profileChanges: object) {
  const profile = readProfile(JSON.stringify({ version: 1, ...profileChanges }));
  if (!profile.ok) return profile.failure.subject ?? '';
  const { client } = createClientSide({
    profile: profile.value,
    transport: createTransport({
      baseUrl: service.url,
      ca: [service.authority.pem],
      clock: systemClock,
      headers: profile.value.headers,
    }),
  });
  onTestFinished(() => client.close());
  return client;
}

type Came = { readonly right: string; readonly came: string | null };

/** What each operation was answered, in the client's words: the value, or null where it failed or had none. */
async function everyOperation(changes: object): Promise<Readonly<Record<string, readonly Came[]>> | string> {
  const client = clientWith(changes);
  if (typeof client === 'string') return client;
  const [card = ''] = cards;
  const token = truth.token(card);
  const came = (answer: { ok: boolean; value?: { value: unknown } }, right: string): Came[] => [
    { right, came: answer.ok ? String(answer.value?.value) : null },
  ];
  const tokens = cards.map(truth.token);
  const batch = async (
    operation: 'BatchTokenize' | 'BatchDetokenize' | 'BatchTranslate' | 'PatternMatch',
    values: readonly string[],
    right: (value: string) => string,
  ): Promise<Came[]> => {
    const call = batchCall(operation, { policy: 'policy-1', definition, target, pattern: '^[45]' });
    const elements = values.map((value, index) => ({ ref: `r${index}`, value }));
    const answer = await client.batch(call, elements, context);
    const found = new Map((answer.ok ? answer.value.elements : []).map((one) => [one.ref, one]));
    return elements
      .filter(({ value }) => operation !== 'PatternMatch' || /^[45]/.test(truth.clear(value)))
      .map(({ ref, value }) => {
        const one = found.get(ref);
        // Null of one that was answered: it matches, and more is not known.
        return {
          right: right(value),
          came: one?.ok === true ? ((one.value as string | null) ?? matches) : null,
        };
      });
  };
  const [tokenized, detokenized, masked, translated, ...answered] = await Promise.all([
    client.tokenize('policy-1', definition, card, context),
    client.detokenize('policy-1', definition, token, context),
    client.getMasked('policy-1', definition, token, context),
    client.translate('policy-1', definition, { token, target }, context),
    batch('BatchTokenize', cards, truth.token),
    batch('BatchDetokenize', tokens, truth.clear),
    batch('BatchTranslate', tokens, truth.moved),
    batch('PatternMatch', tokens, truth.clear),
  ]);
  return {
    Tokenize: came(tokenized, token),
    Detokenize: came(detokenized, card),
    GetMasked: came(masked, truth.mask(token)),
    Translate: came(translated, truth.moved(token)),
    ...Object.fromEntries(batches.map((name, index) => [name, answered[index] ?? []])),
  };
}

const matches = 'matches';
const batches = ['BatchTokenize', 'BatchDetokenize', 'BatchTranslate', 'PatternMatch'];
const singles = ['Tokenize', 'Detokenize', 'GetMasked', 'Translate'];
const all = [...singles, ...batches];
const answers = (answer: string[], of = batches) => ({
  operations: Object.fromEntries(of.map((name) => [name, { answer }])),
});
const atPath = (suffix: string, prefix = '/v2/{tokenName}', of = ['Detokenize', 'GetMasked']) => ({
  operations: Object.fromEntries(
    of.map((name) => [name, { path: `${prefix}/${name.toLowerCase()}${suffix}` }]),
  ),
});
/** The members of an answer, with the value beside whatever else. */
const singleAs =
  (member: string, more: object = {}) =>
  (value: string): object => ({ [member]: value, ...more });
const elementAs =
  (make: (value: string) => object) =>
  ({ ref, value }: ToldElement): object => ({ RefId: ref, ...make(value) });

interface Row {
  readonly choice: string;
  readonly switches: Switches;
  readonly profile?: object;
  /** Operations that come out right; all others are refused, none is misread. */
  readonly right?: readonly string[];
  /** PatternMatch says which elements match, and has no cleartext of them. */
  readonly onlyMatches?: true;
  /** The profile itself is refused, with this place. */
  readonly refused?: string;
}

const ofOtherNames: Switches = {
  sent: ({ id: ref, text: value }) => ({ ref, value }),
  element: ({ ref, value }) => ({ id: ref, text: value }),
};
/** No address of this service. */
const missing = { operation: '', definition: '' };
const located: NonNullable<Switches['locate']> = ({ url }) => {
  const [, version, name, operation = ''] = url.pathname.split('/');
  return version === 'v2' ? { operation, definition: decodeURIComponent(name ?? '') } : null;
};

const rows: readonly Row[] = [
  // Where an answer has its value
  { choice: 'the shipped names', switches: {}, right: all },
  {
    choice: 'another name, not said',
    switches: { single: singleAs('tkn') },
    right: batches,
    profile: sessions(),
  },
  {
    choice: 'another name, said',
    switches: { single: singleAs('tkn') },
    profile: answers(['tkn'], ['CreateSession', ...singles]),
    right: all,
  },
  {
    choice: 'one level deeper, by path',
    switches: { single: (value) => ({ Outcome: { Tkn: value } }) },
    profile: answers(['Outcome.Tkn'], ['CreateSession', ...singles]),
    right: all,
  },
  {
    choice: 'a member whose name has a dot',
    switches: { single: singleAs('Outcome.Tkn') },
    profile: answers(['Outcome.Tkn'], ['CreateSession', ...singles]),
    right: all,
  },
  { choice: 'wrapped', switches: { single: (value, name) => ({ data: wrapped(value, name) }) }, right: all },
  {
    choice: 'wrapped twice',
    switches: { single: (value, name) => ({ result: { data: wrapped(value, name) } }) },
    right: all,
  },
  {
    choice: 'wrapped three times',
    switches: { single: (value, name) => ({ data: { result: { data: wrapped(value, name) } } }) },
    right: [],
  },
  {
    choice: 'wrapped under another name, not said',
    switches: { single: (value, name) => ({ envelope: wrapped(value, name) }) },
    right: [],
  },
  {
    choice: 'wrapped under another name, said',
    switches: { single: (value, name) => ({ envelope: wrapped(value, name) }) },
    profile: { wrappers: ['envelope'] },
    right: all,
  },
  { choice: 'a bare text', switches: { single: (value) => value }, right: all },
  {
    choice: 'an answer that was made JSON twice',
    switches: {
      single: (value, name) =>
        name === 'createsession' ? wrapped(value, name) : JSON.stringify(wrapped(value, name)),
    },
    right: batches,
  },
  {
    choice: 'an error beside the value',
    switches: {
      single: (value, name) => ({
        ...wrapped(value, name),
        ...(name !== 'createsession' && { Error: 'E7' }),
      }),
    },
    right: batches,
  },
  { choice: 'a status of 201', switches: { status: 201 }, right: all },
  {
    choice: 'a bare text, where the profile has none',
    switches: { single: (value) => value },
    profile: { bareStrings: false },
    right: [],
  },
  {
    choice: 'a word on the answer beside the token',
    switches: { single: (value) => ({ result: 'OK', tkn: value }) },
    profile: sessions('tkn'),
    right: batches,
  },
  { choice: 'a number', switches: { single: (_, name) => wrapped(42, name) }, right: [] },
  { choice: 'a list of one', switches: { single: (value, name) => [wrapped(value, name)] }, right: [] },
  { choice: 'JSON null', switches: { single: () => null }, right: [] },
  { choice: 'nothing', switches: { single: () => ({}) }, right: [] },
  {
    choice: 'an inherited name',
    switches: {},
    profile: answers(['constructor.name'], singles),
    right: batches,
  },
  // Where an element has what
  {
    choice: 'an element one level deeper',
    switches: { element: elementAs((value) => ({ Outcome: { Tkn: value } })) },
    profile: answers(['Outcome.Tkn']),
    right: all,
  },
  {
    choice: 'an element one level deeper, not said',
    switches: { element: elementAs((value) => ({ Outcome: { Tkn: value } })) },
    right: singles,
  },
  {
    choice: 'an error one level deeper beside the value',
    switches: { element: elementAs((value) => ({ Outcome: { Tkn: value, Problem: 'E7' } })) },
    profile: { ...answers(['Outcome.Tkn']), element: { error: ['Outcome.Problem'] } },
    right: singles,
  },
  {
    choice: 'a RefId one level deeper',
    switches: { element: ({ ref, value }) => ({ Key: { Id: ref }, Value: value }) },
    profile: { element: { ref: ['Key.Id'] } },
    right: all,
  },
  {
    choice: 'a RefId that is a number',
    switches: { element: ({ ref, value }) => ({ RefId: Number(ref.slice(1)), Value: value }) },
    right: singles,
  },
  {
    choice: 'a RefId in small letters',
    switches: { element: ({ ref, value }) => ({ refid: ref, Value: value }) },
    right: all,
  },
  {
    choice: 'a token under a name for tokens',
    switches: { element: elementAs((value) => ({ Token: value })) },
    right: [...singles, 'BatchTokenize', 'BatchTranslate'],
  },
  {
    choice: 'a number in an element',
    switches: { element: elementAs(() => ({ Value: 42 })) },
    right: singles,
  },
  {
    choice: 'no RefId, by position',
    switches: { element: ({ value }) => ({ Value: value }) },
    right: singles,
  },
  ...[[], {}, '', false, null].map((none) => ({
    choice: `${JSON.stringify(none)} as no error`,
    switches: { element: elementAs((value) => ({ Value: value, Error: none })) },
    right: all,
  })),
  ...[0, 'none', 'OK'].map((none) => ({
    choice: `${JSON.stringify(none)} as no error, said`,
    switches: { element: elementAs((value) => ({ Value: value, Error: none })) },
    profile: { element: { none: [none] } },
    right: all,
  })),
  ...[0, 'none', 17, [null], { code: 0 }].map((error) => ({
    choice: `${JSON.stringify(error)} as an error, since nobody said otherwise`,
    switches: { element: elementAs((value) => ({ Value: value, Error: error })) },
    right: singles,
  })),
  {
    choice: 'a refusal that is said to be none',
    switches: {},
    profile: { element: { none: ['TokenInvalid'] } },
    refused: 'element.none',
  },
  {
    choice: 'a flag of success in each element',
    switches: { element: elementAs((value) => ({ Value: value, ok: true })) },
    profile: { element: { success: { member: 'ok', values: [true] } } },
    right: all,
  },
  ...[false, 'true', 1, null].map((ok) => ({
    choice: `a flag of ${JSON.stringify(ok)} in each element`,
    switches: { element: elementAs((value) => ({ Value: value, ok })) },
    profile: { element: { success: { member: 'ok', values: [true] } } },
    right: singles,
  })),
  {
    choice: 'a flag of success that did not come',
    switches: {},
    profile: { element: { success: { member: 'ok', values: [true] } } },
    right: singles,
  },
  // A flag on the whole answer
  {
    choice: 'a flag of success on every answer',
    switches: {
      single: (value, name) => ({ ...wrapped(value, name), state: { code: 0 } }),
      batch: (told, shape) => ({ elements: told.map(shape), state: { code: 0 } }),
    },
    profile: { success: { member: 'state.code', values: [0, 'OK'] } },
    right: all,
  },
  {
    choice: 'a flag that it was not done, with a value beside',
    switches: {
      single: (value, name) => ({ ...wrapped(value, name), success: name === 'createsession' }),
      batch: (told, shape) => ({ elements: told.map(shape), success: false }),
    },
    profile: { success: { member: 'success', values: [true] } },
    right: [],
  },
  {
    choice: 'a flag that did not come',
    switches: {},
    profile: { success: { member: 'success', values: [true] } },
    right: [],
  },
  // What holds the elements
  {
    choice: 'elements in another order',
    switches: { batch: (told, shape) => ({ elements: told.map(shape).reverse() }) },
    right: all,
  },
  {
    choice: 'an empty list',
    switches: { batch: () => ({ elements: [] }) },
    right: singles,
  },
  {
    choice: 'a list in two wrappers',
    switches: { batch: (told, shape) => ({ result: { data: { elements: told.map(shape) } } }) },
    right: all,
  },
  {
    choice: 'a list in three wrappers',
    switches: { batch: (told, shape) => ({ data: { result: { data: { elements: told.map(shape) } } } }) },
    right: singles,
  },
  {
    choice: 'a list that says that more follows, of what need not all be there',
    switches: { batch: (told, shape) => ({ elements: told.map(shape), hasMore: true }) },
    right: [...singles, 'BatchTokenize', 'BatchDetokenize', 'BatchTranslate'],
  },
  { choice: 'a list at the root', switches: { batch: (told, shape) => told.map(shape) }, right: all },
  {
    choice: 'a list two levels down, by path',
    switches: { batch: (told, shape) => ({ page: { rows: told.map(shape) } }) },
    profile: { lists: ['page.rows'] },
    right: all,
  },
  {
    choice: 'a list under a name nobody said',
    switches: { batch: (told, shape) => ({ rows: told.map(shape) }) },
    right: singles,
  },
  {
    choice: 'texts by RefId',
    switches: {
      batch: (told) => ({ elements: Object.fromEntries(told.map(({ ref, value }) => [ref, value])) }),
    },
    profile: { batchAnswers: 'by-reference' },
    right: all,
  },
  {
    choice: 'objects by RefId at the root',
    switches: { batch: (told) => Object.fromEntries(told.map(({ ref, value }) => [ref, { Value: value }])) },
    profile: { batchAnswers: 'by-reference' },
    right: all,
  },
  {
    choice: 'objects by RefId, each with another RefId in it',
    switches: {
      batch: (told) =>
        Object.fromEntries(told.map(({ ref, value }) => [ref, { Value: value, RefId: `${ref}0` }])),
    },
    profile: { batchAnswers: 'by-reference' },
    right: singles,
  },
  {
    choice: 'objects by RefId, not said',
    switches: { batch: (told) => Object.fromEntries(told.map(({ ref, value }) => [ref, { Value: value }])) },
    right: singles,
  },
  {
    choice: 'a list, where objects by RefId were said',
    switches: {},
    profile: { batchAnswers: 'by-reference' },
    right: singles,
  },
  {
    choice: 'numbers by RefId',
    switches: { batch: (told) => ({ elements: Object.fromEntries(told.map(({ ref }) => [ref, 7])) }) },
    profile: { batchAnswers: 'by-reference' },
    right: singles,
  },
  {
    choice: 'a foreign RefId among them',
    switches: { batch: (told, shape) => ({ elements: [...told.map(shape), { RefId: 'r9', Value: 'x' }] }) },
    right: singles,
  },
  {
    choice: 'values swapped under wrong RefIds',
    switches: { batch: (told, shape) => ({ elements: [...told, ...told].map(shape) }) },
    right: singles,
  },
  // What was sent comes back
  {
    choice: 'the RefId taken for the value',
    switches: {},
    profile: answers(['RefId']),
    refused: 'operations.BatchTokenize.answer',
  },
  {
    choice: 'the refusal taken for the value',
    switches: {},
    profile: answers(['Error']),
    refused: 'operations.BatchTokenize.answer',
  },
  {
    choice: 'cleartext by path taken for a token',
    switches: {},
    profile: answers(['input.value'], ['Tokenize']),
    refused: 'operations.Tokenize.answer',
  },
  // What PatternMatch answers with
  {
    choice: 'matches with what was sent, said',
    switches: { element: matchedAs(({ ref, sent }) => ({ RefId: ref, Value: sent })) },
    profile: { operations: { PatternMatch: { returns: 'element' } } },
    right: [...singles, ...batches.slice(0, 3)],
    onlyMatches: true,
  },
  {
    choice: 'matches with what was sent, not said',
    switches: { element: matchedAs(({ ref, sent }) => ({ RefId: ref, Value: sent })) },
    right: [...singles, ...batches.slice(0, 3)],
    onlyMatches: true,
  },
  {
    choice: 'matches by their RefIds alone, said',
    switches: { element: matchedAs(({ ref }) => ref) },
    profile: { operations: { PatternMatch: { returns: 'reference' } } },
    right: [...singles, ...batches.slice(0, 3)],
    onlyMatches: true,
  },
  {
    choice: 'matches by their RefIds alone, not said',
    switches: { element: matchedAs(({ ref }) => ref) },
    right: [...singles, ...batches.slice(0, 3)],
  },
  {
    choice: 'cleartext of matches, where what was sent was said',
    switches: {},
    profile: { operations: { PatternMatch: { returns: 'element' } } },
    right: [...singles, ...batches.slice(0, 3)],
  },
  // Requests
  {
    choice: 'elements under other names, said',
    switches: ofOtherNames,
    profile: { ...answers(['text']), element: { request: { ref: 'id', value: 'text' }, ref: ['id'] } },
    right: all,
  },
  { choice: 'elements under other names, not said', switches: ofOtherNames, right: singles },
  {
    choice: 'another name for values sent, and the specification’s for tokens that come back',
    switches: {},
    profile: { element: { request: { ref: 'RefId', value: 'text' } } },
    refused: 'operations.BatchTokenize.answer',
  },
  {
    choice: 'parameters under other names',
    switches: { names: { def: 'tokenName', tok: 'tokenValue', list: 'elements', like: 'regex' } },
    profile: {
      operations: {
        ...Object.fromEntries(
          ['Detokenize', 'GetMasked'].map((name) => [
            name,
            { request: { tokenName: 'def', tokenValue: 'tok' } },
          ]),
        ),
        ...Object.fromEntries(
          ['BatchTokenize', 'BatchDetokenize'].map((name) => [
            name,
            { request: { tokenName: 'def', elements: 'list' } },
          ]),
        ),
        PatternMatch: { request: { tokenName: 'def', elements: 'list', regex: 'like' } },
      },
    },
    right: all,
  },
  {
    choice: 'another method',
    switches: {
      demands: ({ method, url }) => (method === 'PUT') === /(?:detok|getm|match)/.test(url.pathname),
    },
    profile: {
      operations: Object.fromEntries(
        ['Detokenize', 'GetMasked', 'BatchDetokenize', 'PatternMatch'].map((name) => [
          name,
          { method: 'PUT' },
        ]),
      ),
    },
    right: all,
  },
  {
    choice: 'a method that puts values into an address',
    switches: {},
    profile: { operations: { Detokenize: { method: 'GET' } } },
    refused: 'operations.Detokenize.method',
  },
  // Addresses
  {
    choice: 'a version in the path',
    switches: {
      locate: (question) => {
        const found = /^\/v3\/tokens\/(\w+)$/.exec(question.url.pathname)?.[1];
        return found === undefined || /^(?:tokenize|createsession)$/.test(found)
          ? null
          : { ...fromBody(question), operation: found };
      },
    },
    profile: {
      operations: Object.fromEntries(
        all
          .filter((name) => name !== 'Tokenize')
          .map((name) => [name, { path: `/v3/tokens/${name.toLowerCase()}` }]),
      ),
    },
    right: all,
  },
  {
    choice: 'paths of other names, not said',
    switches: { locate: ({ url }) => (/tokenize$|createsession$/.test(url.pathname) ? null : missing) },
    right: ['Tokenize', 'Detokenize', 'BatchTokenize', 'BatchDetokenize'],
  },
  {
    choice: 'the definition in the path',
    switches: {
      locate: (question) =>
        question.url.pathname.startsWith('/v2/') ? located(question) : fromBody(question),
    },
    profile: atPath(''),
    right: all,
  },
  {
    choice: 'the definition in the query',
    switches: {
      locate: (question) =>
        question.url.searchParams.has('def') && question.body.tokenName === undefined
          ? { ...fromBody(question), definition: question.url.searchParams.get('def') }
          : fromBody(question),
    },
    profile: {
      operations: Object.fromEntries(
        ['Detokenize', 'GetMasked', 'BatchDetokenize'].map((name) => [name, { query: { def: 'tokenName' } }]),
      ),
    },
    right: all,
  },
  ...['tokenValue', 'value', 'sessionToken', 'regex', 'apiKey', 'policyPassword', 'elements'].map((name) => ({
    choice: `${name} in the path`,
    switches: {},
    profile: atPath('', `/v2/{${name}}`, ['Detokenize']),
    refused: 'operations.Detokenize.path',
  })),
  {
    choice: 'the token in the query',
    switches: {},
    profile: { operations: { Detokenize: { query: { t: 'tokenValue' } } } },
    refused: 'operations.Detokenize.query.t',
  },
  {
    choice: 'the definition in the query of Tokenize, which the specification shows',
    switches: {},
    profile: { operations: { Tokenize: { query: { d: 'tokenName' } } } },
    refused: 'operations.Tokenize.query.d',
  },
  {
    choice: 'a path that a definition could turn into one of cleartext',
    switches: {},
    profile: { operations: { Detokenize: { path: '/v2/reveal' }, GetMasked: { path: '/v2/{tokenName}' } } },
    refused: 'operations.GetMasked.path',
  },
  // Headers
  {
    choice: 'a version in a header',
    switches: { demands: ({ headers }) => headers['x-api-version'] === '2' },
    profile: { headers: { 'X-Api-Version': '2' } },
    right: all,
  },
  {
    choice: 'a version in a header, not said',
    switches: { demands: ({ headers }) => headers['x-api-version'] === '2' },
    right: [],
  },
  {
    choice: 'another type of content',
    switches: { demands: ({ headers }) => headers['content-type'] === 'application/vnd.site+json' },
    profile: { headers: { 'Content-Type': 'application/vnd.site+json' } },
    right: all,
  },
  ...[
    ['Authorization', 'Bearer x'],
    ['X-Api-Key', 'x'],
    ['Cookie', 'a=b'],
    ['Host', 'example.com'],
    ['X-Note', 'Basic dXNlcg=='],
    ['X-Note', '0123456789abcdef0123456789abcdef'],
    ['Content-Type', 'text/xml'],
    ['X Note', 'x'],
    ['X-Note', 'a\r\nb: c'],
  ].map(([name = '', text = '']) => ({
    choice: `${name}: ${JSON.stringify(text)} as a header`,
    switches: {},
    profile: { headers: { [name]: text } },
    refused: /^(?:Content-Type)$/.test(name) ? 'headers' : `headers.${name}`,
  })),
];

/** Elements of PatternMatch in this form, those of other operations as ever. */
function matchedAs(make: (told: { ref: string; sent: string }) => unknown) {
  return ({ ref, value }: ToldElement, operation: string): unknown =>
    operation === 'patternmatch' ? make({ ref, sent: truth.token(value) }) : { RefId: ref, Value: value };
}
function wrapped(value: unknown, operation: string): Record<string, unknown> {
  const name = { createsession: 'sessionToken', detokenize: 'value', getmasked: 'maskedValue' }[operation];
  return { [name ?? 'token']: value };
}
function sessions(...names: string[]): object {
  return { operations: { CreateSession: { answer: [...names, 'tkn', 'sessionToken'] } } };
}
function fromBody({ url, body }: { url: URL; body: Readonly<Record<string, unknown>> }) {
  return {
    operation: url.pathname.split('/').at(-1) ?? '',
    definition: body.tokenName ?? body.sourceTokenName,
  };
}

describe('4.17 what the specification leaves open comes out right or is refused', () => {
  test.each(rows)('$choice', async ({ switches, profile = {}, right = [], refused, onlyMatches }) => {
    service.switchTo(switches);
    const came = await everyOperation(profile);
    if (refused !== undefined || typeof came === 'string') {
      expect(came).toBe(`service profile: ${refused}`);
      return;
    }
    for (const [name, values] of Object.entries(came)) {
      const isRight = right.includes(name);
      const none = onlyMatches === true && name === 'PatternMatch' ? matches : null;
      expect([name, values.map((one) => one.came)]).toEqual([
        name,
        values.map((one) => (isRight ? one.right : none)),
      ]);
    }
  });

  test('there are 37 of them at least, and the shipped file says what holds without any', () => {
    expect(new Set(rows.map(({ choice }) => choice)).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(37);
    expect(readProfile(shipped).ok).toBe(true);
  });
});

test('4.7 no change of an answer becomes a token, a mask or a value that the service did not give', async () => {
  const { read, misread } = await fuzzAnswers({ count: 600, seed: 35 });
  expect(misread).toEqual([]);
  expect(read).toBeGreaterThan(200);
});

test.each(['../detokenize', 'x/../detokenize', '..', '.', '', 'a;b', 'a%2fb', 'a\\b', 'kärte', 'a?b', 'a#b'])(
  'a definition named %j is not put into a path',
  (tokenName) => {
    const shape = { path: '/v2/{tokenName}/mask', query: {} };
    expect(addressOf(shape, { tokenName })).toMatchObject({
      ok: false,
      failure: { code: 'connection.invalid' },
    });
    expect(addressOf({ path: '/v2/mask', query: { d: 'tokenName' } }, { tokenName })).toMatchObject({
      ok: true,
      value: `/v2/mask?${new URLSearchParams({ d: tokenName }).toString()}`,
    });
  },
);
