import { batchCall } from '../../electron/service/service-client.ts';
import { readProfile } from '../../electron/service/profile.ts';
import { createClientSide } from '../faults/client-side.ts';

type Random = () => number;
type Members = Record<string, unknown>;

/** The same numbers for the same seed. */
function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pick = <T>(random: Random, all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
const isMembers = (json: unknown): json is Members =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** Names that no profile here has for a token, a mask or a value. */
const foreign = ['tkn', 'row', 'state', 'input', 'cleartextOf', 'Outcome', 'constructor', '__proto__', 'a.b'];
const words: readonly unknown[] = [
  'OK',
  'success',
  'decoy',
  '',
  0,
  1,
  7.5,
  true,
  false,
  null,
  [],
  {},
  ['decoy'],
  [[]],
];

/** The objects of an answer, at any depth. */
function objectsIn(json: unknown): Members[] {
  if (Array.isArray(json)) return json.flatMap(objectsIn);
  return isMembers(json) ? [json, ...Object.values(json).flatMap(objectsIn)] : [];
}

function put(object: Members, name: string, value: unknown): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

/** One change of an answer. None puts what is wrong where the profile says that a token or value is. */
function change(json: unknown, random: Random, sent: readonly string[]): unknown {
  const objects = objectsIn(json);
  const object = objects.length === 0 ? {} : pick(random, objects);
  const name = Object.keys(object).length === 0 ? '' : pick(random, Object.keys(object));
  const decoy = random() < 0.3 ? pick(random, sent) : structuredClone(pick(random, words));
  switch (Math.floor(random() * 9)) {
    case 0:
      return { [pick(random, ['data', 'result', 'elements', ...foreign])]: json };
    case 1:
      put(object, pick(random, foreign), decoy);
      return json;
    case 2:
      put(object, pick(random, foreign), structuredClone(object[name]));
      Reflect.deleteProperty(object, name);
      return json;
    case 3:
      Reflect.deleteProperty(object, name);
      return json;
    case 4:
      if (name !== '')
        put(object, name, pick(random, [null, 7, true, {}, [], [object[name]], { inner: 'decoy' }]));
      return json;
    case 5:
      // A word on the answer, under a name that a wrapper may have.
      put(object, pick(random, ['result', 'data']), decoy);
      put(object, 'note', 'kept');
      put(object, 'kept', 'kept');
      put(object, 'more', 'kept');
      return json;
    case 6:
      put(object, pick(random, ['Error', 'errors']), decoy);
      return json;
    case 7:
      for (const { elements } of objects as { elements?: unknown }[])
        if (Array.isArray(elements)) elements.push(pick(random, [decoy, { RefId: 'r7' }, elements[0], null]));
      return json;
    default:
      for (const { elements } of objects as { elements?: unknown }[])
        if (Array.isArray(elements)) elements.reverse();
      return json;
  }
}

const profiles = [
  {},
  { bareStrings: false, bareLists: false },
  { element: { none: [0, 'OK', [], {}] } },
  { batchAnswers: 'by-reference' },
  {
    operations: {
      Tokenize: { answer: ['token', 'Outcome.token'] },
      BatchTokenize: { answer: ['Value', 'Outcome.Value2'] },
    },
  },
];

/**
 * Answers of a service, changed at random, to the operations. What comes of one is what this service put there for that
 * element, or nothing. Answers what came otherwise, and how many answers had a value at all.
 */
export async function fuzzAnswers({ count, seed }: { count: number; seed: number }) {
  const random = randomFrom(seed);
  const misread: string[] = [];
  let read = 0;
  const sent = ['4111111111111111', '5555-5555', 'third'];
  let changes = 1;
  let answerText = '';
  const clients = profiles.map((changed) => {
    const profile = readProfile(JSON.stringify({ version: 1, ...changed }));
    if (!profile.ok) throw new Error(profile.failure.subject);
    const byReference = profile.value.batchAnswers === 'by-reference';
    const { client } = createClientSide({
      profile: profile.value,
      connection: { requestsPerSecond: 100_000 },
      transport: {
        reset: () => Promise.resolve(),
        close: () => Promise.resolve(),
        send(to, body) {
          const operation = to.path.split('/').at(-1) ?? '';
          const json = JSON.parse(body ?? '{}') as { elements?: { RefId: string }[] };
          let answer = rightAnswer(operation, json.elements, byReference);
          if (operation !== 'createsession')
            for (let n = 0; n < changes; n++) answer = change(answer, random, sent);
          answerText = JSON.stringify(answer);
          return Promise.resolve({
            ok: true,
            reply: { status: 200, headers: {}, body: Buffer.from(answerText) },
          });
        },
      },
    });
    return client;
  });
  const note = (came: unknown, right: string): void => {
    read++;
    if (came !== right) misread.push(`${right}: ${String(came)} of ${answerText}`);
  };
  for (let n = 0; n < count; n++) {
    const client = pick(random, clients);
    changes = 1 + Math.floor(random() * 4);
    const [value = ''] = sent;
    const where = ['p', 'd'] as const;
    switch (Math.floor(random() * 5)) {
      case 0: {
        const answer = await client.tokenize(...where, value, {});
        if (answer.ok) note(answer.value.value, 'right-tokenize');
        break;
      }
      case 1: {
        const answer = await client.getMasked(...where, value, {});
        if (answer.ok) note(answer.value.value, 'right-getmasked');
        break;
      }
      case 2: {
        const answer = await client.detokenize(...where, value, {});
        if (answer.ok) note(answer.value.value, 'right-detokenize');
        break;
      }
      default: {
        const operation = pick(random, ['BatchTokenize', 'BatchDetokenize', 'PatternMatch'] as const);
        const call = batchCall(operation, { policy: 'p', definition: 'd', target: null, pattern: 'x' });
        const elements = sent.map((text, index) => ({ ref: `r${index}`, value: text }));
        const answer = await client.batch(call, elements, {});
        for (const one of answer.ok ? answer.value.elements : [])
          if (one.ok && one.value !== null) note(one.value, `right-${one.ref}`);
      }
    }
  }
  await Promise.all(clients.map((client) => client.close()));
  return { count, seed, read, misread };
}

function rightAnswer(
  operation: string,
  elements: { RefId: string }[] | undefined,
  byReference: boolean,
): unknown {
  if (elements === undefined) {
    const names: Readonly<Record<string, string>> = {
      createsession: 'sessionToken',
      getmasked: 'maskedValue',
      detokenize: 'value',
    };
    return { [names[operation] ?? 'token']: `right-${operation}` };
  }
  const told = elements.map(({ RefId }) => ({ RefId, Value: `right-${RefId}` }));
  return { elements: byReference ? Object.fromEntries(told.map((one) => [one.RefId, one])) : told };
}
