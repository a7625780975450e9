import fs from 'node:fs';
import fsPromises from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { newXorKey } from '../../../electron/contract/obscured.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import type { Job } from '../../../electron/contract/models/batch.ts';
import type { Story } from '../../../electron/contract/models/story.ts';
import { createTokenHashes, hashToken } from '../../../electron/privacy/token-hashes.ts';
import { createStories } from '../../../electron/story/story.ts';
import { auditWith } from '../../support/fake-audit.ts';
import { createBatchRecords } from '../../../electron/story/batch-records.ts';
import { value } from '../../support/audit-folder.ts';
import { appKeychain } from '../../support/app-keychain.ts';
import { detokenize, plainExport, planOf } from '../../support/batch-app.ts';
import { fakeKeyring } from '../../support/fake-keyring.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { obscured, openWholeApp, type WholeApp, type WholeAppOptions } from '../../support/whole-app.ts';

const analyst = { policy: 'analyst', definition: 'card-number' };
const cards = ['4111118124045251', '5555555555554444', '4012888888881881'] as const;
const grounds = { reason: 'Refund', caseReference: 'C-1' };

/** A home with tokens of three cards; each `open` is a start of the app in it. */
async function withTokens(given: WholeAppOptions = {}) {
  const home = tempFolder();
  const keyring = fakeKeyring();
  const open = async (over: WholeAppOptions = {}): Promise<WholeApp> => {
    const app = await openWholeApp({ home, keyring, ...given, ...over });
    onTestFinished(() => app.close());
    return app;
  };
  const app = await open();
  const { id } = value(await app.ask('connections.startBuiltIn', {}));
  value(await app.ask('connections.choose', { id, policy: 'analyst' }));
  const tokens: string[] = [];
  for (const card of cards) {
    const made = await app.ask('lookup.tokenize', {
      ...analyst,
      cleartext: obscured(card),
      caseReference: '',
    });
    tokens.push(value(made).token);
  }
  const [one = '', other = '', third = ''] = tokens;
  return { home, keyring, app, open, one, other, third };
}

const mask = async (app: WholeApp, token: string, caseReference = 'C-1'): Promise<string> =>
  value(await app.ask('lookup.mask', { ...analyst, token, caseReference })).id;

const storyOf = async (app: WholeApp, lookupId: string): Promise<Story> =>
  value(await app.ask('story.look', { of: { in: 'lookup', lookupId }, caseReference: 'C-9' }));

/** Runs a file of these tokens, one a row, to its end. */
async function run(app: WholeApp, file: string, tokens: readonly string[]): Promise<Job> {
  fs.writeFileSync(file, `card\n${tokens.join('\n')}\n`);
  const { sourceId } = value(await app.ask('batch.drop', { reference: file }));
  const plan = planOf([detokenize(0, analyst)]);
  const { jobId } = value(await app.ask('batch.start', { sourceId, plan, grounds: null }));
  return vi.waitFor(
    async () => {
      const job = value(await app.ask('batch.jobs', {})).find((one) => one.jobId === jobId);
      expect(job?.state).toBe('finished');
      return job as Job;
    },
    { timeout: 20_000 },
  );
}

const jobOf = (jobId: string) =>
  ({
    jobId,
    sourceName: 'a.csv',
    connectionName: 'A',
    environment: 'test',
    startedAt: 's',
    endedAt: null,
    tally: { rows: 1, ok: 1 },
    columns: ['card'],
    plan: planOf([detokenize(0)]),
  }) as unknown as Job;

const said = ({ entries }: Story): string[] =>
  entries.map((one) => (one.kind === 'act' ? `${one.entry.action} ${one.entry.phase}` : `batch ${one.name}`));
const batchesOf = ({ entries }: Story) => entries.filter((one) => one.kind === 'batch');
const filesBelow = (folder: string): string[] =>
  fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));

