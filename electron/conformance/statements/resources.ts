import assert from 'node:assert/strict';
import { request } from 'undici';
import { repeatsIn } from '../../masking/plain-text.ts';
import { notShown, statement, type Statement } from '../statement.ts';
import { NotTried } from '../unchecked.ts';
import type { Target } from '../target.ts';

const refused = (status: number) => status === 401 || status === 403;

async function masked(target: Target, sessionToken: string) {
  const { definition, tokens } = await target.tokens('GetMasked');
  return target.call('GetMasked', { sessionToken, tokenName: definition.name, tokenValue: tokens[0] });
}

/** Sections 1 to 3: the service, its resources, their states. */
export const resources: readonly Statement[] = [
  statement('1.4', 'All endpoints accept and return JSON', async (target) => {
    const { policy } = target.grantee('Tokenize');
    const answers = [
      await target.call('CreateSession', target.credentials(policy)),
      await target.call('Tokenize', {}),
    ];
    for (const { headers } of answers) assert.match(String(headers['content-type']), /^application\/json\b/);
    return undefined;
  }),
  statement('1.4', 'All endpoints require HTTPS', async (target) => {
    assert.match(target.options.baseUrl, /^https:/);
    assert.equal((await target.call('CreateSession', {})).status, 400);
    const plain = target.url(target.path('CreateSession')).href.replace(/^https:/, 'http:');
    const answered = await request(plain, { method: 'POST', body: '{}' }).then(
      async ({ statusCode, body }) => {
        await body.dump();
        return statusCode;
      },
      () => null,
    );
    assert.ok(answered === null || answered >= 300, `plain HTTP was answered with ${String(answered)}`);
    return undefined;
  }),
  statement('1.5', 'Standard HTTP verbs and status codes are used', async (target) => {
    const { status } = await target.send(target.path('CreateSession'), { method: 'GET' });
    assert.ok(status === 404 || status === 405, `GET where POST belongs answered ${status}`);
    return undefined;
  }),
  statement('1.3', 'The API is defined with the OpenAPI specification', async (target) => {
    const { status, body } = await target.send('/openapi.json', { method: 'GET' });
    if (status !== 200) throw new NotTried('no document at /openapi.json');
    assert.match(String(body.openapi), /^3\./);
    return 'at /openapi.json';
  }),
  statement('1.9', 'Supported operations: the nine with sessions, and two for reporting', async (target) => {
    const names = ['CreateSession', 'Tokenize', 'Detokenize', 'GetMasked', 'Translate', 'BatchTokenize'];
    names.push('BatchDetokenize', 'BatchTranslate', 'PatternMatch');
    names.push('AggregateApiRequestMetrics', 'QueryLastFailedRequests');
    for (const name of names) {
      const { status } = await target.call(name, {});
      assert.ok(status !== 404 && status !== 405, `${name} is not at ${target.path(name)}`);
    }
    return 'paths other than the two shown are the profile’s';
  }),

  statement('2.3', 'API key: after the expiration date the key is unusable', async (target) => {
    const apiKey = target.expiredApiKey;
    const { policy } = target.grantee('Tokenize');
    const { status } = await target.call('CreateSession', { ...target.credentials(policy), apiKey });
    assert.ok(refused(status), `an expired key was answered with ${status}`);
    return undefined;
  }),
  statement('2.7', 'Creating an API key requires the AccountAdmin role or higher', async (target) => {
    const title = `conformance-${Date.now()}`;
    const create = async (role: 'AccountUser' | 'AccountAdmin') =>
      target.send('/api/services/portal/createapikey', {
        headers: { authorization: `Bearer ${await target.portalToken(role)}` },
        body: JSON.stringify({ title, expirationDate: new Date(Date.now() + 60_000).toISOString() }),
      });
    const below = await create('AccountUser');
    if (below.status === 404) throw new NotTried('no operation at /api/services/portal/createapikey');
    assert.equal(below.status, 403);
    assert.equal((await create('AccountAdmin')).status, 200);
    return undefined;
  }),
  notShown('2.8', 'API key: other fields of the record'),
  statement('2.11', 'Token definition: identified in API calls by its name (tokenName)', async (target) => {
    const { base, values } = await target.tokens();
    const { status } = await target.call('Tokenize', {
      ...base,
      tokenName: 'no-such-definition',
      value: values[0],
    });
    assert.ok(status >= 400 && status < 500, `an unknown definition was answered with ${status}`);
    return undefined;
  }),
  statement('2.10', 'Token definition: carries a masking format used by GetMasked', async (target) => {
    const { base, tokens, values } = await target.tokens('GetMasked');
    const mask = target.textOf(await target.call('GetMasked', { ...base, tokenValue: tokens[0] }));
    assert.ok(!repeatsIn(mask)(values[0]), 'the mask is the value');
    assert.ok(mask !== tokens[0], 'the mask is the token');
    return undefined;
  }),
  notShown('2.12', 'Token definition: individual fields and allowed values'),
  statement('2.14', 'Security policy: has a name and a password', async (target) => {
    const right = target.credentials(target.grantee('Tokenize').policy);
    assert.equal((await target.call('CreateSession', right)).status, 200);
    for (const wrong of [{ policy: 'no-such-policy' }, { policyPassword: 'not the password' }]) {
      const { status } = await target.call('CreateSession', { ...right, ...wrong });
      assert.ok(refused(status), `${Object.keys(wrong).join()} wrong was answered with ${status}`);
    }
    return undefined;
  }),
  statement(
    '2.13',
    'Security policy: grants operations for specific token definitions, and nothing else',
    async (target) => {
      let tried = 0;
      for (const policy of target.account.policies) {
        const sessionToken = await target.session(policy.name);
        for (const { name: tokenName } of target.account.definitions) {
          const bodies = {
            Tokenize: { value: 'x' },
            Detokenize: { tokenValue: 'x' },
            GetMasked: { tokenValue: 'x' },
            BatchTokenize: { elements: [] },
            BatchDetokenize: { elements: [] },
            PatternMatch: { regex: 'x', elements: [] },
          } as const;
          for (const operation of Object.keys(bodies) as (keyof typeof bodies)[]) {
            const { status } = await target.call(operation, {
              sessionToken,
              tokenName,
              ...bodies[operation],
            });
            const granted = target.grants(policy, operation, tokenName);
            assert.equal(
              status === 403,
              !granted,
              `${policy.name}: ${operation} on ${tokenName} answered ${status}`,
            );
            tried += 1;
          }
        }
      }
      return `${tried} combinations`;
    },
  ),
  notShown('2.16', 'Security policy: other fields'),
  statement('2.17', 'Session token: an opaque string, sent in the field sessionToken', async (target) => {
    const token = await target.session(target.grantee('Tokenize').policy);
    assert.ok(token.length >= 16, 'too short to be unguessable');
    assert.equal(
      (await masked(target, await target.session(target.grantee('GetMasked').policy))).status,
      200,
    );
    return undefined;
  }),
  statement('2.19', 'Batch element: RefId is not required', async (target) => {
    const { base, values } = await target.tokens('BatchTokenize');
    const { status } = await target.call('BatchTokenize', { ...base, elements: [{ Value: values[0] }] });
    assert.equal(status, 200);
    return undefined;
  }),
  statement('2.20', 'Batch element: Value is required', async (target) => {
    const { base } = await target.tokens('BatchTokenize');
    const { status } = await target.call('BatchTokenize', { ...base, elements: [{ RefId: '1' }] });
    assert.equal(status, 400);
    return undefined;
  }),
  notShown('2.21', 'Reporting records: fields of the metrics and of the failed requests'),

  statement(
    '3.1',
    'CreateSession with valid key, policy and password: a session token is returned',
    async (target) => {
      if (target.account.policies.length === 0) throw new NotTried('the account has no policy');
      for (const { name } of target.account.policies) await target.session(name);
      return undefined;
    },
  ),
  statement('3.2', 'Session token, time passing: later calls return 401 or 403', async (target) => {
    const seconds = target.options.sessionSeconds;
    if (seconds === undefined || seconds > 5) throw new NotTried('lifetime not known, or too long to wait');
    const sessionToken = await target.session(target.grantee('GetMasked', 'Tokenize').policy);
    assert.equal((await masked(target, sessionToken)).status, 200);
    const deadline = Date.now() + seconds * 2000 + 1000;
    let status = 200;
    while (status === 200 && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      ({ status } = await masked(target, sessionToken));
    }
    assert.ok(refused(status), `an expired session was answered with ${status}`);
    return undefined;
  }),
  statement('3.3', 'Session token expired: CreateSession gives a new one that is valid', async (target) => {
    const { policy } = target.grantee('GetMasked', 'Tokenize');
    const [first, second] = [await target.session(policy), await target.session(policy)];
    assert.notEqual(first, second);
    assert.equal((await masked(target, second)).status, 200);
    return undefined;
  }),
  statement(
    '3.5',
    'API key, expiration date reached: the key can no longer create sessions',
    async (target) => {
      const apiKey = target.expiredApiKey;
      for (const { name } of target.account.policies) {
        const answer = await target.call('CreateSession', { ...target.credentials(name), apiKey });
        assert.ok(refused(answer.status));
        assert.throws(() => target.textOf(answer), 'a session token is in the answer');
      }
      return undefined;
    },
  ),
  notShown('3.6', 'Lifetime of a session token'),
  notShown('3.7', 'Transitions of token definitions and security policies'),
];
