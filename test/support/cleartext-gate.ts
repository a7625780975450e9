import { done } from '../../electron/contract/errors.ts';
import {
  createCleartextGate,
  type CleartextGate,
  type CleartextGateOptions,
} from '../../electron/privacy/cleartext-act.ts';
import { auditWith } from './fake-audit.ts';

/** Counts without a limit. */
export const counts: CleartextGateOptions['disclosures'] = {
  take: (counted) => Promise.resolve(done(counted)),
  giveBack: () => Promise.resolve(),
  store: () => Promise.resolve(done(null)),
  fingerprint: () => Promise.resolve(done('0123456789abcdef')),
};

/** Nobody else is asked. */
export const nobodyElse: CleartextGateOptions['secondPerson'] = {
  check: () => Promise.resolve(null),
  use: () => Promise.resolve(done(null)),
};

/** The product's own gate; what a test does not hand in allows everything and counts nothing. */
export const gateWith = (options: Partial<CleartextGateOptions> = {}): CleartextGate =>
  createCleartextGate({
    audit: auditWith(() => Promise.resolve(done(() => undefined))),
    disclosures: counts,
    reveals: { allow: () => done(null), shown: () => null, epoch: () => 0 },
    secondPerson: nobodyElse,
    caseRequired: () => true,
    managed: {},
    ...options,
  });
