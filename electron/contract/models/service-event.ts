import { z } from 'zod';
import { id, instant, name } from './fields.ts';

/** What an event of the service that a person is told of is about. The service profile names each. */
export const serviceEventKinds = ['keyExpiring', 'keyRevoked', 'policyRevoked'] as const;
export type ServiceEventKind = (typeof serviceEventKinds)[number];

const serviceEvent = z.strictObject({
  /** Of this app's own making: the sender's could be any text. */
  id,
  connection: name,
  kind: z.enum(serviceEventKinds),
  /** The policy or token definition that it is about, by the connection's own names. */
  subject: name.nullable(),
  at: instant,
});
export type ServiceEvent = z.infer<typeof serviceEvent>;

/** The receiver of webhooks, where an administrator switched it on. */
export const webhookState = z.strictObject({
  /** Where it listens; an event's path is the connection's ID. */
  address: z.string().max(300),
  /** Why it does not: the certificate can't be used, or the port is taken. */
  problem: z.enum(['certificate', 'port']).nullable(),
  /** Those that concern a connection and came since the start, the newest last. */
  events: z.array(serviceEvent).max(20),
});
export type WebhookState = z.infer<typeof webhookState>;
