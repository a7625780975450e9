import { RE2JS } from 're2js';
import { isGranted, isSame, type Account, type Definition } from './account.ts';
import { bad, detokenizeAll, good, tokenizeAll, type Format, type FormatOutcome } from './engine/format.ts';
import { done, refuse, type Outcome } from './failures.ts';
import type {
  BatchElement,
  BatchResult,
  GrantableOperation,
  OperationInput,
  OperationName,
} from './operations.ts';
import type { Sessions } from './sessions.ts';

/** What a call needs of the service. */
export interface Call {
  readonly account: Account;
  readonly sessions: Sessions;
  readonly now: () => number;
  /** Takes transfers from the limits of the day and says whether they were left. */
  readonly takeTransfers: (transfers: number) => boolean;
}

type Handler<N extends OperationName> = (call: Call, input: OperationInput<N>) => Outcome<object>;

/** Runs one operation on a body that fits its schema (spec §4). Knows neither HTTP nor the limit of requests. */
export function perform<N extends OperationName>(
  call: Call,
  operation: N,
  input: OperationInput<N>,
): Outcome<object> {
  return handlers[operation](call, input);
}

const handlers: { readonly [N in OperationName]: Handler<N> } = {
  CreateSession: createSession,
  Tokenize: (call, input) =>
    performSingle(call, input, {
      operation: 'Tokenize',
      member: 'value',
      convert: (format) => format.tokenize(input.value),
      toBody: (token) => ({ token }),
    }),
  Detokenize: (call, input) =>
    performSingle(call, input, {
      operation: 'Detokenize',
      member: 'tokenValue',
      convert: (format) => format.detokenize(input.tokenValue),
      toBody: (value) => ({ value }),
    }),
  GetMasked: (call, input) =>
    performSingle(call, input, {
      operation: 'GetMasked',
      member: 'tokenValue',
      convert(format) {
        const clear = format.detokenize(input.tokenValue);
        return clear.ok ? good(format.mask(clear.value)) : clear;
      },
      toBody: (maskedValue) => ({ maskedValue }),
    }),
  Translate: translate,
  BatchTokenize: (call, input) => performBatch(call, input, 'BatchTokenize', tokenizeAll),
  BatchDetokenize: (call, input) => performBatch(call, input, 'BatchDetokenize', detokenizeAll),
  BatchTranslate: batchTranslate,
  PatternMatch: patternMatch,
};

function createSession(call: Call, input: OperationInput<'CreateSession'>): Outcome<object> {
  const { account, sessions, now } = call;
  // Every key and always a password are compared: an unknown policy takes as long as a wrong password.
  const key = account.apiKeys.filter((one) => isSame(input.apiKey, one.value))[0];
  const policy = account.policies.get(input.policy);
  const passwordMatches = isSame(input.policyPassword, policy?.password ?? '');
  if (!key || !policy || !passwordMatches) return refuse('InvalidCredentials');
  if (key.revoked) return refuse('ApiKeyRevoked');
  if (key.expires <= now()) return refuse('ApiKeyExpired');
  if (policy.revoked) return refuse('PolicyRevoked');
  key.lastUsed = now();
  return done({ sessionToken: sessions.open(policy.name, key.title) });
}

interface Target {
  readonly sessionToken: string;
  readonly tokenName: string;
}

/**
 * The definition that a session may use for an operation. Session first, definition second, grant last: without
 * a session nobody learns which definitions there are, and without a grant nobody which of them are disabled. `member` names the definition in the body.
 */
function authorize(
  { account, sessions }: Call,
  operation: GrantableOperation,
  { sessionToken, tokenName }: Target,
  member = 'tokenName',
): Outcome<Definition> {
  const session = sessions.find(sessionToken);
  if (!session.ok) return session;
  const definition = account.definitions.get(tokenName);
  if (!definition) return refuse('TokenDefinitionUnknown', member);
  const policy = account.policies.get(session.value.policy);
  if (!policy || !isGranted(policy, operation, tokenName)) return refuse('OperationNotGranted');
  if (!definition.enabled) return refuse('TokenDefinitionDisabled');
  return done(definition);
}

interface SingleOptions {
  readonly operation: GrantableOperation;
  /** The member that holds the value. */
  readonly member: string;
  readonly convert: (format: Format) => FormatOutcome;
  readonly toBody: (value: string) => object;
}

function performSingle(
  call: Call,
  target: Target,
  { operation, member, convert, toBody }: SingleOptions,
): Outcome<object> {
  const definition = authorize(call, operation, target);
  if (!definition.ok) return definition;
  if (!call.takeTransfers(1)) return refuse('TooManyTransfers');
  const outcome = convert(definition.value.format);
  return outcome.ok ? done(toBody(outcome.value)) : refuse(outcome.code, member);
}

