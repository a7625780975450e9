import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import type { IncomingMessage } from 'node:http';
import https from 'node:https';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { createServerIdentity } from '../../electron/built-in-service/certificate.ts';
import { done, type Outcome } from '../../electron/contract/errors.ts';
import type { EventFacts } from '../../electron/webhooks/event.ts';
import { startReceiver } from '../../electron/webhooks/receiver.ts';
import { readProfile } from '../../electron/service/profile.ts';
import type { WebhookProfile } from '../../electron/service/webhook-profile.ts';
import { value } from './audit-folder.ts';
import { production } from '../src/support/fake-data.ts';
import { tempFolder } from './temp-folder.ts';

export const webhookSecret = 'webhook-canary-9917';
export const shippedWebhooks: WebhookProfile = value(
  readProfile(fs.readFileSync('resources/service-profile.json', 'utf8')),
).webhooks;

/** A file with a certificate for 127.0.0.1 and its key, and the authority it is from. */
export async function webhookCertificate(): Promise<{ file: string; caPem: string }> {
  const { certificatePem, privateKeyPem, caPem } = await createServerIdentity();
  const file = path.join(tempFolder(), 'webhooks.pem');
  fs.writeFileSync(file, `${certificatePem}\n${privateKeyPem}\n`);
  return { file, caPem };
}

export interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body: string | Buffer;
}

/** Posts to a receiver. Resolves with the status, and with 0 where it ended the connection. */
export async function post(port: number, caPem: string, sent: Sent): Promise<number> {
  const request = https.request({
    ...{ host: '127.0.0.1', port, ca: caPem, agent: false },
    ...{ method: sent.method ?? 'POST', path: sent.path ?? `/${production.id}`, headers: sent.headers ?? {} },
  });
  request.on('error', () => undefined);
  request.end(sent.body);
  try {
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode ?? 0;
  } catch {
    return 0;
  }
}

/** As the shipped profile says; `at` in milliseconds. */
export function signed(body: string | Buffer, at: number, secret = webhookSecret): Sent {
  const time = String(Math.floor(at / 1_000));
  const signature = createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex');
  return { body, headers: { 'x-timestamp': time, 'x-signature': `sha256=${signature}` } };
}

export interface TestReceiver {
  readonly kept: EventFacts[];
  /** The receiver's clock. */
  at: number;
  /** What the keychain answers. */
  locked: Outcome<never> | null;
  /** What the audit log answers. */
  full: Outcome<never> | null;
  /** The connection is there no more. */
  removed: boolean;
  readonly caPem: string;
  readonly port: number;
  readonly send: (sent: Sent) => Promise<number>;
}

export async function openTestReceiver(
  profile: WebhookProfile = shippedWebhooks,
  { patienceMs }: { readonly patienceMs?: number } = {},
): Promise<TestReceiver> {
  const { file, caPem } = await webhookCertificate();
  const state = {
    at: Date.parse('2026-11-25T10:00:00Z'),
    locked: null as Outcome<never> | null,
    full: null as Outcome<never> | null,
    removed: false,
  };
  const kept: EventFacts[] = [];
  const receiver = await startReceiver({
    host: '127.0.0.1',
    port: 0,
    pem: fs.readFileSync(file),
    find: (id) =>
      id === production.id && !state.removed
        ? {
            sender: () =>
              Promise.resolve(
                state.locked ?? done({ connection: production, profile, secret: webhookSecret }),
              ),
          }
        : null,
    record: (facts) => {
      if (state.full !== null) return Promise.resolve(state.full);
      kept.push(facts);
      return Promise.resolve(done(null));
    },
    now: () => state.at,
    ...(patienceMs !== undefined && { patienceMs }),
  });
  onTestFinished(() => receiver.close());
  return Object.assign(state, {
    kept,
    caPem,
    port: receiver.port,
    send: (sent: Sent) => post(receiver.port, caPem, sent),
  });
}
