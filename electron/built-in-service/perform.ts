import { RE2JS } from 're2js';
import { grants, isSame, type Account, type Definition } from './account.ts';
import { bad, detokenizeAll, good, tokenizeAll, type Format, type FormatOutcome } from './engine/format.ts';
import { done, refuse, type Outcome } from './failures.ts';
import type { DoneElement, Element, GrantableOperation, OperationInput, OperationName } from './operations.ts';
import type { Sessions } from './sessions.ts';

export interface Service {
  readonly account: Account;
  readonly sessions: Sessions;
  readonly now: () => number;
}

/** One call of the service. `spend` takes transfers from the day's limit and says whether they were left. */
export interface Call extends Service {
  readonly spend: (transfers: number) => boolean;
}

type Handler<N extends OperationName> = (call: Call, input: OperationInput<N>) => Outcome<object>;

const LONGEST_REGEX = 1000;
/** Linear isn't cheap: an expression of 4,000 states on half a million characters would hold the service for 40 s. */
const MOST_STEPS = 200_000_000;

/** Session first, definition second, grant last: nobody learns of definitions or grants without a session. */
function authorize(
  { account, sessions }: Call,
  operation: GrantableOperation,
  sessionToken: string,
  tokenName: string,
  field: string,
): Outcome<Definition> {
  const session = sessions.find(sessionToken);
  if (!session.ok) return session;
  const definition = account.definitions.get(tokenName);
  if (!definition) return refuse('TokenDefinitionUnknown', field);
  if (!grants(session.value.policy, operation, tokenName)) return refuse('OperationNotGranted');
  return done(definition);
}

function createSession(call: Call, input: OperationInput<'CreateSession'>): Outcome<object> {
  const { account, sessions, now } = call;
  // Every key is compared and the password always: an unknown policy takes as long as a wrong password.
  const key = account.apiKeys.filter((one) => isSame(input.apiKey, one.value))[0];
  const policy = account.policies.get(input.policy);
  const rightPassword = isSame(input.policyPassword, policy?.password ?? '');
  if (!key || !policy || !rightPassword) return refuse('InvalidCredentials');
  if (key.expires <= now()) return refuse('ApiKeyExpired');
  return done({ sessionToken: sessions.open(policy, key.title) });
}

function finish({ RefId }: Element, outcome: FormatOutcome): DoneElement {
  const ref = RefId === undefined ? {} : { RefId };
  return outcome.ok ? { ...ref, Value: outcome.value } : { ...ref, Error: outcome.code };
}

const textsOf = (elements: readonly Element[]): string[] => elements.map(({ Value }) => Value);

function finishAll(elements: readonly Element[], outcomes: readonly FormatOutcome[]): DoneElement[] {
  return outcomes.flatMap((outcome, at) => {
    const element = elements[at];
    return element === undefined ? [] : [finish(element, outcome)];
  });
}

interface OnOne {
  readonly sessionToken: string;
  readonly tokenName: string;
}

function single<I extends OnOne>(
  operation: GrantableOperation,
  field: keyof I & string,
  work: (format: Format, input: I) => FormatOutcome,
  wrap: (value: string) => object,
): (call: Call, input: I) => Outcome<object> {
  return (call, input) => {
    const definition = authorize(call, operation, input.sessionToken, input.tokenName, 'tokenName');
    if (!definition.ok) return definition;
    if (!call.spend(1)) return refuse('TooManyTransfers');
    const outcome = work(definition.value.format, input);
    return outcome.ok ? done(wrap(outcome.value)) : refuse(outcome.code, field);
  };
}

function batch(
  operation: GrantableOperation,
  work: (format: Format, values: readonly string[]) => FormatOutcome[],
): (call: Call, input: OperationInput<'BatchTokenize'>) => Outcome<object> {
  return (call, { sessionToken, tokenName, elements }) => {
    const definition = authorize(call, operation, sessionToken, tokenName, 'tokenName');
    if (!definition.ok) return definition;
    if (!call.spend(elements.length)) return refuse('TooManyTransfers');
    return done({ elements: finishAll(elements, work(definition.value.format, textsOf(elements))) });
  };
}

type Between = Pick<
  OperationInput<'Translate'>,
  'sourceSessionToken' | 'targetSessionToken' | 'sourceTokenName' | 'targetTokenName'
>;

