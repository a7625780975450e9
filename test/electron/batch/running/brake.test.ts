import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import { done, failed } from '../../../../electron/contract/errors.ts';
import type { ColumnPlan, Job } from '../../../../electron/contract/models/batch.ts';
import { calls } from '../../../../electron/contract/calls.ts';
import {
  cleartextOf,
  codeOf,
  detokenize,
  openApp,
  planOf,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const count = 20_000;
const tokens = (rows = count): string =>
  'token,n\n' + Array.from({ length: rows }, (_, i) => `tok${i},${i}\n`).join('');
const indexOf = (value: string): number => Number(value.replace(/\D/g, ''));

async function start(content: string, columns: ColumnPlan[] = [detokenize(0)]): Promise<Job> {
  return app.run(await app.open(await app.write('in.csv', content)), planOf(columns));
}

/** After the whole file was counted. */
async function startCounted(content: string): Promise<Job> {
  const sourceId = await app.open(await app.write('in.csv', content));
  const plan = planOf([detokenize(0)]);
  valueOf(await app.batch['batch.preflight']({ sourceId, plan }));
  await expect.poll(() => app.preflights.at(-1)?.done).toBe(true);
  return app.run(sourceId, plan);
}

async function goOn({ jobId }: Job): Promise<Job> {
  valueOf(await app.batch['batch.resume']({ jobId }));
  return app.until(jobId, 'finished', 'paused', 'failed');
}

describe('the values that are sent first', () => {
  it('are spread over the whole file, and no value is sent twice for it', async () => {
    const job = await startCounted(tokens());
    expect(job).toMatchObject({
      state: 'finished',
      tally: { ok: count },
      canary: { values: 200, failed: 0 },
      braked: null,
    });
    const first = app.service.sent.slice(0, 200).map(indexOf);
    for (let tenth = 0; tenth < 10; tenth++) {
      const from = (tenth * count) / 10;
      expect(first.filter((i) => i >= from && i < from + count / 10).length).toBeGreaterThan(5);
    }
    expect(app.service.sent).toHaveLength(count);
    expect(new Set(app.service.sent).size).toBe(count);
    expect(valueOf(await app.export(job.jobId))).toBe(
      tokens()
        .replace(/^tok\d+/gm, cleartextOf)
        .replaceAll('\n', '\r\n'),
    );
  });

  it('are none where a file has only a few', async () => {
    app.service.refuses = () => true;
    const job = await startCounted(`token,n\n${'9'.repeat(300_000)},1\nbad1,2\nbad2,3\n`);
    expect(job).toMatchObject({ state: 'finished', canary: null, tally: { rows: 3, failed: 3 } });
  });

  it('pause the job when more than half of them are refused, and are not sent again when it goes on', async () => {
    app.service.refuses = (value) => indexOf(value) % 4 !== 0;
    const job = await startCounted(tokens());
    expect(app.service.sent).toHaveLength(200);
    expect(job).toMatchObject({
      state: 'paused',
      waiting: null,
      committed: 0,
      braked: { column: 0, of: 200, isCanary: true },
    });
    expect(job.braked?.failed).toBeGreaterThan(100);
    const finished = await goOn(job);
    expect(finished).toMatchObject({ state: 'finished', braked: null });
    expect(finished.tally).toMatchObject({ ok: count / 4, failed: (count * 3) / 4 });
    expect(app.service.sent).toHaveLength(count);
  });

  it('let the job go on by itself where half of them are refused', async () => {
    app.service.refuses = (value) => indexOf(value) % 2 === 0;
    const job = await start(tokens(201));
    expect(job).toMatchObject({ state: 'finished', tally: { ok: 100, failed: 101 } });
    expect(job.canary).toMatchObject({ values: 200, failed: 100 });
  });

  it('are shown before and after, as masked as the table', async () => {
    app.service.refuses = (value) => indexOf(value) === 0;
    const job = await startCounted(tokens());
    const cells = valueOf(await app.batch['batch.canary']({ jobId: job.jobId }));
    expect(cells).toHaveLength(200);
    expect(calls['batch.canary'].output.safeParse(cells).success).toBe(true);
    expect(cells[0]).toEqual({
      row: 1,
      column: 0,
      before: 'tok0',
      after: '',
      state: 'failed',
      code: 'service.element-refused',
      reason: null,
    });
    for (const { before, after, row, state } of cells.slice(1)) {
      expect(state).toBe('ok');
      expect(before).toBe(`tok${row - 1}`);
      expect(after).toBe('•'.repeat(cleartextOf(before).length));
    }
  });

  it('are masked before too where they are cleartext, and so is what the service says of them', async () => {
    const cards = Array.from({ length: 300 }, (_, i) => `4${String(i).padStart(15, '0')}`);
    app.service.answer = (_, elements) => ({
      ok: true,
      value: {
        requestId: 'req',
        elements: elements.map(({ ref, value }) => ({
          ref,
          ok: false,
          code: 'service.element-refused',
          reason: `${value} is unknown`,
        })),
      },
    });
    const job = await start(`card\n${cards.join('\n')}\n`, [{ ...detokenize(0), operation: 'tokenize' }]);
    expect(job.state).toBe('paused');
    const cells = valueOf(await app.batch['batch.canary']({ jobId: job.jobId }));
    expect(cells).toHaveLength(200);
    for (const { before, reason } of cells) {
      expect(before).toMatch(/^4\d{5}•{6}\d{4}$/);
      expect(reason).toBe(`${before} is unknown`);
    }
  });

  it('are not sent for a file that has no more than those', async () => {
    app.service.refuses = () => true;
    expect(await start(tokens(200))).toMatchObject({
      state: 'finished',
      canary: null,
      tally: { failed: 200 },
    });
  });

  it('do not stand in the way of a job that was interrupted while they were out', async () => {
    app.service.answer = () => failed('service.unreachable');
    const job = await start(tokens());
    expect(job).toMatchObject({ state: 'paused', waiting: { failure: { code: 'service.unreachable' } } });
    app.service.answer = () => null;
    expect(await goOn(job)).toMatchObject({ state: 'finished', tally: { ok: count } });
  });
});

describe('the brake', () => {
  const wrongFrom = 6_000;
  const startWrong = (from = wrongFrom): Promise<Job> => {
    app.service.refuses = (value) => indexOf(value) >= from && indexOf(value) % 10 !== 0;
    return start(tokens());
  };

  // From several rows on, so that it is pulled in the middle of a chunk too.
  it.each([wrongFrom, 6_200, 6_450, 6_700, 6_950])(
    'pauses a job of which more than half of the last 500 values were refused, from row %i on',
    async (from) => {
      const job = await startWrong(from);
      expect(job).toMatchObject({
        state: 'paused',
        waiting: null,
        braked: { column: 0, of: 500, isCanary: false },
      });
      expect(job.braked?.failed).toBeGreaterThan(250);
      expect(job.committed).toBeGreaterThanOrEqual(from);
      // Besides what shows it, no more than what was begun: 8 requests, the two being filled, and a chunk.
      expect(app.service.sent.length).toBeLessThan(from + 500 + 8 * 100 + 2 * 100 + 2_000);
      expect(app.service.sent).toHaveLength(job.committed);
    },
  );

  it('is off once a person went on, and nothing is sent twice', async () => {
    const finished = await goOn(await startWrong());
    expect(finished).toMatchObject({ state: 'finished', braked: null });
    expect(finished.tally.failed).toBe((count - wrongFrom) * 0.9);
    expect(app.service.sent).toHaveLength(count);
  });

  it('is known after a restart, and still off after another one', async () => {
    const job = await startWrong();
    app = await app.again();
    const [kept] = valueOf(await app.batch['batch.jobs']({}));
    expect(kept).toMatchObject({ state: 'paused', braked: job.braked });
    let asked = false;
    app.service.answer = () => {
      if (asked || app.service.sent.length < 12_000) return null;
      asked = true;
      void app.batch['batch.pause']({ jobId: job.jobId });
      return null;
    };
    valueOf(await app.batch['batch.resume']({ jobId: job.jobId }));
    expect(await app.until(job.jobId, 'paused', 'finished')).toMatchObject({ state: 'paused', braked: null });
    app = await app.again();
    expect(await goOn(job)).toMatchObject({ state: 'finished', braked: null });
  });

  it('does not count rows that are blank or malformed, which were never sent', async () => {
    const rows = Array.from({ length: 5_000 }, (_, i) =>
      i % 10 === 0 ? `tok${i},1` : i % 2 === 0 ? ',1' : 'a,b,c',
    );
    const job = await start(`token,n\n${rows.join('\n')}\n`);
    expect(job).toMatchObject({ state: 'finished', tally: { ok: 500 } });
  });

  it('sees one wrong column beside a good one', async () => {
    app.service.refuses = (value) => value.startsWith('bad');
    const rows = Array.from({ length: 5_000 }, (_, i) => `tok${i},bad${i}`).join('\n');
    const job = await start(`good,wrong\n${rows}\n`, [
      detokenize(0),
      { ...detokenize(1), definition: 'ssn' },
    ]);
    expect(job).toMatchObject({
      state: 'paused',
      braked: { column: 1, isCanary: true, failed: 100, of: 100 },
    });
  });
});

describe('another policy', () => {
  const policies = (job: Job): string[] => job.plan.columns.map(({ policy }) => policy);

  async function change(job: Job, policy: string): Promise<Job> {
    const changes = [{ column: 0, policy, targetPolicy: null }];
    valueOf(await app.batch['batch.changePolicy']({ jobId: job.jobId, changes }));
    return app.until(job.jobId, 'finished', 'paused', 'failed');
  }

  it('runs what was refused again, and the rest; what has a result is not sent again', async () => {
    app.service.answer = (call, elements) =>
      call.policy === 'Disputes' && elements.some(({ value }) => indexOf(value) >= 3_000)
        ? {
            ok: true,
            value: {
              requestId: 'req',
              elements: elements.map(({ ref, value }) =>
                indexOf(value) < 3_000
                  ? { ref, ok: true, value: cleartext(cleartextOf(value)) }
                  : { ref, ok: false, code: 'service.element-refused' },
              ),
            },
          }
        : null;
    const job = await start(tokens());
    expect(job.state).toBe('paused');
    expect(job.tally.ok).toBeGreaterThanOrEqual(3_000);
    const failedBefore = job.tally.failed;
    expect(failedBefore).toBeGreaterThan(0);
    const sentBefore = app.service.sent.length;
    const finished = await change(job, 'Other');
    expect(finished).toMatchObject({ state: 'finished', tally: { ok: count, failed: 0 }, braked: null });
    expect(policies(finished)).toEqual(['Other']);
    expect(app.service.sent.length - sentBefore).toBe(failedBefore + count - job.committed);
    app = await app.again();
    expect(policies(valueOf(await app.batch['batch.jobs']({}))[0] ?? job)).toEqual(['Other']);
  });

  it('mends a finished batch that the policy did not grant', async () => {
    app.service.answer = (call) => (call.policy === 'Disputes' ? failed('service.refused') : null);
    const job = await start(tokens(3));
    expect(job).toMatchObject({ state: 'finished', tally: { failed: 3 } });
    expect(await change(job, 'Other')).toMatchObject({ state: 'finished', tally: { ok: 3, failed: 0 } });
  });

  it('mends a large batch that the policy did not grant, which paused at its first request', async () => {
    app.service.answer = (call) => (call.policy === 'Disputes' ? failed('service.refused') : null);
    const job = await start(tokens());
    expect(job).toMatchObject({ state: 'paused', waiting: { failure: { code: 'service.refused' } } });
    expect(app.service.sent.length).toBe(200);
    expect(await change(job, 'Other')).toMatchObject({ state: 'finished', tally: { ok: count } });
  });

  it('can be as wrong as the one before: the job pauses again', async () => {
    app.service.refuses = () => true;
    const job = await goOn(await start(tokens(2_000)));
    expect(job.state).toBe('finished');
    expect(await change(job, 'Other')).toMatchObject({ state: 'paused', braked: { failed: 500, of: 500 } });
  });

  it('is refused where the connection has no such policy, or the job has no such column', async () => {
    const { jobId } = await start(tokens(3));
    const answer = (column: number, policy: string) =>
      app.batch['batch.changePolicy']({ jobId, changes: [{ column, policy, targetPolicy: null }] });
    expect(codeOf(await answer(0, 'Nobody'))).toBe('plan.policy-unknown');
    expect(codeOf(await answer(1, 'Other'))).toBe('plan.column-unknown');
  });
});

describe('different values with one answer', () => {
  const tokenize = detokenize(0, { operation: 'tokenize', definition: 'text' });
  const answerWith =
    (textOf: (value: string) => string): typeof app.service.answer =>
    (_, elements) =>
      done({
        requestId: 'r',
        elements: elements.map(({ ref, value }) => ({
          ref,
          ok: true as const,
          value: cleartext(textOf(value)),
        })),
      });

  it('fail, and the run pauses with two of their rows before most are sent', async () => {
    app.service.answer = answerWith(() => '9999999999999999');
    const job = await start(tokens(), [tokenize]);
    expect(job).toMatchObject({ state: 'paused', tally: { ok: 0 } });
    const [one = 0, other = 0] = job.braked?.sameRows ?? [];
    expect(one).toBeGreaterThan(0);
    expect(other).toBeGreaterThan(one);
    expect(app.service.sent.length).toBeLessThan(1_000);
  });

  it('are found in another request too', async () => {
    app.service.answer = answerWith((value) => `T${indexOf(value) % 3_000}`);
    const job = await start(tokens(6_000), [tokenize]);
    expect(job).toMatchObject({ state: 'paused' });
    const [one = 0, other = 0] = job.braked?.sameRows ?? [];
    expect(Math.abs(other - one)).toBe(3_000);
  });

  it('are none where they differ in spaces, hyphens or case alone, nor where they are tokens of one value', async () => {
    const cells = ['4111 1111', '41111111', '4111-1111', 'Anna@x.org', 'anna@x.org'];
    app.service.answer = answerWith((value) => (value.startsWith('4') ? 'card' : 'mail'));
    const content = `name,n\n${cells.map((cell, n) => `${cell},${n}\n`).join('')}`;
    expect((await start(content, [tokenize])).tally).toMatchObject({ ok: 5, failed: 0 });
    app.service.answer = answerWith(() => 'one value');
    expect((await start(tokens(50), [detokenize(0)])).tally).toMatchObject({ ok: 50, failed: 0 });
  });

  it('of tokens that are detokenized: the run pauses once, and no value fails', async () => {
    app.service.answer = answerWith((token) =>
      token.endsWith('7') && token.length < 6 ? token : 'one value',
    );
    const job = await start(tokens(6_000), [detokenize(0)]);
    expect(job).toMatchObject({ state: 'paused', tally: { failed: 0 } });
    expect(job.braked?.sameRows).not.toBeNull();
    valueOf(await app.batch['batch.resume']({ jobId: job.jobId }));
    await app.until(job.jobId, 'finished');
    const [finished] = valueOf(await app.batch['batch.jobs']({}));
    expect(finished?.tally).toMatchObject({ rows: 6_000, ok: 6_000, failed: 0 });
  });
});
