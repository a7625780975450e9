import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { notShown, statement, type Statement } from '../statement.ts';
import { NotShown } from '../unchecked.ts';
import type { Answer } from '../answer.ts';
import type { Target } from '../target.ts';

const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const fresh = () => `conformance-${randomBytes(6).toString('hex')}`;

/** A portal operation by the built-in service's path. Another service has others, which nobody shows. */
async function ask(target: Target, operation: string, body: object): Promise<Answer> {
  const authorization = `Bearer ${await target.portalToken('AccountAdmin')}`;
  const answer = await target.send(`/api/services/portal/${operation.toLowerCase()}`, {
    headers: { authorization },
    body: JSON.stringify(body),
  });
  if (answer.status === 404 || answer.status === 405) throw new NotShown(`where ${operation} is`);
  return answer;
}

async function make(target: Target, operation: string, body: object): Promise<Answer> {
  const answer = await ask(target, operation, body);
  assert.equal(answer.status, 200, `${operation} was answered with ${answer.status}`);
  return answer;
}

/** What the specification says of objects that are configured in the portal before the API is used (§1, §2, §4). */
export const administration: readonly Statement[] = [
  statement(
    '1.7',
    'A portal configures token definitions and security policies before the API is used',
    async (target) => {
      const name = fresh();
      const policyPassword = randomBytes(12).toString('hex');
      await make(target, 'CreateTokenDefinition', { definition: { kind: 'ssn', name, label: name } });
      const grants = [{ definitions: [name], operations: ['Tokenize'] }];
      await make(target, 'CreateSecurityPolicy', { name, policyPassword, grants });
      const { apiKey } = target.credentials(target.grantee('Tokenize').policy);
      const opened = await target.call('CreateSession', { apiKey, policy: name, policyPassword });
      assert.equal(opened.status, 200);
      const { sessionToken } = opened.body;
      const made = await target.call('Tokenize', { sessionToken, tokenName: name, value: '123-45-6789' });
      assert.equal(made.status, 200);
      return undefined;
    },
  ),
  statement('2.1', 'API key: title, a string, and expiration date, a date', async (target) => {
    const title = `Schlüssel ${fresh()}`;
    const made = await make(target, 'CreateApiKey', { title, expirationDate: day(1) });
    const key = Object.values(made.body).find((value) => typeof value === 'string' && value !== title);
    assert.ok(key !== undefined, 'no key in the answer');
    return undefined;
  }),
  statement('2.4', 'API key: keys can be rotated', async (target) => {
    const title = fresh();
    await make(target, 'CreateApiKey', { title, expirationDate: day(1) });
    await make(target, 'RotateApiKey', { title, expirationDate: day(30) });
    await make(target, 'RevokeApiKey', { title });
    return undefined;
  }),
  statement('2.9', 'Token definition: created per type of data, defaults may be accepted', async (target) => {
    for (const kind of ['card-number', 'ssn', 'email', 'free-text']) {
      const name = fresh();
      await make(target, 'CreateTokenDefinition', { definition: { kind, name, label: name } });
    }
    return undefined;
  }),
  statement(
    '2.15',
    'Security policy: must grant the permission for the definition it is used with',
    async (target) => {
      const name = fresh();
      const policyPassword = randomBytes(12).toString('hex');
      const { policy, definition } = target.grantee('Tokenize');
      const grants = [{ definitions: [definition.name], operations: ['GetMasked'] }];
      await make(target, 'CreateSecurityPolicy', { name, policyPassword, grants });
      const { apiKey } = target.credentials(policy);
      const opened = await target.call('CreateSession', { apiKey, policy: name, policyPassword });
      const body = { sessionToken: opened.body.sessionToken, tokenName: definition.name, value: 'x' };
      assert.equal((await target.call('Tokenize', body)).status, 403);
      return undefined;
    },
  ),
  statement('4.22', 'Tool server: enabled per environment', async (target) => {
    const before = (await make(target, 'GetToolServer', {})).body.enabled;
    await make(target, 'EnableToolServer', { enabled: false });
    assert.equal((await target.send('/mcp', { body: '{}' })).status, 404);
    await make(target, 'EnableToolServer', { enabled: before });
    return undefined;
  }),
  notShown('1.7', 'The paths and bodies of the portal’s configuration'),
];
