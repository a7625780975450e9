import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { done, type Outcome } from '../../electron/contract/errors.ts';
import type {
  ApprovalAct,
  ApprovalAnswer,
  ApprovalRequest,
} from '../../electron/contract/models/approval.ts';
import {
  approvalText,
  createApprovals,
  hashOf,
  validMs,
  type Approver,
} from '../../electron/privacy/approval.ts';
import type { CleartextAct } from '../../electron/privacy/act.ts';
import { noCounts } from '../../electron/privacy/disclosures.ts';
import { createSecondPerson } from '../../electron/privacy/second-person.ts';
import { createRecord } from '../../electron/audit/record.ts';
import { signDocument, signingKey, type SigningKey } from '../../electron/storage/signed-document.ts';
import { logFolder } from '../support/audit-folder.ts';
import { counts, gateWith } from '../support/cleartext-gate.ts';
import { codeOf, valueOf } from '../support/batch-app.ts';

/*
 * Who asks for approval owns the files that carry it, the settings and the log. No edit, no other file and no other time may
 * make an act approved that a second person did not approve.
 */

const hour = 3_600_000;
const seedOf = (byte: number): SigningKey => signingKey(new Uint8Array(32).fill(byte));
const [anna, bert, eve] = [seedOf(1), seedOf(2), seedOf(3)];

const where = {
  connection: 'Payments',
  environment: 'production',
  policy: 'analyst',
  definition: 'card-number',
  job: 'job-1',
  approvedJob: 'job-1',
  grounds: { reason: 'Chargeback response', caseReference: 'D-1', confirmRows: 500 },
  disclosed: () =>
    done({ columns: ['card', 'iban'], words: ['all rows'], source: null, exact: 'these bytes' }),
};
const facts = { content: 'cleartext', rows: 'all', format: 'source', encrypted: true };
const exportAct = {
  ...where,
  action: 'Export' as const,
  rows: 500,
  rowsOfLine: 500,
  values: 1_000,
  export: facts,
} satisfies CleartextAct;

const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const textOf = (answer: ApprovalAnswer | ApprovalRequest | string): string =>
  typeof answer === 'string' ? answer : approvalText(answer);

/** Anna’s workstation, with a log of its own on the disk, and Bert’s. */
async function start({ rules = ['export'] }: { readonly rules?: readonly string[] } = {}) {
  const clock = { time: Date.UTC(2026, 0, 5, 9), now: () => clock.time };
  const log = logFolder();
  let audit = await log.open({ now: () => new Date(clock.time) });
  const book: { approvers: Approver[] } = {
    approvers: [{ fingerprint: bert.fingerprint, name: 'Bert Vogel' }],
  };
  const today = { ...noCounts };
  const taken: unknown[] = [];
  const people = { anna: 'desk-1', bert: 'desk-2', eve: 'desk-3' };
  const of = (key: SigningKey, user: keyof typeof people, machine = people[user]) =>
    createApprovals({
      key: () => Promise.resolve(done(key)),
      own: { user, machine },
      approvers: () => Promise.resolve(done(book.approvers)),
      log: { approval: (request) => audit.approval(request) },
      clock,
    });
  const asker = of(anna, 'anna');
  const secondPerson = createSecondPerson({
    rules,
    approvals: asker,
    today: () => Promise.resolve(done({ ...today, day: '2026-01-05', limits: { ...noCounts } })),
    key: () => Promise.resolve(done(new Uint8Array(32).fill(9))),
    changed: () => undefined,
  });
  const gate = gateWith({
    audit: { record: (intent, run) => createRecord(audit.begin)(intent, run), anchor: () => audit.anchor() },
    secondPerson,
    disclosures: {
      ...counts,
      take: (counted) => (taken.push(counted), Promise.resolve(done(counted))),
      giveBack: (counted) => (taken.splice(taken.indexOf(counted), 1), Promise.resolve()),
    },
  });

  const logRequest = async (request: ApprovalRequest): Promise<void> => {
    const approval = { request: hashOf(request) };
    valueOf(await audit.record({ action: 'AskApproval', approval }, () => done(null)));
  };

  /** Refused, asked for, and in the log. */
  async function ask(act: CleartextAct = exportAct): Promise<ApprovalRequest> {
    expect((await gate.check(act))?.failure.code).toBe('approval.needed');
    const wanted = secondPerson.wanted();
    if (wanted === null) throw new Error('Nothing was refused');
    const request = valueOf(await asker.ask(wanted));
    await logRequest(request);
    return request;
  }
  const approve = async (act: CleartextAct = exportAct, decision: ApprovalAnswer['decision'] = 'approved') =>
    valueOf(await of(bert, 'bert').answer(bytesOf(textOf(await ask(act))), decision));
  /** Opens an answer, and does the act. */
  async function use(answer: ApprovalAnswer | string | Uint8Array, act: CleartextAct = exportAct) {
    const opened = await asker.open(answer instanceof Uint8Array ? answer : bytesOf(textOf(answer)));
    if (!opened.ok) return opened.failure.code;
    secondPerson.hold(opened.value);
    return run(act);
  }
  const run = async (act: CleartextAct = exportAct): Promise<string> =>
    codeOf(await gate.open(act, { fetch: () => done('4111'), give: done }));
  return {
    ...{ clock, log, book, today, taken, asker, secondPerson, gate, of, ask, approve, use, run, logRequest },
    audit: () => audit,
    /** As after a restart. */
    reopen: async (): Promise<void> => {
      await audit.close();
      audit = await log.open({ now: () => new Date(clock.time) });
      secondPerson.forget();
    },
  };
}

