import { z } from 'zod';
import { failureCodes, failureSchema } from '../errors.ts';
import { auditEntry } from './activity.ts';
import { count, id, instant, fileName } from './fields.ts';

/** Text from the service about itself: names, codes, identifiers. Cut to this length before it is sent. */
const shortText = z.string().max(200);
/** Members this version does not know, as text: they are shown (spec §9). */
const more = z.record(z.string().max(100), shortText);

/** The portal sign-in of the active connection (spec §5). The JWT itself stays in the keychain. */
export const portalSession = z.strictObject({
  /** `ended`: there was one, and its time is over. */
  state: z.enum(['signed-out', 'signed-in', 'ended']),
  /** As the token says; null when it doesn't. */
  user: shortText.nullable(),
  roles: z.array(shortText).max(50),
  /** Read from the token; null when it carries none. */
  expires: instant.nullable(),
  /** `memory`: for this run only, since there is no keyring or the token is too long for it. */
  storedIn: z.enum(['keychain', 'memory']).nullable(),
});
export type PortalSession = z.infer<typeof portalSession>;

/** groupBy's literal values are not shown by the specification; the service profile maps these to its own. */
const grouping = z.enum(['day', 'definition', 'operation', 'all']);
export type Grouping = z.infer<typeof grouping>;

/** Ends the check where it is none: no more is done with a text of megabytes. */
const date = z.iso.date({ abort: true });

/** Both days included, counted in UTC; at most 400 days. */
export const metricsQuery = z
  .strictObject({ from: date, to: date, grouping })
  .refine(({ from, to }) => from <= to && Date.parse(to) - Date.parse(from) < 400 * 86_400_000);
export type MetricsQuery = z.infer<typeof metricsQuery>;

/** One group; the members that the grouping does not tell apart are null. */
export const metricsRow = z.strictObject({
  day: shortText.nullable(),
  definition: shortText.nullable(),
  operation: shortText.nullable(),
  requests: count,
  /** Null where the service did not tell. */
  failed: count.nullable(),
  more,
});
export type MetricsRow = z.infer<typeof metricsRow>;

const sums = z.strictObject({ requests: count, failed: count.nullable() });

const figures = z.strictObject({
  /** Names this answer when it is exported. */
  reportId: id,
  query: metricsQuery,
  rows: z.array(metricsRow).max(50_000),
  ...sums.shape,
  /** The same length of time just before; null when it could not be had. */
  previous: sums.nullable(),
});
export type Figures = z.infer<typeof figures>;

/** The account's numbers, as the service answered. */
export const metrics = figures.extend({ requestId: shortText });
export type Metrics = z.infer<typeof metrics>;

/** This workstation's own numbers, from the audit log. A request is one that left this app. */
export const workstation = figures.extend({
  /** Values that were answered, and those that were refused among them: one by one, or with their request. */
  values: count,
  valuesFailed: count,
  /** Their `values` add up to `valuesFailed`, their `requests` to `failed`: the list never disagrees with the totals. */
  refusals: z
    .array(
      z.strictObject({
        /** Empty in the last one of a thousand, which gathers all further ones. */
        code: shortText,
        operation: shortText,
        definition: shortText.nullable(),
        policy: shortText.nullable(),
        values: count,
        requests: count,
        last: instant,
      }),
    )
    .max(1_000),
  /** What was done in clear, by case; an empty reference gathers what had none. */
  cases: z
    .array(
      z.strictObject({
        caseReference: shortText,
        reveals: count,
        copies: count,
        exports: count,
        /** Values that may have been seen. */
        rows: count,
        last: instant,
      }),
    )
    .max(2_000),
  chain: z.enum(['intact', 'broken']),
});
export type Workstation = z.infer<typeof workstation>;

/** What the report on access has of a line of the audit log. */
export const accessColumns = z.object(
  auditEntry.pick({
    at: true,
    connection: true,
    environment: true,
    definition: true,
    policy: true,
    caseReference: true,
    reason: true,
  }).shape,
);

