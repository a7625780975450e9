import diagnostics from 'node:diagnostics_channel';

/**
 * What the app sends to the service, as undici tells it in this process: the one place to learn API key, policy
 * passwords and session tokens without typing them anywhere.
 */
export interface WireCanaries {
  /** Each secret once, under what it is. */
  readonly secrets: ReadonlyMap<string, string>;
  stop(): void;
}

const secretMembers =
  /"(apiKey|policyPassword|sessionToken|sourceSessionToken|targetSessionToken)":"([^"]+)"/g;

/** Why a test that listens is not for every host. */
export const wireIsElsewhere = 'listens to what the app sends, in the process the app runs in';

export function listenOnTheWire(): WireCanaries {
  const secrets = new Map<string, string>();
  const hear = (message: unknown): void => {
    const { chunk } = message as { chunk: Uint8Array | string };
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
    for (const [, member = '', value = ''] of text.matchAll(secretMembers)) secrets.set(value, member);
  };
  diagnostics.subscribe('undici:request:bodyChunkSent', hear);
  return { secrets, stop: () => diagnostics.unsubscribe('undici:request:bodyChunkSent', hear) };
}
