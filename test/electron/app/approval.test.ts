import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { CallInput, CallName, CallOutput } from '../../../electron/contract/calls.ts';
import { newXorKey, obscureText, type ObscuredText } from '../../../electron/contract/obscured.ts';
import type { ApprovalAct, OpenedApproval } from '../../../electron/contract/models/approval.ts';
import type { ManagedSettings } from '../../../electron/contract/models/app.ts';
import type { Opening, Platform } from '../../../electron/platform/platform.ts';
import { verifyEvidence } from '../../../scripts/verify-evidence.ts';
import { codeOf, detokenize, plainExport, planOf, valueOf } from '../../support/batch-app.ts';
import { openWholeApp, type WholeApp } from '../../support/whole-app.ts';

/* Two people, each with a home and a keychain of their own, through the calls that their windows make. */

const grounds = { reason: 'Fraud review', caseReference: 'D-1' };
const secret = (text: string): ObscuredText => {
  const xorKey = newXorKey();
  return { xorKey, obscured: obscureText(text, xorKey) };
};

async function person(
  user: string,
  machine: string,
  managed: ManagedSettings = {},
  platform: Partial<Platform> = {},
) {
  let open: (opening: Opening) => void = () => undefined;
  const app = await openWholeApp({
    managed,
    options: { person: { user, machine } },
    platform: { onOpen: (listener) => ((open = listener), () => undefined), ...platform },
  });
  onTestFinished(() => app.close());
  const ask = async <N extends CallName>(call: N, input: CallInput<N>): Promise<CallOutput<N>> =>
    valueOf(await app.ask(call, input));
  /** What was written last under such a name. */
  const written = (name: string): string => {
    const found = fs.readdirSync(app.home).filter((file) => file.includes(name));
    return path.join(app.home, found.sort().at(-1) ?? '');
  };
  return { app, ask, written, open: (opening: Opening) => open(opening) };
}

async function startService(app: WholeApp): Promise<void> {
  const { id } = valueOf(await app.ask('connections.startBuiltIn', {}));
  valueOf(await app.ask('connections.choose', { id, policy: 'analyst' }));
}

async function reveal(app: WholeApp, lookupId: string): Promise<string> {
  const answer = await app.ask('lookup.reveal', { ...grounds, xorKey: 'abcd'.repeat(8), lookupId });
  if (answer.ok) await app.ask('lookup.hide', { revealId: answer.value.revealId });
  return codeOf(answer);
}

async function lookUp(app: WholeApp): Promise<string> {
  const { definition, token } = valueOf(await app.ask('lookup.sample', {}));
  return valueOf(await app.ask('lookup.mask', { policy: 'analyst', definition, token, caseReference: '' }))
    .id;
}

/** Evidence on the case, by the verifier that imports nothing of the app. */
async function evidenceOf({ ask, written }: Awaited<ReturnType<typeof person>>) {
  const evidence = await ask('reports.evidence', { caseReference: 'D-1' });
  const file = written('evidence-D-1.json');
  const { verdict, problems } = await verifyEvidence({ file, signer: evidence?.signer ?? '' });
  return { verdict, problems, text: fs.readFileSync(file, 'utf8') };
}

/** As the window shows it. */
async function wantedBy({ ask }: Pick<Awaited<ReturnType<typeof person>>, 'ask'>): Promise<ApprovalAct> {
  const state = await ask('app.state', {});
  if (!('approval' in state) || state.approval.wanted === null) throw new Error('Nothing was refused');
  return state.approval.wanted;
}

function shown(opened: OpenedApproval | null): { request: string } {
  if (opened?.kind !== 'request') throw new Error('No request is shown');
  return { request: opened.request };
}

test('request, approval, act, and the evidence of both', async () => {
  const bert = await person('bert', 'desk-2');
  const { fingerprint } = await bert.ask('approval.people', {});
  const anna = await person('anna', 'desk-1', {
    secondPerson: ['reveal'],
    approvers: [`${fingerprint} Bert Vogel`],
  });
  await startService(anna.app);
  const lookupId = await lookUp(anna.app);
  expect(await reveal(anna.app, lookupId)).toBe('approval.needed');
  const state = await anna.ask('app.state', {});
  expect('approval' in state && state.approval.wanted?.actions).toEqual(['Reveal']);
  await anna.ask('approval.writeRequest', { act: await wantedBy(anna) });

  bert.app.choose(anna.written('approval-request'));
  const opened = await bert.ask('approval.choose', {});
  expect(opened).toMatchObject({ kind: 'request', by: { user: 'anna', machine: 'desk-1' }, known: null });
  await bert.ask('approval.answer', { ...shown(opened), decision: 'approved', passphrase: secret('') });

  anna.app.choose(bert.written('approval-answer'));
  expect(await anna.ask('approval.choose', {})).toMatchObject({
    kind: 'answer',
    by: 'Bert Vogel (bert, desk-2)',
  });
  expect(await reveal(anna.app, lookupId)).toBe('ok');
  expect(await reveal(anna.app, lookupId)).toBe('approval.needed');
  expect(codeOf(await anna.app.ask('approval.choose', {}))).toBe('approval.used');

  const [ofAnna, ofBert] = [await evidenceOf(anna), await evidenceOf(bert)];
  expect([ofAnna.verdict, ofAnna.problems, ofBert.verdict, ofBert.problems]).toEqual([
    'valid',
    [],
    'valid',
    [],
  ]);
  expect(ofAnna.text).toContain(fingerprint);
  expect(ofBert.text).toContain('Approve');
  expect([...anna.app.bugs, ...bert.app.bugs]).toEqual([]);
});

