import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { done, failed, type Outcome } from '../../../../electron/contract/errors.ts';
import { move, movingOptions } from '../../../support/moving-app.ts';
import {
  cleartextOf,
  codeOf,
  connection,
  fakeService,
  openApp,
  plainExport,
  planOf,
  someGrounds,
  tokenOf,
  valueOf,
  type FakeService,
  type TestApp,
  type TestOptions,
} from '../../../support/batch-app.ts';

/* Values go from one service to another: main alone has them in clear, for one request, after a reason. */

let from: FakeService;
let to: FakeService;
let app: TestApp;
let allowed: [string, number][];

const options = (): TestOptions => ({
  ...movingOptions({ from, to }),
  guesses: {
    allow: (job, values) => void allowed.push([job, values]),
    foresee: () => Promise.resolve({ add: () => undefined, guesses: 0 }),
  },
});

beforeEach(async () => {
  from = fakeService(50);
  to = fakeService(30);
  allowed = [];
  app = await openApp(options());
});
afterEach(() => app.close());

const plan = planOf([move()]);
const rows = (count: number): string =>
  `id,card\n${Array.from({ length: count }, (_, n) => `${n},token${n}\n`).join('')}`;
const open = async (count: number): Promise<string> => app.open(await app.write('old.csv', rows(count)));
const moved = (token: string): string => tokenOf(cleartextOf(token));
const exportOf = (jobId: string): Promise<Outcome<string>> =>
  app.export(jobId, { ...plainExport, content: 'tokens', safety: 'source', grounds: null });

describe('a move', () => {
  test('gives each row the token of the other service', async () => {
    const job = await app.run(await open(200), plan);
    expect(job).toMatchObject({ state: 'finished', tally: { rows: 200, ok: 200 } });
    const expected = rows(200).replaceAll(/token\d+/g, moved);
    expect(valueOf(await exportOf(job.jobId))).toBe(expected);
    expect([...new Set(from.calls.map(({ operation }) => operation))]).toEqual(['BatchDetokenize']);
    expect([...new Set(to.calls.map(({ operation }) => operation))]).toEqual(['BatchTokenize']);
    expect(to.calls[0]).toEqual({ operation: 'BatchTokenize', policy: 'Fresh', definition: 'pan' });
    // The lines of both have what was said.
    for (const { reason, caseReference } of [...from.contexts, ...to.contexts])
      expect({ reason, caseReference }).toEqual({ ...someGrounds });
    // The smaller of both.
    expect(Math.max(...from.sizes)).toBe(30);
  });

  test('is an act of its own, which the log has before anything is sent', async () => {
    const job = await app.run(await open(3), plan);
    const [act] = app.audit.intents;
    expect(act).toMatchObject({
      action: 'Move',
      rows: 3,
      values: 3,
      reason: someGrounds.reason,
      note: 'to New service (test), Fresh, pan',
      counted: { moved: 3 },
      cleartext: true,
    });
    expect(valueOf(await app.disclosures.today()).moved).toBe(3);
    expect(allowed).toEqual([[job.jobId, 3]]);
  });

  test.each(['batch.start', 'batch.try'] as const)('without a reason %s sends nothing', async (name) => {
    const sourceId = await open(3);
    const outcome = await app.batch[name]({ sourceId, plan, grounds: null });
    expect(codeOf(outcome)).toBe('reveal.reason-required');
    expect([...from.sent, ...to.sent]).toEqual([]);
    expect(app.jobs).toEqual([]);
  });

  test('has a limit of the day', async () => {
    await app.close();
    app = await openApp({ ...options(), managed: { maxMovedPerDay: 2 } });
    const outcome = await app.batch['batch.start']({ sourceId: await open(3), plan, grounds: someGrounds });
    expect(outcome).toMatchObject({ failure: { code: 'disclosure.limit', subject: 'moved' } });
    expect([...from.sent, ...to.sent]).toEqual([]);
  });

  test('goes through the gate again when a person goes on', async () => {
    from.answer = () => failed('service.unreachable');
    const job = await app.run(await open(3), plan);
    expect(job.state).toBe('paused');
    from.answer = () => null;
    const { jobId } = job;
    expect(codeOf(await app.batch['batch.resume']({ jobId, grounds: null }))).toBe('reveal.reason-required');
    expect(codeOf(await app.batch['batch.resume']({ jobId, grounds: someGrounds }))).toBe('ok');
    expect(await app.until(jobId, 'finished')).toMatchObject({ tally: { ok: 3 } });
  });

  test('a value that one of both refuses fails alone, and nothing of it is said', async () => {
    from.refuses = (value) => value === 'token1';
    const reasons = new Map([
      [cleartextOf('token2'), 'not <TO-KEN2>'],
      [cleartextOf('token3'), `bad: ${Buffer.from(cleartextOf('token3')).toString('base64')}`],
    ]);
    to.answer = (_, elements) =>
      done({
        requestId: 'r',
        elements: elements.map(({ ref, value }) => {
          const reason = reasons.get(value);
          return reason === undefined
            ? { ref, ok: true as const, value: tokenOf(value) as never }
            : { ref, ok: false as const, code: 'service.value-invalid' as const, reason };
        }),
      });
    const job = await app.run(await open(5), plan);
    expect(job.tally).toEqual({ rows: 5, ok: 2, failed: 3, unmatched: 0, blank: 0 });
    const exported = valueOf(await exportOf(job.jobId));
    expect(exported.split('\n').map((line) => line.split(',')[1])).toEqual([
      ...['card', moved('token0'), 'token1', 'token2', 'token3', moved('token4'), undefined],
    ]);
    expect(exported).not.toContain('<token');
    expect(JSON.stringify([job, app.audit])).not.toContain('<token');
    const page = valueOf(
      await app.batch['batch.rows']({ jobId: job.jobId, filter: 'all', from: 0, count: 10 }),
    );
    // In whatever form: only the code is told.
    expect(JSON.stringify(page)).not.toMatch(/<token|TO-KEN|bad: |PHRva2Vu/);
    expect(JSON.stringify(page)).toContain('service.value-invalid');
    const list = valueOf(await app.export(job.jobId, { ...plainExport, content: 'tokens', rows: 'failed' }));
    expect(list).not.toMatch(/<token|TO-KEN|bad: |PHRva2Vu/);
  });

  test('has no result in clear', async () => {
    const job = await app.run(await open(5), plan);
    expect(codeOf(await app.export(job.jobId, { ...plainExport, content: 'cleartext' }))).toBe(
      'export.no-cleartext',
    );
  });

  test.each([
    [
      'to its own connection',
      { connection: connection.id, policy: 'Other', definition: 'ssn' },
      'plan.move-within',
    ],
    ['to one that is gone', { connection: 'c9', policy: 'Fresh', definition: 'pan' }, 'connection.unknown'],
    [
      'to a definition of the first',
      { connection: 'c2', policy: 'Fresh', definition: 'card' },
      'plan.definition-unknown',
    ],
    [
      'with a policy of the first',
      { connection: 'c2', policy: 'Other', definition: 'pan' },
      'plan.policy-unknown',
    ],
  ])('%s is refused', async (_, target, code) => {
    const asked = { sourceId: await open(1), plan: planOf([move({ target })]), grounds: someGrounds };
    expect(codeOf(await app.batch['batch.start'](asked))).toBe(code);
  });
});
