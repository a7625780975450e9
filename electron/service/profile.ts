import { z } from 'zod';
import shippedProfile from '../../resources/service-profile.json' with { type: 'json' };
import { type Outcome, done, failed } from '../contract/errors.ts';
import { operationInfo, operationNames as withSession, type Operation } from '../contract/operations.ts';
import { administrationProfile } from './administration-profile.ts';
import { type OperationName, type Parameter, operationNames, operations } from './operations.ts';
import { addressed, canBeTakenFor, templatePath, type AddressParameter } from './addresses.ts';
import { webhookProfile } from './webhook-profile.ts';
import { pins } from './pins.ts';
import { headers, member, members, nothing, path, successFlag } from './profile-fields.ts';

/** Values and passwords travel in a body: addresses are logged by every proxy on the way. */
const bodyMethod = z.enum(['POST', 'PUT']);
/** A report's parameters are names and dates, which may stand in the address. */
const reportMethod = z.enum(['GET', 'POST', 'PUT']);
export type HttpMethod = z.infer<typeof reportMethod>;

/** A day as the service wants it: a moment, seconds or milliseconds since 1970, or a pattern such as `MM/DD/YYYY`. */
const dateForm = z.union([
  z.enum(['instant', 'epoch-seconds', 'epoch-milliseconds']),
  z.string().regex(/^(?=.*YYYY)(?=.*MM)(?=.*DD)(?:YYYY|MM|DD|[-/.]){3,5}$/),
]);
export type DateForm = z.infer<typeof dateForm>;

/**
 * The part of a service profile that tells where the portal's Authenticate and the two reporting operations live and
 * how their members are called: the specification shows their parameters, but no path, no answer and no value of
 * groupBy (spec §4).
 */
const reportingProfile = z.strictObject({
  authenticate: z.strictObject({
    method: bodyMethod.describe('POST or PUT'),
    path: path.describe('Where the portal’s Authenticate lives, under the connection’s address'),
    request: z.strictObject({
      user: member.describe('Member that carries the user’s name'),
      password: member.describe('Member that carries the password'),
    }),
    /** Sent beside them as it stands; `{accountId}` and `{tenantId}` are the connection's. */
    extra: z
      .record(member, z.union([z.string().max(200), z.boolean(), z.number()]))
      .refine((extra) => Object.keys(extra).length <= 20)
      .describe(
        'Further members of the sign-in: texts, numbers, true or false; {accountId} and {tenantId} are the connection’s. No secrets',
      ),
    /** Accepted members that hold the JWT, the first that is there wins. */
    token: members.describe('Accepted members that hold the JWT; a bare JSON string is one too'),
    /** Members around it: `{ data: { token } }`. */
    wrappers: z.array(member).max(40).describe('Members that may stand around the JWT'),
  }),
  /** Claims of the portal's JWT (spec §5 shows none), the first that is there wins. */
  claims: z.strictObject({
    user: members.describe('Claims of the JWT that hold the user’s name, for display'),
    roles: members.describe('Claims of the JWT that hold the user’s roles, for display'),
  }),
  metrics: z.strictObject({
    method: reportMethod.describe('GET, POST or PUT; with GET the parameters stand in the query'),
    path: path.describe('Where AggregateApiRequestMetrics lives'),
    request: z.strictObject({
      accountId: member.describe('Member that carries the account’s ID'),
      tenantId: member.describe('Member that carries the tenant’s ID'),
      startDate: member.describe('Member that carries the first day'),
      endDate: member.describe('Member that carries the last day'),
      groupBy: member.describe('Member that carries the grouping'),
    }),
    /** Form of startDate and endDate, and of the days in the answer where those aren't YYYY-MM-DD. */
    dates: dateForm.describe(
      'Form of the days sent and answered: a pattern of YYYY, MM, DD and -, / or .; instant, epoch-seconds or epoch-milliseconds',
    ),
    /** Members that say, where they hold something, that the answer is not all of the report. */
    more: members.describe('Members that say, where they hold something, that there is another page'),
    page: z
      .array(member)
      .max(1)
      .describe(
        'Member of the request that carries what such a member held, or the number of the next page; without one, a report of several pages is not shown',
      ),
    groupBy: z.strictObject({
      day: member.describe('Value of the grouping by day'),
      definition: member.describe('Value of the grouping by token definition'),
      operation: member.describe('Value of the grouping by operation'),
      all: member.describe('Value of all combined'),
    }),
    /** Members that hold the array of groups. */
    lists: members.describe('Members that may hold the list of groups'),
    day: members.describe('Accepted members of a group: the day'),
    definition: members.describe('Accepted members of a group: the token definition'),
    operation: members.describe('Accepted members of a group: the operation'),
    requests: members.describe('Accepted members of a group: the number of requests'),
    succeeded: members.describe('Accepted members of a group: how many succeeded'),
    failed: members.describe('Accepted members of a group: how many failed'),
  }),
  failures: z.strictObject({
    method: reportMethod.describe('GET, POST or PUT; with GET the parameters stand in the query'),
    path: path.describe('Where QueryLastFailedRequests lives'),
    request: z.strictObject({
      accountId: member.describe('Member that carries the account’s ID'),
      tenantId: member.describe('Member that carries the tenant’s ID'),
      max: member.describe('Member that carries how many are asked for'),
    }),
    lists: members.describe('Members that may hold the list of failed requests'),
    at: members.describe('Accepted members of a failed request: when it was'),
    operation: members.describe('Accepted members of a failed request: the operation'),
    definition: members.describe('Accepted members of a failed request: the token definition'),
    status: members.describe('Accepted members of a failed request: the HTTP status'),
    code: members.describe('Accepted members of a failed request: the error code'),
    requestId: members.describe('Accepted members of a failed request: its ID'),
  }),
});
export type ReportingProfile = z.infer<typeof reportingProfile>;

