import { failed, type Outcome } from '../../contract/errors.ts';
import type { MatchReason } from '../../contract/models/batch.ts';
import type { BatchOptions } from '../options.ts';
import type { ColumnWork, Draft } from './plan.ts';

interface MatchOptions {
  readonly draft: Pick<Draft, 'work' | 'connection'>;
  readonly revealReason: MatchReason | null;
  readonly jobId: string;
  /** How many rows are matched, at most. */
  readonly rows: number;
  /** Whether the row count has to be typed in production. */
  readonly confirmsRows: boolean;
}

export const hasDisclosingMatch = (work: readonly ColumnWork[]): boolean =>
  work.some(({ isDisclosing }) => isDisclosing);

/**
 * Around whatever sends a plan: `run` is called once that is allowed. An answer to an expression that tells more than the
 * mask is treated as cleartext: it needs a reason, one line in the audit log with the fingerprint of each expression, and
 * is counted. A plan without such an expression is run unrecorded.
 * Failures: those of `run`; reveal.reason-required, reveal.reason-refused, export.confirm, disclosure.limit, audit.unwritable, keychain.*, file.*.
 */
export async function recordDisclosingMatch<T>(
  { audit, disclosures, managed, store }: Pick<BatchOptions, 'audit' | 'disclosures' | 'managed' | 'store'>,
  { draft, revealReason, jobId, rows, confirmsRows }: MatchOptions,
  run: () => Promise<Outcome<T>>,
): Promise<Outcome<T>> {
  const matches = draft.work.filter(({ isDisclosing }) => isDisclosing);
  if (matches.length === 0) return run();
  const { caseRequired } = store.read('settings');
  if (revealReason === null || (caseRequired && revealReason.caseReference === '')) {
    return failed('reveal.reason-required');
  }
  if (managed.reasons?.includes(revealReason.reason) === false) return failed('reveal.reason-refused');
  const { name, environment } = draft.connection;
  if (confirmsRows && environment === 'production' && revealReason.confirmRows !== rows) {
    return failed('export.confirm');
  }
  const fingerprints: string[] = [];
  for (const { call } of matches) {
    if (!('pattern' in call)) continue;
    const fingerprint = await disclosures.fingerprint(call.pattern);
    if (!fingerprint.ok) return fingerprint;
    fingerprints.push(fingerprint.value);
  }
  const intent = {
    action: 'Match',
    connection: name,
    environment,
    policy: [...new Set(matches.map(({ plan }) => plan.policy))].join(', '),
    definition: matches.map(({ plan }) => plan.definition).join(', '),
    reason: revealReason.reason,
    caseReference: revealReason.caseReference,
    rows,
    job: jobId,
    cleartext: true,
    note: `expression ${fingerprints.join(', ')}`,
  };
  return audit.record(intent, async () => {
    const counted = await disclosures.countMatch(fingerprints, rows * matches.length);
    return counted.ok ? run() : counted;
  });
}