/** Signed again after an edit. */
function signedBy<T extends ApprovalAnswer | ApprovalRequest>(
  key: SigningKey,
  document: T,
  edit: Partial<T> = {},
): T {
  const { signature: _, ...rest } = document;
  return signDocument({ ...rest, ...edit }, key) as unknown as T;
}

test('what was approved is done once, and both lines name it', async () => {
  const { approve, use, run, audit, taken } = await start();
  const answer = await approve();
  expect(await run()).toBe('approval.needed');
  expect(await use(answer)).toBe('ok');
  expect(taken).toHaveLength(1);
  const { entries } = await audit().list({ before: null, limit: 9, caseReference: 'D-1' });
  expect(
    entries.map(({ action, phase, approval }) => [action, phase, approval?.signer, approval?.by]),
  ).toEqual([
    ['Export', 'ok', bert.fingerprint, 'Bert Vogel (bert, desk-2)'],
    ['Export', 'begun', bert.fingerprint, 'Bert Vogel (bert, desk-2)'],
  ]);
  expect(await run()).toBe('approval.needed');
  expect(await use(answer)).toBe('approval.used');
});

test('nobody is asked where no rule says so', async () => {
  const { run } = await start({ rules: ['reveal', 'export in test', 'export from 501'] });
  expect(await run()).toBe('ok');
});

test('a move into production is one of production, wherever its values come from', async () => {
  const { gate, run } = await start({ rules: ['move in production'] });
  const moveOf = (environment: string, intoProduction: boolean): CleartextAct => ({
    ...{ ...where, environment, action: 'Move', rows: 500, columns: 1, accounts: [], confirmsRows: true },
    ...{ to: ['New service, Fresh, pan'], intoProduction },
  });
  expect((await gate.check(moveOf('test', true)))?.failure.code).toBe('approval.needed');
  expect(await run(moveOf('test', true))).toBe('approval.needed');
  expect(await run(moveOf('production', true))).toBe('approval.needed');
  expect(await run(moveOf('test', false))).toBe('ok');
});

test('many small acts are as good as a large one', async () => {
  const { run, today } = await start({ rules: ['export from 1000 in production'] });
  expect(await run()).toBe('ok');
  today.exportedRows = 500;
  expect(await run()).toBe('approval.needed');
});

test('the question before the dialog spends nothing', async () => {
  const { approve, asker, secondPerson, gate, run } = await start();
  secondPerson.hold(valueOf(await asker.open(bytesOf(textOf(await approve())))));
  expect(await gate.check(exportAct)).toBeNull();
  expect(await gate.check(exportAct)).toBeNull();
  expect(await run()).toBe('ok');
});

test('what is refused late is given back to the day', async () => {
  const { approve, asker, secondPerson, book, run, taken } = await start();
  secondPerson.hold(valueOf(await asker.open(bytesOf(textOf(await approve())))));
  book.approvers = [];
  expect(await run()).toBe('approval.signer');
  expect(taken).toEqual([]);
});

test('two kinds of act in one batch take one answer', async () => {
  const { asker, of, secondPerson, gate, taken, logRequest } = await start({ rules: ['match'] });
  const acts: CleartextAct[] = [
    { ...where, action: 'Match', rows: 9, patterns: ['^4'], confirmsRows: false },
    { ...where, action: 'Guess', rows: 9, guesses: 4, confirmsRows: false },
  ];
  const openAll = async (): Promise<string> =>
    codeOf(await gate.openAll(acts, () => Promise.resolve(done(null))));
  expect(await openAll()).toBe('approval.needed');
  const request = valueOf(await asker.ask(secondPerson.wanted() as ApprovalAct));
  expect(request.act.actions).toEqual(['Match', 'Guess']);
  await logRequest(request);
  const answer = valueOf(await of(bert, 'bert').answer(bytesOf(textOf(request)), 'approved'));
  secondPerson.hold(valueOf(await asker.open(bytesOf(textOf(answer)))));
  expect(await openAll()).toBe('ok');
  expect(taken).toHaveLength(2);
  expect(await openAll()).toBe('approval.needed');
});

