import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import seed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { runService, type RunningService } from '../../../electron/built-in-service/service.ts';
import { done } from '../../../electron/contract/errors.ts';
import type { ColumnPlan } from '../../../electron/contract/models/batch.ts';
import { newXorKey } from '../../../electron/contract/obscured.ts';
import { createTransport } from '../../../electron/service/http/transport.ts';
import type { MatchReturns } from '../../../electron/service/profile.ts';
import { openCleartext } from '../../../electron/util/cleartext.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import { createClientSide, shippedProfile, type ClientSide } from '../../faults/client-side.ts';
import {
  codeOf,
  connection,
  connectionsOf,
  detokenize,
  openApp,
  planOf,
  someGrounds,
  valueOf,
  type TestApp,
} from '../../support/batch-app.ts';

/* The specification does not show what PatternMatch answers with: the value, what was sent, or a RefId alone. */

interface Sent {
  readonly elements: readonly { readonly RefId: string; readonly Value: string }[];
}
type Retell = (matched: Sent['elements'], sent: Sent['elements']) => unknown;

const forms = {
  value: (matched) => ({ elements: matched }),
  element: (matched, sent) => ({
    elements: sent.filter(({ RefId }) => matched.some((one) => one.RefId === RefId)),
  }),
  reference: (matched) => ({ elements: matched.map(({ RefId }) => ({ RefId })) }),
  list: (matched) => matched.map(({ RefId }) => RefId),
} satisfies Record<string, Retell>;

const cards = ['4111111111111111', '5555555555554444', '4012888888881881', '6011111111111117'];
/** Those that begin with a 4. */
const matching = [0, 2];

let service: RunningService;
let tokens: readonly string[];
let app: TestApp | null = null;
let side: ClientSide | null = null;

/** A client of the built-in service, whose matches are told in this form. */
function clientOf(returns: MatchReturns, retell: Retell): ClientSide {
  const { facts } = service;
  const transport = createTransport({ baseUrl: facts.baseUrl, ca: [facts.caPem], clock: systemClock });
  const profile = shippedProfile();
  const { operations } = profile;
  return createClientSide({
    profile: {
      ...profile,
      operations: { ...operations, PatternMatch: { ...operations.PatternMatch, returns } },
    },
    transport: {
      ...transport,
      async send(to, body, options) {
        const exchange = await transport.send(to, body, options);
        if (to.path !== operations.PatternMatch.path || !exchange.ok) return exchange;
        const { reply } = exchange;
        const { elements } = JSON.parse(body ?? '') as Sent;
        const answer = JSON.parse(reply.body.toString()) as Sent;
        const told = JSON.stringify(retell(answer.elements, elements));
        return { ok: true, reply: { ...reply, body: Buffer.from(told) } };
      },
    },
    secrets: {
      apiKey: () => Promise.resolve(done(facts.apiKey.value)),
      policyPassword: (policy) =>
        Promise.resolve(done(facts.policies.find(({ name }) => name === policy)?.password ?? '')),
    },
  });
}

beforeAll(async () => {
  service = await runService({ secret: randomBytes(32), seed: seed as Seed });
  const { client } = clientOf('value', forms.value);
  const call = { operation: 'BatchTokenize', policy: 'analyst', definition: 'card-number' } as const;
  const elements = cards.map((value, index) => ({ ref: String(index), value }));
  const answer = valueOf(await client.batch(call, elements, {}));
  tokens = answer.elements.map((one) => (one.ok ? openCleartext(one.value ?? '') : ''));
  await client.close();
});
afterAll(() => service.stop());
afterEach(async () => {
  await app?.close();
  await side?.client.close();
});

