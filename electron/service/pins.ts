import { z } from 'zod';

const pin = z.string().regex(/^[A-Za-z0-9+/]{43}=$/);
/** No scheme, no port and no `*`: such a name would be no connection's host, and pin nothing. */
const hostName = z
  .string()
  .max(253)
  .regex(/^(?:[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.?|\[[0-9A-Fa-f:.]+\])$/);

/** The host as an address has it, whatever its capitals and the dot at its end. */
function hostOf(baseUrl: string): string | null {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname.replace(/\.$/, '') : null;
}

/**
 * Host name of a connection → SHA-256 of the public keys (SPKI, base64) that its certificate may have. With a spare
 * one: else the day the key changes is the day nobody can work.
 */
export const pins = z
  .record(hostName, z.array(pin).min(2).max(10))
  .describe('Host name and the SHA-256 of the public keys that its certificate may have, two at least')
  .transform((given, context) => {
    const hosts = new Map<string, string[]>();
    for (const [name, keys] of Object.entries(given)) {
      const host = hostOf(`https://${name}`);
      if (host === null || hosts.has(host))
        context.addIssue({ code: 'custom', path: [name], message: 'no host, or one that is named twice' });
      else hosts.set(host, keys);
    }
    return Object.fromEntries(hosts);
  });
export type Pins = z.infer<typeof pins>;

/** The keys that are pinned for an address; null where it has none. */
export function pinsFor(given: Pins, baseUrl: string): readonly string[] | null {
  const host = hostOf(baseUrl);
  return host !== null && Object.hasOwn(given, host) ? (given[host] ?? null) : null;
}
