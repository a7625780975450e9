import type { Audit } from '../audit/audit.ts';
import { failed, type Outcome } from '../contract/errors.ts';
import type { PortalSession } from '../contract/models/report.ts';
import type { ReportingProfile } from '../service/reporting-profile.ts';
import { askPortal } from './ask-portal.ts';
import { firstOf, isObject, unexpected } from './members.ts';
import type { PortalTokens } from './portal-tokens.ts';
import type { ReportedConnection } from './report-parts.ts';

export interface SignInParts {
  readonly audit: Pick<Audit, 'begin'>;
  readonly tokens: PortalTokens;
  readonly profile: ReportingProfile['authenticate'];
}

/**
 * Signs a portal user in through Authenticate (spec §4). The password goes out once and is not kept; the JWT goes to
 * the keychain. Any 4xx that speaks of the user is portal.credentials.
 */
export async function signIn(
  { audit, tokens, profile }: SignInParts,
  reported: ReportedConnection,
  { user, password }: { user: string; password: string },
): Promise<Outcome<PortalSession>> {
  const { path, request } = profile;
  const body = { [request.user]: user, [request.password]: password };
  const answer = await askPortal(reported, audit, { operation: 'Authenticate', path, body, token: null });
  if (!answer.ok) {
    const { code, ...details } = answer.failure;
    const isTheirs =
      code === 'portal.expired' || code === 'portal.refused' || code === 'service.invalid-input';
    return isTheirs ? failed('portal.credentials', details) : answer;
  }
  const { json, requestId } = answer.value;
  const token = findToken(json, profile);
  if (token === null) return unexpected(json, { operation: 'Authenticate', requestId });
  const kept = await tokens.keep(reported.connection, token);
  if (!kept.ok && kept.failure.code === 'portal.not-a-token') {
    return failed('service.unexpected-answer', { operation: 'Authenticate', requestId, members: [] });
  }
  return kept;
}

function findToken(json: unknown, { token, wrappers }: ReportingProfile['authenticate']): string | null {
  if (typeof json === 'string') return json;
  if (!isObject(json)) return null;
  const found = firstOf(json, token);
  if (typeof found === 'string') return found;
  for (const wrapper of wrappers) {
    const inner = json[wrapper];
    const wrapped = isObject(inner) ? firstOf(inner, token) : undefined;
    if (typeof wrapped === 'string') return wrapped;
  }
  return null;
}
