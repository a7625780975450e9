import { done, failed } from '../../../electron/contract/errors.ts';
import type {
  AdministrationState,
  MadeSecret,
  PortalConfiguration,
} from '../../../electron/contract/models/administration.ts';
import { operation } from '../../../electron/contract/models/fields.ts';
import { restoreText } from '../../../electron/contract/obscured.ts';
import type { Answers } from './fake-bridge.ts';

const signedOut: AdministrationState = {
  available: true,
  signedIn: false,
  user: null,
  roles: [],
  expires: null,
  asksPassphrase: false,
};
export const signedIn: AdministrationState = {
  ...signedOut,
  signedIn: true,
  user: 'admin',
  roles: ['AccountAdmin'],
  expires: '2026-11-20T15:04:05.000Z',
};

const common = { enabled: true, maskCharacter: '*', luhn: null, maxBytes: null } as const;
const names = ['card-number', 'ssn', 'email', 'free-text'];

export const configuration: PortalConfiguration = {
  definitions: [
    {
      ...common,
      name: 'card-number',
      label: 'Card number',
      kind: 'card',
      keepFirst: 6,
      keepLast: 4,
      luhn: 'invalid',
    },
    { ...common, name: 'ssn', label: 'Social security number', kind: 'ssn', keepFirst: null, keepLast: 4 },
    { ...common, name: 'email', label: 'E-mail address', kind: 'email', keepFirst: 1, keepLast: null },
    {
      ...common,
      name: 'free-text',
      label: 'Free text',
      kind: 'text',
      keepFirst: 0,
      keepLast: 0,
      maxBytes: 512,
    },
    { ...common, name: 'iban', label: 'IBAN', kind: null, keepFirst: 4, keepLast: 2, enabled: false },
  ],
  policies: [
    {
      name: 'dispute-desk',
      revoked: false,
      grants: names
        .slice(0, 3)
        .map((definition) => ({ definition, operations: ['GetMasked', 'Detokenize', 'Tokenize'] })),
    },
    {
      name: 'analyst',
      revoked: false,
      grants: names.map((definition) => ({ definition, operations: [...operation.options] })),
    },
    {
      name: 'mask-only',
      revoked: false,
      grants: names.map((definition) => ({ definition, operations: ['GetMasked'] })),
    },
    { name: 'summer-2025', revoked: true, grants: [{ definition: 'ssn', operations: ['Tokenize'] }] },
  ],
  keys: [
    {
      title: 'desk',
      expires: '2027-11-20',
      created: null,
      lastUsed: '2026-11-20T13:59:40.000Z',
      revoked: false,
    },
    {
      title: 'Schlüssel der Nachtverarbeitung (2)',
      expires: '2026-11-27',
      created: '2026-08-27T08:00:00.000Z',
      lastUsed: '2026-11-20T02:00:01.000Z',
      revoked: false,
    },
    { title: 'retired', expires: '2025-01-01', created: null, lastUsed: null, revoked: false },
    {
      title: 'Q4 disputes key',
      expires: '2026-12-31',
      created: '2026-06-01T08:00:00.000Z',
      lastUsed: null,
      revoked: true,
    },
  ],
  toolServer: false,
};

/** 40 definitions and policies with long names. */
export const manyListed: PortalConfiguration = {
  ...configuration,
  definitions: Array.from({ length: 40 }, (_, n) => ({
    ...common,
    name: `${['card-number', 'account', 'customer-reference-of-the-merchant', 'e-mail'][n % 4] ?? ''}-region-${n + 1}`,
    label: `${['Card number', 'Account', 'Customer reference as the merchant prints it on the invoice', 'E-mail address'][n % 4] ?? ''} (region ${n + 1})`,
    kind: (['card', 'text', 'text', 'email'] as const)[n % 4] ?? 'text',
    keepFirst: 0,
    keepLast: 4,
    enabled: n % 9 !== 0,
  })),
  policies: Array.from({ length: 40 }, (_, n) => ({
    name: `dispute-desk-of-the-regional-service-centre-${n + 1}`,
    revoked: n % 11 === 0,
    grants: [{ definition: `card-number-region-1`, operations: ['GetMasked'] }],
  })),
  keys: Array.from({ length: 40 }, (_, n) => ({
    title: `Key of the regional service centre number ${n + 1} with a long title`,
    expires: '2027-03-01',
    created: '2026-06-01T08:00:00.000Z',
    lastUsed: '2026-11-20T02:00:01.000Z',
    revoked: n % 5 === 0,
  })),
};

