import { isBatchOperation, isOperation } from '../contract/operations.ts';
import { findUnusable, holdsSent, isEcho, memberNames } from '../service/answers.ts';
import { callBatch } from '../service/call-batch.ts';
import type { Exchange } from '../service/http/exchange.ts';
import { readExchange } from '../service/http/failures.ts';
import { givesToken, refusesEcho, type OperationName } from '../service/operations.ts';
import type { ServiceProfile } from '../service/profile.ts';
import { readSingle } from '../service/read-answers.ts';
import type { ElementAnswer } from '../service/service-client.ts';
import { done } from '../contract/errors.ts';
import { openCleartext } from '../util/cleartext.ts';

/** What the app makes of an answer. */
export type Reading =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'elements'; readonly elements: readonly ElementAnswer[] }
  /** A refusal of the service's, as the specification has them. */
  | { readonly kind: 'failure'; readonly reason: string }
  /** No refusal of the service's, and yet nothing that the app takes. */
  | { readonly kind: 'refused'; readonly reason: string };

interface Asked {
  readonly operation: OperationName;
  /** Under the names of the specification. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Reads an answer with what the app itself reads by: see `createServiceClient`. */
export async function readAsApp(profile: ServiceProfile, asked: Asked, exchange: Exchange): Promise<Reading> {
  const { operation, body } = asked;
  const text = (name: string): string => (typeof body[name] === 'string' ? body[name] : '');
  const definition = text('tokenName') || text('sourceTokenName') || null;
  const details = { operation, policy: text('policy') || null, definition };
  const result = readExchange(exchange, { ...details, submitted: () => [] }, profile);
  if (result.kind !== 'answer') {
    const { code } = result.failure;
    const isRefusal = ['denied', 'busy'].includes(result.kind) || code === 'service.invalid-input';
    return { kind: isRefusal ? 'failure' : 'refused', reason: code };
  }
  const { json } = result;
  const target = text('targetTokenName') === '' ? null : { definition: text('targetTokenName') };
  const refuses = refusesEcho(operation, definition ?? '', target);
  if (!isOperation(operation) || !isBatchOperation(operation)) {
    const read = readSingle(profile, operation, json);
    if (!read.ok) return { kind: 'refused', reason: withMembers(read.failure.code, json) };
    if (!isOperation(operation))
      return read.value === ''
        ? { kind: 'refused', reason: 'an empty session' }
        : { kind: 'text', text: read.value };
    const { emptyValues, limits } = profile;
    const unusable = findUnusable(read.value, { emptyValues, maxLength: limits.valueLength });
    if (unusable !== null && unusable !== 'service.nul-value') return { kind: 'refused', reason: unusable };
    const sent = text('value') || text('tokenValue');
    const isEchoed =
      (refuses && isEcho(sent, read.value)) || (givesToken(operation) && holdsSent(sent, read.value));
    if (isEchoed) return { kind: 'refused', reason: 'service.echoed-value' };
    return { kind: 'text', text: read.value };
  }
  const elements = elementsIn(body['elements']);
  // What the app never sends.
  if (elements === null) return { kind: 'failure', reason: 'elements without a RefId' };
  const answered = await callBatch(
    {
      profile,
      operation,
      refusesEcho: refuses,
      send: () => Promise.resolve(done({ answer: result, sessions: [] })),
      size: () => Math.max(1, elements.length),
      shrink: () => undefined,
      onUnreadable: () => undefined,
    },
    elements,
  );
  return answered.ok
    ? { kind: 'elements', elements: answered.value.elements }
    : { kind: 'refused', reason: withMembers(answered.failure.code, json) };
}

const withMembers = (code: string, json: unknown): string => `${code} (${memberNames(json).join(', ')})`;

function elementsIn(json: unknown): { ref: string; value: string }[] | null {
  const elements = (Array.isArray(json) ? (json as unknown[]) : []).map((one) => {
    const { RefId, Value } = one as { RefId?: unknown; Value?: unknown };
    return typeof RefId === 'string' && typeof Value === 'string' ? { ref: RefId, value: Value } : null;
  });
  const whole = elements.filter((one) => one !== null);
  const isWhole =
    whole.length === elements.length && new Set(whole.map(({ ref }) => ref)).size === whole.length;
  return isWhole ? whole : null;
}

/** Why the app leaves out elements of a batch; null where it takes all, or where the service refused them. */
export function leftOut(elements: readonly ElementAnswer[]): string | null {
  const wrong = elements.find((one) => !one.ok && !refusals.has(one.code));
  return wrong === undefined || wrong.ok ? null : wrong.code;
}

const refusals: ReadonlySet<string> = new Set([
  'service.element-refused',
  'service.value-invalid',
  'service.value-too-long',
  'service.token-invalid',
]);

export const valueOf = (answer: ElementAnswer): string | null =>
  answer.ok && answer.value !== null ? openCleartext(answer.value) : null;
