import { failed, type Failure, type Outcome } from '../../contract/errors.ts';
import type { DefinitionKind } from '../../contract/models/connection.ts';
import type { ProfileTrial, TrialVerdict } from '../../contract/models/profile-draft.ts';
import {
  isBatchOperation,
  isOperation,
  operationInfo,
  operationNames,
  type Operation,
} from '../../contract/operations.ts';
import { mask, maskAgain, maskCell, maskReason } from '../../masking/masking.ts';
import { repeatsIn, replaceRepeated } from '../../masking/plain-text.ts';
import { memberAt, memberNames } from '../../service/answers.ts';
import type { Exchange } from '../../service/http/exchange.ts';
import type { Transport } from '../../service/http/transport.ts';
import type { OperationName } from '../../service/operations.ts';
import type { ServiceProfile } from '../../service/profile.ts';
import { batchCall, type CallContext, type ServiceClient } from '../../service/service-client.ts';
import { cleartext, noteCleartext, openCleartext } from '../../util/cleartext.ts';

/** What went over the wire last. */
interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: string | null;
  readonly exchange: Exchange;
}

/** What the client of a trial sends and gets. Nothing of it is stored. */
export interface Wire {
  readonly sent: Sent[];
  /** Puts itself before a transport. */
  watch(transport: Transport): Transport;
}

export function createWire(): Wire {
  const sent: Sent[] = [];
  return {
    sent,
    watch: (transport) => ({
      ...transport,
      async send(to, json, options) {
        const exchange = await transport.send(to, json, options);
        sent.push({ ...to, body: json, exchange });
        return exchange;
      },
    }),
  };
}

interface TrialOptions {
  readonly client: Pick<
    ServiceClient,
    'openSession' | 'tokenize' | 'detokenize' | 'getMasked' | 'translate' | 'batch'
  >;
  readonly profile: ServiceProfile;
  readonly wire: Pick<Wire, 'sent'>;
  readonly policy: string;
  readonly definition: string;
  readonly kind: DefinitionKind;
  readonly value: string;
}

type Step = ProfileTrial['steps'][number];
/** What an operation answered; null where it gave no text, as a match may. */
type Given = Outcome<string | null>;

/**
 * Tries all operations with one value: it is tokenized, its token masked, fetched, translated and matched, one at a time
 * and as a batch of one. What went over the wire is answered with secrets obscured and values masked. Each request has its
 * line in the audit log. Never fails: each step says itself what came of it.
 */
export async function tryProfile(options: TrialOptions): Promise<ProfileTrial> {
  const { client, policy, definition, value, wire } = options;
  noteCleartext(cleartext(value));
  const context: CallContext = {};
  const target = { policy, definition };
  const seen: Seen = { value, tokens: new Set(), secrets: new Set(), kind: options.kind };
  const steps: Step[] = [];
  let token: string | null = null;

  async function step(operation: OperationName, ask: () => Promise<Given>): Promise<void> {
    wire.sent.length = 0;
    const outcome = await ask();
    for (const one of wire.sent) noteSecrets(one, options.profile, seen);
    const signIn = options.profile.operations.CreateSession.path;
    // A session may have been opened anew in between.
    const own = wire.sent.filter(({ path }) => (path === signIn) === (operation === 'CreateSession'));
    steps.push(describe(operation, outcome, own.at(-1) ?? null, { ...options, seen }));
    if (
      outcome.ok &&
      outcome.value !== null &&
      isOperation(operation) &&
      operationInfo[operation].gives === 'token'
    ) {
      seen.tokens.add(outcome.value);
      token ??= outcome.value;
    }
  }

  const one = async (operation: Operation, text: string): Promise<Given> => {
    const call = batchCall(operation as Parameters<typeof batchCall>[0], {
      policy,
      definition,
      target,
      pattern: '.',
    });
    const answered = await client.batch(call, [{ ref: 'r1', value: text }], context);
    if (!answered.ok) return answered;
    const [element] = answered.value.elements;
    if (element === undefined) return failed('service.mismatched-answer');
    if (!element.ok) return failed(element.code);
    return { ok: true, value: element.value === null ? null : openCleartext(element.value) };
  };
  const single: Record<string, (text: string) => Promise<Outcome<{ readonly value: unknown }>>> = {
    Tokenize: (text) => client.tokenize(policy, definition, text, context),
    Detokenize: (text) => client.detokenize(policy, definition, text, context),
    GetMasked: (text) => client.getMasked(policy, definition, text, context),
    Translate: (text) => client.translate(policy, definition, { token: text, target }, context),
  };

  await step('CreateSession', async () => {
    const opened = await client.openSession(policy);
    return opened.ok ? { ok: true, value: null } : opened;
  });
  if (steps[0]?.verdict !== 'understood') {
    steps.push(...operationNames.map(notTried));
    return { steps };
  }
  const order: readonly Operation[] = [
    'Tokenize',
    'BatchTokenize',
    ...operationNames.filter((name) => operationInfo[name].takes === 'token'),
  ];
  for (const operation of order) {
    const text: string | null = operationInfo[operation].takes === 'token' ? token : value;
    if (text === null) {
      steps.push(notTried(operation));
      continue;
    }
    await step(operation, async () => {
      if (isBatchOperation(operation)) return one(operation, text);
      const answered = await single[operation]?.(text);
      if (answered === undefined) return failed('call.failed');
      return answered.ok ? { ok: true, value: answered.value.value as string } : answered;
    });
  }
  const named: readonly string[] = ['CreateSession', ...operationNames];
  return { steps: steps.sort((a, b) => named.indexOf(a.operation) - named.indexOf(b.operation)) };
}

