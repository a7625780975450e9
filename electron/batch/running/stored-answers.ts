import { done, failed, type Outcome } from '../../contract/errors.ts';
import { readAhead } from '../../storage/byte-source.ts';
import { openCleartext, type Cleartext } from '../../util/cleartext.ts';
import type { BatchCall } from '../../service/service-client.ts';
import { isInside, sentValues, tokensIn } from '../planning/inside-cells.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { readChunk } from '../reading/read-rows.ts';
import type { JobSpec } from '../storing/job-files.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { rowStates } from '../storing/results.ts';
import type { StoredAnswer } from './answer-table.ts';
import type { JobSource } from './job-source.ts';

/**
 * What earlier runs of a job were answered, a chunk at a time, and by which call. Rows that were corrected since
 * have none: their answers are of other values. Failures: file.*, job.damaged.
 */
export async function* readStoredAnswers(
  source: Pick<JobSource, 'identity' | 'read' | 'mended' | 'typed'>,
  { format, work }: Pick<JobSpec, 'format'> & { readonly work: readonly ColumnWork[] },
  store: Pick<ResultStore, 'entries' | 'createSequentialReader'>,
  pending: ReadonlySet<number>,
): AsyncGenerator<Outcome<readonly (StoredAnswer & { readonly call: BatchCall })[]>, void> {
  const { identity, mended, typed } = source;
  const read = readAhead((offset, length) => source.read(offset, length), identity.size);
  const readResults = store.createSequentialReader();
  const maxFields = Math.max(...work.map(({ plan }) => plan.column)) + 1;
  for (const entry of [...store.entries]) {
    const chunk = await readChunk({ identity, read, mended, typed }, format, entry, maxFields);
    const results = chunk.ok ? await readResults(entry) : chunk;
    if (!chunk.ok || !results.ok) {
      yield chunk.ok ? (results as Extract<typeof results, { ok: false }>) : chunk;
      return;
    }
    const { table, start } = chunk.value;
    if (results.value.states.length !== table.count) {
      yield failed('job.damaged');
      return;
    }
    yield done(
      results.value.columns.flatMap(({ states, values }, index) => {
        const one = work[index];
        if (one === undefined) return [];
        return Array.from(values).flatMap((answer, row) => {
          if (states[row] !== rowStates.ok || pending.has(start.row + row)) return [];
          const answers = storedValues(one, answer);
          return sentValues(one, table.value(row, one.plan.column)).map(({ sent, work: { call } }, at) => ({
            call,
            answer: openCleartext(answers[at] ?? answer),
            value: sent,
            row: start.row + row,
          }));
        });
      }),
    );
  }
}

/** What was answered for the values of a cell, in their order. Values that came out of a text can't be told from it: nothing compares them. */
const storedValues = (one: ColumnWork, answer: Cleartext): Cleartext[] =>
  isInside(one) && one.plan.operation === 'tokenize' ? tokensIn(answer, one.inside) : [answer];
