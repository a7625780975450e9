import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import defaultSeed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { formatJson, formatJunit, formatText } from '../../../electron/conformance/report.ts';
import { check, type Result } from '../../../electron/conformance/statement.ts';
import { runSuite, statements } from '../../../electron/conformance/suite.ts';
import { Target } from '../../../electron/conformance/target.ts';
import { startBrokenService, type Break } from '../../support/broken-service.ts';

const base = '/api/services/evtservice';
let service: Awaited<ReturnType<typeof startBrokenService>>;
beforeAll(async () => {
  service = await startBrokenService();
});
afterAll(() => service.close());

const accountOf = () => ({
  ...defaultSeed,
  apiKeys: service.facts.apiKeys,
  policies: service.facts.policies.map((one) => ({
    ...one,
    grants: defaultSeed.policies.find(({ name }) => name === one.name)?.grants ?? [],
  })),
  portalUsers: service.facts.portalUsers,
});
const optionsOf = (profile: object = {}, prefix = '') => ({
  baseUrl: service.baseUrl + prefix,
  ca: service.caPem,
  account: accountOf(),
  profile: JSON.stringify({ version: 1, ...profile }),
});

/** What these statements come to, by how they begin. */
async function outcomes(one: Break, begins: readonly string[], profile: object = {}, prefix = '') {
  service.switchTo(one);
  const target = new Target(optionsOf(profile, prefix));
  const found: Result[] = [];
  for (const text of begins) {
    const statement = statements.find((any) => any.text.startsWith(text));
    if (statement === undefined) throw new Error(text);
    found.push(await check(statement, target));
  }
  await target.close();
  service.switchTo({});
  return found;
}
const outcomeOf = async (...given: Parameters<typeof outcomes>) =>
  (await outcomes(...given)).map(({ outcome }) => outcome);

const detokenize = 'Detokenize: token back';
const batches = 'BatchTokenize and BatchDetokenize';
const whole = 'Over the whole run: the app takes';

const onGood = (operation: RegExp, change: NonNullable<Break['answer']>): Break => ({
  answer(answer, question) {
    if (answer.status === 200 && operation.test(question.operation)) change(answer, question);
  },
});
const elementsOf = (body: Record<string, unknown>) => (body['elements'] ?? []) as Record<string, unknown>[];

describe('the conformance of a service reads as the app does', () => {
  it.each<[string, Break, string]>([
    [
      'a refusal beside each element’s value',
      onGood(/^batch/, ({ body }) => elementsOf(body).forEach((one) => (one['Error'] = 'Refused'))),
      batches,
    ],
    [
      'an element twice, of more than two',
      onGood(/^batchtokenize$/, ({ body }) => {
        const [first] = elementsOf(body);
        if (elementsOf(body).length > 2 && first) elementsOf(body).push({ ...first });
      }),
      'Batch: RefId is the correlation',
    ],
    [
      'a mask that is the value with blanks',
      onGood(/^getmasked$/, ({ body }) => (body['maskedValue'] = '4111 1111 1111 1111')),
      'GetMasked: the masked form',
    ],
    [
      'a mark of byte order before every answer',
      onGood(/./, (answer) => (answer.text = `\ufeff${JSON.stringify(answer.body)}`)),
      'Responses are minified JSON',
    ],
    [
      'a member that stands twice',
      onGood(/^tokenize$/, (answer) => {
        answer.text = `{"token":"wrong",${JSON.stringify(answer.body).slice(1)}`;
      }),
      'Tokenize: a token for a value',
    ],
    [
      'a token that has the value in it',
      onGood(
        /^tokenize$/,
        ({ body }, question) => (body['token'] = `tok-${String(question.body?.['value'])}`),
      ),
      'Tokenize: a token for a value',
    ],
  ])('%s', async (_, one, statement) => {
    expect(await outcomeOf({}, [statement])).toEqual(['pass']);
    expect(await outcomeOf(one, [statement])).toEqual(['fail']);
  });

  it('a flag of the profile that says it was not done, or is missing', async () => {
    const profile = { success: { member: 'ok', values: [true] } };
    const flagged = (ok: boolean) => onGood(/./, ({ body }) => (body['ok'] = ok));
    expect(await outcomeOf(flagged(true), [detokenize, batches, whole], profile)).toEqual([
      'pass',
      'pass',
      'pass',
    ]);
    expect(await outcomeOf(flagged(false), [detokenize, batches], profile)).toEqual(['fail', 'fail']);
    expect(await outcomeOf({}, [detokenize, batches, whole], profile)).toEqual(['fail', 'fail', 'fail']);
  });

  it('a flag of each element', async () => {
    const profile = { element: { success: { member: 'done', values: [true] } } };
    const flagged = (isDone: boolean) =>
      onGood(/^batch/, ({ body }) => elementsOf(body).forEach((one) => (one['done'] = isDone)));
    expect(await outcomeOf(flagged(true), [batches], profile)).toEqual(['pass']);
    expect(await outcomeOf(flagged(false), [batches], profile)).toEqual(['fail']);
  });

  it('what the app does not take is named at the end, though every statement passed by its status', async () => {
    const one = onGood(/^tokenize$/, (answer) => (answer.body = { other: 1 }));
    const [last] = (await outcomes(one, ['Tokenize: POST, with', whole])).slice(-1);
    expect(last).toMatchObject({ outcome: 'fail' });
    expect(last?.remark).toContain('Tokenize: service.unexpected-answer (other)');
  });
});

