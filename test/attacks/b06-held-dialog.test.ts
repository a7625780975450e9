import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type CallInput, type CallName, calls } from '../../electron/contract/calls.ts';
import { failed, type Outcome } from '../../electron/contract/errors.ts';
import { detokenize, plainExport, planOf, someGrounds, valueOf } from '../support/batch-app.ts';
import { fakeKeyring } from '../support/fake-keyring.ts';
import { obscured, openWholeApp, type WholeApp } from '../support/whole-app.ts';

/*
 * A person leaves with a dialog of the system open, and the app locks. Whoever comes by presses Enter in it: nothing may be
 * written or stored, and the log must not have begun a line.
 */

const card = '4111118124045251';
const elsewhere = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-dialogs-'));
const keyring = fakeKeyring();
const today = new Date().toISOString().slice(0, 10);

let app: WholeApp;
/** `answer` answers the dialog that is open; null while there is none. */
const dialog: { answer: ((chosen: string | null) => void) | null } = { answer: null };
/** What the question of main does; `agree` answers it while it is open. */
const asking: { confirm: () => Promise<true | null>; agree: (() => void) | null } = {
  confirm: () => Promise.resolve(true),
  agree: null,
};
const ids = { connection: '', job: '', report: '', queue: '', queued: '' };

const opened = (): Promise<string | null> => new Promise((resolve) => (dialog.answer = resolve));

beforeAll(async () => {
  app = await openWholeApp({
    keyring,
    platform: {
      chooseFile: opened,
      chooseFiles: async () => {
        const file = await opened();
        return file === null ? null : [file];
      },
      chooseFolder: opened,
      chooseTarget: opened,
      confirm: () => asking.confirm(),
    },
  });
  const { id } = valueOf(await app.ask('connections.startBuiltIn', {}));
  valueOf(await app.ask('connections.choose', { id, policy: 'analyst' }));
  const made = await app.ask('lookup.tokenize', {
    policy: 'analyst',
    definition: 'card-number',
    cleartext: obscured(card),
    caseReference: 'C-1',
  });
  const { sourceId } = valueOf(await app.ask('batch.paste', { text: `card\n${valueOf(made).token}\n` }));
  const plan = planOf([detokenize(0, { policy: 'analyst', definition: 'card-number' })]);
  ids.job = valueOf(await app.ask('batch.start', { sourceId, plan, grounds: null })).jobId;
  const references = ['one.csv', 'two.csv'].map((name) => path.join(app.home, name));
  for (const file of references) fs.writeFileSync(file, `card\n${valueOf(made).token}\n`);
  const several = valueOf(await app.ask('batch.dropFiles', { references }));
  ids.queue = several.queue?.queueId ?? '';
  ids.queued = several.queue?.files[0]?.fileId ?? '';
  const begun = { queueId: ids.queue, sourceId: several.source?.sourceId ?? '', plan, grounds: null };
  valueOf(await app.ask('batch.startQueue', begun));
  const states = async (): Promise<string[]> =>
    valueOf(await app.ask('batch.jobs', {})).map(({ state }) => state);
  await vi.waitFor(async () => expect(await states()).toEqual(['finished', 'finished', 'finished']), {
    timeout: 20_000,
  });
  ids.report = valueOf(
    await app.ask('reports.workstation', { from: today, to: today, grouping: 'day' }),
  ).reportId;
  ids.connection = valueOf(
    await app.ask('connections.save', {
      id: null,
      name: 'Acme',
      environment: 'test',
      baseUrl: 'https://acme.example',
      extraCa: null,
      proxyUser: '',
      policies: ['agent'],
      definitions: [{ name: 'card-number', label: 'Card', kind: 'card' }],
      accountId: '',
      tenantId: '',
      apiKeyExpires: null,
      requestsPerSecond: 600,
      transfersPerDay: 1_000,
    }),
  ).id;
  valueOf(await app.ask('app.diagnostics', {}));
  // So that there are counts to save.
  const sides = [];
  for (const reference of references) {
    const { sourceId: opened } = valueOf(await app.ask('batch.drop', { reference }));
    sides.push({ of: 'file', sourceId: opened, reading: {}, column: 0 } as const);
  }
  valueOf(await app.ask('compare.files', { sides, write: false }));
  valueOf(await app.ask('inventory.drop', { references }));
  const cell = { in: 'batch', jobId: ids.job, row: 1, column: 0 } as const;
  valueOf(await app.ask('story.look', { of: cell, caseReference: 'C-1' }));
}, 60_000);
afterAll(async () => {
  await app.close();
  fs.rmSync(elsewhere, { recursive: true });
});