function performBatch(
  call: Call,
  input: OperationInput<'BatchTokenize'>,
  operation: GrantableOperation,
  convertAll: (format: Format, values: readonly string[]) => FormatOutcome[],
): Outcome<object> {
  const definition = authorize(call, operation, input);
  if (!definition.ok) return definition;
  if (!call.takeTransfers(input.elements.length)) return refuse('TooManyTransfers');
  return done({ elements: toResults(input.elements, convertAll(definition.value.format, valuesOf(input))) });
}

const valuesOf = ({ elements }: { readonly elements: readonly BatchElement[] }): string[] =>
  elements.map(({ Value }) => Value);

const toResults = (elements: readonly BatchElement[], outcomes: readonly FormatOutcome[]): BatchResult[] =>
  elements.map((element, index) => toResult(element, outcomes[index] ?? bad('TokenInvalid')));

function toResult({ RefId }: BatchElement, outcome: FormatOutcome): BatchResult {
  const ref = RefId === undefined ? {} : { RefId };
  return outcome.ok ? { ...ref, Value: outcome.value } : { ...ref, Error: outcome.code };
}

type TranslateTargets = Pick<
  OperationInput<'Translate'>,
  'sourceSessionToken' | 'targetSessionToken' | 'sourceTokenName' | 'targetTokenName'
>;

/** Re-tokenizes in one step. The cleartext is a local of the function returned and appears in no outcome. */
function createTranslator(
  call: Call,
  operation: 'Translate' | 'BatchTranslate',
  input: TranslateTargets,
): Outcome<(tokens: readonly string[]) => FormatOutcome[]> {
  const from = { sessionToken: input.sourceSessionToken, tokenName: input.sourceTokenName };
  const source = authorize(call, operation, from, 'sourceTokenName');
  if (!source.ok) return source;
  const to = { sessionToken: input.targetSessionToken, tokenName: input.targetTokenName };
  const target = authorize(call, operation, to, 'targetTokenName');
  if (!target.ok) return target;
  return done((tokens) => {
    const outcomes = detokenizeAll(source.value.format, tokens);
    const clear = outcomes.flatMap((outcome, index) => (outcome.ok ? [{ index, value: outcome.value }] : []));
    const values = clear.map(({ value }) => value);
    for (const [at, outcome] of tokenizeAll(target.value.format, values).entries())
      outcomes[clear[at]?.index ?? -1] = outcome;
    return outcomes;
  });
}

function translate(call: Call, input: OperationInput<'Translate'>): Outcome<object> {
  const translator = createTranslator(call, 'Translate', input);
  if (!translator.ok) return translator;
  if (!call.takeTransfers(1)) return refuse('TooManyTransfers');
  const outcome = translator.value([input.tokenValue])[0] ?? bad('TokenInvalid');
  return outcome.ok ? done({ token: outcome.value }) : refuse(outcome.code, 'tokenValue');
}

function batchTranslate(call: Call, input: OperationInput<'BatchTranslate'>): Outcome<object> {
  const translator = createTranslator(call, 'BatchTranslate', input);
  if (!translator.ok) return translator;
  if (!call.takeTransfers(input.elements.length)) return refuse('TooManyTransfers');
  return done({ elements: toResults(input.elements, translator.value(valuesOf(input))) });
}

const maxRegexLength = 1000;
/** States times characters. RE2 is linear, but 4,000 states on half a million characters would take 40 s. */
const maxRegexSteps = 200_000_000;

function patternMatch(call: Call, input: OperationInput<'PatternMatch'>): Outcome<object> {
  const definition = authorize(call, 'PatternMatch', input);
  if (!definition.ok) return definition;
  const pattern = compileRegex(input.regex);
  if (!pattern.ok) return pattern;
  const characters = input.elements.reduce((sum, { Value }) => sum + Value.length, 0);
  if (pattern.value.programSize() * characters > maxRegexSteps) return refuse('RegexTooCostly', 'regex');
  if (!call.takeTransfers(input.elements.length)) return refuse('TooManyTransfers');
  const outcomes = detokenizeAll(definition.value.format, valuesOf(input));
  // Only what matches comes back (spec §4): what is no token has no cleartext that could.
  const elements = input.elements.flatMap((element, index) => {
    const clear = outcomes[index] ?? bad('TokenInvalid');
    return clear.ok && pattern.value.matcher(clear.value).find() ? [toResult(element, clear)] : [];
  });
  return done({ elements });
}

/** RE2's syntax, in time linear in the text: no lookaround, no backreferences. */
function compileRegex(regex: string): Outcome<RE2JS> {
  if (regex.length > maxRegexLength) return refuse('RegexInvalid', 'regex');
  try {
    return done(RE2JS.compile(regex));
  } catch {
    return refuse('RegexInvalid', 'regex');
  }
}
