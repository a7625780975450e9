import assert from 'node:assert/strict';
import { notShown, statement, type Statement } from '../statement.ts';
import { NotTried } from '../unchecked.ts';
import type { Answer } from '../answer.ts';

const maxTriedLimit = 1000;

/** The rule is told by its number, or by its period, such as `1s`: it then allows one more than what is left. */
function limitsIn({ headers }: Answer) {
  const rule = String(headers['x-rate-limit-limit']);
  const remaining = Number(headers['x-rate-limit-remaining']);
  const limit = /^\d{1,6}[smhd]$/.test(rule) ? remaining + 1 : Number(rule);
  const reset = Date.parse(String(headers['x-rate-limit-reset']));
  return { limit, remaining, reset };
}

/** Sections 8 and 9, and what holds for the run as a whole. */
export const limits: readonly Statement[] = [
  statement('8.6', 'Responses carry x-rate-limit-limit, -remaining and -reset', async (target) => {
    for (const answer of [
      await target.call('CreateSession', target.credentials(target.grantee('Tokenize').policy)),
      await target.call('CreateSession', {}),
      await target.send('/no-such-path', { body: '{}' }),
    ]) {
      const { limit, remaining, reset } = limitsIn(answer);
      assert.ok(Number.isInteger(limit) && limit > 0, 'the limit is neither a number nor a period');
      assert.ok(
        Number.isInteger(remaining) && remaining >= 0 && remaining < limit,
        'the remainder is no number',
      );
      assert.ok(Math.abs(reset - Date.now()) < 26 * 3_600_000, 'the reset is no moment near');
    }
    return undefined;
  }),
  statement('8.5', 'When a limit is exceeded the response is 429, Too Many Requests', async (target) => {
    const { limit } = limitsIn(await target.call('CreateSession', {}));
    if (limit > maxTriedLimit) throw new NotTried(`a limit of ${limit} is too high to try`);
    // The first bursts may take longer than the second that is measured.
    let refused: Answer[] = [];
    let sent = 0;
    for (let round = 0; round < 5 && refused.length === 0; round++) {
      const burst = Array.from({ length: limit * 2 }, () =>
        target.call('CreateSession', {}, { retry429: false }),
      );
      refused = (await Promise.all(burst)).filter(({ status }) => status === 429);
      sent += burst.length;
    }
    assert.ok(refused.length > 0, 'nothing was refused');
    for (const answer of refused) {
      assert.equal(answer.body.title, 'Too Many Requests');
      assert.equal(answer.body.status, 429);
      assert.equal(answer.body.traceId, answer.headers['x-requestid']);
      assert.equal(limitsIn(answer).remaining, 0);
    }
    return `${refused.length} of ${sent}`;
  }),
  statement('8.8', 'After the reset, requests are allowed again', async (target) => {
    const { policy } = target.grantee('Tokenize');
    assert.equal((await target.call('CreateSession', target.credentials(policy))).status, 200);
    return undefined;
  }),
  notShown('8.10', 'What counts as one transfer'),
  notShown('8.11', 'Maximum batch size, value length and elements per call'),
  statement('9.3', 'Members that are not known do no harm', async (target) => {
    const credentials = target.credentials(target.grantee('Tokenize').policy);
    assert.equal(
      (await target.call('CreateSession', { ...credentials, addedLater: { a: [1] } })).status,
      200,
    );
    return undefined;
  }),
  notShown('9.5', 'A version identifier in paths or headers'),
  statement('4.4', 'Over the whole run: every response had an x-requestid, each its own', (target) => {
    assert.ok(target.requestIds.length > 0, 'no response at all');
    assert.equal(target.withoutRequestId, 0);
    assert.equal(new Set(target.requestIds).size, target.requestIds.length);
    return Promise.resolve(`${target.requestIds.length} responses`);
  }),
  statement('4.17', 'Over the whole run: the app takes every answer of an operation', (target) => {
    if (target.answersRead === 0) throw new NotTried('no operation was done');
    const refused = [...target.refusedByApp].map(([name, why]) => `${name}: ${[...why].join(', ')}`);
    assert.ok(refused.length === 0, `the app refuses ${refused.join('; ')}`);
    return Promise.resolve(`${target.answersRead} answers`);
  }),
  statement('7.3', 'Over the whole run: no 5xx', (target) => {
    assert.ok(target.statuses.size > 0, 'no response at all');
    const failed = [...target.statuses].filter(([status]) => status >= 500);
    assert.deepEqual(failed, []);
    return Promise.resolve([...target.statuses].map(([status, n]) => `${n} × ${status}`).join(', '));
  }),
];