test('a request in a link is shown, and a passphrase that is set is asked for', async () => {
  const bert = await person('bert', 'desk-2');
  await bert.ask('lock.setPassphrase', { current: secret(''), next: secret('correct horse') });
  const anna = await person('anna', 'desk-1', { secondPerson: ['reveal'] });
  await startService(anna.app);
  expect(await reveal(anna.app, await lookUp(anna.app))).toBe('approval.needed');
  await anna.ask('approval.copyLink', { act: await wantedBy(anna) });
  const link = await anna.app.platform.clipboard.read();
  bert.open({ kind: 'link', address: link });
  const taken = await bert.ask('app.takeOpened', {});
  expect(taken).toMatchObject({ kind: 'approval', approval: { kind: 'request' } });
  const wrong = await bert.app.ask('approval.answer', {
    ...shown(taken?.kind === 'approval' ? taken.approval : null),
    decision: 'approved',
    passphrase: secret('wrong horse'),
  });
  expect(codeOf(wrong)).toBe('unlock.wrong');
  bert.open({ kind: 'link', address: link.slice(0, -8) });
  expect(codeOf(await bert.app.ask('app.takeOpened', {}))).toMatch(/approval\.(invalid|unsigned)/);
});

test('people are introduced by hand with what they read aloud, and by nobody where the administrator names them', async () => {
  const bert = await person('bert', 'desk-2');
  const { fingerprint } = await bert.ask('approval.people', {});
  const anna = await person('anna', 'desk-1');
  const introduce = { fingerprint, name: 'Bert Vogel' };
  const wrong = await anna.app.ask('approval.introduce', { ...introduce, spoken: '0000 0000 0000 0000' });
  expect(codeOf(wrong)).toBe('approval.spoken');
  await anna.ask('approval.introduce', { ...introduce, spoken: fingerprint.slice(0, 16).toUpperCase() });
  expect((await anna.ask('approval.people', {})).approvers).toEqual([introduce]);
  const own = (await anna.ask('approval.people', {})).fingerprint;
  const self = await anna.app.ask('approval.introduce', {
    fingerprint: own,
    name: 'Other',
    spoken: own.slice(0, 16),
  });
  expect(codeOf(self)).toBe('approval.same-person');
  const managed = await person('eve', 'desk-3', { approvers: [`${fingerprint} Bert Vogel`] });
  const refused = await managed.app.ask('approval.introduce', {
    ...introduce,
    spoken: fingerprint.slice(0, 16),
  });
  expect(codeOf(refused)).toBe('settings.managed');
});

test('at one desk: another name, another passphrase, an introduced key', async () => {
  const anna = await person('anna', 'desk-1', { secondPerson: ['reveal'] });
  await startService(anna.app);
  await anna.ask('lock.setPassphrase', { current: secret(''), next: secret('anna’s passphrase') });
  const lookupId = await lookUp(anna.app);
  expect(await reveal(anna.app, lookupId)).toBe('approval.needed');
  const add = async (name: string, passphrase: string): Promise<string> =>
    codeOf(await anna.app.ask('approval.addToDesk', { name, passphrase: secret(passphrase) }));
  expect(await add('Anna', 'another passphrase')).toBe('approval.same-person');
  expect(await add('Bert', 'anna’s passphrase')).toBe('approval.same-person');
  expect(await add('Bert', 'short')).toBe('unlock.too-short');
  expect(await add('Bert', 'bert’s passphrase')).toBe('ok');
  expect(await add('Bert', 'another passphrase')).toBe('approval.too-many');
  const act = await wantedBy(anna);
  const decide = async (passphrase: string): Promise<string> =>
    codeOf(
      await anna.app.ask('approval.atDesk', {
        act,
        name: 'Bert',
        passphrase: secret(passphrase),
        decision: 'approved',
      }),
    );
  expect(await decide('bert’s passphrase')).toBe('approval.signer');
  const { desk } = await anna.ask('approval.people', {});
  const { fingerprint = '' } = desk[0] ?? {};
  await anna.ask('approval.introduce', { fingerprint, name: 'Bert', spoken: fingerprint.slice(0, 16) });
  expect(await decide('anna’s passphrase')).toBe('unlock.wrong');
  expect(await decide('bert’s passphrase')).toBe('unlock.wait');
});

