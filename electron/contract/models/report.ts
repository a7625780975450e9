import { z } from 'zod';
import { count, instant } from './names.ts';

/** The portal sign-in of the active connection (spec §5). The JWT itself stays in the keychain. */
export const portalSession = z.strictObject({
  signedIn: z.boolean(),
  /** As the token says; null when it doesn't. */
  user: z.string().nullable(),
  roles: z.array(z.string()),
  /** Read from the token; null when it carries none. */
  expires: instant.nullable(),
});
export type PortalSession = z.infer<typeof portalSession>;

/** groupBy's literal values are not shown by the specification; the service profile maps these to its own. */
export const grouping = z.enum(['day', 'definition', 'operation', 'all']);
export type Grouping = z.infer<typeof grouping>;

export const metricsQuery = z.strictObject({ from: z.iso.date(), to: z.iso.date(), grouping });
export type MetricsQuery = z.infer<typeof metricsQuery>;

/** One group. `more` holds members this version does not know, as text: shown, not dropped (spec §9). */
export const metricsRow = z.strictObject({
  key: z.string(),
  requests: count,
  failed: count,
  more: z.record(z.string(), z.string()),
});
export type MetricsRow = z.infer<typeof metricsRow>;

export const metrics = z.strictObject({
  query: metricsQuery,
  rows: z.array(metricsRow),
  requests: count,
  failed: count,
  /** The same length of time just before; null when it could not be had. */
  previous: z.strictObject({ requests: count, failed: count }).nullable(),
  requestId: z.string(),
});
export type Metrics = z.infer<typeof metrics>;

/** Where the numbers come from: the account (asked of the service) or this workstation's own audit log. */
export const reportScope = z.enum(['account', 'workstation']);
export type ReportScope = z.infer<typeof reportScope>;

export const failedRequest = z.strictObject({
  at: z.string(),
  operation: z.string(),
  definition: z.string(),
  status: z.int().nullable(),
  code: z.string(),
  requestId: z.string(),
  more: z.record(z.string(), z.string()),
});
export type FailedRequest = z.infer<typeof failedRequest>;

/** Whether the connection's tool server answers, and how its tools compare with the eleven of the specification (§4). */
export const toolServer = z.strictObject({
  address: z.string(),
  answers: z.boolean(),
  tools: z.array(z.strictObject({ name: z.string(), expected: z.boolean(), there: z.boolean() })),
  /** Configuration for a client, with a placeholder where the JWT goes. */
  configuration: z.string(),
});
export type ToolServer = z.infer<typeof toolServer>;

export const evidence = z.strictObject({
  /** File names without their folder. */
  files: z.array(z.string()),
  entries: count,
});