/** Re-tokenizes in one step. The cleartext is a local of this function and appears in no outcome. */
function translator(
  call: Call,
  operation: 'Translate' | 'BatchTranslate',
  input: Between,
): Outcome<(tokens: readonly string[]) => FormatOutcome[]> {
  const source = authorize(
    call,
    operation,
    input.sourceSessionToken,
    input.sourceTokenName,
    'sourceTokenName',
  );
  if (!source.ok) return source;
  const target = authorize(
    call,
    operation,
    input.targetSessionToken,
    input.targetTokenName,
    'targetTokenName',
  );
  if (!target.ok) return target;
  return done((tokens) => {
    const outcomes = detokenizeAll(source.value.format, tokens);
    const clear = outcomes.flatMap((outcome, at) => (outcome.ok ? [{ at, value: outcome.value }] : []));
    const again = tokenizeAll(
      target.value.format,
      clear.map(({ value }) => value),
    );
    for (const [index, outcome] of again.entries()) outcomes[clear[index]?.at ?? -1] = outcome;
    return outcomes;
  });
}

function translate(call: Call, input: OperationInput<'Translate'>): Outcome<object> {
  const work = translator(call, 'Translate', input);
  if (!work.ok) return work;
  if (!call.spend(1)) return refuse('TooManyTransfers');
  const [outcome] = work.value([input.tokenValue]);
  if (outcome === undefined) throw new Error('An outcome for each token');
  return outcome.ok ? done({ token: outcome.value }) : refuse(outcome.code, 'tokenValue');
}

function batchTranslate(call: Call, input: OperationInput<'BatchTranslate'>): Outcome<object> {
  const work = translator(call, 'BatchTranslate', input);
  if (!work.ok) return work;
  if (!call.spend(input.elements.length)) return refuse('TooManyTransfers');
  return done({ elements: finishAll(input.elements, work.value(textsOf(input.elements))) });
}

/** RE2's syntax, in time linear in the text: no lookaround, no backreferences. */
function compile(regex: string): Outcome<RE2JS> {
  if (regex.length > LONGEST_REGEX) return refuse('RegexInvalid', 'regex');
  try {
    return done(RE2JS.compile(regex));
  } catch {
    return refuse('RegexInvalid', 'regex');
  }
}

function patternMatch(call: Call, input: OperationInput<'PatternMatch'>): Outcome<object> {
  const definition = authorize(call, 'PatternMatch', input.sessionToken, input.tokenName, 'tokenName');
  if (!definition.ok) return definition;
  const pattern = compile(input.regex);
  if (!pattern.ok) return pattern;
  const characters = input.elements.reduce((sum, { Value }) => sum + Value.length, 0);
  if (pattern.value.programSize() * characters > MOST_STEPS) return refuse('RegexTooCostly', 'regex');
  if (!call.spend(input.elements.length)) return refuse('TooManyTransfers');
  const clears = detokenizeAll(definition.value.format, textsOf(input.elements));
  // An element that is no token comes back with its Error: left out, it would pass for one that doesn't match.
  const found = input.elements.map((element, at) => ({ element, clear: clears[at] ?? bad('TokenInvalid') }));
  const kept = found.filter(({ clear }) => !clear.ok || pattern.value.matcher(clear.value).find());
  return done({ elements: kept.map(({ element, clear }) => finish(element, clear)) });
}

const HANDLERS: { readonly [N in OperationName]: Handler<N> } = {
  CreateSession: createSession,
  Tokenize: single(
    'Tokenize',
    'value',
    (format, input: OperationInput<'Tokenize'>) => format.tokenize(input.value),
    (token) => ({ token }),
  ),
  Detokenize: single(
    'Detokenize',
    'tokenValue',
    (format, input: OperationInput<'Detokenize'>) => format.detokenize(input.tokenValue),
    (value) => ({ value }),
  ),
  GetMasked: single(
    'GetMasked',
    'tokenValue',
    (format, input: OperationInput<'GetMasked'>) => {
      const clear = format.detokenize(input.tokenValue);
      return clear.ok ? good(format.mask(clear.value)) : clear;
    },
    (maskedValue) => ({ maskedValue }),
  ),
  Translate: translate,
  BatchTokenize: batch('BatchTokenize', tokenizeAll),
  BatchDetokenize: batch('BatchDetokenize', detokenizeAll),
  BatchTranslate: batchTranslate,
  PatternMatch: patternMatch,
};

/** Runs one operation on a body that fits its schema (spec §4). Knows nothing of HTTP, the second's limit or records. */
export function perform<N extends OperationName>(
  call: Call,
  operation: N,
  input: OperationInput<N>,
): Outcome<object> {
  return HANDLERS[operation](call, input);
}
