import assert from 'node:assert/strict';
import { notShown, statement, type Statement } from '../statement.ts';
import { NotShown } from '../unchecked.ts';
import type { Answer } from '../answer.ts';
import type { Target } from '../target.ts';

const commonMembers = ['status', 'title', 'traceId', 'type'];

/** The members that every failure has, with what they must hold. */
function assertFailure({ status, headers, body }: Answer, expected: number, title: string | null): void {
  assert.equal(status, expected);
  assert.equal(body.status, status);
  if (title === null) assert.equal(typeof body.title, 'string');
  else assert.equal(body.title, title);
  assert.match(String(body.type), /^https?:\/\/\S+$/);
  assert.equal(body.traceId, headers['x-requestid']);
}

/** All of these are there; others do no harm (spec §9). */
function assertMembers({ body }: Answer, names: readonly string[]): void {
  for (const name of names) assert.ok(name in body, `${name} is missing`);
}

async function refusedByPolicy(target: Target): Promise<Answer> {
  for (const policy of target.account.policies) {
    for (const { name } of target.account.definitions) {
      if (target.grants(policy, 'Detokenize', name)) continue;
      const sessionToken = await target.session(policy.name);
      return target.call('Detokenize', { sessionToken, tokenName: name, tokenValue: 'x' });
    }
  }
  const right = target.credentials(target.grantee('Tokenize').policy);
  return target.call('CreateSession', { ...right, policyPassword: 'not the password' });
}

/** Section 7. */
export const errors: readonly Statement[] = [
  statement('7.9', '400: errors with code and Validation, type, title, status, traceId', async (target) => {
    const answer = await target.call('CreateSession', { apiKey: 'x' });
    assertFailure(answer, 400, null);
    assertMembers(answer, ['errors', ...commonMembers]);
    const { code, Validation } = answer.body.errors as Record<string, unknown>;
    for (const list of [code, Validation]) {
      assert.ok(Array.isArray(list) && list.length > 0 && list.every((text) => typeof text === 'string'));
    }
    return undefined;
  }),
  statement('7.9', '400: type is the URL of the status definition in RFC 9110', async (target) => {
    const { body } = await target.call('CreateSession', {});
    assert.match(String(body.type), /rfc9110.*15\.5\.1/);
    return undefined;
  }),
  statement('7.4', '400: "<field name> is invalid", one message for each invalid field', async (target) => {
    const { body } = await target.call('CreateSession', { apiKey: 'x' });
    const { Validation } = body.errors as { Validation: string[] };
    const names = ['policy', 'policyPassword'].map((name) => target.member('CreateSession', name));
    assert.deepEqual(
      Validation,
      names.map((name) => `${name} is invalid`),
    );
    return undefined;
  }),
  statement('7.4', '400: free-form text that is wrong', async (target) => {
    const { base } = await target.tokens('Detokenize');
    const answer = await target.call('Detokenize', { ...base, tokenValue: '\u0000 no token' });
    assertFailure(answer, 400, null);
    assert.ok(!answer.text.includes('no token'), 'the value is in the answer');
    return undefined;
  }),
  statement('7.5', '401: Unauthorized; expired token, on any endpoint', async (target) => {
    const { base, values } = await target.tokens();
    const answer = await target.call('Tokenize', { ...base, sessionToken: 'nonsense', value: values[0] });
    if (answer.status === 403) return 'answered with 403, which means the same';
    assertFailure(answer, 401, null);
    assert.match(String(answer.body.title), /^Unauthorized/);
    return undefined;
  }),
  statement('7.10', '403: errors is one code; type, title, status, traceId', async (target) => {
    const answer = await refusedByPolicy(target);
    assertFailure(answer, 403, 'Forbidden');
    assertMembers(answer, ['errors', ...commonMembers]);
    assert.equal(typeof answer.body.errors, 'string');
    return undefined;
  }),
  statement('7.11', '404: type, title, status, traceId and no errors', async (target) => {
    const answer = await target.send('/api/services/evtservice/no-such-operation', { body: '{}' });
    assertFailure(answer, 404, 'Not Found');
    assertMembers(answer, commonMembers);
    assert.ok(!('errors' in answer.body), 'there are errors');
    return undefined;
  }),
  statement('7.2', '4xx, never 5xx, for information that is wrong', async (target) => {
    const path = target.path('Tokenize');
    const bodies = [
      '',
      '{',
      '[]',
      'null',
      '"x"',
      '{"sessionToken":{}}',
      '[['.repeat(5000),
      '{"a":'.repeat(5000),
    ];
    for (const body of bodies) {
      const { status } = await target.send(path, { body });
      assert.ok(status >= 400 && status < 500, `answered ${status}`);
    }
    return undefined;
  }),
  statement('4.17', 'What becomes of a batch with one element that is wrong', async (target) => {
    const { base, tokens } = await target.tokens('BatchDetokenize');
    const elements = [
      { RefId: 'good', Value: tokens[0] },
      { RefId: 'bad', Value: '\u0000 no token' },
    ];
    const { status } = await target.call('BatchDetokenize', { ...base, elements });
    throw new NotShown(`here the batch is answered with ${status}`);
  }),
  notShown('7.12', 'The set of error codes'),
];
