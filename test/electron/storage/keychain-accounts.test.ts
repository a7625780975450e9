import { expect, test } from 'vitest';
import {
  accountsOfHome,
  connectionOf,
  holdsSecret,
  portalAccount,
  secretAccount,
} from '../../../electron/storage/keychain-accounts.ts';

const acme = { id: 'c1', baseUrl: 'https://acme.example/x', policies: ['agent'] };

test('a home is wiped of these, though its index is lost', () => {
  expect(accountsOfHome([], [acme])).toEqual(
    expect.arrayContaining([
      ...['audit:key', 'audit:anchor', 'evidence:signing', 'lock:verifier', 'lock:attempts', 'secrets:key'],
      ...['disclosures', 'batch-results', 'built-in.service', 'probe'],
      secretAccount(acme, { kind: 'apiKey' }),
      secretAccount(acme, { kind: 'policyPassword', policy: 'agent' }),
      portalAccount(acme),
      'connection-key:c1',
    ]),
  );
});

test('what is a connection’s, and what is encrypted', () => {
  const account = secretAccount(acme, { kind: 'apiKey' });
  expect([connectionOf(account), connectionOf('audit:key')]).toEqual(['c1', null]);
  expect([account, 'batch-results'].map(holdsSecret)).toEqual([true, true]);
  const builtIn = secretAccount({ ...acme, id: 'built-in' }, { kind: 'apiKey' });
  expect([builtIn, 'audit:key', 'lock:verifier', 'machine:disclosures'].map(holdsSecret)).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