const notTried = (operation: OperationName): Step => ({
  operation,
  verdict: 'not-tried',
  request: '',
  status: null,
  answer: '',
  understood: null,
  failure: null,
});

interface Seen {
  readonly value: string;
  readonly tokens: Set<string>;
  /** What opened a session, and all that a sign-in answered: it may come back in any text, number or name. */
  readonly secrets: Set<string>;
  readonly kind: DefinitionKind;
}

/** Members of a request that open a session or carry one. */
const secretMembers = (profile: ServiceProfile, operation: OperationName): string[] =>
  Object.entries(profile.operations[operation].request as Record<string, string>)
    .filter(([parameter]) => /session|apiKey|password/i.test(parameter))
    .map(([, wire]) => wire);

/** A word of the service's own that a sign-in answers with is none. */
const isWord = (text: string): boolean => /^[A-Za-z_-]{1,15}$/.test(text) || /^\d{1,3}$/.test(text);

function noteSecrets({ path, body, exchange }: Sent, profile: ServiceProfile, { secrets }: Seen): void {
  const json = jsonOf(body ?? '');
  for (const operation of ['CreateSession', ...operationNames] as const)
    for (const member of secretMembers(profile, operation)) {
      const text = isMembers(json) ? memberAt(json, member) : undefined;
      if (typeof text === 'string' && text !== '') secrets.add(text);
    }
  if (path !== profile.operations.CreateSession.path || !exchange.ok) return;
  const answered = jsonOf(exchange.reply.body.toString('utf8'));
  for (const text of textsOf(answered)) if (!isWord(text)) secrets.add(text);
  for (const name of profile.operations.CreateSession.answer) {
    const session = isMembers(answered) ? memberAt(answered, name) : undefined;
    if (typeof session === 'string' && session !== '') secrets.add(session);
  }
}

const isMembers = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** All texts and numbers, and the names of members that are none. */
function* textsOf(json: unknown): Generator<string> {
  if (typeof json === 'string' || typeof json === 'number') yield String(json);
  else if (typeof json === 'object' && json !== null)
    for (const [name, one] of Object.entries(json)) {
      if (!Array.isArray(json) && memberNames({ [name]: null })[0] !== name) yield name;
      yield* textsOf(one);
    }
}

function describe(
  operation: OperationName,
  outcome: Given,
  sent: Sent | null,
  { profile, value, seen }: Pick<TrialOptions, 'profile' | 'value'> & { readonly seen: Seen },
): Step {
  const reply = sent?.exchange.ok === true ? sent.exchange.reply : null;
  const gives = operation === 'CreateSession' ? 'session' : operationInfo[operation].gives;
  const read = outcome.ok ? outcome.value : null;
  const isWrong = read !== null && gives === 'cleartext' && read !== value;
  const isRefused = (reply?.status ?? 0) >= 400;
  const secret = secretMembers(profile, operation);
  const requestText = (path: readonly string[], text: string): string =>
    secret.includes(path[0] ?? '') ? dots : shownText(text, seen);
  const answerText = (path: readonly string[], text: string): string => {
    if (gives === 'session' && !isRefused) return dots;
    if (text === 'r1') return text;
    if (isRefused && speaksOfFailure(path)) return shownText(text, seen);
    // The one text that may show signs of its own: whatever else has dots in it may be a value in clear.
    if (gives === 'mask' && text === read) return shownMask(text, seen);
    return shownAnswer(text, seen);
  };
  return {
    operation,
    verdict: outcome.ok
      ? isWrong
        ? 'other-value'
        : 'understood'
      : verdictOf(outcome.failure, reply?.status ?? null),
    request:
      sent === null
        ? ''
        : `${sent.method} ${shownText(sent.path, seen)}\n${shownJson(sent.body ?? '', requestText, seen)}`
            .trim()
            .slice(0, 4_000),
    status: reply?.status ?? null,
    answer:
      reply === null
        ? ''
        : shownJson(reply.body.toString('utf8').slice(0, 20_000), answerText, seen).slice(0, 4_000),
    understood:
      outcome.ok && gives === 'session'
        ? dots
        : read === null
          ? null
          : (gives === 'mask' ? shownMask(read, seen) : shownAnswer(read, seen)).slice(0, 300),
    failure: outcome.ok ? null : shownFailure(outcome.failure, seen),
  };
}

