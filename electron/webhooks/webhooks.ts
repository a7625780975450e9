import { randomUUID } from 'node:crypto';
import type { Audit } from '../audit/audit.ts';
import type { ConnectionProfiles } from '../connections/profiles.ts';
import type { Connections } from '../connections/store.ts';
import { done, type Outcome } from '../contract/errors.ts';
import type { ManagedSettings } from '../contract/models/app.ts';
import type { Connection } from '../contract/models/connection.ts';
import type { ServiceEvent, WebhookState } from '../contract/models/service-event.ts';
import { readSmallFile } from '../storage/read-small-file.ts';
import type { EventFacts } from './event.ts';
import { type Receiver, type Sender, startReceiver } from './receiver.ts';

/** Events of the service, where an administrator switched their receiver on. */
export interface Webhooks {
  /** Null where it is switched off. */
  state(): WebhookState | null;
  /** Listens, if it is switched on. Never rejects: `state` says what is in the way. */
  start(): Promise<void>;
  close(): Promise<void>;
}

export interface WebhooksOptions {
  readonly managed: Pick<ManagedSettings, 'webhookPort' | 'webhookAddress' | 'webhookCertificate'>;
  readonly connections: Pick<Connections, 'find' | 'secret'>;
  readonly profiles: Pick<ConnectionProfiles, 'read'>;
  readonly audit: Pick<Audit, 'record'>;
  readonly changed: () => void;
  readonly now: () => number;
}

const maxPemBytes = 256 * 1024;
const maxEvents = 20;

/**
 * An event is a line of the audit log, which Activity shows, and a notice where it is of a kind that the profile names. It
 * changes nothing: whoever has the secret could say anything.
 */
export function createWebhooks({
  managed: { webhookPort: port, webhookAddress: host = '127.0.0.1', webhookCertificate: certificate },
  connections,
  profiles,
  audit,
  changed,
  now,
}: WebhooksOptions): Webhooks {
  let receiver: Receiver | null = null;
  let problem: WebhookState['problem'] = null;
  let events: readonly (ServiceEvent & { readonly connectionId: string })[] = [];

  async function senderOf(connection: Connection): Promise<Outcome<Sender>> {
    const secret = await connections.secret(connection.id, { kind: 'webhookSecret' });
    if (!secret.ok) return secret;
    const profile = await profiles.read(connection);
    return profile.ok ? done({ connection, profile: profile.value.webhooks, secret: secret.value }) : profile;
  }

  function record({ kind, subject, at }: EventFacts, connection: Connection): Promise<Outcome<null>> {
    const { id: connectionId, name, environment } = connection;
    const note = [kind, ...(subject === null ? [] : [subject])].join(' ');
    return audit.record({ action: 'Webhook', connection: name, environment, note }, () => {
      if (kind !== 'other') {
        const when = new Date(at).toISOString();
        const event = { id: randomUUID(), connectionId, connection: name, kind, subject, at: when };
        events = [...events, event].slice(-maxEvents);
        changed();
      }
      return done(null);
    });
  }

  return {
    state() {
      if (port === undefined) return null;
      const shown = host.includes(':') ? `[${host}]` : host;
      // What was said of a connection goes with it.
      const current = events.filter(({ connectionId }) => connections.find(connectionId).ok);
      return {
        address: `https://${shown}:${receiver?.port ?? port}`,
        problem,
        events: current.map(({ connectionId: _, ...event }) => event),
      };
    },
    async start() {
      if (port === undefined) return;
      const file = await readSmallFile(certificate ?? '', { maxBytes: maxPemBytes });
      problem = file.kind === 'read' ? null : 'certificate';
      if (file.kind === 'read')
        try {
          receiver = await startReceiver({
            host,
            port,
            pem: file.bytes,
            find: (id) => {
              const connection = connections.find(id);
              return connection.ok ? { sender: () => senderOf(connection.value) } : null;
            },
            record,
            now,
          });
        } catch (error) {
          // Those of the network have the name of the call that failed.
          problem = error instanceof Error && 'syscall' in error ? 'port' : 'certificate';
        }
      changed();
    },
    async close() {
      await receiver?.close();
      receiver = null;
    },
  };
}
