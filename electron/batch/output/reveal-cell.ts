import { done, failed, type Outcome } from '../../contract/errors.ts';
import { obscureText } from '../../contract/obscured.ts';
import type { Reveal, RevealInput } from '../../contract/models/lookup.ts';
import type { BatchJob } from '../running/job.ts';
import type { BatchParts } from '../batch.ts';
import type { Chunk } from '../reading/read-rows.ts';
import type { ChunkResults } from '../storing/results.ts';
import type { View } from './result-rows.ts';
import { yieldsCleartext } from '../planning/plan.ts';

interface Cell {
  readonly chunk: Chunk;
  readonly results: ChunkResults;
  readonly index: number;
  /** As the window counts: the source's columns, then the results that go beside theirs. */
  readonly column: number;
}

/**
 * One cell in clear, with a reason, recorded first, for as long as main allows.
 * Failures: reveal.reason-required, reveal.throttled, reveal.gone where there is no cleartext, audit.*.
 */
export async function revealCell(
  parts: BatchParts,
  job: BatchJob,
  view: View,
  cell: Cell,
  { reason, caseReference, xorKey }: RevealInput,
): Promise<Outcome<Reveal>> {
  if (parts.caseRequired() && caseReference === '') return failed('reveal.reason-required');
  const found = cleartextOf(view, cell);
  if (found === null) return failed('reveal.gone');
  const allowed = parts.reveals.allow();
  if (!allowed.ok) return allowed;
  const { what } = job;
  const mapped = found.work?.plan;
  const begun = await parts.audit.begin({
    action: 'Reveal',
    connection: what.connectionName,
    environment: what.environment,
    ...(mapped !== undefined && { policy: mapped.policy, definition: mapped.definition }),
    reason,
    caseReference,
    rows: 1,
    job: what.jobId,
    note: `row ${cell.chunk.start.row + cell.index}, column ${cell.column + 1}`,
  });
  if (!begun.ok) return begun;
  const { revealId, hideAfterMs } = parts.reveals.open();
  begun.value({ ok: true, ...(found.requestId !== '' && { requestId: found.requestId }) });
  const obscured = obscureText(found.cleartext, xorKey);
  return done({ revealId, obscured, hideAfterMs, requestId: found.requestId });
}

function cleartextOf(
  { work, masked, width }: View,
  { chunk, results, index, column }: Cell,
): { cleartext: string; requestId: string; work: View['work'][number] | null } | null {
  if (results.flaws[index] !== undefined) return null;
  const beside = work.filter(({ plan }) => plan.into === 'beside');
  const one = column < width ? work.find(({ plan }) => plan.column === column) : beside[column - width];
  const input = chunk.rows[index]?.[one?.plan.column ?? column] ?? '';
  if (one === undefined)
    return masked.has(column) && input !== '' ? { cleartext: input, requestId: '', work: null } : null;
  const own = results.columns[work.indexOf(one)];
  let requestId = '';
  for (const [from, id] of own?.requests ?? []) if (from <= index) requestId = id;
  if (!yieldsCleartext(one.plan.operation)) {
    return one.plan.operation === 'tokenize' && input !== ''
      ? { cleartext: input, requestId, work: one }
      : null;
  }
  return own?.states[index] === 'o' ? { cleartext: own.values[index] ?? '', requestId, work: one } : null;
}