const verdicts: Readonly<Record<number, TrialVerdict>> = {
  401: 'not-signed-in',
  403: 'refused',
  404: 'nowhere',
  405: 'wrong-method',
  415: 'wrong-type',
};

function verdictOf({ code }: Failure, status: number | null): TrialVerdict {
  if (code === 'service.tls') return 'tls';
  if (code === 'service.unreachable' || code === 'service.timeout' || code === 'service.proxy')
    return 'unreachable';
  const known = status === null ? undefined : verdicts[status];
  if (known !== undefined) return known;
  if (
    code === 'service.unexpected-answer' ||
    code === 'service.mismatched-answer' ||
    code === 'service.not-json'
  )
    return 'not-understood';
  if (code === 'service.echoed-value') return 'other-value';
  return status === 400 || status === 422 ? 'invalid' : 'failed';
}

const dots = '••••••••';

/**
 * A text or number of an answer, masked as the kind, whatever signs are in it: its path is the draft's, so it may be a value
 * in clear under another name.
 */
const shownAnswer = (text: string, seen: Seen): string =>
  withoutSecrets(text, seen) === text ? mask(seen.kind, text) : dots;

/** What GetMasked was read to answer, and no more of it than a mask made here shows. */
const shownMask = (text: string, seen: Seen): string =>
  withoutSecrets(text, seen) === text ? maskAgain(text, seen.kind, seen.value).masked : dots;

/** Members in which a failure says what was wrong. */
const speaksOfFailure = (path: readonly string[]): boolean =>
  /^(?:errors?|code|title|type|status|message|msg|detail|reason|description|traceId|validation)$/i.test(
    path[0] ?? '',
  );

/** What was sent, or is said against it: secrets and values are replaced wherever they stand. */
function shownText(text: string, seen: Seen): string {
  const { value, tokens, kind } = seen;
  const bare = (one: string): string => one.replaceAll(/[\s-]/g, '').toLowerCase();
  if (value !== '' && bare(text) === bare(value)) return mask(kind, text);
  let shown = withoutSecrets(text, seen);
  for (const token of tokens) shown = replaceRepeated(shown, token, mask(kind, token));
  return maskCell(maskReason(shown, value, kind));
}

function withoutSecrets(text: string, { secrets }: Seen): string {
  if (secrets.has(text)) return dots;
  let shown = text;
  // Fewer signs are in other texts by chance.
  for (const secret of secrets) if (secret.length > 3) shown = replaceRepeated(shown, secret, dots);
  return shown;
}

/** A member's name, where it is one and repeats nothing that was sent or signed in with. */
function isShownName(name: string, { value, tokens, secrets }: Seen): boolean {
  const repeats = repeatsIn(name);
  return (
    memberNames({ [name]: null })[0] === name &&
    ![...tokens, ...secrets, value].some((one) => one.length > 2 && repeats(one))
  );
}

/** What a service says of a failure may repeat what was sent. */
function shownFailure(failure: Failure, seen: Seen): Failure {
  const shown = (inner: unknown): unknown => {
    if (typeof inner === 'string') return shownText(inner, seen);
    if (Array.isArray(inner)) return inner.map(shown);
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([name, one]) => [name, shown(one)]));
  };
  const { code, ...details } = failure;
  return { ...(shown(details) as Omit<Failure, 'code'>), code };
}

/** JSON over several lines, its texts, numbers and names as they may be shown. What is no JSON is shown by its length alone. */
function shownJson(
  body: string,
  shown: (path: readonly string[], text: string) => string,
  seen: Seen,
): string {
  const json = jsonOf(body);
  if (json === undefined) return body.trim() === '' ? '' : `(${body.length} characters that are no JSON)`;
  const visit = (inner: unknown, path: readonly string[]): unknown => {
    if (typeof inner === 'string') return shown(path, inner);
    // Digits are digits: a value may be a number, whatever its length.
    if (typeof inner === 'number') return shown(path, String(inner));
    if (Array.isArray(inner)) return inner.slice(0, 20).map((one) => visit(one, path));
    if (!isMembers(inner)) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([name, one], at) => [
        isShownName(name, seen) ? name : `${dots} ${at + 1}`,
        visit(one, [...path, name]),
      ]),
    );
  };
  return JSON.stringify(visit(json, []), null, 2);
}