/** What the specification shows is not the site's to change. */
const fixed: Partial<Record<OperationName, string>> = {
  CreateSession: '/api/services/evtservice/createsession',
  Tokenize: '/api/services/evtservice/tokenize',
};

const operationProfile = (name: OperationName) => {
  const own: Parameter[] = [...operations[name].parameters];
  const shown = fixed[name];
  return z.strictObject({
    method: (shown === undefined ? bodyMethod : z.literal('POST')).describe(
      'POST or PUT; values and passwords do not belong in an address',
    ),
    path: (shown === undefined ? templatePath(own) : z.literal(shown)).describe(
      shown === undefined
        ? 'Path under the connection’s address; a whole segment may be the name of a token definition, such as {tokenName}'
        : 'Path under the connection’s address, fixed by the specification',
    ),
    /** Name in the query → parameter, which then is not in the body. */
    query: z
      .record(z.string().regex(/^[A-Za-z0-9._~-]{1,100}$/), z.enum(addressed(shown === undefined ? own : [])))
      .default({})
      .describe('Name in the query and the parameter that it carries, which then is not in the body'),
    /** Parameter of spec §4 → member on the wire. */
    request: z
      .record(z.enum(own), member.describe('Member that carries this parameter'))
      .refine((names) => new Set(Object.values(names)).size === own.length, 'two parameters share a member'),
    /** Accepted members of the answer, or of one element of it, the first that is there wins. */
    answer: members.describe(
      operations[name].parameters.includes('elements')
        ? 'Accepted members of each element of the answer, in order; dots lead inside: Outcome.Tkn'
        : 'Accepted members of the answer, in order: the first that is there and a text is taken; dots lead inside: Outcome.Tkn',
    ),
  });
};
type OperationProfile = Omit<z.infer<ReturnType<typeof operationProfile>>, 'query'> & {
  readonly query: Readonly<Record<string, AddressParameter>>;
};

const codes = z.array(z.string().min(1).max(200)).max(100);

/**
 * What the specification and other services call cleartext. Such a member is never read as a token or a mask: an answer
 * that repeats what was sent would pass for one, and be shown, copied and written to files.
 */
export const namesCleartext = (name: string): boolean =>
  name.split('.').some((part) => clearName.test(part.toLowerCase().replaceAll(/[-_]/g, '')));
const clearName =
  /^(?:value|(?:full)?pan|(?:original|clear|plain|raw|real|full|unmasked|untokeni[sz]ed|detokeni[sz]ed|decrypted|revealed|sensitive)(?:text|value|data|pan|card|number|cardnumber)?)$/;

/**
 * What the elements hold that PatternMatch answers with, which the specification does not show: `value` the cleartext,
 * `element` what was sent, that is the token, `reference` their RefIds alone.
 */
