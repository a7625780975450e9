import { keyExpiry } from '../../electron/contract/key-expiry.ts';
import { formatDate } from './format.ts';

const days = (count: number): string => (count === 1 ? '1 day' : `${count} days`);

/**
 * How an API key stands on its expiration date, as everywhere in the window: `expires today, on 30 Nov 2026`. It
 * expires today until the day is over in every time zone, since the service's is not known.
 */
export function expiryPhrase(expires: string | null, now: Date): string {
  const expiry = keyExpiry(expires, now);
  if (expires === null || expiry.state === 'unknown') return 'has no expiration date here';
  const on = formatDate(expires);
  if (expiry.state === 'over') return `expired on ${on}`;
  return `expires ${expiry.days === 0 ? 'today' : `in ${days(expiry.days)}`}, on ${on}`;
}

/** The reminder of a connection's key at 30, 7 and 1 days and after its end; null where none is due. */
export function expiryReminder(connection: string, expires: string | null, now: Date): string | null {
  const { state } = keyExpiry(expires, now);
  const sentence = `The API key of ${connection} ${expiryPhrase(expires, now)}.`;
  if (state === 'over')
    return `${sentence} Tokendesk has stopped using it. Enter a new one under Connections.`;
  return state === 'soon'
    ? `${sentence} Have a new one made in the portal, then rotate it under Connections.`
    : null;
}
