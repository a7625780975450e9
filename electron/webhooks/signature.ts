import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { WebhookProfile } from '../service/webhook-profile.ts';

/** An event whose time is further from now, on either side, is refused: whoever kept one can't send it later. */
export const windowMs = 300_000;

const headerOf = (headers: IncomingHttpHeaders, name: string): string | null => {
  const value = headers[name.toLowerCase()];
  return typeof value === 'string' ? value : null;
};

/** The signature that a request carries, before its body is read; null where it has none of the profile's form. */
export function signatureIn(
  headers: IncomingHttpHeaders,
  { signature: { header, prefix, encoding } }: WebhookProfile,
): Buffer | null {
  const text = headerOf(headers, header);
  if (text?.startsWith(prefix) !== true) return null;
  const written = text.slice(prefix.length);
  return forms[encoding].test(written) ? Buffer.from(written, encoding) : null;
}

/** Of 32 bytes. Node joins a header that comes twice, and decodes up to what is no digit. */
const forms = { hex: /^[0-9a-f]{64}$/i, base64: /^[A-Za-z0-9+/]{43}=$/ };

/**
 * Whether the body was signed with the secret, at a time within the window. Where the profile names a header for the time, it
 * is part of what is signed, and `TIME.BODY` is; else the body alone, whose own time the caller checks.
 */
export function isSigned(
  signature: Buffer,
  { headers, body }: { readonly headers: IncomingHttpHeaders; readonly body: Buffer },
  {
    profile,
    secret,
    now,
  }: { readonly profile: WebhookProfile; readonly secret: string; readonly now: number },
): boolean {
  const { timestamp } = profile.signature;
  const time = timestamp === null ? null : (headerOf(headers, timestamp) ?? '');
  if (time !== null && !(/^\d{9,11}$/.test(time) && isWithin(Number(time) * 1_000, now))) return false;
  const signed = createHmac('sha256', secret)
    .update(time === null ? '' : `${time}.`)
    .update(body);
  return timingSafeEqual(signed.digest(), signature);
}

export const isWithin = (at: number, now: number): boolean => Math.abs(now - at) <= windowMs;
