import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Handlers } from '../contract/calls.ts';
import type { AppState } from '../contract/models/app.ts';
import type {
  ApprovalAct,
  ApprovalRequest,
  OpenedApproval,
  LoggedApproval,
} from '../contract/models/approval.ts';
import type { FileName } from '../contract/models/fields.ts';
import { restoreText } from '../contract/obscured.ts';
import type { Platform } from '../platform/platform.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { readChosenFile } from '../storage/read-small-file.ts';
import {
  approvalText,
  difference,
  hashOf,
  maxApprovalBytes,
  type Approvals,
  type DeskSigner,
  type ReadRequest,
} from './approval.ts';
import { spokenLength, type Approvers } from './approvers.ts';
import type { AutoClearClipboard } from './clipboard.ts';
import { shownName } from './file-names.ts';
import type { Lock } from './lock.ts';
import type { Asking } from './second-person.ts';

interface ApprovalCallsOptions {
  readonly approvals: Approvals;
  readonly approvers: Approvers;
  readonly secondPerson: Asking;
  readonly audit: {
    record<T>(
      intent: {
        readonly action: string;
        readonly note?: string;
        readonly approval?: LoggedApproval;
        readonly reason?: string;
        readonly caseReference?: string;
      },
      run: () => Promise<Outcome<T>>,
    ): Promise<Outcome<T>>;
  };
  readonly lock: Pick<Lock, 'state' | 'check'>;
  readonly clipboard: Pick<AutoClearClipboard, 'epoch' | 'write'>;
  readonly platform: Pick<Platform, 'chooseFile' | 'chooseTarget' | 'droppedFile'>;
}

declare const shownMember: unique symbol;
/** An act that was on the screen when a person decided about it: nothing else is asked for. Only `shownAct` makes one. */
type ShownAct = ApprovalAct & { readonly [shownMember]: true };

export interface ApprovalCalls {
  readonly calls: Handlers<'approval'>;
  /** The request or answer of a link. Failures: those of `approval.choose`. */
  openLink(bytes: Uint8Array): Promise<Outcome<OpenedApproval>>;
  state(): AppState['approval'];
  /** With the lock. */
  forget(): void;
}

/** In front of a request or an answer, in base64url. */
const approvalLink = 'tokendesk://approval/';

