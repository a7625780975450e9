import { z } from 'zod';
import shippedProfile from '../../resources/service-profile.json' with { type: 'json' };
import { type Outcome, done, failed } from '../contract/errors.ts';
import { operationInfo, operationNames as withSession, type Operation } from '../contract/operations.ts';
import { administrationProfile } from './administration-profile.ts';
import { type OperationName, type Parameter, operationNames, operations } from './operations.ts';
import { member, members, path } from './profile-fields.ts';

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
    method: bodyMethod,
    path,
    request: z.strictObject({ user: member, password: member }),
    /** Sent beside them as it stands; `{accountId}` and `{tenantId}` are the connection's. */
    extra: z
      .record(member, z.union([z.string().max(200), z.boolean(), z.number()]))
      .refine((extra) => Object.keys(extra).length <= 20),
    /** Accepted members that hold the JWT, the first that is there wins. */
    token: members,
    /** Members around it: `{ data: { token } }`. */
    wrappers: z.array(member).max(40),
  }),
  /** Claims of the portal's JWT (spec §5 shows none), the first that is there wins. */
  claims: z.strictObject({ user: members, roles: members }),
  metrics: z.strictObject({
    method: reportMethod,
    path,
    request: z.strictObject({
      accountId: member,
      tenantId: member,
      startDate: member,
      endDate: member,
      groupBy: member,
    }),
    /** Form of startDate and endDate. */
    dates: dateForm,
    groupBy: z.strictObject({ day: member, definition: member, operation: member, all: member }),
    /** Members that hold the array of groups. */
    lists: members,
    day: members,
    definition: members,
    operation: members,
    requests: members,
    succeeded: members,
    failed: members,
  }),
  failures: z.strictObject({
    method: reportMethod,
    path,
    request: z.strictObject({ accountId: member, tenantId: member, max: member }),
    lists: members,
    at: members,
    operation: members,
    definition: members,
    status: members,
    code: members,
    requestId: members,
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
    method: shown === undefined ? bodyMethod : z.literal('POST'),
    path: shown === undefined ? path : z.literal(shown),
    /** Parameter of spec §4 → member on the wire. */
    request: z
      .record(z.enum(own), member)
      .refine((names) => new Set(Object.values(names)).size === own.length, 'two parameters share a member'),
    /** Accepted members of the answer, or of one element of it, the first that is there wins. */
    answer: members,
  });
};
type OperationProfile = z.infer<ReturnType<typeof operationProfile>>;

const pin = z.string().regex(/^[A-Za-z0-9+/]{43}=$/);
const codes = z.array(z.string().min(1).max(200)).max(100);

/**
 * What the specification and other services call cleartext. Such a member is never read as a token or a mask: an answer
 * that repeats what was sent would pass for one, and be shown, copied and written to files.
 */
export const namesCleartext = (name: string): boolean =>
  ['value', 'cleartext', 'plaintext', 'detokenizedvalue'].includes(name.toLowerCase().replace(/[-_]/g, ''));

/**
 * Whether an operation that gives cleartext lives at a path, by this profile or by the shipped one. Another operation
 * there would ask for cleartext under the name of one that needs no reason, and no count.
 */
function givesCleartext(profile: { operations: Paths }, path: string): boolean {
  return withSession
    .filter((name) => operationInfo[name].gives === 'cleartext')
    .flatMap((name) =>
      [profile.operations, shippedProfile.operations].map((paths: Paths) => plainPath(paths[name].path)),
    )
    .includes(plainPath(path));
}
type Paths = Readonly<Record<Operation, { readonly path: string }>>;

