import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { done } from '../../electron/contract/errors.ts';
import type {
  ApprovalAct,
  ApprovalAnswer,
  ApprovalRequest,
} from '../../electron/contract/models/approval.ts';
import { obscureText, newXorKey } from '../../electron/contract/obscured.ts';
import { approvalText, createApprovals, hashOf } from '../../electron/privacy/approval.ts';
import { createApprovalCalls } from '../../electron/privacy/approval-calls.ts';
import type { CleartextAct } from '../../electron/privacy/act.ts';
import { noCounts } from '../../electron/privacy/disclosures.ts';
import { createSecondPerson } from '../../electron/privacy/second-person.ts';
import { signingKey, type SigningKey } from '../../electron/storage/signed-document.ts';
import {
  codeOf,
  detokenize,
  openApp,
  plainExport,
  planOf,
  someGrounds,
  valueOf,
} from '../support/batch-app.ts';
import { gateWith } from '../support/cleartext-gate.ts';
import { tempFolder } from '../support/temp-folder.ts';

/*
 * Who asks for approval lets another act be refused while the second person types their passphrase or looks for a folder: what
 * is signed is what was shown to them, or nothing.
 */

const keyOf = (byte: number): SigningKey => signingKey(new Uint8Array(32).fill(byte));
const [anna, bert] = [keyOf(1), keyOf(2)];
const xorKey = newXorKey();
const passphrase = { xorKey, obscured: obscureText('of bert alone', xorKey) };

const exportOf = (rows: number): CleartextAct => ({
  ...{ action: 'Export', connection: 'Payments', environment: 'production' },
  ...{ rows, rowsOfLine: rows, values: rows, export: { encrypted: true } },
  grounds: { reason: 'Refund', caseReference: 'D-1', confirmRows: rows },
  disclosed: () => done({ columns: ['card'], words: [], source: null, exact: rows }),
});

function start() {
  const folder = tempFolder();
  const asked = new Set<string>();
  const people = { anna, bert };
  const approvalsOf = (user: keyof typeof people) =>
    createApprovals({
      key: () => Promise.resolve(done(people[user])),
      own: { user, machine: `${user}’s desk` },
      approvers: () => Promise.resolve(done([{ fingerprint: bert.fingerprint, name: 'Bert' }])),
      log: {
        approval: (hash) => Promise.resolve(done(asked.has(hash) ? { isUsed: false, latest: 0 } : null)),
      },
      clock: { now: () => Date.now() },
    });
  const approvals = approvalsOf('anna');
  const secondPerson = createSecondPerson({
    rules: ['export'],
    approvals,
    today: () => Promise.resolve(done({ ...noCounts, day: '2026-01-05', limits: { ...noCounts } })),
    key: () => Promise.resolve(done(new Uint8Array(32).fill(9))),
    changed: () => undefined,
  });
  /** What happens while a person is asked for a passphrase or a file. */
  let meanwhile = (): Promise<unknown> => Promise.resolve();
  const copied: string[] = [];
  const calls = (user: keyof typeof people) =>
    createApprovalCalls({
      approvals: approvalsOf(user),
      secondPerson,
      approvers: {
        openAtDesk: async () => {
          await meanwhile();
          return done({ name: 'Bert', key: bert });
        },
        own: () => Promise.resolve(done(people[user])),
        list: () => Promise.resolve(done([])),
      } as unknown as Parameters<typeof createApprovalCalls>[0]['approvers'],
      audit: {
        record: ({ approval }, run) => {
          if (approval !== undefined) asked.add(approval.request);
          return run();
        },
      },
      lock: {
        state: () => ({ passphraseSet: true }),
        check: () => meanwhile().then(() => done(null)),
      } as unknown as Parameters<typeof createApprovalCalls>[0]['lock'],
      clipboard: {
        epoch: () => 0,
        write: (text) => (copied.push(text), Promise.resolve(done({ clearAfterMs: 1 }))),
      },
      platform: {
        chooseFile: () => Promise.resolve(null),
        droppedFile: () => Promise.resolve(null),
        chooseTarget: async ({ name }) => {
          await meanwhile();
          return path.join(folder, name);
        },
      },
    });
  /** Refused, and shown by the window. */
  async function refuse(rows: number): Promise<ApprovalAct> {
    expect((await secondPerson.check([exportOf(rows)]))?.failure.code).toBe('approval.needed');
    return secondPerson.wanted() as ApprovalAct;
  }
  const written = <T extends ApprovalRequest | ApprovalAnswer>(): T[] =>
    fs.readdirSync(folder).map((name) => JSON.parse(fs.readFileSync(path.join(folder, name), 'utf8')) as T);
  return {
    ...{ approvals, secondPerson, calls, refuse, written, copied },
    during: (act: () => Promise<unknown>) => void (meanwhile = act),
  };
}