test('every act on a token is in its story, and none on another', async () => {
  const { app, one, other, third } = await withTokens();
  const file = path.join(tempFolder(), 'cards.csv');
  const lookupId = await mask(app, one);
  const revealed = value(await app.ask('lookup.reveal', { lookupId, xorKey: newXorKey(), ...grounds }));
  value(await app.ask('lookup.hide', { revealId: revealed.revealId }));
  value(await app.ask('lookup.copy', { what: 'cleartext', lookupId, ...grounds }));
  await mask(app, other, 'C-2');
  const job = await run(app, file, [other, one, other, one]);
  const of = { jobId: job.jobId, column: 0 };
  const cell = { ...of, xorKey: newXorKey(), ...grounds };
  const shown = value(await app.ask('batch.reveal', { ...cell, row: 2 }));
  value(await app.ask('lookup.hide', { revealId: shown.revealId }));
  value(await app.ask('batch.export', { ...plainExport, jobId: job.jobId, grounds }));

  const story = await storyOf(app, lookupId);
  expect(said(story)).toEqual([
    'Export ok',
    'Reveal ok',
    'batch cards.csv',
    'Copy ok',
    'Reveal ok',
    'GetMasked ok',
    'GetMasked ok',
  ]);
  expect(batchesOf(story)).toMatchObject([
    {
      isKept: true,
      columns: [{ operation: 'detokenize', definition: 'card-number', rows: 2, first: [2, 4] }],
    },
  ]);
  expect(story).toMatchObject({ uncovered: [], isCut: false });
  const acts = story.entries.flatMap((entry) => (entry.kind === 'act' ? [entry.entry] : []));
  expect(acts.map(({ caseReference }) => caseReference)).toEqual(['C-1', 'C-1', 'C-1', 'C-1', 'C-1', '']);
  expect(acts.at(-1)?.note).toBe('token just tokenized');

  // The same from the cell; the look before it is in it too.
  const fromCell = value(
    await app.ask('story.look', { of: { in: 'batch', ...of, row: 4 }, caseReference: '' }),
  );
  expect(said(fromCell)).toEqual(['TokenStory ok', ...said(story)]);
  expect(said(await storyOf(app, await mask(app, third, '')))).toEqual(['GetMasked ok', 'GetMasked ok']);
});

test('a batch that had the token keeps it in its story, and so does its export, once the row was corrected', async () => {
  const { app, one, other, third } = await withTokens();
  const folder = tempFolder();
  const file = path.join(folder, 'cards.csv');
  fs.writeFileSync(file, `card,second\n${one},not-a-token\n${third},${third}\n`);
  const { sourceId } = value(await app.ask('batch.drop', { reference: file }));
  const plan = planOf([detokenize(0, analyst), detokenize(1, analyst)]);
  const { jobId } = value(await app.ask('batch.start', { sourceId, plan, grounds: null }));
  const finished = (ok: number) =>
    vi.waitFor(
      async () =>
        expect(value(await app.ask('batch.jobs', {}))[0]).toMatchObject({ state: 'finished', tally: { ok } }),
      { timeout: 20_000 },
    );
  await finished(1);
  value(await app.ask('batch.export', { ...plainExport, jobId, grounds }));
  const list = path.join(folder, 'list.csv');
  const head = 'source_row,column,reason,code,card,second';
  fs.writeFileSync(list, `${head}\n1,second,x,service.token-invalid,${other},${other}\n`);
  const opened = value(await app.ask('batch.drop', { reference: list }));
  value(await app.ask('batch.compare', { jobId, sourceId: opened.sourceId }));
  value(await app.ask('batch.mend', { jobId, taken: { doubts: [], except: [] } }));
  await finished(2);
  for (const [token, columns] of [
    [one, [{ first: [1] }]],
    [other, [{ first: [1] }, { first: [1] }]],
    [third, [{ first: [2] }, { first: [2] }]],
  ] as const) {
    const story = await storyOf(app, await mask(app, token));
    expect(batchesOf(story)).toMatchObject([{ name: 'cards.csv', columns }]);
    expect(said(story)).toContain('Export ok');
  }
});

test('batches whose results or source are gone are in it, and what could not be looked through is named', async () => {
  const { app, open, one, other } = await withTokens();
  const folder = tempFolder();
  const first = await run(app, path.join(folder, 'first.csv'), [one]);
  value(await app.ask('batch.discard', { jobId: first.jobId }));
  await run(app, path.join(folder, 'second.csv'), [one, other]);
  const recorded = () =>
    fs.readdirSync(path.join(app.home, 'stories')).filter((name) => !/\.(?:new|json)$/.test(name));
  await vi.waitFor(() => expect(recorded()).toHaveLength(2));
  fs.rmSync(path.join(folder, 'second.csv'));
  await app.close();
  const again = await open();
  const story = await storyOf(again, await mask(again, one));
  expect(batchesOf(story)).toMatchObject([
    { name: 'second.csv', isKept: true },
    { name: 'first.csv', isKept: false },
  ]);
  // Where nothing was recorded while its source was there, the story says so.
  for (const file of filesBelow(path.join(app.home, 'stories'))) if (!file.endsWith('.json')) fs.rmSync(file);
  const lacking = await storyOf(again, await mask(again, one));
  expect(batchesOf(lacking)).toEqual([]);
  const uncovered = [{ name: 'second.csv', code: 'job.source-gone' }];
  expect(lacking.uncovered).toMatchObject(uncovered);
  // That takes no file while the batch is there to be asked again, and one when it goes.
  expect(recorded()).toEqual([]);
  value(await again.ask('batch.discard', { jobId: lacking.uncovered[0]?.jobId ?? '' }));
  expect(recorded()).toHaveLength(1);
  expect((await storyOf(again, await mask(again, one))).uncovered).toMatchObject(uncovered);
});

