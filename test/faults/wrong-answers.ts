import { done, failed, type FailureCode, type Outcome } from '../../electron/contract/errors.ts';
import { callBatch } from '../../electron/service/call-batch.ts';
import { readExchange, type ServiceAnswer } from '../../electron/service/http/failures.ts';
import type { BatchAnswer, BatchCall, Element } from '../../electron/service/service-client.ts';
import { shippedProfile } from './client-side.ts';

type Answered = Record<string, unknown>;

/** One way in which a service can answer a request wrongly. */
export interface WrongAnswer {
  readonly fault: string;
  /** What becomes of the cells concerned: the code they fail with, or why they can't be told from right ones. */
  readonly expected: FailureCode | 'a right service could have answered so';
  /** The list that comes in place of the right one. `at`: the element that is wrong. */
  readonly answer: (right: readonly Answered[], at: number, sent: readonly Element[]) => unknown;
}

const maxLength = shippedProfile().limits.valueLength;

const one =
  (change: (answered: Answered, sent: string) => unknown): WrongAnswer['answer'] =>
  (right, at, sent) =>
    right.map((answered, index) => (index === at ? change(answered, sent[at]?.value ?? '') : answered));
const value = (text: (sent: string, right: string) => unknown): WrongAnswer['answer'] =>
  one((answered, sent) => ({ ...answered, Value: text(sent, String(answered.Value)) }));

/** What a fault of the whole request costs: it is halved until the element is alone. */
export const wrongAnswers: readonly WrongAnswer[] = [
  { fault: 'an empty text', expected: 'service.empty-value', answer: value(() => '') },
  { fault: 'white space alone', expected: 'service.blank-value', answer: value(() => ' \t') },
  { fault: 'a NUL', expected: 'service.nul-value', answer: value((_, right) => `${right}\0`) },
  {
    fault: 'a longer text than a value may be',
    expected: 'service.long-value',
    answer: value(() => 'x'.repeat(maxLength + 1)),
  },
  {
    fault: 'half a character',
    expected: 'service.broken-value',
    answer: value((_, right) => `${right}\ud800`),
  },
  { fault: 'what was sent', expected: 'service.echoed-value', answer: value((sent) => sent) },
  {
    fault: 'what was sent, in upper case',
    expected: 'service.echoed-value',
    answer: value((sent) => sent.toUpperCase()),
  },
  {
    fault: 'what was sent, with hyphens',
    expected: 'service.echoed-value',
    answer: value((sent) => `${sent.slice(0, 2)}-${sent.slice(2)}`),
  },
  { fault: 'a number', expected: 'service.mismatched-answer', answer: value(() => 4111111111111111) },
  { fault: 'nothing as the value', expected: 'service.mismatched-answer', answer: value(() => null) },
  {
    fault: 'a value and an error',
    expected: 'service.element-refused',
    answer: one((answered) => ({ ...answered, Error: 'Unknown' })),
  },
  {
    fault: 'an element that is missing, also when it is asked for again',
    expected: 'service.mismatched-answer',
    answer: (right, at) => right.filter((_, index) => index !== at),
  },
  {
    fault: 'an element twice',
    expected: 'service.mismatched-answer',
    answer: (right, at) => [...right, right[at]],
  },
  {
    fault: 'an element that was not asked for',
    expected: 'service.mismatched-answer',
    answer: (right) => [...right, { RefId: 'foreign', Value: 'tok:foreign' }],
  },
  {
    fault: 'an element without its RefId',
    expected: 'service.mismatched-answer',
    answer: one(({ Value }) => ({ Value })),
  },
  {
    fault: 'a text in place of an element',
    expected: 'service.mismatched-answer',
    answer: one(({ Value }) => Value),
  },
  { fault: 'no list', expected: 'service.unexpected-answer', answer: () => 'ok' },
  {
    fault: 'one answer for all values',
    expected: 'service.same-answer',
    answer: (right) => right.map((answered) => ({ ...answered, Value: '9999999999999999' })),
  },
  {
    fault: 'the answer of another value as well',
    expected: 'service.same-answer',
    answer: (right, at) =>
      right.map((answered, index) => (index === at ? { ...answered, Value: right[0]?.Value } : answered)),
  },
  {
    fault: 'the answers of two values exchanged',
    expected: 'a right service could have answered so',
    answer: (right, at) =>
      right.map((answered, index) => {
        const other = index === at ? right[0] : index === 0 ? right[at] : answered;
        return { ...answered, Value: other?.Value };
      }),
  },
  {
    fault: 'a token that it never gave',
    expected: 'a right service could have answered so',
    answer: value((sent) => `tok:wrong:${sent}`),
  },
];

/** Reads a list of the service's as the client does. */
export function readAnswer(
  call: BatchCall,
  elements: readonly Element[],
  answer: (elements: readonly Element[]) => unknown,
): Promise<Outcome<BatchAnswer>> {
  const { operation } = call;
  if (operation === 'GetMasked') return Promise.resolve(failed('call.failed'));
  return callBatch(
    {
      profile: shippedProfile(),
      operation,
      refusesEcho: true,
      size: () => elements.length,
      shrink: () => undefined,
      onUnreadable: () => undefined,
      send: (part) => Promise.resolve(done({ answer: asAnswer({ elements: answer(part) }), sessions: [] })),
    },
    elements,
  );
}

/** As the app reads it from the bytes of a reply. */
function asAnswer(json: unknown): ServiceAnswer {
  const body = Buffer.from(JSON.stringify(json));
  const about = { operation: 'Tokenize', policy: null, definition: null, submitted: () => [] };
  const read = readExchange({ ok: true, reply: { status: 200, headers: {}, body } }, about, shippedProfile());
  if (read.kind !== 'answer') throw new Error(`an answer that is none: ${read.kind}`);
  return read;
}

/** Of elements, with a token that tells whose it is. */
export const rightAnswers = (elements: readonly Element[], tokenOf: (value: string) => string): Answered[] =>
  elements.map(({ ref, value: sent }) => ({ RefId: ref, Value: tokenOf(sent) }));
