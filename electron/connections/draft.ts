import type { z } from 'zod';
import { done, failed, type Outcome } from '../contract/errors.ts';
import { connectionDraft, type Connection, type ConnectionDraft } from '../contract/models/connection.ts';
import { readCertificates } from '../service/http/certificates.ts';

/** Normalizes what a person typed. `subject` of the failure names the field, never its value. */
export function checkDraft(draft: ConnectionDraft, others: readonly Connection[]): Outcome<ConnectionDraft> {
  const baseUrl = plainBaseUrl(draft.baseUrl);
  if (baseUrl === null) return failed('connection.invalid', { subject: 'baseUrl' });
  const extraCa = draft.extraCa?.trim() ? readCertificates(draft.extraCa) : done(null);
  if (!extraCa.ok) return extraCa;

  const checked = connectionDraft.safeParse({ ...draft, baseUrl, extraCa: extraCa.value?.join('') ?? null });
  if (!checked.success) return failed('connection.invalid', { subject: firstField(checked.error) });
  const value = checked.data;

  if (others.some((other) => sameName(other.name, value.name))) return duplicate('name');
  if (new Set(value.policies).size < value.policies.length) return duplicate('policies');
  if (new Set(value.definitions.map(({ name }) => name)).size < value.definitions.length)
    return duplicate('definitions');
  return done(value);
}

/** HTTPS, no user name, query or fragment, no slash at the end; null when it can't be made so. */
function plainBaseUrl(text: string): string | null {
  if (!URL.canParse(text.trim())) return null;
  const url = new URL(text.trim());
  if (url.protocol !== 'https:' || url.username !== '' || url.password !== '') return null;
  if (url.search !== '' || url.hash !== '') return null;
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

function firstField(error: z.ZodError): string {
  return String(error.issues[0]?.path[0] ?? '');
}

export const duplicate = (field: string) => failed('connection.invalid', { subject: field });
export const sameName = (one: string, other: string) => one.toLowerCase() === other.toLowerCase();