const matchReturns = z.enum(['value', 'element', 'reference']);
export type MatchReturns = z.infer<typeof matchReturns>;

export const serviceProfile = z
  .strictObject({
    version: z.literal(1).describe('Form of the file'),
    operations: z.strictObject({
      ...(Object.fromEntries(operationNames.map((name) => [name, operationProfile(name)])) as Record<
        OperationName,
        ReturnType<typeof operationProfile>
      >),
      PatternMatch: operationProfile('PatternMatch').extend({
        returns: matchReturns.describe(
          'What the elements that match come back with: value (cleartext), element (what was sent) or reference (RefIds alone)',
        ),
      }),
    }),
    element: z.strictObject({
      request: z.strictObject({
        ref: member.describe('Member of an element that carries its RefId in a request'),
        value: member.describe('Member of an element that carries its value in a request'),
      }),
      ref: members.describe('Accepted members for the RefId in a batch answer'),
      /** Where one of these is there and holds something, the service refused the element. */
      error: members.describe(
        'Where one of these is there and does not hold what says nothing, the service refused the element',
      ),
      /** What says nothing in them. */
      none: nothing.describe('What says nothing in a member for errors; null always says nothing'),
      /** Where there is one, an element without it, or with another value, is none that was done. */
      success: successFlag.describe(
        'A flag of each element and what it holds when the element was done; null for no flag',
      ),
    }),
    /** Members around a single answer: `{ data: { token } }`. */
    wrappers: z.array(member).max(40).describe('Members that may stand around an answer, up to two deep'),
    /** Members that hold the array of a batch answer. */
    lists: members.describe('Members that may hold the list of a batch answer'),
    /** What holds the elements of a batch answer: a list, or an object whose members are named by their RefIds. */
    batchAnswers: z
      .enum(['list', 'by-reference'])
      .describe('What holds a batch’s answers: a list, or an object whose members are named by the RefIds'),
    /** Sent with every request. */
    headers: headers.describe(
      'Headers with a fixed value that are sent with every request; {accountId} and {tenantId} are the connection’s. No secrets',
    ),
    /** Says with a 200 whether an operation was done. Where there is one, an answer without it is not read. */
    success: successFlag.describe(
      'A flag of every answer, by its path, and what it holds when the operation was done; null for no flag',
    ),
    bareStrings: z.boolean().describe('Whether a single answer may be a JSON text and nothing else'),
    bareLists: z.boolean().describe('Whether a batch answer may be a list at the root'),
    /** Whether an empty string may be the token or value of an element; else the element has failed. */
    emptyValues: z
      .boolean()
      .describe('Whether an empty text may be the token or value of an element; if not, it has failed'),
    /** Whether one value may have several tokens: then Translate may give two tokens one and the same. */
    randomTokens: z
      .boolean()
      .describe(
        'Whether one value may have several tokens: then Translate may give two tokens one and the same',
      ),
    session: z.strictObject({
      /** A session older than this is not used again, however long the service would accept it (spec §3). */
      maxAgeSeconds: z
        .int()
        .min(1)
        .max(86_400)
        .describe('A session older than this is not used again, however long the service would accept it'),
    }),
    /** Who checks the expression of PatternMatch: RE2 before it is sent, or the service alone. */
    expressions: z
      .enum(['RE2', 'service'])
      .describe(
        'Who checks an expression of PatternMatch: the app as RE2 before it is sent, or the service alone',
      ),
    /** What the service counts as one transfer (spec §8). */
    transferUnit: z.enum(['element', 'request']).describe('What the service counts as one transfer'),
    /** Spec §8 shows neither. The window takes values of up to 8,192 characters. */
    limits: z.strictObject({
      batchSize: z.int().min(1).max(10_000).describe('Elements in a request; fewer after a 413'),
      valueLength: z
        .int()
        .min(1)
        .max(8_192)
        .describe('Characters a value may have; longer ones are not sent'),
    }),
    /** What the error codes of spec §7, whose values it does not show, mean. */
    errorCodes: z.strictObject({
      credentials: codes.describe('Codes that mean: API key, policy or password is wrong'),
      keyExpired: codes.describe('Codes that mean: the API key is past its date'),
      session: codes.describe('Codes that mean: the session has ended'),
      notGranted: codes.describe(
        'Codes that mean: the policy does not grant the operation for the definition',
      ),
      definitionDisabled: codes.describe('Codes that mean: the token definition is disabled'),
      quota: codes.describe('Codes that mean: with a 429: the day’s transfers are spent'),
      /** The policy, or the API key, was revoked in the portal. */
      policyRevoked: codes.describe('Codes that mean: the policy was revoked in the portal'),
      keyRevoked: codes.describe('Codes that mean: the API key was revoked in the portal'),
    }),
    /** What is said against an element of a batch, where it is one of these codes. */
    elementCodes: z.strictObject({
      valueInvalid: codes.describe('Codes against an element that mean: no value of the definition'),
      valueTooLong: codes.describe('Codes against an element that mean: too long'),
      tokenInvalid: codes.describe('Codes against an element that mean: no token of the definition'),
    }),
    reporting: reportingProfile,
    webhooks: webhookProfile,
    /** The portal operations of administrators; null where the service has none. Not taken over from the shipped profile. */
    administration: administrationProfile
      .nullable()
      .describe('The portal operations of administrators; null where the service has none'),
    pins,
  })
  .superRefine((profile, context) => {
    const refuse = (...path: string[]): void =>
      context.addIssue({ code: 'custom', path, message: 'a member of this name holds something else' });
    if (profile.wrappers.some(namesCleartext)) refuse('wrappers');
    for (const operation of withSession) {
      const { form, gives } = operationInfo[operation];
      if (gives === 'cleartext') continue;
      // In an element the specification's Value is "the value, or the token, depending on the operation" (spec §2).
      const allowed = form === 'batch' ? profile.element.request.value : null;
      if (profile.operations[operation].answer.some((name) => namesCleartext(name) && name !== allowed))
        refuse('operations', operation, 'answer');
    }
    // A RefId would be shown as a token, or a refusal's text as a value.
    const { ref, error, none, success } = profile.element;
    const flags = success === null ? [] : [success.member];
    for (const operation of withSession) {
      const { answer } = profile.operations[operation];
      if (operationInfo[operation].form === 'batch' && [...ref, ...error, ...flags].some(isOneOf(answer)))
        refuse('operations', operation, 'answer');
    }
    if ([...error, ...flags].some(isOneOf(ref))) refuse('element', 'ref');
    const codesOfElements = Object.values(profile.elementCodes).flat();
    if (codesOfElements.some((code) => none.includes(code))) refuse('element', 'none');
    const { extra, request } = profile.reporting.authenticate;
    if (Object.values(request).some((name) => Object.hasOwn(extra, name)))
      refuse('reporting', 'authenticate', 'extra');
  });