/** A batch that keeps the cards that begin with a 4. */
async function run(returns: MatchReturns, form: keyof typeof forms, over: Partial<ColumnPlan> = {}) {
  const made = (side = clientOf(returns, forms[form]));
  const own = (app = await openApp({
    clients: { for: () => Promise.resolve(done(made.client)) },
    connections: connectionsOf({
      ...connection,
      policies: ['analyst'],
      definitions: [{ name: 'card-number', label: 'Card', kind: 'card' }],
    }),
  }));
  const sourceId = await own.open(
    await own.write('in.csv', `token,note\n${tokens.map((t, i) => `${t},n${i}`).join('\n')}\n`),
  );
  const plan = planOf([
    detokenize(0, {
      policy: 'analyst',
      definition: 'card-number',
      operation: 'match',
      pattern: '^4',
      ...over,
    }),
  ]);
  const job = await own.run(sourceId, plan, someGrounds);
  const { rows } = valueOf(
    await own.batch['batch.rows']({ jobId: job.jobId, filter: 'all', from: 0, count: 10 }),
  );
  return { own, job, rows };
}

const withoutValue: [MatchReturns, keyof typeof forms][] = [
  ['element', 'element'],
  ['value', 'element'],
  ['reference', 'reference'],
  ['reference', 'list'],
  // A profile that says so is not told more than it asks for.
  ['reference', 'value'],
];

describe.each(withoutValue)(
  '4.14 matches by a profile that says %s, answered in the form %s',
  (...answered) => {
    it('keep their rows, and what was sent is never cleartext', async () => {
      const { own, job, rows } = await run(...answered);
      expect(job).toMatchObject({
        state: 'finished',
        tally: { rows: 4, ok: 2, failed: 0, unmatched: 2, blank: 0 },
        valueless: [0],
      });
      expect(rows.map(({ state }) => state)).toEqual(['ok', 'unmatched', 'ok', 'unmatched']);
      const { jobId } = job;
      for (const index of matching) {
        expect(rows[index]?.cells[0]).toEqual({ text: tokens[index], state: 'matched' });
        const ask = { jobId, row: index + 1, column: 0, xorKey: newXorKey(), ...someGrounds };
        expect(codeOf(await own.batch['batch.reveal'](ask))).toBe('reveal.gone');
      }
      expect(codeOf(await own.export(jobId, { grounds: someGrounds }))).toBe('export.no-cleartext');
      // The expression tells something of the values, and was counted. Nothing else was in clear.
      const inClear = own.audit.intents.filter(({ cleartext }) => cleartext === true);
      expect(inClear.map(({ action }) => action)).toEqual(['Match']);
      expect(valueOf(await own.disclosures.today())).toMatchObject({
        reveals: 0,
        copies: 0,
        exportedRows: 0,
      });
      expect(valueOf(await own.export(jobId, { content: 'tokens', rows: 'matches' })).split('\r\n')).toEqual([
        'token,note',
        ...matching.map((index) => `${tokens[index] ?? ''},n${index}`),
        '',
      ]);
    });

    it('have nothing in a column beside them, which says that they match', async () => {
      const { own, job, rows } = await run(...answered, { into: 'beside' });
      expect(rows[0]?.cells).toEqual([
        { text: tokens[0], state: 'kept' },
        { text: 'n0', state: 'kept' },
        { text: '', state: 'matched' },
      ]);
      const masked = valueOf(await own.export(job.jobId, { content: 'masked' }));
      expect(masked.split('\r\n').slice(0, 2)).toEqual([
        'token,token_masked,token_match,note',
        `${tokens[0] ?? ''},,yes,n0`,
      ]);
    });
  },
);

it('values that come are cleartext as before', async () => {
  const { own, job, rows } = await run('value', 'value');
  expect(job).toMatchObject({ tally: { ok: 2, unmatched: 2 }, valueless: [] });
  expect(rows[0]?.cells[0]).toEqual({ text: '411111••••••1111', state: 'ok' });
  expect(valueOf(await own.export(job.jobId, { grounds: someGrounds, rows: 'matches' }))).toContain(cards[2]);
});

it('a service that answers with values where the profile says that it gives back what was sent has failed', async () => {
  const { job } = await run('element', 'value');
  expect(job).toMatchObject({ tally: { rows: 4, ok: 0, failed: 2, unmatched: 2 } });
  expect(job.failures).toMatchObject([{ code: 'service.mismatched-answer', count: 2 }]);
});
