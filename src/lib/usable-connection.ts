import { keyExpiry } from '../../electron/contract/key-expiry.ts';
import type { ConnectionView } from '../../electron/contract/models/connection.ts';

type Usable = Pick<ConnectionView, 'builtIn' | 'apiKey' | 'apiKeyExpires' | 'policyPasswords'>;

/** The first policy that has a password; null where none has. */
export const usablePolicy = ({ policyPasswords }: Usable): string | null =>
  policyPasswords.find(({ state }) => state !== 'missing')?.policy ?? null;

/** Why a connection can't be used as it is; null where nothing is known against it. */
export function whyUnusable(connection: Usable, now = new Date()): string | null {
  if (connection.builtIn) return null;
  if (connection.apiKey === 'missing') return 'No API key is stored.';
  if (keyExpiry(connection.apiKeyExpires, now).state === 'over') return 'The API key has expired.';
  return usablePolicy(connection) === null ? 'No policy has a password yet.' : null;
}
