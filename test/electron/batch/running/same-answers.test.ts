import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { done } from '../../../../electron/contract/errors.ts';
import { AnswerTable } from '../../../../electron/batch/running/answer-table.ts';
import { canarySize } from '../../../../electron/batch/running/brake.ts';
import type { Slot } from '../../../../electron/batch/running/coalescing.ts';
import { createAnswerChecks } from '../../../../electron/batch/running/same-answers.ts';
import { rowStates } from '../../../../electron/batch/storing/results.ts';
import type { Plan } from '../../../../electron/contract/models/batch.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import {
  codeOf,
  detokenize,
  openApp,
  planOf,
  takeIn,
  tokenOf,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

it('one answer may be right for Translate where one value has several tokens, as a profile says', () => {
  const slots = (of: number): Slot[] =>
    Array.from({ length: of }, (_, row): Slot => ({
      ref: String(row),
      value: `t${row}`,
      row: row + 1,
      state: rowStates.ok,
      text: cleartext(`T${Math.floor(row / 2)}`),
      request: null,
    }));
  const call = {
    operation: 'BatchTranslate',
    policy: 'P',
    definition: 'card',
    target: { policy: 'P', definition: 'other' },
  } as const;
  const failing = slots(40);
  const checks = createAnswerChecks([call], { randomTokens: false, sourceBytes: 400 });
  expect(checks.add(call, failing)?.pairs).toBe(20);
  expect(failing.every(({ state }) => state === rowStates.failed)).toBe(true);
  const right = slots(400);
  expect(createAnswerChecks([call], { randomTokens: true, sourceBytes: 400 }).add(call, right)).toBeNull();
  expect(right.every(({ state }) => state === rowStates.ok)).toBe(true);
});

describe('the table of all answers', () => {
  const rows = 300_000;
  const answerOf = (row: number): string => String(4_000_000_000_000_000 + row);

  it('finds one answer of two values however far apart, and takes no others for one', () => {
    const table = new AnswerTable(rows * 16);
    const found: (number | null)[] = [];
    for (let row = 1; row <= rows; row++)
      found.push(table.add(0, { answer: answerOf(row), value: `v${row}`, row }));
    expect(found.every((row) => row === null)).toBe(true);
    expect(table.add(0, { answer: answerOf(1), value: 'other', row: rows + 1 })).toBe(1);
    expect(table.add(0, { answer: answerOf(1), value: 'v1', row: rows + 1 })).toBeNull();
    expect(table.add(1, { answer: answerOf(1), value: 'other', row: rows + 1 })).toBeNull();
    expect(table.add(0, { answer: answerOf(rows), value: 'other', row: rows + 1 })).toBe(rows);
  });

  it('takes values that differ in case, spaces, hyphens or width alone for one', () => {
    const table = new AnswerTable(100);
    const forms = ['anna-b @x.org', 'ANNA B@x.org', 'ａｎｎａb@x.org'];
    for (const [at, value] of forms.entries())
      expect(table.add(0, { answer: 'T', value, row: at + 1 })).toBeNull();
    expect(table.add(0, { answer: 'T', value: 'anna-c@x.org', row: 9 })).toBe(1);
  });

  it('keeps to its size, and goes on to compare with what it has', () => {
    const table = new AnswerTable(Number.MAX_SAFE_INTEGER, 1_024);
    for (let row = 1; row <= 5_000; row++) table.add(0, { answer: answerOf(row), value: `v${row}`, row });
    expect(table.add(0, { answer: answerOf(800), value: 'other', row: 1 })).toBe(800);
    expect(table.add(0, { answer: answerOf(4_000), value: 'other', row: 1 })).toBeNull();
  });
});

