import fc from 'fast-check';
import { expect, it } from 'vitest';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import type { ColumnWork } from '../../../../electron/batch/planning/column-work.ts';
import { workFor } from '../../../../electron/batch/planning/plan.ts';
import type { Chunk } from '../../../../electron/batch/reading/read-rows.ts';
import { runChunks, type RunOptions } from '../../../../electron/batch/running/run-chunks.ts';
import { usualMarks } from '../../../../electron/contract/value-kinds.ts';
import { done, failed, type Outcome } from '../../../../electron/contract/errors.ts';
import type { BatchAnswer, BatchCall, Element } from '../../../../electron/service/service-client.ts';
import { seeded } from '../../../faults/fake-clock.ts';
import { jobRowsOf } from '../../../support/job-rows.ts';

/* How much is under way at once: it is what the end of the process costs. */

const workOf = (column: number): ColumnWork =>
  workFor(
    {
      column,
      operation: 'detokenize',
      policy: `p${column}`,
      definition: 'card',
      target: null,
      parts: null,
      pattern: null,
      into: 'replace',
    },
    'card',
    { reading: { encoding: 'utf-8', delimiter: ',', header: true } },
  );
/** Texts whose addresses and account numbers are sent as one definition. */
const textWork = (): ColumnWork => {
  const { plan } = workOf(0);
  const definitions = { iban: 'text', email: 'text' };
  return workFor({ ...plan, operation: 'tokenize', inside: { ...usualMarks, definitions } }, 'text', {
    reading: { encoding: 'utf-8', delimiter: ',', header: true },
  });
};
const batchSize = 10;
const maxInFlight = 3;
const maxUnwritten = batchSize * maxInFlight;

