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
import { mask, maskCell } from '../../masking/masking.ts';
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
  const seen: Seen = { value, tokens: new Set(), kind: options.kind };
  const steps: Step[] = [];
  let token: string | null = null;

  async function step(operation: OperationName, ask: () => Promise<Given>): Promise<void> {
    wire.sent.length = 0;
    const outcome = await ask();
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
  readonly kind: DefinitionKind;
}

function describe(
  operation: OperationName,
  outcome: Given,
  sent: Sent | null,
  { profile, value, seen }: Pick<TrialOptions, 'profile' | 'value'> & { readonly seen: Seen },
): Step {
  const reply = sent?.exchange.ok === true ? sent.exchange.reply : null;
  const gives = operation === 'CreateSession' ? 'session' : operationInfo[operation].gives;
  const isWrong = outcome.ok && outcome.value !== null && gives === 'cleartext' && outcome.value !== value;
  const body =
    sent === null || sent.body === null ? '' : shownJson(sent.body, requestMask(profile, operation, seen));
  const isRefused = (reply?.status ?? 0) >= 400;
  const answerMask = (text: string): string =>
    gives === 'session' ? dots : isRefused || text === 'r1' ? shownText(text, seen) : shownAnswer(text, seen);
  return {
    operation,
    verdict: outcome.ok
      ? isWrong
        ? 'other-value'
        : 'understood'
      : verdictOf(outcome.failure, reply?.status ?? null),
    request: sent === null ? '' : `${sent.method} ${maskCell(sent.path)}\n${body}`.trim().slice(0, 4_000),
    status: reply?.status ?? null,
    answer:
      reply === null
        ? ''
        : shownJson(reply.body.toString('utf8').slice(0, 20_000), (_, text) => answerMask(text)).slice(
            0,
            4_000,
          ),
    understood:
      outcome.ok && gives === 'session'
        ? dots
        : outcome.ok && outcome.value !== null
          ? shownAnswer(outcome.value, seen).slice(0, 300)
          : null,
    failure: outcome.ok ? null : outcome.failure,
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
 * Whatever operation it came of: its path is the draft's, so it may be a value in clear under another name. A mask of the
 * service's is told by its dots.
 */
const shownAnswer = (text: string, seen: Seen): string =>
  /[*•#]/.test(text) ? shownText(text, seen) : mask(seen.kind, text);

function shownText(text: string, { value, kind }: Seen): string {
  const bare = (one: string): string => one.replaceAll(/[\s-]/g, '').toLowerCase();
  if (value !== '' && bare(text) === bare(value)) return mask(kind, text);
  return maskCell(value.length > 3 ? text.replaceAll(value, mask(kind, value)) : text);
}

/** In a request: what opens a session is obscured by the member it stands in. */
function requestMask(profile: ServiceProfile, operation: OperationName, seen: Seen) {
  const names: Record<string, string> = profile.operations[operation].request;
  const secret = Object.entries(names)
    .filter(([parameter]) => /session|apiKey|password/i.test(parameter))
    .map(([, wire]) => wire);
  return (path: readonly string[], text: string): string =>
    secret.includes(path[0] ?? '') ? dots : shownText(text, seen);
}

/** JSON over several lines, its texts as they may be shown. What is no JSON is shown by its length alone. */
function shownJson(body: string, shown: (path: readonly string[], text: string) => string): string {
  let json: unknown;
  try {
    json = JSON.parse(body);
  } catch {
    return body.trim() === '' ? '' : `(${body.length} characters that are no JSON)`;
  }
  const visit = (inner: unknown, path: readonly string[]): unknown => {
    if (typeof inner === 'string') return shown(path, inner);
    // As long as a card number: digits are digits.
    if (typeof inner === 'number') return Math.abs(inner) >= 1e8 ? shown(path, String(inner)) : inner;
    if (Array.isArray(inner)) return inner.slice(0, 20).map((one) => visit(one, path));
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(
      Object.entries(inner).map(([name, one]) => [
        maskCell(/\d{4}/.test(name) ? dots : name),
        visit(one, [...path, name]),
      ]),
    );
  };
  return JSON.stringify(visit(json, []), null, 2);
}