test('at one desk another act is refused while the passphrase is checked', async () => {
  const { calls, refuse, secondPerson, during } = start();
  const act = await refuse(3);
  during(() => refuse(50_000));
  const asked = { act, name: 'Bert', passphrase, decision: 'approved' } as const;
  valueOf(await calls('anna').calls['approval.atDesk'](asked));
  expect(secondPerson.held().map(({ request }) => request.act.rows)).toEqual([3]);
  expect((await secondPerson.check([exportOf(50_000)]))?.failure.code).toBe('approval.needed');
  expect(await secondPerson.check([exportOf(3)])).toBeNull();
});

test('what is declined is what was shown, and the other act is still to be decided', async () => {
  const { calls, refuse, secondPerson, during } = start();
  const act = await refuse(3);
  during(() => refuse(50_000));
  const asked = { act, name: 'Bert', passphrase, decision: 'declined' } as const;
  valueOf(await calls('anna').calls['approval.atDesk'](asked));
  expect(secondPerson.held()).toEqual([]);
  expect(secondPerson.wanted()?.rows).toBe(50_000);
});

test('another act is refused before a person presses: nothing is signed, written or copied', async () => {
  const { calls, refuse, secondPerson, written, copied } = start();
  const act = await refuse(3);
  await refuse(50_000);
  const desk = { act, name: 'Bert', passphrase, decision: 'approved' } as const;
  const of = calls('anna').calls;
  expect(codeOf(await of['approval.atDesk'](desk))).toBe('approval.other-act');
  expect(codeOf(await of['approval.writeRequest']({ act }))).toBe('approval.other-act');
  expect(codeOf(await of['approval.copyLink']({ act }))).toBe('approval.other-act');
  expect([secondPerson.held(), written(), copied]).toEqual([[], [], []]);
});

test('another act is refused while the dialog for the request is open', async () => {
  const { calls, refuse, written, during } = start();
  const act = await refuse(3);
  during(() => refuse(50_000));
  valueOf(await calls('anna').calls['approval.writeRequest']({ act }));
  expect(written<ApprovalRequest>().map((request) => request.act.rows)).toEqual([3]);
});

test('an export of several files asks for the first, not for the last, and tries no other meanwhile', async () => {
  const { secondPerson } = start();
  const app = await openApp({ gate: gateWith({ secondPerson }) });
  onTestFinished(() => app.close());
  const references = await Promise.all(
    ['a', 'b'].map((name) => app.write(`${name}.csv`, `id,card\n1,${name}1\n`)),
  );
  const { source, queue } = valueOf(await app.batch['batch.dropFiles']({ references }));
  const { queueId = '' } = queue ?? {};
  const plan = planOf([detokenize(1)]);
  const asked = { queueId, sourceId: source?.sourceId ?? '', plan, grounds: null };
  valueOf(await app.batch['batch.startQueue'](asked));
  const find = async () =>
    valueOf(await app.batch['batch.queues']({})).find((one) => one.queueId === queueId);
  await expect.poll(async () => (await find())?.state).toBe('finished');
  app.exportFolder = app.folder;
  const files = (await find())?.files.map(({ fileId }) => fileId) ?? [];
  const { jobId: _, ...choice } = { ...plainExport, jobId: '', queueId, files };
  const outcome = await app.batch['batch.exportQueue']({
    ...choice,
    content: 'cleartext',
    rows: 'all',
    grounds: someGrounds,
  });
  expect(codeOf(outcome)).toBe('approval.needed');
  expect(secondPerson.wanted()?.source?.name).toBe('a.csv');
});

test('another request is opened while the passphrase of who approves is checked', async () => {
  const { approvals, calls, refuse, written, during } = start();
  const bytesOf = async (rows: number): Promise<Uint8Array> =>
    Buffer.from(approvalText(valueOf(await approvals.ask(await refuse(rows)))));
  const [small, large] = [await bytesOf(3), await bytesOf(50_000)];
  const of = calls('bert');
  valueOf(await of.openLink(small));
  const request = hashOf(JSON.parse(Buffer.from(small).toString()) as ApprovalRequest);
  during(() => of.openLink(large));
  valueOf(await of.calls['approval.answer']({ request, decision: 'approved', passphrase }));
  expect(written<ApprovalAnswer>().map((answer) => answer.request.act.rows)).toEqual([3]);
  // And one that was opened before the press is not what was shown.
  during(() => Promise.resolve());
  valueOf(await of.openLink(large));
  expect(codeOf(await of.calls['approval.answer']({ request, decision: 'approved', passphrase }))).toBe(
    'approval.other-act',
  );
});