test('at one desk: what is approved is done once', async () => {
  const anna = await person('anna', 'desk-1', { secondPerson: ['reveal'] });
  await startService(anna.app);
  const lookupId = await lookUp(anna.app);
  const { fingerprint } = await anna.ask('approval.addToDesk', {
    name: 'Bert',
    passphrase: secret('bert’s passphrase'),
  });
  await anna.ask('approval.introduce', { fingerprint, name: 'Bert', spoken: fingerprint.slice(0, 16) });
  expect(await reveal(anna.app, lookupId)).toBe('approval.needed');
  await anna.ask('approval.atDesk', {
    act: await wantedBy(anna),
    name: 'Bert',
    passphrase: secret('bert’s passphrase'),
    decision: 'approved',
  });
  expect(await reveal(anna.app, lookupId)).toBe('ok');
  expect(await reveal(anna.app, lookupId)).toBe('approval.needed');
  const { verdict, text } = await evidenceOf(anna);
  expect(verdict).toBe('valid');
  expect(text).toContain('Bert (Bert, desk-1, at the same desk)');
});

test('an export: the same once more is written, another form or another reason is not', async () => {
  const bert = await person('bert', 'desk-2');
  const { fingerprint } = await bert.ask('approval.people', {});
  const anna = await person('anna', 'desk-1', {
    secondPerson: ['export from 2'],
    approvers: [`${fingerprint} Bert Vogel`],
  });
  await startService(anna.app);
  const { definition, token } = await anna.ask('lookup.sample', {});
  const file = path.join(anna.app.home, 'tokens.csv');
  fs.writeFileSync(file, `card\n${token}\n${token}\n${token}\n`);
  const { sourceId } = await anna.ask('batch.drop', { reference: file });
  const plan = planOf([detokenize(0, { policy: 'analyst', definition })]);
  const { jobId } = await anna.ask('batch.start', { sourceId, plan, grounds: null });
  await vi.waitFor(async () => expect((await anna.ask('batch.jobs', {}))[0]?.state).toBe('finished'), 20_000);
  const choice = { ...plainExport, jobId, content: 'cleartext' as const, grounds };
  expect(codeOf(await anna.app.ask('batch.export', choice))).toBe('approval.needed');
  await anna.ask('approval.writeRequest', { act: await wantedBy(anna) });

  bert.app.choose(anna.written('approval-request'));
  const opened = await bert.ask('approval.choose', {});
  expect(opened?.act).toMatchObject({
    rows: 3,
    values: 3,
    columns: ['card'],
    job: jobId,
    reason: 'Fraud review',
  });
  // Bert has the same file.
  const { sourceId: own } = await bert.ask('batch.drop', { reference: file });
  expect((await bert.ask('batch.hash', { sourceId: own })).sha256).toBe(opened?.act.source?.sha256);
  await bert.ask('approval.answer', { ...shown(opened), decision: 'approved', passphrase: secret('') });
  anna.app.choose(bert.written('approval-answer'));
  await anna.ask('approval.choose', {});

  for (const other of [
    { format: 'workbook' as const },
    { safety: 'spreadsheet' as const },
    { grounds: { ...grounds, reason: 'Refund' } },
    { grounds: { ...grounds, caseReference: 'D-2' } },
    { rows: 'matches' as const },
    { encoding: 'utf-16le' as const },
  ])
    expect(codeOf(await anna.app.ask('batch.export', { ...choice, ...other }))).toBe('approval.needed');
  const before = fs.statSync(file);
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('card', 'CARD'));
  expect(codeOf(await anna.app.ask('batch.export', choice))).not.toBe('ok');
  fs.writeFileSync(file, fs.readFileSync(file, 'utf8').replace('CARD', 'card'));
  fs.utimesSync(file, before.atime, before.mtime);
  expect(codeOf(await anna.app.ask('batch.export', choice))).toBe('ok');
  expect(codeOf(await anna.app.ask('batch.export', choice))).toBe('approval.needed');
  const { verdict, text } = await evidenceOf(anna);
  expect(verdict).toBe('valid');
  expect(text).toContain('Bert Vogel (bert, desk-2)');
});

test('a dialog for a request that is open when the app locks writes nothing', async () => {
  const asked = Promise.withResolvers<null>();
  const anna = await person(
    'anna',
    'desk-1',
    { secondPerson: ['reveal'] },
    { chooseTarget: () => (asked.resolve(null), new Promise(() => undefined)) },
  );
  await startService(anna.app);
  expect(await reveal(anna.app, await lookUp(anna.app))).toBe('approval.needed');
  const act = await wantedBy(anna);
  const request = anna.app.ask('approval.writeRequest', { act });
  await asked.promise;
  await anna.ask('lock.now', {});
  expect(codeOf(await request)).toBe('app.locked');
  await anna.ask('lock.unlock', { passphrase: secret('') });
  // What was refused is forgotten with the lock.
  expect(codeOf(await anna.app.ask('approval.writeRequest', { act }))).toBe('approval.none');
});
