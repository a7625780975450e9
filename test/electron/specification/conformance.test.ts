import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { countOutcomes, formatJson, formatText } from '../../../electron/conformance/report.ts';
import { check, notShown, type Result, statement } from '../../../electron/conformance/statement.ts';
import { NotTried } from '../../../electron/conformance/unchecked.ts';
import { runSuite, statements } from '../../../electron/conformance/suite.ts';
import { Target, type TargetOptions } from '../../../electron/conformance/target.ts';
import { type OtherService, startOtherService } from '../../support/other-service.ts';

let service: OtherService;
let options: TargetOptions;
let results: readonly Result[];

beforeAll(async () => {
  // A limit low enough to be reached through what stands before the service.
  service = await startOtherService({ requestsPerSecond: 30 });
  const { baseUrl, caPem, facts, profile } = service;
  options = {
    baseUrl,
    ca: caPem,
    profile: JSON.stringify(profile),
    sessionSeconds: 4,
    account: {
      ...defaultSeed,
      apiKeys: facts.apiKeys,
      policies: facts.policies,
      portalUsers: facts.portalUsers,
    },
  };
  ({ results } = await runSuite(options));
}, 120_000);
afterAll(() => service.close());

const outcomeOf = (text: string): string =>
  results.find((result) => result.text.startsWith(text))?.outcome ?? 'no such statement';

describe('9.3 the conformance of any service, through a profile alone', () => {
  it('passes a service of other names, methods and paths, with added members and short sessions', () => {
    expect(results.filter(({ outcome }) => outcome === 'fail')).toEqual([]);
    expect(results).toHaveLength(statements.length);
    expect(outcomeOf('Detokenize: POST, with sessionToken')).toBe('pass');
    expect(outcomeOf('Session token, time passing: later calls return 401')).toBe('pass');
    expect(outcomeOf('When a limit is exceeded the response is 429')).toBe('pass');
    expect(countOutcomes(results).pass).toBeGreaterThan(50);
  });

  it('names what it could not try, apart from what the specification does not show', () => {
    expect(outcomeOf('Tool server: the tools are the operations')).toBe('not tried');
    expect(outcomeOf('The set of error codes')).toBe('not shown');
    const text = formatText(results);
    expect(text).toContain('Could not be tried:');
    expect(text).toMatch(
      /§4\.23 {2}Tool server: the tools are the operations: not enabled for this environment/,
    );
  });

  it('reports as text and as JSON, with no credential in either', () => {
    const json = JSON.parse(formatJson(results, options.baseUrl)) as { counts: object; statements: Result[] };
    expect(json.counts).toEqual(countOutcomes(results));
    expect(json.statements).toEqual(results);
    const text = formatText(results) + JSON.stringify(json);
    const { apiKeys, policies, portalUsers } = service.facts;
    const secrets = [...apiKeys.map(({ value }) => value), ...policies.map(({ password }) => password)];
    for (const secret of [...secrets, ...portalUsers.map(({ password }) => password)])
      expect(text).not.toContain(secret);
  });

  it('fails the same service without its profile', async () => {
    const target = new Target({ ...options, profile: undefined });
    const tokenize = statements.find(({ text }) => text.startsWith('Tokenize: a token for a value'));
    expect(await check(tokenize ?? notShown('', ''), target)).toMatchObject({ outcome: 'fail' });
    await target.close();
  });

  it.each(['element', 'reference'] as const)(
    '4.14 passes a service whose matches come back in the form %s, by a profile that says so and no other',
    async (matches) => {
      const other = await startOtherService({ matches });
      const { baseUrl, caPem: ca, facts, profile } = other;
      const { apiKeys, policies, portalUsers } = facts;
      const match = statements.find(({ text }) => text.startsWith('PatternMatch: only the elements'));
      const outcomeBy = async (returns: string) => {
        const { operations } = profile;
        const PatternMatch = { ...operations.PatternMatch, returns, answer: ['data', 'clearText'] };
        const target = new Target({
          ...options,
          baseUrl,
          ca,
          account: { ...defaultSeed, apiKeys, policies, portalUsers },
          profile: JSON.stringify({ ...profile, operations: { ...operations, PatternMatch } }),
        });
        const { outcome } = await check(match ?? notShown('', ''), target);
        await target.close();
        return outcome;
      };
      expect(await outcomeBy(matches)).toBe('pass');
      expect(await outcomeBy('value')).toBe('fail');
      await other.close();
    },
  );

  it('takes keys, passwords and definitions of any form', () => {
    const account = {
      account: { accountId: '1', tenantId: 'Ä 2' },
      apiKeys: [{ value: 'k' }],
      definitions: [{ name: 'Konto Nr.', kind: 'iban', samples: ['a', 'b'] }],
      policies: [
        {
          name: 'Über alles',
          password: 'p',
          grants: [{ definitions: ['Konto Nr.'], operations: ['Tokenize'] }],
        },
      ],
    };
    const target = new Target({ baseUrl: 'https://127.0.0.1:1', account });
    expect(target.credentials(target.grantee('Tokenize').policy)).toEqual({
      apiKey: 'k',
      policy: 'Über alles',
      policyPassword: 'p',
    });
    expect(target.samples(target.grantee('Tokenize').definition)).toEqual(['a', 'b']);
    expect(() => target.grantee('Detokenize')).toThrow(NotTried);
  });

  it('tells a failure from what was not tried', async () => {
    const target = new Target({ ...options });
    const outcomes = await Promise.all(
      [new Error('broken'), new NotTried('no user')].map(
        async (error) =>
          (
            await check(
              statement('1', 'x', () => Promise.reject(error)),
              target,
            )
          ).outcome,
      ),
    );
    expect(outcomes).toEqual(['fail', 'not tried']);
    await target.close();
  });

  it('has its options in the documentation', () => {
    const docs = readFileSync('docs/service.md', 'utf8');
    for (const option of ['--base-url', '--account', '--ca', '--profile', '--json'])
      expect(docs).toContain(option);
  });
});