describe('an answer in wrappers', () => {
  const within = (...wrappers: string[]): Break => ({
    answer(answer) {
      if (answer.status !== 200) return;
      answer.body = wrappers.reduceRight<Record<string, unknown>>(
        (inner, name) => ({ [name]: inner }),
        answer.body,
      );
    },
  });
  const about = [detokenize, batches, 'GetMasked: the masked form', 'PatternMatch: only the elements'];
  const all = (outcome: string) => about.map(() => outcome);

  it.each([[['data']], [['result', 'data']], [['Data', 'Data']]])(
    '%j is taken as the app takes it',
    async (names) => {
      expect(await outcomeOf(within(...names), about)).toEqual(all('pass'));
    },
  );

  it('is not taken where they are more than the app looks into, or under another name', async () => {
    expect(await outcomeOf(within('data', 'result', 'data'), about)).toEqual(all('fail'));
    expect(await outcomeOf(within('envelope', 'body'), about)).toEqual(all('fail'));
    const profile = { wrappers: ['envelope', 'body'] };
    expect(await outcomeOf(within('envelope', 'body'), about, profile)).toEqual(all('pass'));
  });
});

describe('the conformance of a service asks as the app does', () => {
  const revealAt = (read: (path: string) => string | null): Break => ({
    ask(question) {
      if (!question.path.startsWith('/x/') && question.operation !== 'detokenize') return undefined;
      const name = read(question.path);
      if (name === null || question.body?.['tokenName'] !== undefined) return { status: 404, body: {} };
      question.path = `${base}/detokenize`;
      if (question.body) question.body['tokenName'] = name;
      return undefined;
    },
  });

  it('with the definition in the path', async () => {
    const profile = { operations: { Detokenize: { path: '/x/{tokenName}/reveal' } } };
    const one = revealAt(
      (path) => decodeURIComponent(/^\/x\/([^/{]+)\/reveal$/.exec(path)?.[1] ?? '') || null,
    );
    expect(await outcomeOf(one, [detokenize, 'Detokenize: POST, with'], profile)).toEqual(['pass', 'pass']);
  });

  it('with the definition in the query', async () => {
    const profile = { operations: { Detokenize: { query: { def: 'tokenName' } } } };
    const one = revealAt((path) => new URL(path, 'https://x').searchParams.get('def'));
    expect(await outcomeOf(one, [detokenize], profile)).toEqual(['pass']);
  });

  it('with the profile’s headers, and below the path of the address', async () => {
    const asked = new Set<string>();
    const one: Break = {
      ask(question) {
        asked.add(`${question.headers['x-api-version'] ?? 'none'} ${question.headers['x-tenant'] ?? 'none'}`);
        if (!question.path.startsWith('/edge/')) return { status: 404, body: {} };
        question.path = question.path.slice('/edge'.length);
        return undefined;
      },
    };
    const profile = { headers: { 'X-Api-Version': '7', 'X-Tenant': '{tenantId}' } };
    expect(await outcomeOf(one, [detokenize, batches], profile, '/edge')).toEqual(['pass', 'pass']);
    expect([...asked]).toEqual([`7 ${defaultSeed.account.tenantId}`]);
  });
});

describe('a report holds nothing of an answer that may be a secret', () => {
  it('neither in names of members nor in signs that a terminal or XML would take', async () => {
    const sessions: string[] = [];
    service.switchTo({
      answer(answer, { operation, body }) {
        if (answer.status !== 200 || operation !== 'tokenize') return;
        sessions.push(String(body?.['sessionToken']));
        answer.body = {
          [`\u001b[31m${String(body?.['sessionToken'])}`]: 1,
          [String(body?.['value'])]: 2,
          'a\uffffb': 3,
          '</testcase><x y="': 4,
        };
      },
    });
    const { results } = await runSuite(optionsOf());
    service.switchTo({});
    const written = formatText(results) + formatJunit(results) + formatJson(results, service.baseUrl);
    expect(results.filter(({ outcome }) => outcome === 'fail').length).toBeGreaterThan(5);
    // eslint-disable-next-line no-control-regex -- none of them may be there
    expect(written).not.toMatch(/[\x00-\x08\x0b-\x1f\uffff]|4111111111111111|testcase><x/);
    for (const session of sessions) expect(written).not.toContain(session);
  }, 60_000);

  it('nor in a remark that a check or the service words', async () => {
    const target = new Target(optionsOf());
    const session = await target.session(target.grantee('Tokenize').policy);
    const said = async (text: string) =>
      (await check({ section: '1', text: 'x', check: () => Promise.reject(new Error(text)) }, target)).remark;
    expect(await said(`\u001b[31mended: ${session}`)).toBe(' [31mended: ••••••••');
    expect(await said(`key ${target.apiKey} of 5105 1051 0510 5100`)).toBe(
      'key •••••••• of 5105 10•• •••• 5100',
    );
    const counts = '345 × 200, 112 × 400, 15 × 405, 30 × 401, 62 × 403';
    expect(await said(counts)).toBe(counts);
    await target.close();
  });
});
