import type { Audit, AuditClose } from '../audit/audit.ts';
import type { CallInput, CallName, CallOutput } from '../contract/calls.ts';
import { type Outcome, failed, done } from '../contract/errors.ts';
import type { RevealReason, Lookup, Reveal, RevealInput } from '../contract/models/lookup.ts';
import { obscureText, restoreText } from '../contract/obscured.ts';
import type { ServiceClient, Answer } from '../service/client.ts';
import { createRecent } from './recent.ts';

/** The connection that is in use now, with what the audit wants to know of it. */
export interface ActiveConnection {
  readonly connectionId: string;
  readonly name: string;
  readonly environment: string;
  readonly client: ServiceClient;
}

/** What the lookup room is handed. */
export interface LookupParts {
  readonly active: () => Promise<Outcome<ActiveConnection>>;
  readonly audit: Pick<Audit, 'begin'>;
  readonly reveals: {
    /** Refuses with `reveal.throttled`; asked before anything is sent. */
    allow(): Outcome<null>;
    open(): { revealId: string; hideAfterMs: number };
    hide(revealId: string): void;
  };
  readonly clipboard: { write(text: string): Promise<Outcome<{ clearAfterMs: number }>> };
  readonly caseRequired: () => boolean;
  readonly now: () => Date;
  readonly newId: () => string;
}

/**
 * Cleartext of a looked-up token for an act that needs a reason. The act is in the audit log before anything is
 * sent; the returned function says how the act itself ended.
 */
export async function cleartextFor(
  parts: LookupParts,
  act: 'Reveal' | 'Copy',
  { lookup, active }: { lookup: Lookup; active: ActiveConnection },
  { reason, caseReference }: RevealReason,
): Promise<Outcome<{ answer: Answer; close: AuditClose }>> {
  if (parts.caseRequired() && caseReference === '') return failed('reveal.reason-required');
  const allowed = parts.reveals.allow();
  if (!allowed.ok) return allowed;
  const { policy, definition } = lookup;
  const { name: connection, environment } = active;
  const begun = await parts.audit.begin({
    action: act,
    connection,
    environment,
    policy,
    definition,
    reason,
    caseReference,
    rows: 1,
  });
  if (!begun.ok) return begun;
  const context = { reason, caseReference, rows: 1 };
  const answer = await active.client.detokenize(policy, definition, lookup.token, context);
  if (!answer.ok) {
    const { code, requestId } = answer.failure;
    begun.value({ ok: false, code, ...(requestId !== undefined && { requestId }) });
    return answer;
  }
  return { ok: true, value: { answer: answer.value, close: begun.value } };
}

interface Subject {
  readonly policy: string;
  readonly definition: string;
  readonly caseReference: string;
  readonly kind: Lookup['kind'];
}

/** Asks the service for the masked form of a token, so that no cleartext leaves it. */
export async function maskToken(
  parts: LookupParts,
  active: ActiveConnection,
  token: string,
  subject: Subject,
): Promise<Outcome<Lookup>> {
  const { policy, definition, caseReference, kind } = subject;
  const answer = await active.client.getMasked(policy, definition, token, { caseReference, rows: 1 });
  if (!answer.ok) return answer;
  return done({
    id: parts.newId(),
    at: parts.now().toISOString(),
    connectionId: active.connectionId,
    policy,
    definition,
    token,
    masked: answer.value.value,
    kind,
    caseReference,
    revealedAt: null,
    requestId: answer.value.requestId,
  });
}

export async function mask(parts: LookupParts, input: CallInput<'lookup.mask'>): Promise<Outcome<Lookup>> {
  const active = await parts.active();
  if (!active.ok) return active;
  return maskToken(parts, active.value, input.token, { ...input, kind: 'masked' });
}

/** Cleartext for the screen, for a few seconds. Main ends it by itself: time, blur, lock, or the next reveal. */
export async function reveal(
  parts: LookupParts,
  subject: { lookup: Lookup; active: ActiveConnection },
  input: RevealInput,
): Promise<Outcome<Reveal>> {
  const cleartext = await cleartextFor(parts, 'Reveal', subject, input);
  if (!cleartext.ok) return cleartext;
  const { answer, close } = cleartext.value;
  const { revealId, hideAfterMs } = parts.reveals.open();
  close({ ok: true, requestId: answer.requestId });
  const obscured = obscureText(answer.value, input.xorKey);
  return done({ revealId, cleartext: obscured, hideAfterMs, requestId: answer.requestId });
}

/**
 * Puts a mask, a token or, with a reason, cleartext on the clipboard. Cleartext goes from the service's answer to the
 * clipboard within main; the window does not get it. It is fetched anew, since no cleartext is kept for later.
 */