/** As a careless server reads it. */
const plainPath = (path: string): string =>
  path
    .replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16)))
    .replace(/[?;#].*$/, '')
    .replaceAll(/\/+/g, '/')
    .replace(/\/$/, '')
    .toLowerCase();

const serviceProfile = z
  .strictObject({
    version: z.literal(1),
    operations: z.strictObject(
      Object.fromEntries(operationNames.map((name) => [name, operationProfile(name)])) as Record<
        OperationName,
        ReturnType<typeof operationProfile>
      >,
    ),
    element: z.strictObject({
      request: z.strictObject({ ref: member, value: member }),
      ref: members,
      /** Where one of these is there and not null, the service refused the element. */
      error: members,
    }),
    /** Members around a single answer: `{ data: { token } }`. */
    wrappers: z.array(member).max(40),
    /** Members that hold the array of a batch answer. */
    lists: members,
    bareStrings: z.boolean(),
    bareLists: z.boolean(),
    /** Whether an empty string may be the token or value of an element; else the element has failed. */
    emptyValues: z.boolean(),
    session: z.strictObject({
      /** A session older than this is not used again, however long the service would accept it (spec §3). */
      maxAgeSeconds: z.int().min(1).max(86_400),
    }),
    /** Who checks the expression of PatternMatch: RE2 before it is sent, or the service alone. */
    expressions: z.enum(['RE2', 'service']),
    /** What the service counts as one transfer (spec §8). */
    transferUnit: z.enum(['element', 'request']),
    /** Spec §8 shows neither. The window takes values of up to 8,192 characters. */
    limits: z.strictObject({
      batchSize: z.int().min(1).max(10_000),
      valueLength: z.int().min(1).max(8_192),
    }),
    /** What the error codes of spec §7, whose values it does not show, mean. */
    errorCodes: z.strictObject({
      credentials: codes,
      keyExpired: codes,
      session: codes,
      notGranted: codes,
      definitionDisabled: codes,
      quota: codes,
      /** The policy, or the API key, was revoked in the portal. */
      policyRevoked: codes,
      keyRevoked: codes,
    }),
    /** What is said against an element of a batch, where it is one of these codes. */
    elementCodes: z.strictObject({ valueInvalid: codes, valueTooLong: codes, tokenInvalid: codes }),
    reporting: reportingProfile,
    /** The portal operations of administrators; null where the service has none. Not taken over from the shipped profile. */
    administration: administrationProfile.nullable(),
    /**
     * Host name of a connection → SHA-256 of the public keys (SPKI, base64) that its certificate may have. With a spare
     * one: else the day the key changes is the day nobody can work.
     */
    pins: z.record(z.string().min(1).max(300), z.array(pin).min(2).max(10)),
  })
  .superRefine((profile, context) => {
    const refuse = (...path: string[]): void =>
      context.addIssue({ code: 'custom', path, message: 'a member of this name holds cleartext' });
    if (profile.wrappers.some(namesCleartext)) refuse('wrappers');
    for (const operation of withSession) {
      const { form, gives } = operationInfo[operation];
      if (gives === 'cleartext') continue;
      if (givesCleartext(profile, profile.operations[operation].path)) {
        const message = 'an operation that gives cleartext lives there';
        context.addIssue({ code: 'custom', path: ['operations', operation, 'path'], message });
      }
      // In an element the specification's Value is "the value, or the token, depending on the operation" (spec §2).
      const allowed = form === 'batch' ? profile.element.request.value : null;
      if (profile.operations[operation].answer.some((name) => namesCleartext(name) && name !== allowed))
        refuse('operations', operation, 'answer');
    }
    const { extra, request } = profile.reporting.authenticate;
    if (Object.values(request).some((name) => Object.hasOwn(extra, name)))
      refuse('reporting', 'authenticate', 'extra');
  });

export type ServiceProfile = Omit<z.infer<typeof serviceProfile>, 'operations'> & {
  readonly operations: { readonly [N in OperationName]: OperationProfile };
};
export type ErrorMeaning = keyof ServiceProfile['errorCodes'];

/** What a profile file, or the fitting of a connection, says differently from the profile below it. */
export type ProfileChanges = Readonly<Record<string, unknown>>;

/** A profile is a few kilobytes; a chosen file that is larger is something else. */
export const maxProfileBytes = 256 * 1024;

/**
 * Reads the text of a profile file: what of the shipped profile is different with this service. Objects are merged member
 * by member, lists are replaced. Failure: connection.invalid and, as subject, the member that is not valid.
 */
export function readProfile(text: string, fitted: ProfileChanges = {}): Outcome<ServiceProfile> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return invalidProfile('not JSON');
  }
  if (!isMembers(json)) return invalidProfile('not an object');
  // Of its own: the version says how the file is to be read.
  if (!Object.hasOwn(json, 'version')) return invalidProfile('version');
  return applyChanges(mergeChanges(shippedProfile, { administration: null, ...json }), fitted);
}

/** A profile with changes made to it, validated whole. Failure: connection.invalid, as for `readProfile`. */
export function applyChanges(profile: object, changes: ProfileChanges): Outcome<ServiceProfile> {
  const parsed = serviceProfile.safeParse(mergeChanges(profile, changes));
  return parsed.success ? done(parsed.data) : invalidProfile(parsed.error.issues[0]?.path.join('.') ?? '');
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
