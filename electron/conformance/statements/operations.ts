import assert from 'node:assert/strict';
import { repeatsIn } from '../../masking/plain-text.ts';
import { memberNames } from '../../service/answers.ts';
import { notShown, statement, type Statement } from '../statement.ts';
import { NotShown, NotTried } from '../unchecked.ts';
import type { Target } from '../target.ts';

/** A body that an operation accepts, for taking members away from. */
async function bodyOf(target: Target, operation: string): Promise<Record<string, unknown>> {
  if (operation === 'CreateSession') return target.credentials(target.grantee('Tokenize').policy);
  if (operation === 'Translate' || operation === 'BatchTranslate') {
    const { base, tokens } = await target.tokens(operation);
    return {
      sourceSessionToken: base.sessionToken,
      targetSessionToken: base.sessionToken,
      sourceTokenName: base.tokenName,
      targetTokenName: base.tokenName,
      ...(operation === 'Translate'
        ? { tokenValue: tokens[0] }
        : { elements: [{ RefId: '1', Value: tokens[0] }] }),
    };
  }
  if (operation === 'Tokenize') {
    const { base, values } = await target.tokens();
    return { ...base, value: values[0] };
  }
  if (operation === 'BatchTokenize') {
    const { base, values } = await target.tokens(operation);
    return { ...base, elements: [{ RefId: '1', Value: values[0] }] };
  }
  if (operation === 'BatchDetokenize' || operation === 'PatternMatch') {
    const { base, tokens } = await target.tokens(operation);
    const elements = [{ RefId: '1', Value: tokens[0] }];
    return operation === 'PatternMatch' ? { ...base, regex: '.', elements } : { ...base, elements };
  }
  const { base, tokens } = await target.tokens(operation as 'Detokenize' | 'GetMasked');
  return { ...base, tokenValue: tokens[0] };
}

/** Where docs/specification.md has each operation. */
const rows: Readonly<Record<string, string>> = {
  CreateSession: '4.5',
  Tokenize: '4.6',
  Detokenize: '4.8',
  GetMasked: '4.9',
  Translate: '4.10',
  BatchTokenize: '4.11',
  BatchDetokenize: '4.12',
  BatchTranslate: '4.13',
  PatternMatch: '4.14',
};

const parameters = (operation: string, ...names: string[]): Statement =>
  statement(
    rows[operation] ?? '4',
    `${operation}: POST, with ${names.join(', ')}, all required strings or lists`,
    async (target) => {
      const body = await bodyOf(target, operation);
      assert.deepEqual(Object.keys(body).sort(), [...names].sort());
      assert.equal((await target.call(operation, body)).status, 200);
      for (const name of names) {
        // A name in the address can't be left out of it.
        if (target.isInAddress(operation, name)) continue;
        // JSON leaves out what is undefined.
        const without = await target.call(operation, { ...body, [name]: undefined });
        assert.equal(without.status, 400, `without ${name}`);
        assert.equal((await target.call(operation, { ...body, [name]: 7 })).status, 400, `${name} a number`);
      }
      return undefined;
    },
  );

const membersOf = (operation: string): Statement =>
  statement(
    operation === 'Tokenize' ? '4.7' : '4.5',
    `${operation}: the names of the response members`,
    async (target) => {
      const { body } = await target.call(operation, await bodyOf(target, operation));
      throw new NotShown(`here ${memberNames(body).join(', ')}`);
    },
  );

/** A policy that may translate between two definitions, the second of which takes any text. */
function twoDefinitions(target: Target) {
  const { definitions, policies } = target.account;
  for (const policy of policies) {
    const may = definitions.filter(({ name }) =>
      (['Tokenize', 'Translate', 'Detokenize'] as const).every((one) => target.grants(policy, one, name)),
    );
    const goal = may.find(({ kind }) => kind === 'free-text');
    const source = may.find((one) => one !== goal);
    if (source && goal) return { policy: policy.name, source, goal };
  }
  throw new NotTried('no policy of the account may translate to a definition that takes any text');
}

