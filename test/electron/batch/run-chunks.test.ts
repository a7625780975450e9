import { expect, it } from 'vitest';
import { workFor } from '../../../electron/batch/planning/plan.ts';
import type { Chunk } from '../../../electron/batch/reading/read-rows.ts';
import { runChunks, type RunOptions } from '../../../electron/batch/running/run-chunks.ts';
import { done, type Outcome } from '../../../electron/contract/errors.ts';
import type { BatchAnswer, BatchCall, Element } from '../../../electron/service/service-client.ts';
import { jobRowsOf } from '../../support/job-rows.ts';

/* How much is under way at once: it is what the end of the process costs. */

const work = workFor(
  {
    column: 0,
    operation: 'detokenize',
    policy: 'p',
    definition: 'card',
    target: null,
    parts: null,
    pattern: null,
    into: 'replace',
  },
  'card',
);
const batchSize = 10;
const maxInFlight = 3;

async function* chunksOf(rows: number, rowsPerChunk: number): AsyncGenerator<Outcome<Chunk>, void> {
  const values = Array.from({ length: rows }, (_, n) => `tok_${n}`);
  const { entries, load } = jobRowsOf(values, rowsPerChunk);
  for (const index of entries.keys()) {
    const loaded = await load(index, { withResults: false });
    yield loaded.ok ? done(loaded.value.chunk) : loaded;
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Runs a job whose answers all come in one turn, those of the first rows last, and which is slow to write. */
async function run(rows: number, rowsPerChunk: number): Promise<{ mostUnwritten: number; written: number }> {
  let sent = 0;
  let written = 0;
  let mostUnwritten = 0;
  let answers: (() => void)[] = [];
  const batch = (_: BatchCall, elements: readonly Element[]): Promise<Outcome<BatchAnswer>> => {
    sent += elements.length;
    mostUnwritten = Math.max(mostUnwritten, sent - written);
    const answered = elements.map(({ ref, value }) => ({ ref, ok: true, value }) as const);
    return new Promise((resolve) =>
      answers.push(() => resolve(done({ elements: answered, requestId: 'r' }))),
    );
  };
  const commit: RunOptions['commit'] = ({ start, end }) => {
    const stored = nextTurn().then(() => {
      written += end.row - start.row;
      return done(null);
    });
    return { written: stored, synced: stored };
  };
  const control = runChunks({
    chunks: chunksOf(rows, rowsPerChunk),
    columns: [work],
    client: {
      batch,
      batchSize,
      rules: { valueLength: 100, expressions: 'RE2' },
      announce: () => ({
        sent: true,
        line: Promise.resolve(done(() => undefined)),
        isWritten: true,
        drop: () => undefined,
      }),
    },
    jobId: 'job',
    maxInFlight,
    signal: new AbortController().signal,
    commit,
  });
  const state = { isEnded: false };
  void control.ended.then(() => (state.isEnded = true));
  while (!state.isEnded) {
    await nextTurn();
    const now = answers.reverse();
    answers = [];
    for (const answer of now) answer();
  }
  expect(await control.ended).toBeNull();
  return { mostUnwritten, written };
}

it.each([
  ['a chunk is one request', 10],
  ['chunks share requests', 7],
  ['a chunk has as many values as may be under way', 30],
])('sends no value before there is room for it among those not yet written: %s', async (_, rowsPerChunk) => {
  const { mostUnwritten, written } = await run(400, rowsPerChunk);
  expect(written).toBe(400);
  expect(mostUnwritten).toBeLessThanOrEqual(batchSize * maxInFlight);
});

it('sends one request more at a time where a chunk has more values than may be under way', async () => {
  const { mostUnwritten, written } = await run(400, 50);
  expect(written).toBe(400);
  expect(mostUnwritten).toBeLessThanOrEqual(50 + batchSize);
});
