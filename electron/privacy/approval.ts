import { createHash, randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { done, failed, type Outcome } from '../contract/errors.ts';
import {
  approvalAct,
  approvalAnswer,
  approvalRequest,
  type ApprovalAct,
  type ApprovalAnswer,
  type ApprovalRequest,
} from '../contract/models/approval.ts';
import { signDocument, signerOf, type SigningKey } from '../storage/signed-document.ts';
import type { Clock } from '../util/clock.ts';
import { createSerialQueue } from '../util/serial-queue.ts';

declare const checked: unique symbol;
/** That a second person approved one act. Only `use` makes one: no other code can name the member. */
export interface Approval {
  readonly [checked]: true;
  readonly request: ApprovalRequest;
  /** Fingerprint of the approver's key, and who that is. */
  readonly signer: string;
  readonly person: string;
}

/** Whose key may approve. */
export interface Approver {
  readonly fingerprint: string;
  readonly person: string;
}

/**
 * In the keychain, since every file of the app is the person's who asks. Questions that wait for an answer stand here, and
 * go with their use: a list of used answers could be put back as it was, and an absent question can't be.
 */
export interface ApprovalState {
  /** The latest time that was seen: a clock that is set back does not make an answer valid again. */
  readonly latest: number;
  readonly pending: readonly { readonly request: string; readonly until: number }[];
}

interface ApprovalOptions {
  readonly key: () => Promise<Outcome<SigningKey>>;
  readonly approvers: () => readonly Approver[];
  readonly state: {
    read(): Promise<Outcome<ApprovalState>>;
    write(state: ApprovalState): Promise<Outcome<null>>;
  };
  readonly clock: Pick<Clock, 'now'>;
}

export interface Approvals {
  /** A signed request that is good for `validMs`. Failures: approval.too-many, keychain.*. */
  ask(
    act: ApprovalAct,
    asked: { readonly by: string; readonly validMs: number },
  ): Promise<Outcome<ApprovalRequest>>;
  /** What a request says, for the other person. Failures: approval.invalid, approval.unsigned, approval.same-person, approval.expired, keychain.*. */
  read(bytes: Uint8Array): Promise<Outcome<ApprovalRequest>>;
  /** Failures: those of `read`. */
  answer(bytes: Uint8Array, decision: ApprovalAnswer['decision']): Promise<Outcome<ApprovalAnswer>>;
  /**
   * Takes an answer for an act, once: two at a time get it once. What was taken is spent, whatever becomes of the act.
   * Failures: approval.*, keychain.*.
   */
  use(bytes: Uint8Array, act: ApprovalAct): Promise<Outcome<Approval>>;
}

/** What a keychain takes is bounded. */
export const maxPending = 12;
const maxBytes = 64 * 1024;

/** The one form of a file: members that stand twice, or anything beside them, are not in it. */
export const approvalText = (document: ApprovalRequest | ApprovalAnswer): string =>
  `${JSON.stringify(document, null, 2)}\n`;

const hashOf = (request: ApprovalRequest): string =>
  createHash('sha256').update(JSON.stringify(request)).digest('hex');

function parse<T extends ApprovalRequest | ApprovalAnswer>(
  bytes: Uint8Array,
  schema: z.ZodType<T>,
): Outcome<T> {
  if (bytes.length > maxBytes) return failed('approval.invalid');
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    const value: unknown = JSON.parse(text);
    const result = schema.safeParse(value);
    // Compared with what the schema made of it, too: it may trim, and the signature is over what stood there.
    return result.success && approvalText(result.data) === text
      ? done(value as T)
      : failed('approval.invalid');
  } catch {
    return failed('approval.invalid');
  }
}

/** The first member in which an act is another than the one approved. */
function difference(asked: ApprovalAct, act: ApprovalAct): string | null {
  const members = Object.keys(approvalAct.shape) as (keyof ApprovalAct)[];
  return members.find((member) => JSON.stringify(asked[member]) !== JSON.stringify(act[member])) ?? null;
}