/** Section 4, the operations with sessions. */
export const operations: readonly Statement[] = [
  parameters('CreateSession', 'apiKey', 'policy', 'policyPassword'),
  membersOf('CreateSession'),
  parameters('Tokenize', 'sessionToken', 'tokenName', 'value'),
  membersOf('Tokenize'),
  parameters('Detokenize', 'sessionToken', 'tokenName', 'tokenValue'),
  parameters('GetMasked', 'sessionToken', 'tokenName', 'tokenValue'),
  parameters(
    'Translate',
    'sourceSessionToken',
    'targetSessionToken',
    'sourceTokenName',
    'targetTokenName',
    'tokenValue',
  ),
  parameters('BatchTokenize', 'sessionToken', 'tokenName', 'elements'),
  parameters('BatchDetokenize', 'sessionToken', 'tokenName', 'elements'),
  parameters(
    'BatchTranslate',
    'sourceSessionToken',
    'targetSessionToken',
    'sourceTokenName',
    'targetTokenName',
    'elements',
  ),
  parameters('PatternMatch', 'sessionToken', 'tokenName', 'regex', 'elements'),
  statement('4.6', 'Tokenize: a token for a value, of each definition', async (target) => {
    for (const definition of target.account.definitions) {
      const { name: tokenName } = definition;
      const policy = target.account.policies.find((one) => target.grants(one, 'Tokenize', tokenName));
      if (!policy) continue;
      const sessionToken = await target.session(policy.name);
      for (const value of target.samples(definition)) {
        assert.notEqual(
          target.textOf(await target.call('Tokenize', { sessionToken, tokenName, value })),
          value,
        );
      }
    }
    return undefined;
  }),
  statement('4.8', 'Detokenize: token back to plaintext', async (target) => {
    const { base, tokens, values } = await target.tokens('Detokenize');
    for (const [i, tokenValue] of tokens.entries()) {
      assert.equal(target.textOf(await target.call('Detokenize', { ...base, tokenValue })), values[i]);
    }
    return undefined;
  }),
  statement('4.9', 'GetMasked: the masked form of a token', async (target) => {
    const { base, tokens, values } = await target.tokens('GetMasked');
    const mask = target.textOf(await target.call('GetMasked', { ...base, tokenValue: tokens[0] }));
    assert.ok(!repeatsIn(mask)(values[0]), 'the mask is the value');
    return undefined;
  }),
  statement(
    '4.10',
    'Translate: from one definition to another, without exposing cleartext',
    async (target) => {
      const { policy, source, goal } = twoDefinitions(target);
      const sessionToken = await target.session(policy);
      const value = target.samples(source)[0];
      const tokenized = await target.call('Tokenize', { sessionToken, tokenName: source.name, value });
      const answer = await target.call('Translate', {
        sourceSessionToken: sessionToken,
        targetSessionToken: await target.session(policy),
        sourceTokenName: source.name,
        targetTokenName: goal.name,
        tokenValue: target.textOf(tokenized),
      });
      assert.ok(!repeatsIn(answer.text)(value), 'the cleartext is in the answer');
      const back = { sessionToken, tokenName: goal.name, tokenValue: target.textOf(answer) };
      assert.equal(target.textOf(await target.call('Detokenize', back)), value);
      return `${source.name} to ${goal.name}`;
    },
  ),
  statement('4.11', 'BatchTokenize and BatchDetokenize: many values with one definition', async (target) => {
    const { base, tokens, values } = await target.tokens('BatchTokenize', 'BatchDetokenize');
    const clear = values.map((value, i) => ({ RefId: `r${i}`, Value: value }));
    const done = target.elementsOf(await target.call('BatchTokenize', { ...base, elements: clear }));
    assert.deepEqual(
      done.map(({ Value }) => Value),
      tokens,
    );
    const back = target.elementsOf(await target.call('BatchDetokenize', { ...base, elements: done }));
    assert.deepEqual(
      back.map(({ RefId, Value }) => ({ RefId, Value })),
      clear,
    );
    return undefined;
  }),
  statement('4.13', 'BatchTranslate: many tokens between definitions', async (target) => {
    const { base, tokens, sessionToken } = await target.tokens('BatchTranslate');
    const answer = await target.call('BatchTranslate', {
      sourceSessionToken: sessionToken,
      targetSessionToken: sessionToken,
      sourceTokenName: base.tokenName,
      targetTokenName: base.tokenName,
      elements: tokens.map((value, i) => ({ RefId: `r${i}`, Value: value })),
    });
    assert.deepEqual(
      target.elementsOf(answer).map(({ RefId, Value }) => [RefId, Value]),
      tokens.map((value, i) => [`r${i}`, value]),
    );
    return undefined;
  }),
  statement('4.14', 'PatternMatch: only the elements whose cleartext matches', async (target) => {
    const { base, tokens, values } = await target.tokens('PatternMatch');
    const elements = tokens.map((value, i) => ({ RefId: `r${i}`, Value: value }));
    const escaped = values[1].replace(/[^\w ]/g, '\\$&');
    const found = target.elementsOf(
      await target.call('PatternMatch', { ...base, regex: `^${escaped}$`, elements }),
    );
    assert.deepEqual(
      found.map(({ RefId }) => RefId),
      ['r1'],
    );
    const { returns } = target.profile.operations.PatternMatch;
    const [given] = found.map(({ Value }) => Value);
    if (returns === 'value') assert.ok(given === values[1], 'the profile says that it answers the cleartext');
    // What was sent is no value, and anything else is refused as it is read.
    else assert.ok(given === undefined, 'the profile says that it answers what was sent');
    const none = target.elementsOf(
      await target.call('PatternMatch', { ...base, regex: '^no such thing$', elements }),
    );
    assert.deepEqual(none, []);
    return `what comes back is not shown; here, the ${returns}`;
  }),
  statement('4.16', 'Batch: RefId is the correlation identifier', async (target) => {
    const { base, values } = await target.tokens('BatchTokenize');
    const elements = Array.from({ length: 20 }, (_, i) => ({ RefId: `ref ${i} ü`, Value: values[i % 2] }));
    const done = target.elementsOf(await target.call('BatchTokenize', { ...base, elements }));
    assert.deepEqual(new Set(done.map(({ RefId }) => RefId)), new Set(elements.map(({ RefId }) => RefId)));
    return undefined;
  }),
  notShown('4.17', 'HTTP paths of the operations other than CreateSession and Tokenize'),
  notShown('4.17', 'Request and response bodies beyond the parameter names'),
];