const isOneOf =
  (names: readonly string[]) =>
  (name: string): boolean =>
    names.includes(name);

/** All that fitting can say, and so all that is taken of it: where an answer has what. No path, no pin and no code. */
const fittedChanges = z.strictObject({
  operations: z
    .strictObject({
      ...Object.fromEntries(
        operationNames.map((name) => [name, z.strictObject({ answer: members }).optional()]),
      ),
      PatternMatch: z
        .strictObject({ answer: members.optional(), returns: matchReturns.optional() })
        .optional(),
    })
    .optional(),
  element: z.strictObject({ ref: members }).optional(),
  wrappers: z.array(member).max(40).optional(),
  lists: members.optional(),
  bareLists: z.literal(true).optional(),
});
/** What the fitting of a connection says differently from the profile below it. */
export type ProfileChanges = z.input<typeof fittedChanges>;

export type ServiceProfile = Omit<z.infer<typeof serviceProfile>, 'operations'> & {
  readonly operations: { readonly [N in OperationName]: OperationProfile } & {
    readonly PatternMatch: { readonly returns: MatchReturns };
  };
};
export type ErrorMeaning = keyof ServiceProfile['errorCodes'];

/** A profile is a few kilobytes; a chosen file that is larger is something else. */
export const maxProfileBytes = 256 * 1024;

/** What a connection has of its own, above the profile that holds for all of them. */
export interface OwnProfile {
  /** Text of the file that was imported into it. It stands in the place of the shared one. */
  readonly imported: string | null;
  /** What was fitted to the answers that came. */
  readonly fitted: unknown;
}

