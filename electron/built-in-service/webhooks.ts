import { createHmac, randomUUID } from 'node:crypto';
import https from 'node:https';
import { setTimeout as wait } from 'node:timers/promises';
import type { Account } from './account.ts';

/** Where events go, and how they are signed. */
export interface WebhookTarget {
  /** An HTTPS address. */
  readonly url: string;
  /** What events are signed with: `x-signature: sha256=HEX` over `TIME.BODY`, TIME being `x-timestamp`. */
  readonly secret: string;
  /** Of the authority that the receiver's certificate is from, as PEM; the system's if absent. */
  readonly caPem?: string;
}

export type EventType = 'ApiKeyExpiring' | 'ApiKeyRevoked' | 'SecurityPolicyRevoked';

/** Tells the subscriber of events. Never rejects, and holds no request up. */
export interface WebhookSender {
  /** `subject`: the policy or the title of the key. */
  send(type: EventType, subject: string): void;
  /** Ends what waits. */
  stop(): void;
}

/** Before the second, third, … try of an event that was not taken. */
const pausesMs = [1_000, 5_000, 30_000] as const;
const patienceMs = 10_000;
const soonMs = 30 * 86_400_000;

/** Sends events one after the other, each up to four times; without a target none. */
export function createWebhookSender(
  target: WebhookTarget | undefined,
  now: () => number,
  pauses: readonly number[] = pausesMs,
): WebhookSender {
  const stopped = new AbortController();
  let turn = Promise.resolve();

  async function deliver({ url, secret, caPem }: WebhookTarget, body: string): Promise<void> {
    for (const pause of [0, ...pauses]) {
      if (pause > 0) await wait(pause, undefined, { signal: stopped.signal });
      // The time is part of what is signed, so each try has a signature of its own.
      const time = String(Math.floor(now() / 1_000));
      const signature = createHmac('sha256', secret).update(`${time}.${body}`).digest('hex');
      const headers = {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'x-timestamp': time,
        'x-signature': `sha256=${signature}`,
      };
      const status = await post(url, { headers, body, ca: caPem, signal: stopped.signal });
      // What the receiver calls wrong stays wrong.
      if (status !== null && status < 500 && status !== 429) return;
    }
  }

  return {
    send(type, subject) {
      if (target === undefined) return;
      const body = JSON.stringify({
        id: randomUUID(),
        type,
        createdAt: new Date(now()).toISOString(),
        subject,
      });
      turn = turn.then(() => deliver(target, body)).catch(() => undefined);
    },
    stop: () => stopped.abort(),
  };
}

interface Post {
  readonly headers: Readonly<Record<string, string | number>>;
  readonly body: string;
  readonly ca: string | undefined;
  readonly signal: AbortSignal;
}

/** The status; null where there was no answer. */
function post(url: string, { headers, body, ca, signal }: Post): Promise<number | null> {
  return new Promise((resolve) => {
    const options = { method: 'POST', headers, signal, timeout: patienceMs, ...(ca !== undefined && { ca }) };
    const request = https.request(url, options, (response) => {
      response.resume();
      resolve(response.statusCode ?? null);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(null));
    request.end(body);
  });
}

/** The keys whose last day is near. */
export const expiringKeys = ({ apiKeys }: Pick<Account, 'apiKeys'>, now: number): string[] =>
  apiKeys
    .filter(({ expires, revoked }) => !revoked && expires > now && expires - now <= soonMs)
    .map(({ title }) => title);