describe('over a whole job', () => {
  let app: TestApp;
  beforeEach(async () => (app = await openApp()));
  afterEach(() => app.close());

  const tokenize = detokenize(0, { operation: 'tokenize', definition: 'text' });
  const count = 20_000;
  const valueIn = (row: number): string => `src${row}x`;
  const table = (valueFor = valueIn): string =>
    `name,n\n${Array.from({ length: count }, (_, at) => `${valueFor(at + 1)},${at + 1}\n`).join('')}`;
  /** What the service answers in place of the right token. */
  let wrong = new Map<string, string>();
  beforeEach(() => {
    wrong = new Map();
    app.service.answer = (_, elements) =>
      done({
        requestId: 'r',
        elements: elements.map(({ ref, value }) => {
          if (app.service.refuses(value))
            return { ref, ok: false as const, code: 'service.element-refused' as const };
          return { ref, ok: true as const, value: cleartext(wrong.get(value) ?? tokenOf(value)) };
        }),
      });
  });
  /** Starts a job and pauses it after a third of its rows: the service answers no more until it is told to. */
  const startedAndPaused = async (sourceId: string, plan: Plan): Promise<{ jobId: string }> => {
    const answer = app.service.answer;
    let goOn = (): void => undefined;
    const asked = new Promise<void>((resolve) => (goOn = resolve));
    app.service.answer = async (call, elements) => {
      if (app.service.sent.length > 6_000) await asked;
      return answer(call, elements);
    };
    const started = valueOf(await app.batch['batch.start']({ sourceId, plan, grounds: null }));
    await expect.poll(() => app.service.sent.length).toBeGreaterThan(6_000);
    const paused = app.batch['batch.pause']({ jobId: started.jobId });
    app.service.answer = answer;
    goOn();
    valueOf(await paused);
    return started;
  };
  /** Number and code of each row that failed. */
  const failedRows = async (jobId: string): Promise<string[]> => {
    const text = valueOf(await app.export(jobId, { content: 'tokens', rows: 'failed' }));
    const lines = text.trimEnd().split('\r\n').slice(1);
    return lines.map((line) => line.replace(/^(\d+),.*,([\w.-]+),[^,]*,[^,]*$/, '$1 $2'));
  };

  it('a later row that has the answer of an early one fails', async () => {
    wrong.set(valueIn(19_000), tokenOf(valueIn(3)));
    const job = await app.run(await app.open(await app.write('in.csv', table())), planOf([tokenize]));
    expect(job).toMatchObject({ state: 'finished', tally: { ok: count - 1, failed: 1 } });
    expect(await failedRows(job.jobId)).toEqual(['19000 service.same-answer']);
  });

  it('three of them pause the run, with the first two rows', async () => {
    for (const row of [15_000, 15_001, 15_002]) wrong.set(valueIn(row), tokenOf(valueIn(row - 14_990)));
    const job = await app.run(await app.open(await app.write('in.csv', table())), planOf([tokenize]));
    expect(job.state).toBe('paused');
    expect(job.braked?.sameRows).toEqual([10, 15_000]);
  });

  it('also of a row that an earlier process had sent', async () => {
    wrong.set(valueIn(19_000), tokenOf(valueIn(3)));
    const path = await app.write('in.csv', table());
    const sourceId = await app.open(path);
    const started = await startedAndPaused(sourceId, planOf([tokenize]));
    const paused = await app.until(started.jobId, 'paused');
    expect(paused.tally.rows).toBeGreaterThan(1_000);
    expect(paused.tally.rows).toBeLessThan(18_000);
    app = await app.again();
    valueOf(await app.batch['batch.resume']({ jobId: started.jobId, grounds: null }));
    const job = await app.until(started.jobId, 'finished', 'failed');
    expect(job).toMatchObject({ state: 'finished', tally: { ok: count - 1, failed: 1 } });
    expect(await failedRows(job.jobId)).toEqual(['19000 service.same-answer']);
  });

  it('also of a value that was sent first and whose row is still to come, after a pause too', async () => {
    const path = await app.write('in.csv', table());
    const sourceId = await app.open(path);
    const plan = planOf([tokenize]);
    valueOf(await app.batch['batch.preflight']({ sourceId, plan }));
    await expect.poll(() => app.preflights.at(-1)?.done).toBe(true);
    const started = await startedAndPaused(sourceId, plan);
    const { committed } = await app.until(started.jobId, 'paused');
    const first = app.service.sent.slice(0, canarySize);
    const rowOf = (value: string): number => Number(/\d+/.exec(value)?.[0]);
    const late = first.toSorted((one, other) => rowOf(other) - rowOf(one))[0] ?? '';
    const next = committed + 5_000;
    expect(first).not.toContain(valueIn(next));
    expect(rowOf(late)).toBeGreaterThan(next);
    wrong.set(valueIn(next), tokenOf(late));
    valueOf(await app.batch['batch.resume']({ jobId: started.jobId, grounds: null }));
    const job = await app.until(started.jobId, 'finished', 'failed');
    expect(job).toMatchObject({ state: 'finished', tally: { ok: count - 2, failed: 2 } });
    expect(await failedRows(job.jobId)).toEqual([
      `${next} service.same-answer`,
      `${rowOf(late)} service.same-answer`,
    ]);
    // Its answer is the one it was given at first: it is not sent again.
    expect(app.service.sent.filter((value) => value === late)).toHaveLength(1);
  });

  it('also where it is tried again, and an equal value may have the same', async () => {
    app.service.refuses = (value) => value === valueIn(18_000) || value === valueIn(4);
    const job = await app.run(
      await app.open(
        await app.write(
          'in.csv',
          table((row) => valueIn(row === 19_500 ? 4 : row)),
        ),
      ),
      planOf([tokenize]),
    );
    expect(job).toMatchObject({ state: 'finished', tally: { failed: 3 } });
    app.service.refuses = () => false;
    wrong.set(valueIn(18_000), tokenOf(valueIn(3)));
    valueOf(
      await app.batch['batch.retry']({
        jobId: job.jobId,
        code: 'service.element-refused',
        grounds: null,
      }),
    );
    const again = await app.until(job.jobId, 'finished');
    expect(again.tally).toMatchObject({ ok: count - 1, failed: 1 });
    expect(await failedRows(job.jobId)).toEqual(['18000 service.same-answer']);
  });

  it('also where a row was corrected, whose answer of before counts no more', async () => {
    app.service.refuses = (value) => [valueIn(16_000), valueIn(18_000), '17000'].includes(value);
    const plan = planOf([tokenize, { ...tokenize, column: 1 }]);
    const job = await app.run(await app.open(await app.write('in.csv', table())), plan);
    expect(job).toMatchObject({ state: 'finished', tally: { failed: 3 } });
    const list = valueOf(await app.export(job.jobId, { content: 'tokens', rows: 'failed' }))
      .replace(/^(16000,.*),[^,]*,([^,]*)$/m, `$1,${valueIn(17_000)},$2`)
      .replace(/^(17000,.*),[^,]*,[^,]*$/m, '$1,new17,n17')
      .replace(/^(18000,.*),[^,]*,([^,]*)$/m, '$1,new18,$2');
    wrong.set('new18', tokenOf(valueIn(3)));
    const sourceId = await app.open(await app.write('list.csv', list));
    expect(codeOf(await takeIn(app, { jobId: job.jobId, sourceId }))).toBe('ok');
    const mended = await app.until(job.jobId, 'finished');
    expect(mended.tally).toMatchObject({ ok: count - 1, failed: 1 });
    expect(await failedRows(job.jobId)).toEqual(['18000 service.same-answer']);
  });
});