/**
 * The profile that a connection works by: the only way one comes into being, wherever its parts come from. `shared` is the
 * text of the administrator's file, the site's or the shipped one. A file says what of the shipped profile is different:
 * objects are merged member by member, lists are replaced.
 *
 * Whatever the parts are, no operation that gives tokens or masks gets a path at which one of the profiles has cleartext,
 * and what `shared` pins stays pinned. Failure: connection.invalid and, as subject, the member that is not valid.
 */
export function readProfile(shared: string, own: Partial<OwnProfile> = {}): Outcome<ServiceProfile> {
  const { imported = null, fitted = {} } = own;
  const base = readFile(shared);
  if (!base.ok) return base;
  const file = imported === null ? base : readFile(imported);
  if (!file.ok) return file;
  const changes = fittedChanges.safeParse(fitted);
  if (!changes.success) return invalidProfile(`fitted.${changes.error.issues[0]?.path.join('.') ?? ''}`);
  const fit = check(mergeChanges(file.value, changes.data));
  if (!fit.ok) return fit;
  const profile = { ...fit.value, pins: { ...fit.value.pins, ...base.value.pins } };
  const clash = clashOf(profile, [shippedProfile, base.value, profile]);
  return clash === null ? done(profile) : invalidProfile(clash);
}

function readFile(text: string): Outcome<ServiceProfile> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return invalidProfile('not JSON');
  }
  if (!isMembers(json)) return invalidProfile('not an object');
  // Of its own: the version says how the file is to be read.
  if (!Object.hasOwn(json, 'version')) return invalidProfile('version');
  // What an editor takes its help from.
  const { $schema: _, ...members } = json;
  return check(mergeChanges(shippedProfile, { administration: null, ...members }));
}

function check(json: object): Outcome<ServiceProfile> {
  const parsed = serviceProfile.safeParse(json);
  if (parsed.success) return done(parsed.data);
  const [issue] = parsed.error.issues;
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  return invalidProfile([...(issue?.path ?? []), ...unknown].join('.'));
}

interface Paths {
  readonly operations: Readonly<Record<Operation, { readonly path: string }>>;
}

/**
 * Where a profile has an operation that gives no cleartext at the path of one that does, by any of the profiles; null where
 * it has none. It would ask for cleartext under a name that needs no reason and no count. What the bodies are called makes
 * no difference, nor does the method: a service may go by either of them, or by neither.
 */
function clashOf(profile: ServiceProfile, profiles: readonly Paths[]): string | null {
  const inClear = withSession
    .filter((name) => operationInfo[name].gives === 'cleartext')
    .flatMap((name) => profiles.map(({ operations: paths }) => paths[name].path));
  const { operations: own, reporting, administration } = profile;
  const others: Readonly<Record<string, { readonly path: string } | undefined>> = {
    'operations.CreateSession': own.CreateSession,
    ...Object.fromEntries(
      withSession
        .filter((name) => operationInfo[name].gives !== 'cleartext')
        .map((name) => [`operations.${name}`, own[name]]),
    ),
    'reporting.authenticate': reporting.authenticate,
    'reporting.metrics': reporting.metrics,
    'reporting.failures': reporting.failures,
    ...Object.fromEntries(
      Object.entries(administration?.operations ?? {}).map(([name, one]) => [
        `administration.operations.${name}`,
        one,
      ]),
    ),
  };
  for (const [place, one] of Object.entries(others))
    if (one !== undefined && inClear.some((path) => canBeTakenFor(one.path, path))) return `${place}.path`;
  return null;
}

const invalidProfile = (where: string) =>
  failed('connection.invalid', { subject: `service profile: ${where}`.slice(0, 300) });

const isMembers = (json: unknown): json is Record<string, unknown> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/** Objects are merged member by member, whatever else is replaced. `__proto__` is a member like any other. */
export function mergeChanges(below: object, above: object): Record<string, unknown> {
  const merged = new Map<string, unknown>(Object.entries(below));
  for (const [name, value] of Object.entries(above)) {
    const under = merged.get(name);
    merged.set(name, isMembers(under) && isMembers(value) ? mergeChanges(under, value) : value);
  }
  return Object.fromEntries(merged);
}

export function meaningOf(profile: Pick<ServiceProfile, 'errorCodes'>, code: string): ErrorMeaning | null {
  for (const [meaning, listed] of Object.entries(profile.errorCodes)) {
    if (listed.includes(code)) return meaning as ErrorMeaning;
  }
  return null;
}