/** Who saw what in clear in one month of this workstation, for an auditor. It holds no value. */
export const access = z.strictObject({
  reportId: id,
  /** YYYY-MM, of the computer's own time. */
  month: z.string(),
  /** The newest first; `total` counts those that are not listed too. */
  rows: z
    .array(
      z.strictObject({
        ...accessColumns.shape,
        /** How many may have been seen. Of lines of earlier versions that is the number of rows. */
        values: count.nullable(),
        actor: shortText,
        act: z.enum(['Reveal', 'Copy', 'Match', 'Guess', 'Move', 'Export']),
        /** Without an end the app was stopped in between: the value may have been seen. */
        isEnded: z.boolean(),
        /** Outside Monday to Friday, 7:00 to 19:00 of the computer's own time. */
        isUnusual: z.boolean(),
      }),
    )
    .max(5_000),
  total: count,
  chain: z.enum(['intact', 'broken']),
});
export type Access = z.infer<typeof access>;

/** Transfers of the active connection as this computer counts them. The service's own count is not known. */
export const usage = z.strictObject({
  /** For any 24 hours, as set for the connection. */
  limit: count,
  lastDay: count,
  /** Since the local midnight. */
  today: count,
  /** By the next midnight, if it goes on as in the last three hours; null where that says nothing. */
  forecast: count.nullable(),
});
export type Usage = z.infer<typeof usage>;

/** One of the most recent failed requests. Empty texts are what the service did not tell. */
export const failedRequest = z.strictObject({
  /** ISO 8601 where it could be understood, else as it came. */
  at: shortText,
  operation: shortText,
  definition: shortText,
  status: z.int().nullable(),
  code: shortText,
  /** What the service's code or status means here, where that is known. */
  reason: z.enum(failureCodes).nullable(),
  requestId: shortText,
  more,
});
export type FailedRequest = z.infer<typeof failedRequest>;

export const failedRequests = z.strictObject({
  reportId: id,
  failures: z.array(failedRequest).max(100),
  requestId: shortText,
});
export type FailedRequests = z.infer<typeof failedRequests>;

/** Whether the connection's tool server answers, and how its tools compare with the eleven of the specification (§4). */
/** How clients want to be configured: most of them, editors, and those that take local programs only. */
export const configurationForm = z.enum(['client', 'editor', 'bridge']);
export type ConfigurationForm = z.infer<typeof configurationForm>;

export const toolServer = z.strictObject({
  address: z.string().max(600),
  /** `off`: it answers 404, as it does until an administrator enables it for the environment. */
  state: z.enum(['ready', 'off', 'sign-in', 'unusable']),
  /** Why it is not ready, where there is more to say. */
  failure: failureSchema.nullable(),
  transport: z.enum(['streamable-http', 'sse']).nullable(),
  tools: z.array(z.strictObject({ name: shortText, expected: z.boolean(), there: z.boolean() })).max(200),
  /** Configurations for clients, with a placeholder where the JWT goes. */
  configurations: z.array(z.strictObject({ form: configurationForm, text: z.string().max(2_000) })).max(5),
  /** SHA-256 of the authorities that a client has to trust besides the system's. */
  authorities: z.array(z.string().max(100)).max(20),
  /** When the JWT of the sign-in ends; null where there is none, or one that says no end. */
  tokenEnds: instant.nullable(),
});
export type ToolServer = z.infer<typeof toolServer>;

/** File name without its folder. */
export const reportFile = z.strictObject({ name: fileName, rows: count, escaped: count });

export const evidence = z.strictObject({
  /** File names without their folder. */
  files: z.array(fileName).max(2),
  entries: count,
  /** SHA-256 of the key the files are signed with, hex: the reader compares it with what this app shows. */
  signer: z.string().max(64),
  /** By which the files are shown in the system's file manager. */
  evidenceId: id,
});
export type Evidence = z.infer<typeof evidence>;