export function createApprovals({ key, approvers, state, clock }: ApprovalOptions): Approvals {
  /** Each begins with what the one before it wrote. */
  const inTurn = createSerialQueue();

  /** The state as of now, without questions whose time is over. */
  async function current(): Promise<Outcome<ApprovalState>> {
    const stored = await state.read();
    if (!stored.ok) return stored;
    const latest = Math.max(stored.value.latest, clock.now());
    return done({ latest, pending: stored.value.pending.filter(({ until }) => until > latest) });
  }

  async function ask(
    act: ApprovalAct,
    { by, validMs }: { readonly by: string; readonly validMs: number },
  ): Promise<Outcome<ApprovalRequest>> {
    const own = await key();
    if (!own.ok) return own;
    const now = await current();
    if (!now.ok) return now;
    const { latest, pending } = now.value;
    if (pending.length >= maxPending) return failed('approval.too-many', { subject: String(maxPending) });
    const until = latest + validMs;
    const request = signDocument(
      {
        format: 'tokendesk-approval-request' as const,
        version: 1 as const,
        id: randomUUID(),
        by,
        made: new Date(latest).toISOString(),
        validUntil: new Date(until).toISOString(),
        // In the schema's order, which is the order of the file.
        act: approvalAct.parse(act),
      },
      own.value,
    );
    const saved = await state.write({ latest, pending: [...pending, { request: hashOf(request), until }] });
    return saved.ok ? done(request) : saved;
  }

  async function read(bytes: Uint8Array): Promise<Outcome<ApprovalRequest>> {
    const parsed = parse(bytes, approvalRequest);
    if (!parsed.ok) return parsed;
    const own = await key();
    if (!own.ok) return own;
    const signer = signerOf(parsed.value);
    if (signer === null) return failed('approval.unsigned');
    if (signer === own.value.fingerprint) return failed('approval.same-person');
    return Date.parse(parsed.value.validUntil) <= clock.now() ? failed('approval.expired') : parsed;
  }

  async function answer(
    bytes: Uint8Array,
    decision: ApprovalAnswer['decision'],
  ): Promise<Outcome<ApprovalAnswer>> {
    const request = await read(bytes);
    if (!request.ok) return request;
    const own = await key();
    if (!own.ok) return own;
    const document = {
      format: 'tokendesk-approval-answer' as const,
      version: 1 as const,
      decision,
      made: new Date(clock.now()).toISOString(),
      request: request.value,
    };
    return done(signDocument(document, own.value));
  }

  async function use(bytes: Uint8Array, act: ApprovalAct): Promise<Outcome<Approval>> {
    const parsed = parse(bytes, approvalAnswer);
    if (!parsed.ok) return parsed;
    const { request, decision } = parsed.value;
    const signer = signerOf(parsed.value);
    const asker = signerOf(request);
    if (signer === null || asker === null) return failed('approval.unsigned');
    const own = await key();
    if (!own.ok) return own;
    if (asker !== own.value.fingerprint) return failed('approval.unknown');
    if (signer === asker) return failed('approval.same-person');
    const approver = approvers().find(({ fingerprint }) => fingerprint === signer);
    if (approver === undefined) return failed('approval.signer', { subject: signer });
    if (approver.person === request.by) return failed('approval.same-person');
    if (decision !== 'approved') return failed('approval.declined', { subject: approver.person });
    const now = await current();
    if (!now.ok) return now;
    const { latest, pending } = now.value;
    if (Date.parse(request.validUntil) <= latest) {
      // Remembered with the refusal: otherwise the clock could be set back for a second try.
      const saved = await state.write({ latest, pending });
      return saved.ok ? failed('approval.expired') : saved;
    }
    const hash = hashOf(request);
    if (!pending.some((waiting) => waiting.request === hash)) return failed('approval.unknown');
    const other = difference(request.act, act);
    if (other !== null) return failed('approval.other-act', { subject: other });
    const rest = pending.filter((waiting) => waiting.request !== hash);
    const saved = await state.write({ latest, pending: rest });
    return saved.ok ? done({ request, signer, person: approver.person } as Approval) : saved;
  }

  return {
    ask: (act, asked) => inTurn(() => ask(act, asked)),
    read,
    answer,
    use: (bytes, act) => inTurn(() => use(bytes, act)),
  };
}
