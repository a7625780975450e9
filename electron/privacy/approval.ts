import { createHash, randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { done, failed, type Outcome } from '../contract/errors.ts';
import {
  approvalAct,
  approvalAnswer,
  approvalRequest,
  type ApprovalAct,
  type ApprovalAnswer,
  type ApprovalPerson,
  type ApprovalRequest,
} from '../contract/models/approval.ts';
import { signDocument, signerOf, type SigningKey } from '../storage/signed-document.ts';
import type { Clock } from '../util/clock.ts';

/** Whose key may approve. */
export interface Approver {
  readonly fingerprint: string;
  readonly name: string;
}

/** An answer of another person that approves, to a request of this workstation. Whether it may still be used is asked by `use`. */
export interface HeldAnswer {
  readonly request: ApprovalRequest;
  /** SHA-256 of the request: what the audit log knows it by. */
  readonly hash: string;
  /** Fingerprint of the approver's key. */
  readonly signer: string;
  /** The approver's name as it was introduced, with what they signed as. */
  readonly by: string;
}

declare const checked: unique symbol;
/** That a second person approved one act. Only `use` makes one: no other code can name the member. */
export interface Approval extends HeldAnswer {
  readonly [checked]: true;
  /** Of an act that was not begun, since the log could not be written. */
  readonly release: () => void;
}

interface ApprovalOptions {
  readonly key: () => Promise<Outcome<SigningKey>>;
  readonly own: Omit<ApprovalPerson, 'atDesk'>;
  readonly approvers: () => Promise<Outcome<readonly Approver[]>>;
  /** What remembers requests and used answers: see `Audit.approval`. */
  readonly log: {
    approval(request: string): Promise<Outcome<{ readonly isUsed: boolean; readonly latest: number } | null>>;
  };
  readonly clock: Pick<Clock, 'now'>;
}

/** A person with a passphrase of their own at the desk of who asks. */
export interface DeskSigner {
  readonly name: string;
  readonly key: SigningKey;
}

/** A request that was read, with the key it is signed with. */
export interface ReadRequest {
  readonly request: ApprovalRequest;
  readonly hash: string;
  readonly signer: string;
}

export interface Approvals {
  /** A signed request. It counts once the audit log has a line of it. Failures: keychain.*. */
  ask(act: ApprovalAct): Promise<Outcome<ApprovalRequest>>;
  /** What a request says, for the other person. Failures: approval.invalid, approval.unsigned, approval.same-person, approval.expired, approval.clock, keychain.*. */
  read(bytes: Uint8Array): Promise<Outcome<ReadRequest>>;
  /** Failures: those of `read`. At the desk of who asks it is signed with another key than theirs, under another name. */
  answer(
    bytes: Uint8Array,
    decision: ApprovalAnswer['decision'],
    desk?: DeskSigner,
  ): Promise<Outcome<ApprovalAnswer>>;
  /** Whether an answer could be used, without using it. Failures: approval.*, audit.*, keychain.*. */
  open(bytes: Uint8Array): Promise<Outcome<HeldAnswer>>;
  /**
   * Takes an answer for an act, once: two at a time get it once. The line of the act makes that last. Failures: approval.*,
   * audit.*, keychain.*.
   */
  use(held: HeldAnswer, act: ApprovalAct): Promise<Outcome<Approval>>;
}

/** How long an answer may be used, from the question on. */
export const validMs = 24 * 3_600_000;
/** Clocks of two workstations differ. */
const toleranceMs = 10 * 60_000;
export const maxApprovalBytes = 128 * 1024;

/** The one form of a file: members that stand twice, or anything beside them, are not in it. */
export const approvalText = (document: ApprovalRequest | ApprovalAnswer): string =>
  `${JSON.stringify(document, null, 2)}\n`;

export const hashOf = (request: ApprovalRequest): string =>
  createHash('sha256').update(JSON.stringify(request)).digest('hex');

function parse<T extends ApprovalRequest | ApprovalAnswer>(
  bytes: Uint8Array,
  schema: z.ZodType<T>,
): Outcome<T> {
  if (bytes.length > maxApprovalBytes) return failed('approval.invalid');
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
export function difference(asked: ApprovalAct, act: ApprovalAct): keyof ApprovalAct | null {
  const members = Object.keys(approvalAct.shape) as (keyof ApprovalAct)[];
  return members.find((member) => JSON.stringify(asked[member]) !== JSON.stringify(act[member])) ?? null;
}

const sameName = (one: string, other: string): boolean =>
  one.normalize('NFKC').trim().toLowerCase() === other.normalize('NFKC').trim().toLowerCase();

/** A person is a key, and a user of a machine. At one desk the user is who typed the name, so that has to be another. */
const isSamePerson = (one: ApprovalPerson, other: ApprovalPerson): boolean =>
  sameName(one.user, other.user) && sameName(one.machine, other.machine);

export function createApprovals({ key, own, approvers, log, clock }: ApprovalOptions): Approvals {
  /** Taken, and perhaps not in the log yet. */
  const taken = new Set<string>();

  async function ask(act: ApprovalAct): Promise<Outcome<ApprovalRequest>> {
    const signing = await key();
    if (!signing.ok) return signing;
    const now = clock.now();
    const document = {
      format: 'tokendesk-approval-request' as const,
      version: 1 as const,
      id: randomUUID(),
      by: { ...own, atDesk: false },
      made: new Date(now).toISOString(),
      validUntil: new Date(now + validMs).toISOString(),
      // In the schema's order, which is the order of the file.
      act: approvalAct.parse(act),
    };
    return done(signDocument(document, signing.value));
  }

  /** What holds for a request whoever looks at it. */
  function readSigned(bytes: Uint8Array): Outcome<ReadRequest> {
    const parsed = parse(bytes, approvalRequest);
    if (!parsed.ok) return parsed;
    const request = parsed.value;
    const signer = signerOf(request);
    if (signer === null) return failed('approval.unsigned');
    const [made, until, now] = [Date.parse(request.made), Date.parse(request.validUntil), clock.now()];
    // Also: the clock of who approves was set back.
    if (made > now + toleranceMs) return failed('approval.clock');
    if (until <= now || until - made > validMs) return failed('approval.expired');
    return done({ request, hash: hashOf(request), signer });
  }

  async function read(bytes: Uint8Array): Promise<Outcome<ReadRequest>> {
    const signed = readSigned(bytes);
    if (!signed.ok) return signed;
    const signing = await key();
    if (!signing.ok) return signing;
    const isOwn =
      signed.value.signer === signing.value.fingerprint ||
      isSamePerson(signed.value.request.by, { ...own, atDesk: false });
    return isOwn ? failed('approval.same-person') : signed;
  }

  async function answer(
    bytes: Uint8Array,
    decision: ApprovalAnswer['decision'],
    desk?: DeskSigner,
  ): Promise<Outcome<ApprovalAnswer>> {
    const signing = desk === undefined ? await key() : done(desk.key);
    if (!signing.ok) return signing;
    const signed = desk === undefined ? await read(bytes) : readSigned(bytes);
    if (!signed.ok) return signed;
    const { request, signer } = signed.value;
    const by = { ...own, ...(desk !== undefined && { user: desk.name }), atDesk: desk !== undefined };
    if (signer === signing.value.fingerprint || isSamePerson(request.by, by))
      return failed('approval.same-person');
    const document = {
      format: 'tokendesk-approval-answer' as const,
      version: 1 as const,
      decision,
      by,
      made: new Date(clock.now()).toISOString(),
      request,
    };
    return done(signDocument(document, signing.value));
  }

  async function open(bytes: Uint8Array): Promise<Outcome<HeldAnswer>> {
    const parsed = parse(bytes, approvalAnswer);
    if (!parsed.ok) return parsed;
    const { request, decision, by } = parsed.value;
    const signer = signerOf(parsed.value);
    const asker = signerOf(request);
    if (signer === null || asker === null) return failed('approval.unsigned');
    const signing = await key();
    if (!signing.ok) return signing;
    if (asker !== signing.value.fingerprint) return failed('approval.unknown');
    if (signer === asker || isSamePerson(request.by, by)) return failed('approval.same-person');
    const approver = await findApprover(signer);
    if (!approver.ok) return approver;
    if (decision !== 'approved') return failed('approval.declined', { subject: approver.value.name });
    const held = {
      request,
      hash: hashOf(request),
      signer,
      by: `${approver.value.name} (${by.user}, ${by.machine}${by.atDesk ? ', at the same desk' : ''})`,
    };
    const usable = await checkUsable(held);
    return usable.ok ? done(held) : usable;
  }

  async function findApprover(signer: string): Promise<Outcome<Approver>> {
    const known = await approvers();
    if (!known.ok) return known;
    const approver = known.value.find(({ fingerprint }) => fingerprint === signer);
    if (approver === undefined) return failed('approval.signer', { subject: signer });
    return sameName(approver.name, own.user) ? failed('approval.same-person') : done(approver);
  }

  async function checkUsable({ request, hash }: HeldAnswer): Promise<Outcome<null>> {
    const lines = await log.approval(hash);
    if (!lines.ok) return lines;
    if (lines.value === null) return failed('approval.unknown');
    if (lines.value.isUsed || taken.has(hash)) return failed('approval.used');
    const latest = Math.max(lines.value.latest, clock.now());
    return Date.parse(request.validUntil) <= latest ? failed('approval.expired') : done(null);
  }

  async function use(held: HeldAnswer, act: ApprovalAct): Promise<Outcome<Approval>> {
    const { hash, request, signer } = held;
    const other = difference(request.act, act);
    if (other !== null) return failed('approval.other-act', { subject: other });
    // Introduced still: a person may have been removed since the answer was opened.
    const approver = await findApprover(signer);
    if (!approver.ok) return approver;
    const usable = await checkUsable(held);
    if (!usable.ok) return usable;
    // Asked again without a wait in between: another act may have taken it meanwhile.
    if (taken.has(hash)) return failed('approval.used');
    taken.add(hash);
    return done({ ...held, release: () => taken.delete(hash) } as unknown as Approval);
  }

  return { ask, read, answer, open, use };
}
