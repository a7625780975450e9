import assert from 'node:assert/strict';
import { openApp, planOf, valueOf, detokenize, type TestApp } from '../support/batch-app.ts';
import { readAnswer, rightAnswers, wrongAnswers, type WrongAnswer } from './wrong-answers.ts';

const tokenOf = (value: string): string => `tok:${Array.from(value).reverse().join('')}`;

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Counts {
  rounds: number;
  values: number;
  right: number;
  failed: number;
  /** Succeeded with another answer, which a right service could have given. */
  plausible: number;
}

/**
 * Batches against a service that answers every fifth request wrongly, each in some way of the table. No value stands as
 * succeeded with another answer than its own, but for those that a right service could have given; no two values stand
 * with the same; and what failed keeps its bytes.
 */
export async function runWrongService(
  { rounds, values, seed }: { readonly rounds: number; readonly values: number; readonly seed: number },
  app?: TestApp,
): Promise<Counts> {
  const counts: Counts = { rounds, values: 0, right: 0, failed: 0, plausible: 0 };
  const random = createRandom(seed);
  const used = app ?? (await openApp());
  try {
    for (let round = 0; round < rounds; round++) await runRound(used, { round, values, random, counts });
  } finally {
    if (app === undefined) await used.close();
  }
  return counts;
}

interface Round {
  readonly round: number;
  readonly values: number;
  readonly random: () => number;
  readonly counts: Counts;
}

async function runRound(app: TestApp, { round, values, random, counts }: Round): Promise<void> {
  const plausible = new Map<string, Set<string>>();
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  app.service.answer = (call, elements) =>
    readAnswer(call, elements, (part) => {
      const right = rightAnswers(part, tokenOf);
      if (random() >= 0.2) return right;
      const way: WrongAnswer = pick(wrongAnswers);
      const answer = way.answer(right, Math.floor(random() * part.length), part);
      const isPlausible =
        way.expected === 'a right service could have answered so' || way.expected === 'service.same-answer';
      if (isPlausible && Array.isArray(answer))
        for (const [index, { value }] of part.entries()) {
          const texts = plausible.get(value) ?? new Set();
          plausible.set(value, texts.add(String((answer as { Value: unknown }[])[index]?.Value)));
        }
      return answer;
    });
  const source = Array.from({ length: values }, (_, row) => `src${round}x${row}`);
  const path = await app.write(
    'in.csv',
    `token,n\n${source.map((value, row) => `${value},${row}\n`).join('')}`,
  );
  const target = { policy: 'Disputes', definition: 'ssn' };
  const plan = planOf([detokenize(0, { operation: 'translate', target })]);
  let job = await app.run(await app.open(path), plan);
  for (let again = 0; again < 20 && job.state === 'paused'; again++) {
    valueOf(await app.batch['batch.resume']({ jobId: job.jobId, grounds: null }));
    job = await app.until(job.jobId, 'finished', 'paused', 'failed');
  }
  const exported = valueOf(await app.export(job.jobId, { content: 'tokens' }));
  const rows = exported.trimEnd().split('\r\n').slice(1);
  const { tally } = job;
  assert.equal(rows.length, tally.rows);
  assert.equal(tally.rows, tally.ok + tally.failed);
  const given = new Set<string>();
  for (const [row, line] of rows.entries()) {
    const [cell = '', n, error = ''] = line.split(',');
    const sent = source[row] ?? '';
    assert.equal(n, String(row));
    counts.values += 1;
    if (error !== '') {
      assert.equal(cell, sent, `round ${round}, row ${row}: a cell that failed was changed`);
      counts.failed += 1;
      continue;
    }
    if (cell === tokenOf(sent)) counts.right += 1;
    else {
      assert.ok(plausible.get(sent)?.has(cell), `round ${round}, row ${row}: ${cell} stands as succeeded`);
      counts.plausible += 1;
    }
    assert.ok(!given.has(cell), `round ${round}, row ${row}: ${cell} stands for two values`);
    given.add(cell);
  }
  valueOf(await app.batch['batch.discard']({ jobId: job.jobId }));
}
