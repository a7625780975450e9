import type { ServiceStatus } from '../../electron/contract/models/app.ts';
import type { ConnectionView } from '../../electron/contract/models/connection.ts';
import { formatRequestsLeft, formatSpan, formatTime } from './format.ts';
import { whyUnusable } from './usable-connection.ts';

/** The one line on how the connection stands. Each part is a fact with its time, and gone when it is none any more. */
interface ServiceLine {
  variant: 'quiet' | 'warn';
  parts: string[];
  /** A person can ask whether the service answers again. */
  canTry: boolean;
}

const pauseReasons = {
  busy: 'Request limit reached',
  failing: 'Service failing',
  quota: 'Today’s quota used up',
  offline: 'Offline',
};

/** A limit is worth a word once less than this is left of it. */
const littleLeft = 0.2;

export function describeService(
  { service, policy }: { service: ServiceStatus | null; policy: string },
  connection: ConnectionView,
  now: number,
): ServiceLine {
  const unusable = whyUnusable(connection, new Date(now));
  if (unusable !== null) return { variant: 'warn', parts: [unusable], canTry: false };
  if (service === null) return { variant: 'quiet', parts: ['Ready'], canTry: false };
  if (service.offlineSince !== null)
    return { variant: 'warn', parts: [`Offline since ${formatTime(service.offlineSince)}`], canTry: true };
  const { pauseReason, pausedUntil } = service;
  const pausedMs = pausedUntil === null ? 0 : Date.parse(pausedUntil) - now;
  if (pauseReason !== null && pausedMs > 0) {
    const rest =
      pausedMs < 600_000 ? `for ${formatSpan(pausedMs / 1_000)}` : `until ${formatTime(pausedUntil ?? '')}`;
    return {
      variant: 'warn',
      parts: [pauseReasons[pauseReason], `nothing is sent ${rest}`],
      canTry: pauseReason === 'failing' || pauseReason === 'offline',
    };
  }
  const session = describeSession(service, policy);
  const left = isLow(service, now) ? formatRequestsLeft(service) : null;
  return { variant: 'quiet', parts: left === null ? [session] : [session, left], canTry: false };
}

/** What a limit leaves is known for its own second or period only. */
function isLow({ remaining, limit, remainingUntil }: ServiceStatus, now: number): boolean {
  if (remaining === null || limit === null || remainingUntil === null) return false;
  return remaining < limit * littleLeft && now < Date.parse(remainingUntil);
}

function describeSession({ sessionSince, policy: signedIn }: ServiceStatus, policy: string): string {
  if (sessionSince === null) return 'Ready';
  const time = formatTime(sessionSince);
  return signedIn === policy ? `Signed in ${time}` : `Signed in as ${signedIn} ${time}`;
}
