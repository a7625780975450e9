import { z } from 'zod';
import shippedProfile from '../../resources/service-profile.json' with { type: 'json' };
import { type Outcome, done, failed } from '../contract/errors.ts';
import { administrationProfile } from './administration-profile.ts';
import { type OperationName, type Parameter, operationNames, operations } from './operations.ts';
import { member, members, path } from './profile-fields.ts';

/**
 * The part of a service profile that tells where the portal's Authenticate and the two reporting operations live and
 * how their members are called: the specification shows their parameters, but no path, no answer and no value of
 * groupBy (spec §4).
 */
const reportingProfile = z.strictObject({
  authenticate: z.strictObject({
    path,
    request: z.strictObject({ user: member, password: member }),
    /** Accepted members that hold the JWT, the first that is there wins. */
    token: members,
    /** Members around it: `{ data: { token } }`. */
    wrappers: z.array(member).max(40),
  }),
  metrics: z.strictObject({
    path,
    request: z.strictObject({
      accountId: member,
      tenantId: member,
      startDate: member,
      endDate: member,
      groupBy: member,
    }),
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

const serviceProfile = z.strictObject({
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
  emptyValues: z.boolean().default(false),
  /** What the error codes of spec §7, whose values it does not show, mean. */
  errorCodes: z.strictObject({
    credentials: codes,
    keyExpired: codes,
    session: codes,
    notGranted: codes,
    quota: codes,
    /** The policy, or the API key, was revoked in the portal. */
    policyRevoked: codes.default([]),
    keyRevoked: codes.default([]),
  }),
  /** The portal and the reporting operations; those of the shipped profile where a site's has none. */
  reporting: reportingProfile.default(shippedProfile.reporting),
  /** The portal operations of administrators; absent where the service has none. */
  administration: administrationProfile.optional(),
  /**
   * Host name of a connection → SHA-256 of the public keys (SPKI, base64) that its certificate may have. With a spare
   * one: else the day the key changes is the day nobody can work.
   */
  pins: z.record(z.string().min(1).max(300), z.array(pin).min(2).max(10)).default({}),
});

export type ServiceProfile = Omit<z.infer<typeof serviceProfile>, 'operations'> & {
  readonly operations: { readonly [N in OperationName]: OperationProfile };
};
export type ErrorMeaning = keyof ServiceProfile['errorCodes'];

/**
 * Reads a service profile from its JSON text: where each operation lives and how its members are called. Refused with
 * `connection.invalid` and, as subject, the member of the file that is not valid.
 */
export function readProfile(text: string): Outcome<ServiceProfile> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return failed('connection.invalid', { subject: 'service profile: not JSON' });
  }
  const parsed = serviceProfile.safeParse(json);
  if (parsed.success) return done(parsed.data);
  const where = parsed.error.issues[0]?.path.join('.') ?? '';
  return failed('connection.invalid', { subject: `service profile: ${where}`.slice(0, 300) });
}

export function meaningOf(profile: Pick<ServiceProfile, 'errorCodes'>, code: string): ErrorMeaning | null {
  for (const [meaning, listed] of Object.entries(profile.errorCodes)) {
    if (listed.includes(code)) return meaning as ErrorMeaning;
  }
  return null;
}
