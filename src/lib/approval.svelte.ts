import type { Failure, Outcome } from '../../electron/contract/errors.ts';
import type { CallInput, CallName, CallOutput } from '../../electron/contract/calls.ts';
import type { ApprovalAct, OpenedApproval } from '../../electron/contract/models/approval.ts';
import type { Preview } from '../../electron/contract/models/batch.ts';
import type { ObscuredText } from '../../electron/contract/obscured.ts';
import type { Api } from './api.ts';

export type People = CallOutput<'approval.people'>;
type OpenedRequest = Extract<OpenedApproval, { kind: 'request' }>;
type PlainCall = Extract<CallName, `approval.${string}`>;

/** The approver's file, beside the one that is asked for. */
export interface ComparedFile {
  readonly name: string;
  readonly same: boolean;
  /** Its first rows, masked by main; null where it is another file. */
  readonly preview: Preview | null;
}

/** What a second person is asked for and what they answer. What is opened stands in the frame, whatever page is shown. */
export class ApprovalStore {
  readonly #api: Api;
  request = $state.raw<OpenedRequest | null>(null);
  compared = $state.raw<ComparedFile | null>(null);
  failure = $state.raw<Failure | null>(null);
  notice = $state('');
  people = $state.raw<People | null>(null);

  constructor(api: Api) {
    this.#api = api;
  }

  async #call<N extends Exclude<PlainCall, 'approval.drop'>>(
    name: N,
    input: CallInput<N>,
  ): Promise<CallOutput<N> | undefined> {
    this.notice = '';
    const outcome = (await this.#api.call(name, input)) as Outcome<CallOutput<N>>;
    this.failure = outcome.ok ? null : outcome.failure;
    return outcome.ok ? outcome.value : undefined;
  }

  /** A request or an answer that was opened in any way. */
  show(outcome: Outcome<OpenedApproval | null>): void {
    this.notice = '';
    this.failure = outcome.ok ? null : outcome.failure;
    if (!outcome.ok || outcome.value === null) return;
    this.compared = null;
    const opened = outcome.value;
    this.request = opened.kind === 'request' ? opened : null;
    if (opened.kind === 'answer') this.notice = `Approved by ${opened.by}.`;
  }

  async choose(): Promise<void> {
    this.show(await this.#api.call('approval.choose', {}));
  }

  async drop(file: File): Promise<void> {
    this.show(await this.#api.dropApproval(file));
  }

  async close(): Promise<void> {
    await this.#call('approval.close', {});
    this.request = null;
    this.compared = null;
  }

  async answer(decision: 'approved' | 'declined', passphrase: ObscuredText): Promise<void> {
    const { request } = this;
    if (request === null) return;
    const written = await this.#call('approval.answer', { request: request.request, decision, passphrase });
    if (written === undefined || written === null) return;
    if (this.request === request) {
      this.request = null;
      this.compared = null;
    }
    this.notice = `The answer is in ${written.name}. Give it to who asked.`;
  }

  /** Whether a file of the approver's is the one that is asked for. */
  async compare(): Promise<void> {
    const chosen = await this.#api.call('batch.choose', {});
    this.failure = chosen.ok ? null : chosen.failure;
    if (!chosen.ok || chosen.value === null) return;
    const { sourceId, name } = chosen.value;
    const hash = await this.#api.call('batch.hash', { sourceId });
    this.failure = hash.ok ? null : hash.failure;
    if (!hash.ok) return;
    const same = hash.value.sha256 === this.request?.act.source?.sha256;
    const rows = same ? await this.#api.call('batch.preview', { sourceId, reading: {}, masked: null }) : null;
    this.compared = { name, same, preview: rows?.ok === true ? rows.value : null };
  }

  /** `act`: what the person sees. */
  async writeRequest(act: ApprovalAct): Promise<void> {
    const written = await this.#call('approval.writeRequest', { act });
    if (written) this.notice = `The request is in ${written.name}. Give it to the second person.`;
  }

  async copyLink(act: ApprovalAct): Promise<void> {
    if ((await this.#call('approval.copyLink', { act })) !== undefined)
      this.notice = 'A link with the request is on the clipboard.';
  }

  async atDesk(
    decision: 'approved' | 'declined',
    { act, name, passphrase }: { act: ApprovalAct; name: string; passphrase: ObscuredText },
  ): Promise<boolean> {
    const decided = await this.#call('approval.atDesk', { act, decision, name, passphrase });
    if (decided === undefined) return false;
    this.notice = decision === 'approved' ? `Approved by ${name}.` : `Declined by ${name}.`;
    return true;
  }

  /** With the lock. */
  clear(): void {
    this.request = null;
    this.compared = null;
    this.failure = null;
    this.notice = '';
    this.people = null;
  }

  async dismiss(): Promise<void> {
    await this.#call('approval.dismiss', {});
  }

  /** Says its own failure alone: what a file that was opened meanwhile has said stays. */
  async loadPeople(): Promise<void> {
    const people = await this.#api.call('approval.people', {});
    this.people = people.ok ? people.value : null;
    if (!people.ok) this.failure = people.failure;
  }

  async introduce(fingerprint: string, name: string, spoken: string): Promise<boolean> {
    const introduced = await this.#call('approval.introduce', { fingerprint, name, spoken });
    if (introduced === undefined) return false;
    await this.loadPeople();
    return true;
  }

  async removePerson(fingerprint: string): Promise<void> {
    if ((await this.#call('approval.removePerson', { fingerprint })) !== undefined) await this.loadPeople();
  }

  async addToDesk(name: string, passphrase: ObscuredText): Promise<boolean> {
    const added = await this.#call('approval.addToDesk', { name, passphrase });
    if (added === undefined) return false;
    await this.loadPeople();
    return true;
  }
}
