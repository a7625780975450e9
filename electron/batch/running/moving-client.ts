import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { BatchOptions } from '../options.ts';
import type {
  BatchAnswer,
  BatchCall,
  CallContext,
  Element,
  ElementAnswer,
  ServiceClient,
  Target,
} from '../../service/service-client.ts';
import { isBlank } from '../../util/blank.ts';
import { openCleartext } from '../../util/cleartext.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { targetsOf } from '../planning/plan.ts';

/** What a batch needs of the client, or of several. */
export type BatchClient = Pick<
  ServiceClient,
  'announce' | 'batch' | 'batchSize' | 'rules' | 'status' | 'onStatus'
>;

/** The one way to a client for the work of a batch: of its connection, and of those that it moves values to. */
export async function clientFor(
  clients: BatchOptions['clients'],
  connectionId: string,
  work: readonly Pick<ColumnWork, 'values'>[],
): Promise<Outcome<BatchClient>> {
  const from = await clients.for(connectionId);
  const targets = targetsOf(work);
  if (!from.ok || targets.length === 0) return from;
  const others = new Map<string, ServiceClient>();
  for (const id of targets) {
    const other = await clients.for(id);
    if (!other.ok) return other;
    others.set(id, other.value);
  }
  return done(movingClient(from.value, others));
}

/**
 * Moves values to other connections: a request is detokenized at the first, and what came of it is tokenized at the other.
 * Cleartext is in the memory of one request, between the two; it is in no result and no failure. Each client asks its own
 * audit lines, sessions and limits for its part. What is not a move goes to the first as it is.
 */
function movingClient(from: ServiceClient, others: ReadonlyMap<string, ServiceClient>): BatchClient {
  const all = [from, ...others.values()];

  async function move(
    { policy, definition, target }: MoveCall,
    elements: readonly Element[],
    context: CallContext,
  ): Promise<Outcome<BatchAnswer>> {
    const to = others.get(target.connection ?? '');
    if (to === undefined) return failed('connection.unknown');
    const read = await from.batch({ operation: 'BatchDetokenize', policy, definition }, elements, context);
    if (!read.ok) return read;
    const { valueLength } = to.rules;
    const answers = new Map<string, ElementAnswer>();
    const values: Element[] = [];
    for (const answer of read.value.elements) {
      const { ref } = answer;
      if (!answer.ok) answers.set(ref, answer);
      else if (answer.value === null || isBlank(openCleartext(answer.value)))
        answers.set(ref, { ref, ok: false, code: 'service.blank-value' });
      else if (openCleartext(answer.value).length > valueLength)
        answers.set(ref, { ref, ok: false, code: 'service.value-too-long' });
      else values.push({ ref, value: openCleartext(answer.value) });
    }
    if (values.length === 0) return done({ ...read.value, elements: [...answers.values()] });
    const { act: _, ...rest } = context;
    const own = { policy: target.policy, definition: target.definition };
    const written = await to.batch({ operation: 'BatchTokenize', ...own }, values, {
      ...rest,
      rows: values.length,
    });
    if (!written.ok) return written;
    for (const answer of written.value.elements) answers.set(answer.ref, withoutReason(answer));
    return done({ requestId: written.value.requestId, elements: [...answers.values()] });
  }

  return {
    announce: (call, elements, context) =>
      from.announce(isMoveCall(call) ? readCall(call) : call, elements, context),
    batch: (call, elements, context) =>
      isMoveCall(call) ? move(call, elements, context) : from.batch(call, elements, context),
    get batchSize() {
      return Math.min(...all.map(({ batchSize }) => batchSize));
    },
    rules: from.rules,
    /** Whichever waits. */
    status(policy) {
      const own = from.status(policy);
      const waiting = [...others.values()]
        .map((other) => other.status(policy))
        .find(({ pauseReason }) => pauseReason !== null);
      return own.pauseReason === null && waiting !== undefined ? waiting : own;
    },
    onStatus(listener) {
      const stops = all.map((client) => client.onStatus(listener));
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

/**
 * What the other service says of a value that it refuses may have the value in any form: base64, a part, a digit at a time.
 * Its code says enough.
 */
function withoutReason(answer: ElementAnswer): ElementAnswer {
  if (answer.ok) return answer;
  const { reason: _, ...rest } = answer;
  return rest;
}

type MoveCall = Extract<BatchCall, { target: Target }>;

const isMoveCall = (call: BatchCall): call is MoveCall =>
  'target' in call && call.target.connection !== undefined;

const readCall = ({ policy, definition }: MoveCall): BatchCall => ({
  operation: 'BatchDetokenize',
  policy,
  definition,
});