test('no token and no value is on the disk, nor in the list that is saved', async () => {
  const { app, one } = await withTokens();
  const folder = tempFolder();
  const job = await run(app, path.join(folder, 'cards.csv'), [one, one]);
  const lookupId = await mask(app, one);
  await storyOf(app, lookupId);
  const saved = value(await app.ask('story.save', {}));
  expect(saved?.name).toMatch(/story\.csv$/);
  const text = fs.readFileSync(path.join(app.home, saved?.name ?? ''), 'utf8');
  expect(text).toContain(`,batch: detokenize,ok,`);
  expect(text).toContain(job.jobId);
  await app.close();
  const forms = [
    one,
    cards[0],
    Buffer.from(one).toString('base64').slice(0, 16),
    Buffer.from(one).toString('hex'),
  ];
  for (const file of filesBelow(app.home)) {
    // The built-in service is another program.
    if (file.startsWith(path.join(app.home, 'built-in'))) continue;
    const bytes = fs.readFileSync(file);
    for (const form of forms) expect(bytes.includes(form), `${file} has ${form}`).toBe(false);
  }
  const lines = fs.readFileSync(path.join(app.home, 'audit', 'audit-000001.jsonl'), 'utf8').split('\n');
  expect(lines.filter((line) => line.includes('"TokenStory"') && line.includes('C-9'))).toHaveLength(2);
  expect(lines.filter((line) => line.includes('"SaveStory"'))).toHaveLength(2);
});

test('once the key is gone nobody finds an act again', async () => {
  const { app, keyring, open, one } = await withTokens();
  await run(app, path.join(tempFolder(), 'cards.csv'), [one]);
  await mask(app, one);
  await app.close();
  for (const name of keyring.entries.keys()) if (/story:[01]$/.test(name)) keyring.entries.delete(name);
  fs.rmSync(path.join(app.home, 'jobs'), { recursive: true });
  const again = await open();
  expect(said(await storyOf(again, await mask(again, one)))).toEqual(['GetMasked ok']);
});

test('where an administrator switched it off nothing is hashed, recorded or answered', async () => {
  const { app, keyring, open, one } = await withTokens();
  await run(app, path.join(tempFolder(), 'cards.csv'), [one]);
  const folder = path.join(app.home, 'stories');
  expect(fs.existsSync(folder)).toBe(true);
  await app.close();
  const before = fs.readFileSync(path.join(app.home, 'audit', 'audit-000001.jsonl'), 'utf8');
  const off = await open({ managed: { tokenStory: false } });
  await vi.waitFor(() => expect(fs.existsSync(folder)).toBe(false));
  expect([...keyring.entries.keys()].filter((name) => name.includes('story'))).toEqual([]);
  const lookupId = await mask(off, one);
  expect(await off.ask('story.look', { of: { in: 'lookup', lookupId }, caseReference: '' })).toEqual(
    failed('settings.managed', { subject: 'tokenStory' }),
  );
  await run(off, path.join(tempFolder(), 'more.csv'), [one]);
  await off.close();
  expect(fs.existsSync(folder)).toBe(false);
  const after = fs.readFileSync(path.join(app.home, 'audit', 'audit-000001.jsonl'), 'utf8');
  expect(after.slice(before.length)).toContain('"GetMasked"');
  expect(after.slice(before.length)).not.toContain('"tokens"');
});

test('a cell that has no token has no story', async () => {
  const { app, one } = await withTokens();
  const job = await run(app, path.join(tempFolder(), 'cards.csv'), [one]);
  const look = (row: number, column: number) =>
    app.ask('story.look', { of: { in: 'batch', jobId: job.jobId, row, column }, caseReference: '' });
  expect(await look(1, 1)).toEqual(failed('story.no-token'));
  expect(await look(2, 0)).toEqual(failed('story.no-token'));
  expect(await app.ask('story.save', {})).toEqual(failed('call.refused'));
});