/** What both sides do with requests and answers. Each step is a line of the audit log of where it is done. */
export function createApprovalCalls(options: ApprovalCallsOptions): ApprovalCalls {
  const { approvals, approvers, secondPerson, audit, lock, clipboard, platform } = options;
  /** The request that is on the screen. */
  let shown: { readonly bytes: Uint8Array; readonly read: ReadRequest } | null = null;

  const lineOf = ({ act }: ApprovalRequest) => ({
    connection: act.connection,
    environment: act.environment,
    ...(act.policy !== null && { policy: act.policy }),
    ...(act.definition !== null && { definition: act.definition }),
    ...(act.job !== null && { job: act.job }),
    reason: act.reason,
    caseReference: act.caseReference,
    rows: act.rows,
    values: act.values,
  });

  const isWanted = (act: ApprovalAct): boolean => {
    const wanted = secondPerson.wanted();
    return wanted !== null && difference(act, wanted) === null;
  };

  /**
   * What the window showed, if it is what was refused last. From here on it is this one, whatever is refused while a person
   * is asked for a passphrase or a file.
   */
  function shownAct(act: ApprovalAct): Outcome<ShownAct> {
    const wanted = secondPerson.wanted();
    if (wanted === null) return failed('approval.none');
    const other = difference(act, wanted);
    return other === null
      ? done(wanted as unknown as ShownAct)
      : failed('approval.other-act', { subject: other });
  }

  /** The line of who asks comes first: without it no answer counts. */
  async function ask<T>(
    act: ShownAct,
    give: (request: ApprovalRequest) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    const request = await approvals.ask(act);
    if (!request.ok) return request;
    const line = {
      action: 'AskApproval',
      ...lineOf(request.value),
      approval: { request: hashOf(request.value) },
    };
    return audit.record(line, () => give(request.value));
  }

  async function open(bytes: Uint8Array): Promise<Outcome<OpenedApproval>> {
    if (Buffer.from(bytes).subarray(0, 100).includes('tokendesk-approval-answer')) return openAnswer(bytes);
    shown = null;
    const read = await approvals.read(bytes);
    const line = read.ok ? { ...lineOf(read.value.request), approval: { request: read.value.hash } } : {};
    return audit.record({ action: 'OpenApproval', ...line }, async () => {
      if (!read.ok) return read;
      shown = { bytes, read: read.value };
      const known = await approvers.list();
      const { by, made, validUntil, act } = read.value.request;
      const { signer } = read.value;
      const name = known.ok
        ? (known.value.find(({ fingerprint }) => fingerprint === signer)?.name ?? null)
        : null;
      const request = read.value.hash;
      return done({ kind: 'request' as const, request, by, made, validUntil, act, signer, known: name });
    });
  }

  async function openAnswer(bytes: Uint8Array): Promise<Outcome<OpenedApproval>> {
    const opened = await approvals.open(bytes);
    const line = opened.ok
      ? {
          ...lineOf(opened.value.request),
          approval: { request: opened.value.hash, signer: opened.value.signer, by: opened.value.by },
        }
      : {};
    return audit.record({ action: 'OpenApproval', ...line }, () => {
      if (!opened.ok) return Promise.resolve(opened);
      secondPerson.hold(opened.value);
      const { by, request } = opened.value;
      return Promise.resolve(done({ kind: 'answer' as const, by, act: request.act }));
    });
  }

  async function openFile(file: string | null): Promise<Outcome<OpenedApproval | null>> {
    if (file === null) return done(null);
    const bytes = await readChosenFile(file, { maxBytes: maxApprovalBytes, unfit: 'approval.invalid' });
    return bytes.ok ? open(new Uint8Array(bytes.value)) : bytes;
  }

  const fileName = (kind: 'request' | 'answer', { caseReference }: ApprovalAct): string => {
    const stem = caseReference.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 60);
    return `approval-${kind}${stem === '' ? '' : `-${stem}`}.json`;
  };
  const nameOf = (file: string): { name: FileName } => ({ name: shownName(file) });

  /** Whatever is opened while a person is asked. */
  async function writeAnswer(
    answered: NonNullable<typeof shown>,
    decision: 'approved' | 'declined',
  ): Promise<Outcome<{ name: FileName } | null>> {
    const { bytes, read } = answered;
    const target = await platform.chooseTarget({ name: fileName('answer', read.request.act), beside: null });
    if (target === null) return done(null);
    const own = await approvers.own();
    if (!own.ok) return own;
    const answer = await approvals.answer(bytes, decision);
    if (!answer.ok) return answer;
    const { by } = answer.value;
    const approval = { request: read.hash, signer: own.value.fingerprint, by: `${by.user}, ${by.machine}` };
    const action = decision === 'approved' ? 'Approve' : 'Decline';
    const note = `asked by ${read.request.by.user}, ${read.request.by.machine}`;
    const line = { action, ...lineOf(read.request), approval, note };
    return audit.record(line, async () => {
      const written = await writeFileAtomically(target, approvalText(answer.value));
      if (!written.ok) return written;
      if (shown === answered) shown = null;
      return done(nameOf(target));
    });
  }

  /** Asked and answered at one desk: no file goes anywhere, and every line is in this log. */
  async function decideAtDesk(
    act: ShownAct,
    decision: 'approved' | 'declined',
    desk: DeskSigner,
  ): Promise<Outcome<null>> {
    const asked = await ask(act, (request) => Promise.resolve(done(request)));
    if (!asked.ok) return asked;
    const answer = await approvals.answer(Buffer.from(approvalText(asked.value)), decision, desk);
    if (!answer.ok) return answer;
    const { by } = answer.value;
    const action = decision === 'approved' ? 'Approve' : 'Decline';
    const approval = {
      request: hashOf(asked.value),
      signer: desk.key.fingerprint,
      by: `${by.user}, ${by.machine}, at the same desk`,
    };
    const decided = await audit.record({ action, ...lineOf(asked.value), approval }, async () => {
      if (decision === 'declined') return done(null);
      const opened = await approvals.open(Buffer.from(approvalText(answer.value)));
      if (!opened.ok) return opened;
      secondPerson.hold(opened.value);
      return done(null);
    });
    if (decided.ok && decision === 'declined' && isWanted(act)) secondPerson.dismiss();
    return decided;
  }

  const emptied = (outcome: Outcome<unknown>): Outcome<Record<string, never>> =>
    outcome.ok ? done({}) : outcome;

  const calls: Handlers<'approval'> = {
    async 'approval.people'() {
      const [own, list, desk] = [await approvers.own(), await approvers.list(), await approvers.desk()];
      if (!own.ok) return own;
      if (!list.ok) return list;
      if (!desk.ok) return desk;
      return done({
        fingerprint: own.value.fingerprint,
        approvers: list.value.map(({ fingerprint, name }) => ({ fingerprint, name })),
        byHand: approvers.byHand,
        desk: [...desk.value],
      });
    },
    'approval.introduce': async ({ fingerprint, name, spoken }) =>
      emptied(
        await audit.record(
          {
            action: 'IntroduceApprover',
            note: `${name}, ${fingerprint}, ${spokenLength} characters read aloud`,
          },
          () => approvers.introduce({ fingerprint, name }, spoken),
        ),
      ),
    'approval.removePerson': async ({ fingerprint }) =>
      emptied(
        await audit.record({ action: 'RemoveApprover', note: fingerprint }, () =>
          approvers.remove(fingerprint),
        ),
      ),
    'approval.addToDesk': ({ name, passphrase }) =>
      audit.record({ action: 'AddDeskPerson', note: name }, () =>
        approvers.addToDesk(name, restoreText(passphrase)),
      ),
    async 'approval.writeRequest'({ act }) {
      const shownOne = shownAct(act);
      if (!shownOne.ok) return shownOne;
      const target = await platform.chooseTarget({ name: fileName('request', act), beside: null });
      if (target === null) return done(null);
      return ask(shownOne.value, async (request) => {
        const written = await writeFileAtomically(target, approvalText(request));
        return written.ok ? done(nameOf(target)) : written;
      });
    },
    async 'approval.copyLink'({ act }) {
      const epoch = clipboard.epoch();
      const shownOne = shownAct(act);
      if (!shownOne.ok) return shownOne;
      return ask(shownOne.value, (request) => {
        const encoded = Buffer.from(approvalText(request)).toString('base64url');
        return clipboard.write(`${approvalLink}${encoded}`, epoch);
      });
    },
    async 'approval.atDesk'({ act, name, passphrase, decision }) {
      const shownOne = shownAct(act);
      if (!shownOne.ok) return shownOne;
      const desk = await approvers.openAtDesk(name, restoreText(passphrase));
      return desk.ok ? emptied(await decideAtDesk(shownOne.value, decision, desk.value)) : desk;
    },
    'approval.choose': async () => openFile(await platform.chooseFile('approval')),
    async 'approval.drop'({ reference }) {
      const file = await platform.droppedFile(reference);
      if (file === null) return failed('file.refused');
      const opened = await openFile(file);
      return opened.ok && opened.value === null
        ? failed('file.refused')
        : (opened as Outcome<OpenedApproval>);
    },
    async 'approval.answer'({ request, decision, passphrase }) {
      const answered = shown;
      if (answered === null) return failed('approval.none');
      if (answered.read.hash !== request) return failed('approval.other-act');
      if (lock.state().passphraseSet) {
        const checked = await lock.check(restoreText(passphrase));
        if (!checked.ok) return checked;
      }
      return writeAnswer(answered, decision);
    },
    'approval.close'() {
      shown = null;
      return Promise.resolve(done({}));
    },
    'approval.dismiss'() {
      secondPerson.dismiss();
      return Promise.resolve(done({}));
    },
  };

  return {
    calls,
    openLink: open,
    state: () => ({
      wanted: secondPerson.wanted(),
      held: secondPerson.held().map(({ by, request }) => ({ by, act: request.act })),
    }),
    forget() {
      shown = null;
      secondPerson.forget();
    },
  };
}