async function* chunksOf(
  rows: readonly string[],
  rowsPerChunk: number,
  turnsBetween: number,
  throwsAt: number | undefined,
): AsyncGenerator<Outcome<Chunk>, void> {
  const { entries, load } = jobRowsOf(rows, rowsPerChunk);
  for (const index of entries.keys()) {
    if (index === throwsAt) throw new Error('a part of the app that is broken');
    for (let turn = 0; turn < turnsBetween; turn++) await nextTurn();
    const loaded = await load(index, { withResults: false });
    yield loaded.ok ? done(loaded.value.chunk) : loaded;
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

type Answer = () => void;

interface Life {
  readonly rowsPerChunk: number;
  /** Rows of one column, unless they say otherwise: values between commas. */
  readonly columns?: number;
  /** The disk takes so many turns for each chunk. */
  readonly turnsBetween?: number;
  /** Reading this chunk does not fail: it throws. */
  readonly throwsAt?: number;
  /** The process is killed after so many turns of the event loop. */
  readonly turns?: number;
  /** Absent: each column has values of its own. */
  readonly work?: readonly ColumnWork[];
  /** Requests that are refused whole, and halved for it. */
  readonly refuses?: (values: readonly string[]) => boolean;
  /** Values of a request, at most. */
  readonly size?: number;
  /** Nothing more is sent once so many requests were answered. */
  readonly stopsAfter?: number;
  /** Which of the answers that are due come in a turn, and in which order. */
  readonly due?: (answers: readonly Answer[]) => readonly Answer[];
}

interface Lived {
  /** In the order they were sent. */
  readonly sent: readonly string[];
  /** Rows. */
  readonly written: number;
  /** Values. */
  readonly mostUnwritten: number;
}

/** Runs a job that is slow to write. Unless `due` says otherwise, all answers come in one turn, the first rows' last. */
async function live(rows: readonly string[], life: Life): Promise<Lived> {
  const { rowsPerChunk, columns = 1, turnsBetween = 0 } = life;
  const due = life.due ?? ((answers: readonly Answer[]) => answers.toReversed());
  const valuesIn = (some: readonly string[]): number =>
    some.flatMap((row) => row.split(',')).filter((value) => value !== '').length;
  const sent: string[] = [];
  let written = 0;
  let mostUnwritten = 0;
  let requests = 0;
  let waiting: Answer[] = [];
  const batch = (_: BatchCall, elements: readonly Element[]): Promise<Outcome<BatchAnswer>> => {
    sent.push(...elements.map(({ value }) => value));
    mostUnwritten = Math.max(mostUnwritten, sent.length - valuesIn(rows.slice(0, written)));
    const answered = elements.map(({ ref, value }) => ({ ref, ok: true, value: cleartext(value) }) as const);
    const isRefused = life.refuses?.(elements.map(({ value }) => value)) === true;
    if (!isRefused) requests += 1;
    const isLast = !isRefused && requests === life.stopsAfter;
    const outcome = isRefused
      ? failed('service.invalid-input')
      : done({ elements: answered, requestId: 'r' });
    return new Promise((resolve) =>
      waiting.push(() => {
        if (isLast) control.stopSending({ code: 'service.cancelled' });
        resolve(outcome);
      }),
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
    chunks: chunksOf(rows, rowsPerChunk, turnsBetween, life.throwsAt),
    columns: life.work ?? Array.from({ length: columns }, (_, column) => workOf(column)),
    client: {
      batch,
      batchSize: life.size ?? batchSize,
      rules: { valueLength: 100, expressions: 'RE2', randomTokens: false },
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
    sourceBytes: rows.length,
    commit,
  });
  const state = { isEnded: false };
  const end = (): boolean => (state.isEnded = true);
  void control.ended.then(end, end);
  for (let turn = 0; !state.isEnded && turn < (life.turns ?? Infinity); turn++) {
    await nextTurn();
    const now = due(waiting);
    waiting = waiting.filter((answer) => !now.includes(answer));
    for (const answer of now) answer();
  }
  if (life.throwsAt !== undefined) await expect(control.ended).rejects.toThrow('broken');
  else if (state.isEnded && life.stopsAfter === undefined) expect(await control.ended).toBeNull();
  return { sent, written, mostUnwritten };
}

const tokens = (count: number): string[] => Array.from({ length: count }, (_, n) => `tok_${n}`);

it.each([
  ['a chunk is one request', 10],
  ['chunks share requests', 7],
  ['a chunk has as many values as may be under way', 30],
])('sends no value before there is room for it among those not yet written: %s', async (_, rowsPerChunk) => {
  const { mostUnwritten, written } = await live(tokens(400), { rowsPerChunk });
  expect(written).toBe(400);
  expect(mostUnwritten).toBeLessThanOrEqual(maxUnwritten);
});

it('sends one request more at a time where a chunk has more values than may be under way', async () => {
  const { mostUnwritten, written } = await live(tokens(400), { rowsPerChunk: 50 });
  expect(written).toBe(400);
  expect(mostUnwritten).toBeLessThanOrEqual(50 + batchSize);
});

it('counts a value once where two kinds of values in a text are sent as one definition', async () => {
  const rows = tokens(400).map((token) => `write to ${token}@example.org`);
  for (const turnsBetween of [0, 1]) {
    const lived = await live(rows, { rowsPerChunk: 5, turnsBetween, work: [textWork()] });
    expect(lived.sent).toHaveLength(400);
    expect(lived.written).toBe(400);
    expect(lived.mostUnwritten).toBeLessThanOrEqual(maxUnwritten);
  }
});

it('writes each chunk that is answered, also where its request is halved and then stopped', async () => {
  const refuses = (values: readonly string[]): boolean => values.length > 5;
  const { sent, written } = await live(tokens(10), { rowsPerChunk: 1, refuses, stopsAfter: 1 });
  expect(sent.slice(10)).toEqual(tokens(5));
  expect(written).toBe(5);
});

it('writes no value as failed of a request after which it stops: they may all be well', async () => {
  const life = { rowsPerChunk: 1, refuses: () => true, size: 30, stopsAfter: 1 };
  const { written } = await live(tokens(60), life);
  expect(written).toBe(0);
});

it('ends only when what was begun is written, also where a part of it throws', async () => {
  const { sent, written } = await live(tokens(100), { rowsPerChunk: 7, throwsAt: 3 });
  expect(sent).toEqual(tokens(21));
  expect(written).toBe(21);
});

it('sends again no more than may be under way, however often it is killed', async () => {
  const turn = fc.nat({ max: 30 });
  const killed = fc.array(turn, { minLength: 2, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(killed, fc.integer({ min: 3, max: 12 }), fc.nat(), async (kills, rowsPerChunk, seed) => {
      const random = seeded(seed);
      const seen = new Set<string>();
      let rows = tokens(300);
      for (const turns of [...kills, Infinity]) {
        const due: Life['due'] = (answers) => answers.filter(() => random() < 0.5).reverse();
        const { sent, written } = await live(rows, { rowsPerChunk, turns, due });
        const again = sent.filter((value) => seen.has(value));
        expect(again.length).toBeLessThanOrEqual(maxUnwritten);
        for (const value of sent) seen.add(value);
        rows = rows.slice(written);
      }
      expect(rows).toEqual([]);
    }),
    { numRuns: 100 },
  );
});

/** A row with a value in each column that chance says: so great a share of its rows has one. */
const rowsWith = (filled: readonly number[], random: () => number): string[] =>
  tokens(200).map((token) =>
    filled.map((share, column) => (random() < share ? `${token}_${column}` : '')).join(','),
  );

it.each([[[1, 0.05]], [[0.05, 1]], [[1, 0.05, 0.05]]])(
  'keeps room for what a column with few values has to send: %j',
  async (filled) => {
    for (let seed = 1; seed <= 20; seed++) {
      const rows = rowsWith(filled, seeded(seed));
      const { written, mostUnwritten } = await live(rows, { rowsPerChunk: 3, columns: filled.length });
      expect(written).toBe(rows.length);
      expect(mostUnwritten).toBeLessThanOrEqual(maxUnwritten);
    }
  },
);

it.each([1, 2])(
  'sends of later chunks no more than there is room for where a chunk takes %i turns to come',
  async (turnsBetween) => {
    for (const filled of [
      [1, 0.05],
      [0.05, 1],
      [0.05, 1, 0.05],
    ])
      for (let seed = 1; seed <= 20; seed++) {
        const rows = rowsWith(filled, seeded(seed));
        const columns = filled.length;
        const { written, mostUnwritten } = await live(rows, { rowsPerChunk: 3, columns, turnsBetween });
        expect(written).toBe(rows.length);
        // What the first chunk itself waits for goes all the same.
        expect(mostUnwritten).toBeLessThanOrEqual(maxUnwritten + batchSize * (columns - 1));
      }
  },
);

it('sends what the first rows wait for before what others wait for: columns with gaps', async () => {
  const columns = 3;
  const share = fc.constantFrom(0, 0.05, 0.3, 1);
  const shares = fc.tuple(share, share, share);
  await fc.assert(
    fc.asyncProperty(shares, fc.integer({ min: 1, max: 3 }), fc.nat(), async (filled, rowsPerChunk, seed) => {
      const random = seeded(seed);
      const rows = rowsWith(filled, random);
      const due: Life['due'] = (answers) => answers.filter(() => random() < 0.5).reverse();
      const { sent, written, mostUnwritten } = await live(rows, { rowsPerChunk, columns, due });
      expect(written).toBe(rows.length);
      expect(new Set(sent).size).toBe(sent.length);
      // The first chunk may wait for a request of each column that there is no room for: they go all the same.
      expect(mostUnwritten).toBeLessThanOrEqual(maxUnwritten + batchSize * (columns - 1));
    }),
    { numRuns: 100 },
  );
});