test('each year has its own key, and the one of the year before the last is gone', async () => {
  const { keychain } = appKeychain([], { load: () => Promise.resolve(fakeKeyring()) });
  let year = 2026;
  const hashes = createTokenHashes({ isOn: true, keychain, now: () => new Date(Date.UTC(year, 6)) });
  const hashed = async () => value(await hashes.of('token'))?.[0];
  const known = async () => value(await hashes.all()).map((key) => hashToken(key, 'token'));
  const first = await hashed();
  expect(await hashed()).toBe(first);
  year = 2027;
  const second = await hashed();
  expect(await known()).toEqual([second, first]);
  year = 2028;
  const third = await hashed();
  expect(await known()).toEqual([third, second]);
  expect(new Set([first, second, third]).size).toBe(3);
});

test('records are counted once, and not for each that is written', async () => {
  const folder = path.join(tempFolder(), 'stories');
  const { keychain } = appKeychain([], { load: () => Promise.resolve(fakeKeyring()) });
  const now = () => new Date();
  const hashes = createTokenHashes({ isOn: true, keychain, now });
  const records = createBatchRecords({ folder, hashes, actor: 'kim', now });
  await records.start();
  const counted = vi.spyOn(fsPromises, 'readdir');
  onTestFinished(() => {
    counted.mockRestore();
  });
  for (let at = 0; at < 20; at++)
    value(
      await records.write(jobOf(`job-${at}`), (visit) => {
        visit('token', 1, 0);
        return Promise.resolve(done(null));
      }),
    );
  expect(counted).toHaveBeenCalledTimes(1);
});

test('records have a bound: the oldest go, and the story begins later; of a year that is over they go too', async () => {
  const folder = path.join(tempFolder(), 'stories');
  const { keychain } = appKeychain([], { load: () => Promise.resolve(fakeKeyring()) });
  let now = Date.UTC(2026, 6);
  const hashes = createTokenHashes({ isOn: true, keychain, now: () => new Date(now) });
  const records = createBatchRecords({
    ...{ folder, hashes, actor: 'kim', now: () => new Date(now) },
    maxBytes: 4_000,
    maxTokens: 100,
  });
  await records.start();
  expect(await records.since()).toBe('2026-07-01T00:00:00.000Z');
  const how = { signal: new AbortController().signal, report: () => undefined };
  for (const [at, name] of ['one', 'two', 'three', 'four'].entries()) {
    value(
      await records.write(jobOf(name), (visit) => {
        for (let row = 1; row <= 101; row++) visit(`token ${name} ${row}`, row, 0);
        return Promise.resolve(done(null));
      }),
    );
    fs.utimesSync(path.join(folder, `2026-${name}`), at, at);
  }
  const found = async (token: string) =>
    value(await records.find(token, how))
      .filter((batch) => batch.found.length > 0)
      .map(({ head }) => head.jobId);
  expect(fs.readdirSync(folder).filter((name) => name.startsWith('2026-'))).toEqual([
    '2026-four',
    '2026-three',
  ]);
  expect([await found('token one 1'), await found('token four 7')]).toEqual([[], ['four']]);
  // What is beyond the bound of one batch is not in it, and that is said.
  expect(await found('token four 101')).toEqual([]);
  expect(value(await records.find('x', how)).map(({ head }) => head.failure)).toEqual([
    'story.too-many',
    'story.too-many',
  ]);
  now = Date.UTC(2028, 0, 2);
  expect(value(await records.find('token four 7', how))).toEqual([]);
  expect(fs.readdirSync(folder)).toEqual(['since.json']);
  expect(await records.since()).toBe('2027-01-01T00:00:00.000Z');
});

test('a search that is stopped says nothing of what it found', async () => {
  const { keychain } = appKeychain([], { load: () => Promise.resolve(fakeKeyring()) });
  const now = () => new Date();
  const begun = Promise.withResolvers<null>();
  const stories = createStories({
    audit: {
      record: auditWith(() => Promise.resolve(done(() => undefined))).record,
      story: () => Promise.resolve(done([])),
    },
    hashes: createTokenHashes({ isOn: true, keychain, now }),
    tokenOf: () => Promise.resolve(done('token')),
    batches: {
      kept: () => Promise.resolve(done([jobOf('one')])),
      find: () => Promise.resolve(failed('job.unknown')),
      ofCell: () => Promise.resolve(failed('story.no-token')),
      look: (_jobId, _visit, { signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve(failed('service.cancelled')));
          begun.resolve(null);
        }),
    },
    platform: { chooseTarget: () => Promise.resolve(null), send: () => undefined },
    folder: tempFolder(),
    actor: 'kim',
    now,
  });
  await stories.start();
  const asked = stories.calls['story.look']({ of: { in: 'lookup', lookupId: 'l' }, caseReference: '' });
  await begun.promise;
  await stories.calls['story.stop']({});
  expect(await asked).toEqual(failed('service.cancelled'));
  expect(await stories.calls['story.save']({})).toEqual(failed('call.refused'));
  await stories.close();
});