const profile = path.resolve('test/support/other-service-profile.json');
const target = (name: string): string => path.join(elsewhere, name);
const png = Buffer.from('89504e470d0a1a0a', 'hex').toString('base64');

const noEdits = { examples: [], fields: [] };

/** Every call that opens a dialog: its input, and what whoever comes by chooses. */
const held: { readonly [N in CallName]?: [input: () => CallInput<N>, chosen: () => string] } = {
  'app.saveDiagnostics': [() => ({}), () => target('diagnostics.txt')],
  'approval.choose': [() => ({}), () => profile],
  'batch.choose': [() => ({}), () => profile],
  'batch.chooseFiles': [() => ({}), () => profile],
  'batch.chooseFolder': [() => ({}), () => elsewhere],
  'compare.files': [
    () => {
      const side = { of: 'batch', jobId: ids.job, column: 0 } as const;
      return { sides: [side, side], write: true };
    },
    () => target('compared.csv'),
  ],
  'compare.save': [() => ({}), () => target('compared.csv')],
  'batch.exportQueue': [
    () => ({ ...plainExport, rows: 'all', queueId: ids.queue, files: [ids.queued], grounds: someGrounds }),
    () => elsewhere,
  ],
  'batch.reportQueue': [() => ({ queueId: ids.queue, form: 'csv' }), () => target('report-of-files.csv')],
  'batch.export': [
    () => ({ ...plainExport, jobId: ids.job, content: 'cleartext', grounds: someGrounds }),
    () => target('cards.csv'),
  ],
  'connections.chooseCertificate': [
    () => ({ id: ids.connection, passphrase: obscured('till') }),
    () => profile,
  ],
  'connections.chooseExamples': [() => ({ id: ids.connection, edits: noEdits }), () => profile],
  'connections.exportProfile': [() => ({ id: ids.connection, edits: noEdits }), () => target('profile.json')],
  'connections.compareProfile': [() => ({ id: ids.connection, edits: noEdits }), () => profile],
  'connections.chooseImport': [() => ({}), () => profile],
  'connections.export': [() => ({}), () => target('connections.json')],
  'connections.importProfile': [() => ({ id: ids.connection }), () => profile],
  'inventory.look': [() => ({ source: { of: 'folder' } }), () => app.home],
  'inventory.drop': [() => ({ references: [app.home] }), () => app.home],
  'inventory.save': [() => ({ form: 'csv' }), () => target('inventory.csv')],
  'reports.evidence': [() => ({ caseReference: 'C-1' }), () => target('evidence.json')],
  'reports.export': [() => ({ reportId: ids.report }), () => target('report.csv')],
  'reports.exportChart': [() => ({ reportId: ids.report, png }), () => target('chart.png')],
  'story.save': [() => ({}), () => target('story.csv')],
};
const names = Object.keys(held) as (keyof typeof held)[];

const actions = async (): Promise<string[]> =>
  valueOf(await app.ask('activity.list', { before: null, limit: 500, caseReference: null })).entries.map(
    ({ action, phase }) => `${action} ${phase}`,
  );

const settings = (): Record<string, unknown> =>
  JSON.parse(fs.readFileSync(path.join(app.home, 'desk.json'), 'utf8')) as Record<string, unknown>;

/**
 * Everything that is stored: the settings but the count of requests, which is written later, the jobs, and the entries of
 * the keyring but the log's own.
 */
const stored = (): unknown => [
  { ...settings(), quota: null },
  fs
    .readdirSync(app.home, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/^(audit|checkpoints|logs|chromium)/.test(name))
    .sort(),
  [...keyring.entries].filter(([name]) => !/audit:|probe/.test(name)),
];