describe('an answer for another act', () => {
  const other = (exact: unknown, more: object = {}): Partial<CleartextAct> => ({
    disclosed: () => done({ columns: ['card', 'iban'], words: ['all rows'], source: null, exact, ...more }),
  });
  const { grounds } = exportAct;
  test.each<[string, object]>([
    ['another job', { approvedJob: 'job-2' }],
    ['more rows', { rows: 501, grounds: { ...grounds, confirmRows: 501 } }],
    ['fewer rows', { rows: 499, grounds: { ...grounds, confirmRows: 499 } }],
    ['more values', { values: 1_001 }],
    ['a changed file', other('other bytes')],
    ['another form of the file, or other rows of it', other(['these bytes', 'workbook'])],
    ['without encryption', { export: { ...facts, encrypted: false } }],
    ['another connection', { connection: 'Other' }],
    ['another column', other('these bytes', { columns: ['card', 'name'] })],
    ['one more column', other('these bytes', { columns: ['card', 'iban', 'name'] })],
    ['another policy', { policy: 'admin' }],
    ['another definition', { definition: 'pan' }],
    ['another reason', { grounds: { ...grounds, reason: 'Refund' } }],
    ['another case', { grounds: { ...grounds, caseReference: 'D-2' } }],
  ])('%s', async (_name, edit) => {
    const { approve, use, run } = await start();
    const answer = await approve();
    expect(await use(answer, { ...exportAct, ...edit })).toBe('approval.needed');
    // It is still good for what it was asked for.
    expect(await run()).toBe('ok');
  });

  test('another kind of act', async () => {
    const { approve, use } = await start({ rules: ['export', 'copy'] });
    expect(await use(await approve(), { ...where, action: 'Copy' })).toBe('approval.needed');
  });

  test('another environment', async () => {
    const { approve, use } = await start();
    expect(await use(await approve(), { ...exportAct, environment: 'test' })).toBe('approval.needed');
  });

  test('another value to reveal', async () => {
    const { approve, use, run } = await start({ rules: ['reveal'] });
    const reveal = (token: string): CleartextAct => ({
      ...where,
      action: 'Reveal',
      subject: `lookup ${token}`,
      disclosed: () =>
        done({ columns: ['card'], words: ['the value of ••••1111'], source: null, exact: token }),
    });
    const answer = await approve(reveal('tok_1'));
    expect(await use(answer, reveal('tok_2'))).toBe('approval.needed');
    expect(await run(reveal('tok_1'))).toBe('ok');
  });

  test('another expression to match', async () => {
    const { approve, use, run } = await start({ rules: ['match'] });
    const match = (pattern: string): CleartextAct => ({
      ...where,
      ...{ action: 'Match', rows: 9, patterns: [pattern], confirmsRows: false },
    });
    const answer = await approve(match('^4'));
    expect(await use(answer, match('^5'))).toBe('approval.needed');
    expect(await run(match('^4'))).toBe('ok');
  });

  test('the engine itself says which member differs', async () => {
    const { approve, asker } = await start();
    const held = valueOf(await asker.open(bytesOf(textOf(await approve()))));
    const used = await asker.use(held, { ...held.request.act, reason: 'Refund' });
    expect(used).toMatchObject({ failure: { code: 'approval.other-act', subject: 'reason' } });
  });
});

