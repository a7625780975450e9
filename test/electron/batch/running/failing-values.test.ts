import { afterEach, beforeEach, expect, it } from 'vitest';
import { done, failed, type Outcome } from '../../../../electron/contract/errors.ts';
import type { BatchAnswer } from '../../../../electron/service/service-client.ts';
import { matchElements } from '../../../../electron/service/match-elements.ts';
import { shippedProfile } from '../../../faults/client-side.ts';
import { detokenize, openApp, planOf, valueOf, type TestApp } from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const tokens = (count: number): string =>
  'token\n' + Array.from({ length: count }, (_, i) => `tok${i}\n`).join('');
const serverError: Outcome<BatchAnswer> = failed('service.failing', { status: 500 });

/** The service fails for requests with one of these values. */
function failFor(...values: string[]): void {
  app.service.answer = (_, elements) =>
    elements.some(({ value }) => values.includes(value)) ? serverError : null;
}

const run = async (count: number) =>
  app.run(await app.open(await app.write('in.csv', tokens(count))), planOf([detokenize(0)]));

it('sets aside the values that make the service fail, and finishes', async () => {
  failFor('tok777', 'tok2000');
  const job = await run(5_000);
  expect(job).toMatchObject({ state: 'finished', tally: { rows: 5_000, ok: 4_998, failed: 2 } });
  expect(job.failures).toMatchObject([{ code: 'service.failing', count: 2, firstRow: 778, retriable: true }]);
  // Halving a request of 100 takes 15 requests at most, and some of them ask for an answered value again.
  expect(app.service.sizes.length).toBeLessThan(50 + 2 * 30);
});

it('finds one though no other request is under way, by asking for an answered value again', async () => {
  await app.close();
  app = await openApp({ inFlight: 1 });
  failFor('tok150');
  const job = await run(200);
  expect(job).toMatchObject({ state: 'finished', tally: { ok: 199, failed: 1 } });
});

it('waits in an outage, and takes no value for the reason', async () => {
  let isDown = false;
  app.service.answer = () => {
    isDown ||= app.service.sizes.length > 12;
    return isDown ? serverError : null;
  };
  const job = await run(5_000);
  expect(job).toMatchObject({
    state: 'paused',
    tally: { failed: 0 },
    waiting: { failure: { code: 'service.failing' } },
  });
  // Those in flight, and one value asked for again.
  expect(app.service.sizes.length).toBeLessThan(12 + 8 + 4);
  expect(app.service.sizes.at(-1)).toBe(1);
  isDown = false;
  app.service.answer = () => null;
  app.timers.at(-1)?.run();
  expect(await app.until(job.jobId, 'finished')).toMatchObject({ tally: { rows: 5_000, ok: 5_000 } });
});

it('ends a job of nothing but such values after a few outages, and a few requests more', async () => {
  failFor(...Array.from({ length: 12 }, (_, i) => `tok${i}`));
  const job = await run(12);
  expect(job).toMatchObject({
    state: 'paused',
    committed: 0,
    waiting: { failure: { code: 'service.failing' } },
  });
  expect(job.waiting?.until).not.toBeNull();
  for (let outage = 1; outage < 3; outage++) {
    valueOf(await app.batch['batch.resume']({ jobId: job.jobId }));
    expect(await app.until(job.jobId, 'paused', 'finished')).toMatchObject({ state: 'paused' });
  }
  valueOf(await app.batch['batch.resume']({ jobId: job.jobId }));
  expect(await app.until(job.jobId, 'paused', 'finished')).toMatchObject({
    state: 'finished',
    tally: { failed: 12 },
    failures: [{ code: 'service.failing', count: 12, retriable: true }],
  });
  // Each waits longer than the one before: all of it, a half and a quarter.
  expect(app.service.sizes).toEqual([12, 12, 12, 12, 6, 3]);
});

