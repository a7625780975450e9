import type { Outcome } from '../contract/errors.ts';
import type { AuditEnd, AuditIntent } from './entries.ts';

/** Writes how it ended. Not awaited by callers: the order in the log is the order of these calls. */
export type AuditClose = (end: AuditEnd) => void;

export type BeginAct = (intent: AuditIntent) => Promise<Outcome<AuditClose>>;

export type RecordAct = <T>(
  intent: AuditIntent,
  run: (add: (facts: Partial<AuditEnd>) => void) => Outcome<T> | Promise<Outcome<T>>,
) => Promise<Outcome<T>>;

/** See `Audit.record`. */
export function createRecord(begin: BeginAct): RecordAct {
  return async (intent, run) => {
    const begun = await begin(intent);
    if (!begun.ok) return begun;
    const end = begun.value;
    let facts: Partial<AuditEnd> = {};
    try {
      const outcome = await run((more) => (facts = { ...facts, ...more }));
      end({ ...endOf(outcome), ...facts });
      return outcome;
    } catch (error) {
      end({ ...facts, ok: false, code: 'call.failed' });
      throw error;
    }
  };
}

function endOf(outcome: Outcome<unknown>): AuditEnd {
  if (outcome.ok) return { ok: true };
  const { code, requestId } = outcome.failure;
  return { ok: false, code, ...(requestId !== undefined && { requestId }) };
}