describe('an edited file', () => {
  test('a decline becomes no approval', async () => {
    const { approve, use } = await start();
    const declined = await approve(exportAct, 'declined');
    expect(await use(declined)).toBe('approval.declined');
    expect(await use({ ...declined, decision: 'approved' })).toBe('approval.unsigned');
  });

  test('rows of the request in it', async () => {
    const { approve, use } = await start();
    const answer = await approve();
    const request = { ...answer.request, act: { ...answer.request.act, rows: 9_000 } };
    expect(await use({ ...answer, request })).toBe('approval.unsigned');
  });

  test('the request is edited and both are signed again by who asks', async () => {
    const { approve, use } = await start();
    const answer = await approve();
    const request = signedBy(anna, answer.request, { act: { ...answer.request.act, rows: 9_000 } });
    expect(await use(signedBy(anna, answer, { request }))).toBe('approval.same-person');
    expect(await use({ ...answer, request })).toBe('approval.unsigned');
    // Even the approver’s own signature makes no question of it that was asked here.
    expect(await use(signedBy(bert, answer, { request }))).toBe('approval.unknown');
  });

  test('a longer time, signed again', async () => {
    const { approve, use, of } = await start();
    const answer = await approve();
    const request = signedBy(anna, answer.request, { validUntil: '2030-01-01T00:00:00.000Z' });
    expect(await use(signedBy(bert, answer, { request }))).toBe('approval.unknown');
    const read = await of(bert, 'bert').read(bytesOf(textOf(request)));
    expect(read).toMatchObject({ failure: { code: 'approval.expired' } });
  });

  test.each<[string, (text: string) => string | Uint8Array]>([
    ['truncated', (text) => text.slice(0, -40)],
    ['empty', () => ''],
    ['huge', (text) => text + ' '.repeat(140_000)],
    ['a member twice', (text) => text.replace('{', '{\n  "decision": "declined",')],
    ['a member more', (text) => text.replace('{', '{\n  "note": "ok",')],
    ['__proto__', (text) => text.replace('{', '{\n  "__proto__": {},')],
    ['not UTF-8', (text) => Buffer.concat([Buffer.from(text), Buffer.from([0xff])])],
    ['another version', (text) => text.replace('"version": 1', '"version": 2')],
  ])('%s', async (_name, edit) => {
    const { approve, use } = await start();
    expect(await use(edit(textOf(await approve())))).toBe('approval.invalid');
  });

  test('the request itself in place of the answer', async () => {
    const { ask, use } = await start();
    expect(await use(textOf(await ask()))).toBe('approval.invalid');
  });
});

describe('whose key it is', () => {
  test('the same person, with the same key', async () => {
    const { approve, ask, asker, use } = await start();
    expect(await use(signedBy(anna, await approve()))).toBe('approval.same-person');
    const own = await asker.answer(bytesOf(textOf(await ask())), 'approved');
    expect(own).toMatchObject({ failure: { code: 'approval.same-person' } });
  });

  test('the same person at the same machine, with a second home and its key', async () => {
    const { ask, approve, of, book, use } = await start();
    book.approvers = [{ fingerprint: eve.fingerprint, name: 'Eve' }];
    const second = of(eve, 'anna');
    const own = await second.answer(bytesOf(textOf(await ask())), 'approved');
    expect(own).toMatchObject({ failure: { code: 'approval.same-person' } });
    // A program of their own says what it likes, but not so.
    const answer = await approve();
    expect(await use(signedBy(eve, answer, { by: answer.request.by }))).toBe('approval.same-person');
  });

  test('the same person, with a second key that was introduced under the same name', async () => {
    const { approve, book, use } = await start();
    book.approvers = [{ fingerprint: eve.fingerprint, name: 'Anna ' }];
    expect(await use(signedBy(eve, await approve()))).toBe('approval.same-person');
  });

  test('another person of the same name at another machine is another', async () => {
    const { ask, of, book, use } = await start();
    book.approvers = [{ fingerprint: eve.fingerprint, name: 'Eve' }];
    const answer = valueOf(await of(eve, 'anna', 'desk-9').answer(bytesOf(textOf(await ask())), 'approved'));
    expect(await use(answer)).toBe('ok');
  });

  test('at one desk, under the name of who asks', async () => {
    const { ask, of, asker } = await start();
    const request = bytesOf(textOf(await ask()));
    const self = await asker.answer(request, 'approved', { name: 'ANNA', key: bert });
    expect(self).toMatchObject({ failure: { code: 'approval.same-person' } });
    const sameKey = await asker.answer(request, 'approved', { name: 'bert', key: anna });
    expect(sameKey).toMatchObject({ failure: { code: 'approval.same-person' } });
    expect(codeOf(await of(anna, 'anna').answer(request, 'approved', { name: 'bert', key: bert }))).toBe(
      'ok',
    );
  });

  test('a key that was not introduced', async () => {
    const { approve, use } = await start();
    expect(await use(signedBy(eve, await approve()))).toBe('approval.signer');
  });

  test('the key of a person who was removed after they approved', async () => {
    const { approve, book, use } = await start();
    const answer = await approve();
    book.approvers = [];
    expect(await use(answer)).toBe('approval.signer');
  });

  test('one person’s signature with another one’s key', async () => {
    const { approve, use } = await start();
    const answer = await approve();
    const { signature } = signedBy(eve, answer);
    expect(await use({ ...answer, signature: { ...answer.signature, value: signature.value } })).toBe(
      'approval.unsigned',
    );
  });

  test('an answer to a request of another workstation', async () => {
    const { approve, of } = await start();
    const opened = await of(eve, 'eve').open(bytesOf(textOf(await approve())));
    expect(opened).toMatchObject({ failure: { code: 'approval.unknown' } });
  });
});

