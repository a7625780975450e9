import { done, failed, type Outcome } from '../../contract/errors.ts';
import { readAhead } from '../../storage/byte-source.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { readChunk } from '../reading/read-rows.ts';
import type { JobSpec } from '../storing/job-files.ts';
import type { ResultStore } from '../storing/result-store.ts';
import { rowStates } from '../storing/results.ts';
import type { StoredAnswer } from './answer-table.ts';
import type { JobSource } from './job-source.ts';

/**
 * What earlier runs of a job were answered, a chunk at a time, and for which mapped column. Rows that were corrected since
 * have none: their answers are of other values. Failures: file.*, job.damaged.
 */
export async function* readStoredAnswers(
  source: Pick<JobSource, 'identity' | 'read' | 'mended' | 'typed'>,
  { format, plan }: Pick<JobSpec, 'format' | 'plan'>,
  store: Pick<ResultStore, 'entries' | 'createSequentialReader'>,
  pending: ReadonlySet<number>,
): AsyncGenerator<Outcome<readonly (StoredAnswer & { readonly index: number })[]>, void> {
  const { identity, mended, typed } = source;
  const read = readAhead((offset, length) => source.read(offset, length), identity.size);
  const readResults = store.createSequentialReader();
  const maxFields = Math.max(...plan.columns.map(({ column }) => column)) + 1;
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
        const column = plan.columns[index]?.column ?? 0;
        return Array.from(values).flatMap((answer, row) =>
          states[row] !== rowStates.ok || pending.has(start.row + row)
            ? []
            : [
                {
                  index,
                  answer: openCleartext(answer),
                  value: openCleartext(table.value(row, column)),
                  row: start.row + row,
                },
              ],
        );
      }),
    );
  }
}