/** In a list: a promise that is returned would be waited for. */
async function holdOpen(name: CallName): Promise<Promise<Outcome<unknown>>[]> {
  dialog.answer = null;
  const [input] = held[name] ?? [];
  const asked: Promise<Outcome<unknown>> = app.ask(name, input?.() ?? {});
  await expect.poll(() => dialog.answer !== null, { timeout: 10_000 }).toBe(true);
  return [asked];
}

describe('a dialog that is open when the app locks', () => {
  test.each(names)('%s writes and stores nothing, and begins no line', async (name) => {
    const [asked] = await holdOpen(name);
    const before = [stored(), await actions()] as const;
    valueOf(await app.ask('lock.now', {}));
    // Before anybody answers the dialog.
    expect(await asked).toEqual(failed('app.locked'));
    dialog.answer?.(held[name]?.[1]() ?? null);
    valueOf(await app.ask('lock.unlock', { passphrase: obscured('') }));
    expect(fs.readdirSync(elsewhere)).toEqual([]);
    expect(stored()).toEqual(before[0]);
    expect((await actions()).filter((line) => !/^(Lock|Unlock) /.test(line))).toEqual(
      before[1].filter((line) => !/^(Lock|Unlock) /.test(line)),
    );
  });

  test.each(['batch.export', 'connections.importProfile'] as const)(
    '%s is cancelled by it, though the app is unlocked before the dialog is answered',
    async (name) => {
      const [asked] = await holdOpen(name);
      const before = stored();
      valueOf(await app.ask('lock.now', {}));
      valueOf(await app.ask('lock.unlock', { passphrase: obscured('') }));
      dialog.answer?.(held[name]?.[1]() ?? null);
      await asked;
      expect([fs.readdirSync(elsewhere), stored()]).toEqual([[], before]);
    },
  );

  test('a question that is open when the app locks is answered with no', async () => {
    const secret = { kind: 'apiKey' } as const;
    const stored = { id: ids.connection, secret, value: obscured('key-of-acme') };
    valueOf(await app.ask('connections.storeSecret', stored));
    const [asked] = await holdOpen('connections.importProfile');
    asking.confirm = () => new Promise((resolve) => (asking.agree = () => resolve(true)));
    dialog.answer?.(profile);
    await expect.poll(() => asking.agree !== null, { timeout: 10_000 }).toBe(true);
    valueOf(await app.ask('lock.now', {}));
    expect(await asked).toEqual(failed('app.locked'));
    valueOf(await app.ask('lock.unlock', { passphrase: obscured('') }));
    asking.agree?.();
    expect((await actions()).some((line) => line.startsWith('ImportProfile'))).toBe(false);
  });

  test('a dialog that is answered in time does what it is for', async () => {
    const [asked] = await holdOpen('batch.export');
    dialog.answer?.(target('in-time.csv'));
    expect((await asked)?.ok).toBe(true);
    expect(fs.readFileSync(target('in-time.csv'), 'utf8')).toContain(card);
  });
});

test('no module has a dialog that the table above does not know', () => {
  const source = (folder: string): string[] =>
    fs
      .readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => path.join(folder, name));
  const outside = source('electron').filter((file) => !/^electron\/(platform\/|main\.ts)/.test(file));
  // What lies over the dialogs themselves is held in a test of its own.
  const modules = outside.filter((file) => file !== 'electron/privacy/dialogs.ts');
  const uses = modules.flatMap((file) =>
    Array.from(
      fs.readFileSync(file, 'utf8').matchAll(/await [\w.]*\b(chooseFiles?|chooseFolder|chooseTarget)\(/g),
      () => file,
    ),
  );
  // The two reports share one; files are looked through from two. A request and an answer of a second person, which the
  // lock forgets, are held in the test of approval.
  expect(uses).toHaveLength(names.length + 2);

  for (const file of outside)
    expect([
      file,
      /\bdialog\.show|showOpenDialog|showSaveDialog/.test(fs.readFileSync(file, 'utf8')),
    ]).toEqual([file, false]);
  for (const name of names) expect(calls[name]).toBeDefined();
});