type AdministrationAnswers = Pick<Answers, Extract<keyof Answers, `administration.${string}`>>;

/** The `administration.*` calls over a portal in memory. */
export function administrationAnswers(
  start: AdministrationState = signedOut,
  listed: PortalConfiguration = configuration,
): AdministrationAnswers {
  let state = start;
  let portal = structuredClone(listed);
  let ids = 0;
  const sign = () => {
    state = { ...signedIn, asksPassphrase: state.asksPassphrase };
    return done(state);
  };
  const changed = (over: Partial<PortalConfiguration>, made: MadeSecret | null = null) => {
    portal = { ...portal, ...over };
    return done({ configuration: portal, made, failure: null });
  };
  const make = (kind: MadeSecret['kind'], of: string): MadeSecret => {
    ids += 1;
    return { secretId: `secret-${ids}`, kind, of };
  };
  const key = (title: string, expires: string) =>
    changed(
      {
        keys: [
          ...(portal.keys ?? []),
          { title, expires, created: '2026-11-20T14:00:00.000Z', lastUsed: null, revoked: false },
        ],
      },
      make('key', title),
    );
  return {
    'administration.state': () => done(state),
    'administration.signIn': ({ password }) =>
      restoreText(password) === 'right' ? sign() : failed('portal.credentials', { status: 403 }),
    'administration.signInBuiltIn': ({ passphrase }) =>
      !state.asksPassphrase || restoreText(passphrase) === 'correct horse' ? sign() : failed('unlock.wrong'),
    'administration.signOut': () => {
      state = { ...start, signedIn: false, user: null, roles: [], expires: null };
      return done(state);
    },
    'administration.load': () => done(portal),
    'administration.previewDefinition': ({ kind }) =>
      done(
        {
          card: { token: '4111 1102 3986 1111', mask: '4111 11** **** 1111' },
          ssn: { token: '529-81-0033', mask: '***-**-6789' },
          email: { token: 'k3v9x0q2m7c4tz@example.com', mask: 'j***@example.com' },
          text: { token: 'txt_9fK2mQx7Lr0aZbYw', mask: '********' },
        }[kind],
      ),
    'administration.saveDefinition': ({ definition }) =>
      changed({
        definitions: [
          ...(portal.definitions ?? []).filter(({ name }) => name !== definition.name),
          definition,
        ],
      }),
    'administration.savePolicy': ({ name, grants, makePassword }) =>
      changed(
        {
          policies: [
            ...(portal.policies ?? []).filter((policy) => policy.name !== name),
            { name, revoked: false, grants },
          ],
        },
        makePassword ? make('password', name) : null,
      ),
    'administration.revokePolicy': ({ name }) =>
      changed({
        policies: (portal.policies ?? []).map((policy) =>
          policy.name === name ? { ...policy, revoked: true } : policy,
        ),
      }),
    'administration.createKey': ({ title, expires }) => key(title, expires),
    'administration.rotateKey': ({ title, expires }) => key(`${title} (2)`, expires),
    'administration.revokeKey': ({ title }) =>
      changed({
        keys: (portal.keys ?? []).map((one) => (one.title === title ? { ...one, revoked: true } : one)),
      }),
    'administration.setToolServer': ({ enabled }) => changed({ toolServer: enabled }),
    'administration.copySecret': () => done({ clearAfterMs: 30_000 }),
    'administration.useKey': () => done({}),
  };
}
