import type { Audit } from '../audit/audit.ts';
import { done, failed, type Failure, type Outcome } from '../contract/errors.ts';
import type { PortalAnswer } from './portal-http.ts';
import type { ReportedConnection } from './report-parts.ts';

export interface PortalQuestion {
  /** As the audit log and the person are told. */
  readonly operation: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** Null where the question is how one is got. */
  readonly token: string | null;
  readonly note?: string;
}

/**
 * One question to the portal, in the audit log before it leaves. Of a failure only status, request ID and the names of
 * invalid fields come back (spec §7). Failures: audit.unwritable, service.*, portal.expired (401), portal.refused (403).
 */
export async function askPortal(
  { connection, http }: ReportedConnection,
  audit: Pick<Audit, 'begin'>,
  { operation, path, body, token, note }: PortalQuestion,
): Promise<Outcome<{ json: unknown; requestId: string }>> {
  const begun = await audit.begin({
    action: operation,
    connection: connection.name,
    environment: connection.environment,
    ...(note !== undefined && { note }),
  });
  if (!begun.ok) return begun;
  const sent = await http.send({
    method: 'POST',
    path,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(token !== null && { authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify(body),
  });
  const outcome = sent.ok ? read(sent.value, operation) : sent;
  if (outcome.ok) {
    begun.value({ ok: true, requestId: outcome.value.requestId });
    return outcome;
  }
  const failure = { ...outcome.failure, operation };
  const { code, requestId } = failure;
  begun.value({ ok: false, code, ...(requestId !== undefined && { requestId }) });
  return { ok: false, failure };
}

function read(
  { status, requestId, json }: PortalAnswer,
  operation: string,
): Outcome<{ json: unknown; requestId: string }> {
  if (status >= 200 && status < 300) {
    return json === undefined ? failed('service.not-json', about()) : done({ json, requestId });
  }
  switch (status) {
    case 400:
      return failed('service.invalid-input', { ...about(), fields: invalidFields(json) });
    case 401:
      return failed('portal.expired', about());
    case 403:
      return failed('portal.refused', about());
    case 404:
      return failed('service.not-found', about());
    case 429:
      return failed('service.busy', about());
    default:
      return failed(status >= 500 ? 'service.failing' : 'service.unexpected-answer', about());
  }

  function about(): Omit<Failure, 'code'> {
    return { status, operation, ...(requestId !== '' && { requestId }) };
  }
}

/** `<field name> is invalid` (spec §7). The name alone: a message could repeat what was sent. */
function invalidFields(json: unknown): { name: string; message: string }[] {
  const errors = (json as { errors?: { Validation?: unknown } } | null | undefined)?.errors;
  const messages = typeof errors === 'object' && Array.isArray(errors.Validation) ? errors.Validation : [];
  return messages
    .map((message) =>
      typeof message === 'string' ? /^([\w .-]{1,60}) is invalid/.exec(message)?.[1] : undefined,
    )
    .filter((name) => name !== undefined)
    .slice(0, 20)
    .map((name) => ({ name, message: `${name} is invalid` }));
}