export async function copy(
  parts: LookupParts,
  subject: { lookup: Lookup; active: ActiveConnection },
  input: CallInput<'lookup.copy'>,
): Promise<Outcome<{ clearAfterMs: number }>> {
  if (input.what === 'masked') return parts.clipboard.write(subject.lookup.masked);
  if (input.what === 'token') return parts.clipboard.write(subject.lookup.token);
  const cleartext = await cleartextFor(parts, 'Copy', subject, input);
  if (!cleartext.ok) return cleartext;
  const { answer, close } = cleartext.value;
  const copied = await parts.clipboard.write(answer.value);
  close(
    copied.ok
      ? { ok: true, requestId: answer.requestId }
      : { ok: false, code: copied.failure.code, requestId: answer.requestId },
  );
  return copied;
}

/**
 * Tokenizes one value, then has its mask made by the service. A policy may tokenize and not mask: the token is still
 * the person's, shown without a mask rather than lost.
 */
export async function tokenize(
  parts: LookupParts,
  input: CallInput<'lookup.tokenize'>,
): Promise<Outcome<Lookup>> {
  const active = await parts.active();
  if (!active.ok) return active;
  const { policy, definition, caseReference } = input;
  const context = { caseReference, rows: 1 };
  const answer = await active.value.client.tokenize(
    policy,
    definition,
    restoreText(input.cleartext),
    context,
  );
  if (!answer.ok) return answer;
  return withMask(parts, active.value, answer.value, {
    policy,
    definition,
    caseReference,
    kind: 'tokenized',
  });
}

/** The lookup of a token just made; an unmasked one when the policy does not grant GetMasked. */
export async function withMask(
  parts: LookupParts,
  active: Parameters<typeof maskToken>[1],
  answer: { value: string; requestId: string },
  subject: Parameters<typeof maskToken>[3],
): Promise<Outcome<Lookup>> {
  const masked = await maskToken(parts, active, answer.value, subject);
  if (masked.ok) return masked;
  return {
    ok: true,
    value: {
      id: parts.newId(),
      at: parts.now().toISOString(),
      connectionId: active.connectionId,
      ...subject,
      token: answer.value,
      masked: '',
      revealedAt: null,
      requestId: answer.requestId,
    },
  };
}

/** Takes a token from its definition to another, without cleartext on the way (spec §4, Translate). */
export async function translate(
  parts: LookupParts,
  { lookup, active }: { lookup: Lookup; active: ActiveConnection },
  input: CallInput<'lookup.translate'>,
): Promise<Outcome<Lookup>> {
  const { caseReference } = lookup;
  const target = { policy: input.targetPolicy, definition: input.targetDefinition };
  const context = { caseReference, rows: 1 };
  const answer = await active.client.translate(
    lookup.policy,
    lookup.definition,
    target,
    lookup.token,
    context,
  );
  if (!answer.ok) return answer;
  return withMask(parts, active, answer.value, { ...target, caseReference, kind: 'translated' });
}

type LookupCallName = Extract<CallName, `lookup.${string}`>;

/** The lookup room: one method for each `lookup.*` call of the contract, under the same input and output. */
export type LookupCalls = {
  readonly [N in LookupCallName]: (input: CallInput<N>) => Promise<Outcome<CallOutput<N>>>;
};

export function openLookup(parts: LookupParts): LookupCalls {
  const recent = createRecent();

  /** A lookup of another connection is not one of this one: its token means nothing there. */
  async function known(id: string): Promise<Outcome<{ lookup: Lookup; active: ActiveConnection }>> {
    const active = await parts.active();
    if (!active.ok) return active;
    const lookup = recent.find(id);
    if (lookup?.connectionId !== active.value.connectionId) return failed('lookup.unknown');
    return done({ lookup, active: active.value });
  }

  function remember(outcome: Outcome<Lookup>): Outcome<Lookup> {
    if (outcome.ok) recent.add(outcome.value);
    return outcome;
  }

  return {
    'lookup.mask': async (input) => remember(await mask(parts, input)),
    'lookup.tokenize': async (input) => remember(await tokenize(parts, input)),
    'lookup.translate': async (input) => {
      const subject = await known(input.lookupId);
      return subject.ok ? remember(await translate(parts, subject.value, input)) : subject;
    },
    'lookup.reveal': async (input) => {
      const subject = await known(input.lookupId);
      if (!subject.ok) return subject;
      const revealed = await reveal(parts, subject.value, input);
      if (revealed.ok) recent.markRevealed(input.lookupId, parts.now().toISOString());
      return revealed;
    },
    'lookup.hide': async (input) => {
      parts.reveals.hide(input.revealId);
      return Promise.resolve(done({}));
    },
    'lookup.copy': async (input) => {
      const subject = await known(input.lookupId);
      return subject.ok ? copy(parts, subject.value, input) : subject;
    },
    'lookup.recent': async () => {
      const active = await parts.active();
      return done(active.ok ? recent.list(active.value.connectionId) : []);
    },
    'lookup.forget': async () => {
      recent.clear();
      return Promise.resolve(done({}));
    },
  };
}