it('still finds the others of its only request, where one value fails', async () => {
  failFor('tok4');
  const job = await run(12);
  for (let outage = 1; outage < 4; outage++) {
    expect(await app.until(job.jobId, 'paused')).toMatchObject({ committed: 0 });
    valueOf(await app.batch['batch.resume']({ jobId: job.jobId }));
  }
  expect(await app.until(job.jobId, 'finished')).toMatchObject({ tally: { ok: 11, failed: 1 } });
});

it('does not end a long job so while the service is down', async () => {
  app.service.answer = () => serverError;
  const job = await run(500);
  for (let outage = 1; outage < 8; outage++) {
    valueOf(await app.batch['batch.resume']({ jobId: job.jobId }));
    const again = await app.until(job.jobId, 'paused', 'finished', 'failed');
    expect(again).toMatchObject({ state: 'paused', committed: 0 });
  }
});

const { elementCodes, element } = shippedProfile();
const members = {
  ref: ['RefId'],
  value: ['Value'],
  error: ['Error'],
  none: element.none,
  success: null,
  elementCodes,
  maxLength: 100,
  refusesEcho: true,
  refusesPart: true,
  returns: null,
};
const answerOf = (value: string, emptyValues = false) =>
  matchElements([{ ref: '0', value: 'tok' }], [{ RefId: '0', Value: value }], { ...members, emptyValues });

it('takes an empty answer for a failure, unless the service profile says otherwise', () => {
  expect(answerOf('')).toEqual(done([{ ref: '0', ok: false, code: 'service.empty-value' }]));
  expect(answerOf('', true)).toEqual(done([{ ref: '0', ok: true, value: '' }]));
  expect(answerOf(' \t')).toEqual(done([{ ref: '0', ok: false, code: 'service.blank-value' }]));
  expect(answerOf(' ', true)).toEqual(done([{ ref: '0', ok: true, value: ' ' }]));
});

it('takes an answer with half a character for a failure', () => {
  expect(answerOf('a\ud800')).toEqual(done([{ ref: '0', ok: false, code: 'service.broken-value' }]));
  expect(answerOf('a💳')).toEqual(done([{ ref: '0', ok: true, value: 'a💳' }]));
});

const invalid = (reason: string): void => {
  app.service.answer = (_, elements) =>
    done({
      requestId: 'req-1',
      elements: elements.map(({ ref }) => ({ ref, ok: false, code: 'service.value-invalid', reason })),
    });
};

it.each([
  ['ssn', '900-12-3456', 'value.ssn-area'],
  ['ssn', '666123456', 'value.ssn-area'],
  ['ssn', '123-00-4567', 'value.ssn-zeros'],
  ['ssn', '123-45-6789', 'service.value-invalid'],
  ['card', '4111111111111112', 'value.check-digit'],
  ['card', '4111111111111111', 'service.value-invalid'],
  ['email', 'a@b', 'service.value-invalid'],
])(
  'says what is wrong with a value of kind %s that the service does not take: %s',
  async (definition, value, code) => {
    invalid('ValueInvalid');
    const plan = planOf([{ ...detokenize(0), operation: 'tokenize', definition }]);
    const job = await app.run(await app.open(await app.write('in.csv', `value\n${value}\n`)), plan);
    expect(job.failures).toEqual([{ column: 0, code, count: 1, firstRow: 1, retriable: false }]);
  },
);

it('passes on what the service says of a value, with the value masked', async () => {
  invalid('4111111111111112 (4111-1111-1111-1111) is no card');
  const plan = planOf([{ ...detokenize(0), operation: 'tokenize' }]);
  const job = await app.run(await app.open(await app.write('in.csv', 'card\n4111111111111112\n')), plan);
  const query = { jobId: job.jobId, filter: 'all', from: 0, count: 1 } as const;
  const [row] = valueOf(await app.batch['batch.rows'](query)).rows;
  expect(row?.cells[0]).toEqual({
    text: '411111••••••1112',
    state: 'failed',
    code: 'value.check-digit',
    reason: '411111••••••1112 (4111-11••-••••-1111) is no card',
  });
});
