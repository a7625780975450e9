import { z } from 'zod';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Parameter } from './operations.ts';

/** Names alone may stand in an address, which every proxy on the way writes down: no value, token, session or secret. */
const addressParameters = ['tokenName', 'sourceTokenName', 'targetTokenName'] as const;
export type AddressParameter = (typeof addressParameters)[number];
export type AddressNames = Partial<Readonly<Record<AddressParameter, string>>>;

export const addressed = (own: readonly Parameter[]): AddressParameter[] =>
  addressParameters.filter((name) => own.includes(name));

/** As `path`, and a whole segment may be a parameter of the operation: `/v2/{tokenName}/reveal`. */
export const templatePath = (own: readonly Parameter[]) =>
  z
    .string()
    .max(500)
    .regex(/^(?:\/(?:[A-Za-z0-9._~-]+|\{[A-Za-z]+\}))+$/)
    .refine((text) => {
      const segments = text.split('/');
      const named = segments.filter((one) => one.startsWith('{')).map((one) => one.slice(1, -1));
      return (
        !segments.includes('..') &&
        !segments.includes('.') &&
        new Set(named).size === named.length &&
        named.every((name) => addressed(own).some((allowed) => allowed === name))
      );
    }, 'only names of token definitions may stand in a path');

interface Address {
  readonly path: string;
  /** Name in the query → parameter. */
  readonly query: Readonly<Record<string, AddressParameter>>;
}

/** Whether a parameter stands in the address, and so not in the body. */
export const isInAddress = ({ path, query }: Address, parameter: string): boolean =>
  path.split('/').includes(`{${parameter}}`) || Object.values(query).some((one) => one === parameter);

/**
 * The path with the names in it. A name that a careless server could read as more than one segment, or as another path, is
 * not sent: it could be the path of an operation that gives cleartext.
 */
export function addressOf({ path, query }: Address, names: AddressNames): Outcome<string> {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (!segment.startsWith('{')) {
      segments.push(segment);
      continue;
    }
    const name = names[segment.slice(1, -1) as AddressParameter] ?? '';
    if (!/^[A-Za-z0-9_~ -][A-Za-z0-9._~ -]{0,199}$/.test(name))
      return failed('connection.invalid', { subject: `${segment}: a name that can't stand in a path` });
    segments.push(encodeURIComponent(name));
  }
  const asked = new URLSearchParams(
    Object.entries(query).map(([wire, parameter]): [string, string] => [wire, names[parameter] ?? '']),
  ).toString();
  return done(asked === '' ? segments.join('/') : `${segments.join('/')}?${asked}`);
}

/**
 * Whether a careless server could take a path for another one: it is the same, or goes on behind it (`/detokenize/x`,
 * `/detokenize.json`), which many servers hand to the same program. A parameter stands for any segment.
 */
export function canBeTakenFor(path: string, other: string): boolean {
  const [left, right] = [plainSegments(path), plainSegments(other)];
  return right.every((segment, index) => {
    const own = left[index];
    if (own === undefined) return false;
    const [one, another] = [`${own}.`, `${segment}.`];
    return segment === '*' || own === '*' || one.startsWith(another) || another.startsWith(one);
  });
}

/** As a careless server reads it. The forms of a path let through less than this undoes. */
const plainSegments = (path: string): string[] =>
  new URL(
    decodeAll(path.replaceAll(/\{[A-Za-z]+\}/g, '*')).replaceAll(/[/\\]+/g, '/'),
    'https://service.invalid',
  ).pathname
    .replaceAll(/;[^/]*/g, '')
    .replaceAll(/[. ]+(?=\/|$)/g, '')
    .replace(/\/$/, '')
    .toLowerCase()
    .split('/');

function decodeAll(path: string): string {
  const decoded = path.replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) =>
    String.fromCharCode(parseInt(code, 16)),
  );
  return decoded === path ? path : decodeAll(decoded);
}
