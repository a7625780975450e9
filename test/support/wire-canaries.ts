import type { OpenApp } from './app-fixture.ts';

/**
 * What the app sends to the service, as undici tells it in the app's own process: the one place to learn API key, policy
 * passwords and session tokens without typing them anywhere.
 */
export interface WireCanaries {
  /** Ends it. Each secret once, under what it is. */
  stop(): Promise<ReadonlyMap<string, string>>;
}

interface Heard {
  wireSecrets?: Map<string, string>;
  wireListener?: (message: unknown) => void;
}

const channel = 'undici:request:bodyChunkSent';

export async function listenOnTheWire({ application }: OpenApp): Promise<WireCanaries> {
  await application.evaluate((_electron, name) => {
    const heard = globalThis as Heard;
    const secrets = (heard.wireSecrets = new Map<string, string>());
    heard.wireListener = (message) => {
      const { chunk } = message as { chunk: Uint8Array | string };
      const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString('utf8');
      const members =
        /"(apiKey|policyPassword|sessionToken|sourceSessionToken|targetSessionToken)":"([^"]+)"/g;
      for (const [, member = '', value = ''] of text.matchAll(members)) secrets.set(value, member);
    };
    process.getBuiltinModule('node:diagnostics_channel').subscribe(name, heard.wireListener);
  }, channel);
  return {
    async stop() {
      const found = await application.evaluate((_electron, name) => {
        const { wireSecrets = new Map<string, string>(), wireListener } = globalThis as Heard;
        if (wireListener !== undefined)
          process.getBuiltinModule('node:diagnostics_channel').unsubscribe(name, wireListener);
        return [...wireSecrets];
      }, channel);
      return new Map(found);
    },
  };
}
