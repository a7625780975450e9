import { z } from 'zod';

/** A member on the wire. In an answer, with dots one inside another: `Outcome.Tkn`. */
export const member = z
  .string()
  .min(1)
  .max(100)
  // Set as a member this one is none.
  .regex(/^(?!__proto__$)/);
/** Accepted members, the first that is there wins. */
export const members = z.array(member).min(1).max(40);
/** Joined to {base_url}: no host, no query, no way up. */
export const path = z
  .string()
  .max(500)
  .regex(/^(?:\/[A-Za-z0-9._~-]+)+$/)
  .refine((text) => !text.split('/').some((segment) => segment === '..' || segment === '.'));

/** A member that says whether something was done, and what it then holds. */
export const successFlag = z
  .strictObject({
    member,
    values: z
      .array(z.union([z.string().max(100), z.number(), z.boolean()]))
      .min(1)
      .max(20),
  })
  .nullable();
export type SuccessFlag = z.infer<typeof successFlag>;

/** What says nothing in a member for errors. An empty list or object has one form only. */
export const nothing = z
  .array(
    z.union([
      z.string().max(100),
      z.number(),
      z.literal(false),
      z.null(),
      z.array(z.never()).max(0),
      z.strictObject({}),
    ]),
  )
  .max(20);
export type Nothing = z.infer<typeof nothing>;

/** Headers that the transport sets. */
const notFixed =
  /^(?:host|connection|content-length|content-encoding|transfer-encoding|accept-encoding|te|trailer|upgrade|expect|keep-alive|proxy-.*)$/i;
const namesSecret =
  /auth|cookie|secret|token|passw|passcode|phrase|pwd|ticket|bearer|cred|session|signature|hmac|jwt|key|licen[cs]e|(?:^|-)(?:pass|pin|sid|otp)(?:-|$)/i;
/** Whether a header's name speaks of what belongs in the keychain. */
export const isSecretHeader = (name: string): boolean => namesSecret.test(name);
/** Headers by which a gateway or framework takes a request for one of another address or method. */
const redirects =
  /forward|rewrite|original|override|redirect|^x-http|^soapaction$|(?:^|-)(?:ur[il]|path|pathinfo|route|prefix|host|method|action|script-?name|operation|query)$/i;
/** So does a value that is an address, or names what gives cleartext. */
const isElsewhere = /^\/|:\/\/|detokeni|cleartext|unmask|reveal|decrypt/i;
/** Without hyphens: an ID in the form of a UUID may be a key as well. */
const looksSecret = /^(?:bearer|basic|digest|negotiate)\s|^eyJ|[A-Za-z0-9+/=_]{32}/i;

/** Headers with a fixed value, such as a version. `{accountId}` and `{tenantId}` are the connection's. No secrets. */
export const headers = z
  .record(
    z
      .string()
      .regex(/^[A-Za-z0-9-]{1,60}$/)
      .refine(
        (name) => !notFixed.test(name) && !isSecretHeader(name) && !redirects.test(name),
        "a header of this name is not the profile's",
      ),
    z
      .string()
      .regex(/^[\x21-\x7e](?:[\x20-\x7e]{0,198}[\x21-\x7e])?$/)
      .refine((value) => !looksSecret.test(value.replaceAll('-', '')), 'looks like a secret')
      .refine((value) => !isElsewhere.test(value), 'says what the path says'),
  )
  .refine((all) => {
    const names = Object.keys(all).map((name) => name.toLowerCase());
    return names.length <= 20 && new Set(names).size === names.length;
  }, 'too many, or one twice')
  .refine(
    (all) =>
      Object.entries(all).every(
        ([name, value]) => !/^(?:accept|content-type)$/i.test(name) || /^[\w.+/;= -]*json\b/i.test(value),
      ),
    'JSON is spoken',
  );
