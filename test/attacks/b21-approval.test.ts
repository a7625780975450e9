import { describe, expect, test } from 'vitest';
import { done, failed, type Outcome } from '../../electron/contract/errors.ts';
import type { ApprovalAct, ApprovalAnswer } from '../../electron/contract/models/approval.ts';
import {
  approvalText,
  createApprovals,
  maxPending,
  type ApprovalState,
  type Approver,
} from '../../electron/privacy/approval.ts';
import { signDocument, signingKey, type SigningKey } from '../../electron/storage/signed-document.ts';
import { valueOf } from '../support/batch-app.ts';

/*
 * Who asks for approval owns the files that carry it. No edit, no other file and no other time may make an act approved that
 * a second person did not approve.
 */

const hour = 3_600_000;
const seedOf = (byte: number): SigningKey => signingKey(new Uint8Array(32).fill(byte));
const [anna, bert, eve] = [seedOf(1), seedOf(2), seedOf(3)];

const act: ApprovalAct = {
  action: 'Export',
  rows: 500,
  values: 1_000,
  columns: ['card', 'iban'],
  connection: 'Payments',
  environment: 'production',
  policy: 'analyst',
  definition: null,
  job: 'job-1',
  jobFingerprint: 'a'.repeat(64),
  reason: 'Chargeback response',
  caseReference: 'D-1',
};

/** Two people at two workstations. */
function start() {
  const clock = { time: Date.UTC(2026, 0, 5, 9), now: () => clock.time };
  const store: { state: ApprovalState; writable: boolean } = {
    state: { latest: 0, pending: [] },
    writable: true,
  };
  const state = {
    read: () => Promise.resolve(done(store.state)),
    write: (next: ApprovalState): Promise<Outcome<null>> => {
      if (!store.writable) return Promise.resolve(failed('keychain.locked'));
      store.state = next;
      return Promise.resolve(done(null));
    },
  };
  const book: { approvers: Approver[] } = {
    approvers: [{ fingerprint: bert.fingerprint, person: 'bert' }],
  };
  const of = (key: SigningKey) =>
    createApprovals({ key: () => Promise.resolve(done(key)), approvers: () => book.approvers, state, clock });
  const asker = of(anna);
  const ask = async (asked = act) => valueOf(await asker.ask(asked, { by: 'anna', validMs: hour }));
  const approve = async (asked = act, decision: ApprovalAnswer['decision'] = 'approved') =>
    valueOf(await of(bert).answer(bytesOf(approvalText(await ask(asked))), decision));
  const use = async (answer: ApprovalAnswer | string | Uint8Array, wanted = act) => {
    const file = answer instanceof Uint8Array ? answer : bytesOf(textOf(answer));
    const used = await asker.use(file, wanted);
    return used.ok ? `approved by ${used.value.person}` : used.failure.code;
  };
  return { clock, store, book, of, asker, ask, approve, use };
}

const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const textOf = (answer: ApprovalAnswer | string): string =>
  typeof answer === 'string' ? answer : approvalText(answer);

/** Signed again after an edit. */
function signedBy(
  key: SigningKey,
  answer: ApprovalAnswer,
  edit: Partial<Omit<ApprovalAnswer, 'signature'>> = {},
): ApprovalAnswer {
  const { signature: _, ...rest } = answer;
  return signDocument({ ...rest, ...edit }, key);
}

test('what was approved is done once', async () => {
  const { approve, use, store } = start();
  const answer = await approve();
  expect(await use(answer)).toBe('approved by bert');
  expect(store.state.pending).toEqual([]);
  expect(await use(answer)).toBe('approval.unknown');
});

describe('an answer for another act', () => {
  test.each<[string, Partial<ApprovalAct>]>([
    ['another job', { job: 'job-2' }],
    ['more rows', { rows: 501 }],
    ['fewer rows', { rows: 499 }],
    ['more values', { values: 1_001 }],
    ['a changed file', { jobFingerprint: 'b'.repeat(64) }],
    ['another environment', { environment: 'test' }],
    ['another connection', { connection: 'Other' }],
    ['another column', { columns: ['card', 'name'] }],
    ['one more column', { columns: ['card', 'iban', 'name'] }],
    ['another policy', { policy: 'admin' }],
    ['another definition', { definition: 'pan' }],
    ['another reason', { reason: 'Refund' }],
    ['another case', { caseReference: 'D-2' }],
    ['another kind of act', { action: 'Copy' }],
  ])('%s', async (_name, other) => {
    const { approve, use } = start();
    const answer = await approve();
    expect(await use(answer, { ...act, ...other })).toBe('approval.other-act');
    // It is still good for what it was asked for.
    expect(await use(answer)).toBe('approved by bert');
  });
});

