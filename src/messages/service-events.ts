import type { ServiceEvent, WebhookState } from '../../electron/contract/models/service-event.ts';

/** What an event of the service says, and what to do. It is the sender's word: nothing was done because of it. */
export function eventNotice({ connection, kind, subject }: ServiceEvent, time: string): string {
  const from = `${connection} sent an event (${time}):`;
  const policy = subject === null ? 'a security policy' : `the security policy ${subject}`;
  switch (kind) {
    case 'keyExpiring':
      return `${from} an API key is about to expire. Ask for a new one in time, and enter it under Connections.`;
    case 'keyRevoked':
      return `${from} an API key was revoked. If it is yours, requests are refused until a new one is entered under Connections.`;
    case 'policyRevoked':
      return `${from} ${policy} was revoked. If it is in use here, choose another one.`;
  }
}

/** Of those that are not shown yet; '' where there are none. */
export const moreEvents = (count: number): string =>
  count === 0 ? '' : count === 1 ? 'One more came before.' : `${count} more came before.`;

export const webhookProblems: Record<NonNullable<WebhookState['problem']>, string> = {
  certificate: 'Events are not received: the certificate that your administrator names can’t be used.',
  port: 'Events are not received: the port that your administrator names is taken, or the address is not this computer’s.',
};