describe('time and use', () => {
  test('too late, also once the clock is set back', async () => {
    const { approve, ask, clock, use } = await start();
    const answer = await approve();
    clock.time += validMs;
    expect(await use(answer)).toBe('approval.expired');
    // Any line of the log remembers the time.
    await ask();
    clock.time -= hour;
    expect(await use(answer)).toBe('approval.expired');
  });

  test('the approver’s clock, set back or forward', async () => {
    const { ask, clock, of } = await start();
    const request = bytesOf(textOf(await ask()));
    clock.time -= hour;
    expect(await of(bert, 'bert').read(request)).toMatchObject({ failure: { code: 'approval.clock' } });
    clock.time += hour + validMs;
    expect(await of(bert, 'bert').read(request)).toMatchObject({ failure: { code: 'approval.expired' } });
  });

  test('two runs at once', async () => {
    const { approve, asker } = await start();
    const held = valueOf(await asker.open(bytesOf(textOf(await approve()))));
    const ends = await Promise.all([asker.use(held, held.request.act), asker.use(held, held.request.act)]);
    expect(ends.map(codeOf).toSorted()).toEqual(['approval.used', 'ok']);
  });

  test('a second time after a restart', async () => {
    const { approve, use, reopen } = await start();
    const answer = await approve();
    expect(await use(answer)).toBe('ok');
    await reopen();
    expect(await use(answer)).toBe('approval.used');
  });

  test.each<[string, (log: ReturnType<typeof logFolder>, copy: string) => void]>([
    ['the log as it was before', (log, copy) => restore(log, copy)],
    ['the log without the lines of the use', (log) => dropLines(log, /"action":"Export"/)],
    ['no log at all', (log) => fs.rmSync(log.folder, { recursive: true })],
  ])('a second time with %s', async (_name, attack) => {
    const { approve, use, reopen, log } = await start();
    const answer = await approve();
    const copy = path.join(log.root, 'copy');
    fs.cpSync(log.folder, copy, { recursive: true });
    expect(await use(answer)).toBe('ok');
    attack(log, copy);
    // The checkpoint stands for the keychain’s, which nobody gets at.
    await reopen();
    expect(await use(answer)).toBe('approval.unknown');
  });

  test('the answer of another request for the same act', async () => {
    const { approve, use } = await start();
    const first = await approve();
    const second = await approve();
    expect(await use(first)).toBe('ok');
    expect(await use(first)).toBe('approval.used');
    expect(await use(second)).toBe('ok');
  });

  test('a request that is in no log was never made', async () => {
    const { secondPerson, gate, asker, of, use } = await start();
    await gate.check(exportAct);
    const request = valueOf(await asker.ask(secondPerson.wanted() as ApprovalAct));
    const answer = valueOf(await of(bert, 'bert').answer(bytesOf(textOf(request)), 'approved'));
    expect(await use(answer)).toBe('approval.unknown');
  });

  test('an act that can’t be written to the log is none, and takes no answer', async () => {
    const { approve, asker, secondPerson } = await start();
    const held = valueOf(await asker.open(bytesOf(textOf(await approve()))));
    secondPerson.hold(held);
    const gate = gateWith({ secondPerson, audit: unwritable });
    const give = (): Outcome<string> => done('4111');
    expect(codeOf(await gate.open(exportAct, { fetch: give, give }))).toBe('audit.unwritable');
    expect(codeOf(await asker.use(held, held.request.act))).toBe('ok');
  });
});

const unwritable = {
  record: () => Promise.resolve({ ok: false as const, failure: { code: 'audit.unwritable' as const } }),
  anchor: () => Promise.resolve(done(null)),
};

function restore(log: ReturnType<typeof logFolder>, copy: string): void {
  fs.rmSync(log.folder, { recursive: true });
  fs.cpSync(copy, log.folder, { recursive: true });
}

function dropLines(log: ReturnType<typeof logFolder>, pattern: RegExp): void {
  for (const name of log.files()) {
    const file = path.join(log.folder, name);
    const lines = fs.readFileSync(file, 'utf8').split('\n');
    fs.writeFileSync(file, lines.filter((line) => !pattern.test(line)).join('\n'));
  }
}