describe('an edited file', () => {
  test('a decline becomes no approval', async () => {
    const { approve, use } = start();
    const declined = await approve(act, 'declined');
    expect(await use(declined)).toBe('approval.declined');
    expect(await use({ ...declined, decision: 'approved' })).toBe('approval.unsigned');
  });

  test('rows of the request in it', async () => {
    const { approve, use } = start();
    const answer = await approve();
    const request = { ...answer.request, act: { ...act, rows: 9_000 } };
    expect(await use({ ...answer, request }, request.act)).toBe('approval.unsigned');
  });

  test('the request is edited and both are signed again by who asks', async () => {
    const { approve, use } = start();
    const answer = await approve();
    const { signature: _, ...rest } = answer.request;
    const request = signDocument({ ...rest, act: { ...act, rows: 9_000 } }, anna);
    expect(await use(signedBy(anna, answer, { request }), request.act)).toBe('approval.same-person');
    expect(await use({ ...answer, request }, request.act)).toBe('approval.unsigned');
    // Even the approver’s own signature makes no question of it that was asked here.
    expect(await use(signedBy(bert, answer, { request }), request.act)).toBe('approval.unknown');
  });

  test('a longer time, signed again', async () => {
    const { approve, use } = start();
    const answer = await approve();
    const { signature: _, ...rest } = answer.request;
    const request = signDocument({ ...rest, validUntil: '2030-01-01T00:00:00.000Z' }, anna);
    expect(await use(signedBy(bert, answer, { request }))).toBe('approval.unknown');
  });

  test.each<[string, (text: string) => string | Uint8Array]>([
    ['truncated', (text) => text.slice(0, -40)],
    ['empty', () => ''],
    ['huge', (text) => text + ' '.repeat(70_000)],
    ['a member twice', (text) => text.replace('{', '{\n  "decision": "declined",')],
    ['a member more', (text) => text.replace('{', '{\n  "note": "ok",')],
    ['__proto__', (text) => text.replace('{', '{\n  "__proto__": {},')],
    ['not UTF-8', (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xff])])],
    ['another version', (text) => text.replace('"version": 1', '"version": 2')],
  ])('%s', async (_name, edit) => {
    const { approve, use } = start();
    expect(await use(edit(textOf(await approve())))).toBe('approval.invalid');
  });

  test('the request itself in place of the answer', async () => {
    const { ask, use } = start();
    expect(await use(approvalText(await ask()))).toBe('approval.invalid');
  });
});

describe('whose key it is', () => {
  test('the same person, with the same key', async () => {
    const { approve, ask, asker, use } = start();
    expect(await use(signedBy(anna, await approve()))).toBe('approval.same-person');
    const own = await asker.answer(bytesOf(approvalText(await ask())), 'approved');
    expect(own).toMatchObject({ failure: { code: 'approval.same-person' } });
  });

  test('the same person, with a second key that was introduced under the same name', async () => {
    const { approve, book, use } = start();
    book.approvers = [{ fingerprint: eve.fingerprint, person: 'anna' }];
    expect(await use(signedBy(eve, await approve()))).toBe('approval.same-person');
  });

  test('a key that was not introduced', async () => {
    const { approve, use } = start();
    expect(await use(signedBy(eve, await approve()))).toBe('approval.signer');
  });

  test('the key of a person who was removed after they approved', async () => {
    const { approve, book, use } = start();
    const answer = await approve();
    book.approvers = [];
    expect(await use(answer)).toBe('approval.signer');
  });

  test('one person’s signature with another one’s key', async () => {
    const { approve, use } = start();
    const answer = await approve();
    const { signature } = signedBy(eve, answer);
    expect(await use({ ...answer, signature: { ...answer.signature, value: signature.value } })).toBe(
      'approval.unsigned',
    );
  });

  test('an answer to a request of another workstation', async () => {
    const { approve, of } = start();
    const used = await of(eve).use(bytesOf(textOf(await approve())), act);
    expect(used).toMatchObject({ failure: { code: 'approval.unknown' } });
  });
});

describe('time and use', () => {
  test('too late, also once the clock is set back', async () => {
    const { approve, ask, clock, use } = start();
    const answer = await approve();
    clock.time += hour;
    expect(await use(answer)).toBe('approval.expired');
    // Whatever is asked meanwhile remembers the time.
    await ask();
    clock.time -= hour;
    expect(await use(answer)).toBe('approval.expired');
  });

  test('a refusal of a late answer alone remembers the time', async () => {
    const { approve, clock, use } = start();
    const answer = await approve();
    clock.time += hour;
    expect(await use(answer)).toBe('approval.expired');
    clock.time -= hour;
    expect(await use(answer)).toBe('approval.expired');
  });

  test('two runs at once', async () => {
    const { approve, use } = start();
    const answer = await approve();
    const ends = await Promise.all([use(answer), use(answer)]);
    expect(ends.toSorted()).toEqual(['approval.unknown', 'approved by bert']);
  });

  test('the answer of another request for the same act', async () => {
    const { approve, use } = start();
    const first = await approve();
    const second = await approve();
    expect(await use(first)).toBe('approved by bert');
    expect(await use(first)).toBe('approval.unknown');
    expect(await use(second)).toBe('approved by bert');
  });

  test('a use that can’t be remembered is none', async () => {
    const { approve, store, use } = start();
    const answer = await approve();
    store.writable = false;
    expect(await use(answer)).toBe('keychain.locked');
  });

  test('requests that wait are bounded, until their time is over', async () => {
    const { ask, asker, clock } = start();
    for (let n = 0; n < maxPending; n++) await ask();
    const more = await asker.ask(act, { by: 'anna', validMs: hour });
    expect(more).toMatchObject({ failure: { code: 'approval.too-many' } });
    clock.time += hour;
    await ask();
  });
});
