import fs from 'node:fs';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { parseRun, type RunArguments } from '../../../electron/commands/arguments.ts';
import { createCommandPlatform } from '../../../electron/commands/command-platform.ts';
import { exitCodes, runFiles, type RunLine } from '../../../electron/commands/run.ts';
import type { Mapping } from '../../../electron/contract/models/batch.ts';
import { sentenceFor } from '../../../src/messages/messages.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { obscured, openWholeApp, type WholeApp } from '../../support/whole-app.ts';

/* `tokendesk run` over everything but Electron: the same app that the window asks. */

const origin = 'app://tokendesk';
const cards = ['4111118124045251', '5500005555555559', '4012888888881881', '6011111111111117'];
const opened: WholeApp[] = [];
afterEach(async () => {
  for (const app of opened.splice(0)) await app.close();
});

async function openCommand(given: Parameters<typeof openWholeApp>[0] = {}) {
  const folder = tempFolder();
  const { platform, app } = createCommandPlatform({
    origin,
    env: {},
    version: '1',
    home: '',
    resources: path.resolve('resources'),
    site: '',
  });
  const { home: _home, site: _site, ...rest } = platform;
  const whole = await openWholeApp({ ...given, platform: { ...rest, ...given.platform } });
  opened.push(whole);
  const write = (name: string, lines: readonly string[]): string => {
    const file = path.join(folder, name);
    fs.writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
    return file;
  };
  return { whole, app, folder, write };
}
type Command = Awaited<ReturnType<typeof openCommand>>;

const month = (count: number, header = 'id,card,note'): string[] => [
  header,
  ...Array.from({ length: count }, (_, n) => `${n},${cards[n % cards.length] ?? ''},ok`),
];

/** October by hand: the file is looked at, mapped, and the mapping saved. */
async function saveMapping(
  { app, write }: Command,
  definition = 'card-number',
  reading?: Mapping['reading'],
) {
  await app.ask('connections.startBuiltIn', {});
  const chosen = await app.ask('batch.drop', { reference: write('october.csv', month(8)) });
  const preview = await app.ask('batch.preview', {
    sourceId: chosen.ok ? chosen.value.sourceId : '',
    reading: {},
    masked: null,
  });
  const state = await app.ask('app.state', {});
  if (!preview.ok || !state.ok || !('connections' in state.value)) throw new Error('Not ready');
  const { active, connections } = state.value;
  const connection = connections.find(({ id }) => id === active?.connectionId);
  return app.ask('batch.saveMapping', {
    name: 'Cards',
    header: preview.value.columns.map(({ name }) => name),
    origin: { connectionId: connection?.id ?? '', environment: connection?.environment ?? '' },
    ...(reading !== undefined && { reading }),
    columns: [
      {
        header: 'card',
        operation: 'tokenize',
        policy: 'analyst',
        definition,
        target: null,
        parts: null,
        pattern: null,
        into: 'replace',
      },
    ],
  });
}

async function run(
  command: Command,
  args: readonly string[],
  over: { signal?: AbortSignal; passphrase?: string } = {},
) {
  const given = parseRun(args);
  if (typeof given === 'string') throw new Error(given);
  const lines: RunLine[] = [];
  const code = await runFiles(given, {
    app: command.app,
    sentenceFor,
    print: (line) => void lines.push(line),
    signal: over.signal ?? new AbortController().signal,
    passphrase: over.passphrase ?? null,
  });
  const results = lines.filter((line) => line.kind === 'result');
  return { code, lines, results, result: results[0] };
}

test('a month’s file is tokenized by the saved mapping, and every row is there', async () => {
  const command = await openCommand();
  await saveMapping(command);
  const file = command.write('november.csv', month(250));
  const { code, result, lines } = await run(command, ['Cards', file]);
  expect(result?.sentence).toContain('250 rows = 250 succeeded + 0 failed + 0 no match + 0 blank.');
  expect(code).toBe(exitCodes.done);
  expect(path.basename(result?.written ?? '')).toBe('november_tokens.csv');
  const written = fs.readFileSync(result?.written ?? '', 'utf8');
  expect(written.split('\n')).toHaveLength(252);
  for (const card of cards) {
    expect(written).not.toContain(card);
    expect(JSON.stringify(lines)).not.toContain(card);
  }
  // Once more: nothing is written over.
  const again = await run(command, ['Cards', file]);
  expect(path.basename(again.result?.written ?? '')).toBe('november_tokens-2.csv');
  expect(fs.readFileSync(again.result?.written ?? '', 'utf8')).toBe(written);
});

test('several files are one command; the gravest end is its code, and each has its own', async () => {
  const command = await openCommand();
  await saveMapping(command);
  const good = command.write('good.csv', month(20));
  const bad = command.write('bad.csv', [...month(20), '20,no card,ok']);
  const other = command.write('other.csv', month(20, 'id,pan,note'));
  const none = path.join(command.folder, 'none.csv');
  const { code, results } = await run(command, ['Cards', good, bad, other, none]);
  expect(results.map(({ file, exitCode }) => [file, exitCode])).toEqual([
    ['good.csv', exitCodes.done],
    ['bad.csv', exitCodes.refused],
    ['other.csv', exitCodes.refused],
    ['none.csv', exitCodes.broken],
  ]);
  expect(code).toBe(exitCodes.broken);
  expect(results[1]?.sentence).toBe(
    'New in this file: values that do not fit the definition in card (1, first in row 21). ' +
      'With --yes it is run all the same. Nothing was sent.',
  );
  expect(results[2]?.sentence).toBe(
    'The columns are not those of the mapping (missing: card; 1 others). Nothing was sent.',
  );
  const agreed = await run(command, ['Cards', bad, '--yes']);
  expect(agreed.code).toBe(exitCodes.failedRows);
  expect(agreed.result?.sentence).toContain('21 rows = 20 succeeded + 1 failed + 0 no match + 0 blank.');
});

test('another environment, an unknown mapping and a lock stop it, with nothing sent', async () => {
  const command = await openCommand();
  const file = command.write('november.csv', month(5));
  const unknown = await run(command, ['Cards', file]);
  expect(unknown.result).toMatchObject({
    exitCode: exitCodes.usage,
    sentence: 'There is no saved mapping Cards. None is saved.',
  });
  await saveMapping(command);
  const mappings = await command.app.ask('batch.mappings', {});
  const [saved] = mappings.ok ? mappings.value : [];
  if (saved?.origin === undefined) throw new Error('Not saved');
  const { id: _, ...mapping } = saved;
  await command.app.ask('batch.saveMapping', {
    ...mapping,
    name: 'Elsewhere',
    origin: { ...saved.origin, environment: 'production' },
  });
  const elsewhere = await run(command, ['Elsewhere', file]);
  expect(elsewhere.result?.exitCode).toBe(exitCodes.refused);
  expect(elsewhere.result?.sentence).toMatch(
    /was saved for .* \(production\), and .* is in use\. Nothing was sent\./,
  );
  await command.app.ask('lock.setPassphrase', {
    current: obscured(''),
    next: obscured('a long passphrase'),
  });
  await command.app.ask('lock.now', {});
  const locked = await run(command, ['Cards', file]);
  expect(locked.result?.exitCode).toBe(exitCodes.refused);
  expect(locked.result?.sentence).toContain('locked with a passphrase');
  const jobs = fs.existsSync(path.join(command.whole.home, 'jobs'))
    ? fs.readdirSync(path.join(command.whole.home, 'jobs'))
    : [];
  expect(jobs).toEqual([]);
  const right = await run(command, ['Cards', file, '--passphrase-stdin'], {
    passphrase: 'a long passphrase',
  });
  expect(right.code).toBe(exitCodes.done);
  await command.app.ask('lock.now', {});
  const wrong = await run(command, ['Cards', file, '--passphrase-stdin'], { passphrase: 'another one' });
  expect(wrong.result?.exitCode).toBe(exitCodes.refused);
});

test('a signal pauses it at a chunk’s edge; another run begins anew, and takes up no batch of another file', async () => {
  const command = await openCommand();
  await saveMapping(command, 'free-text');
  // All values differ, so that a run of it takes longer than a signal does.
  const rows = (of: string): string[] => [
    'id,card,note',
    ...Array.from({ length: 60_000 }, (_, n) => `${n},${of} ${n},ok`),
  ];
  const file = command.write('data.csv', rows('one'));
  const stop = new AbortController();
  const stopWatching = command.app.on('batch.job', () => {
    stop.abort();
  });
  const first = await run(command, ['Cards', file], { signal: stop.signal });
  stopWatching();
  expect(first.code).toBe(exitCodes.paused);
  expect(first.result?.sentence).toMatch(/^It is paused after \d+ rows\. It goes on in the window\./);
  // Of the same name, in another folder.
  fs.mkdirSync(path.join(command.folder, 'other'));
  const other = command.write('other/data.csv', ['id,card,note', '1,two 1,other', '2,two 2,other']);
  const second = await run(command, ['Cards', other]);
  expect(second.code).toBe(exitCodes.done);
  expect(second.result?.jobId).not.toBe(first.result?.jobId);
  expect(fs.readFileSync(second.result?.written ?? '', 'utf8').split('\n')).toHaveLength(4);
});

test('what can’t be counted ends it with a sentence, and a missing folder before anything is sent', async () => {
  const command = await openCommand();
  await saveMapping(command);
  const long = command.write('long.csv', [...month(20), `21,${'9'.repeat(17_000_000)},ok`]);
  const broken = await run(command, ['Cards', long]);
  expect(broken.results.map(({ exitCode, jobId }) => [exitCode > 3, jobId])).toEqual([[true, null]]);
  const nowhere = await run(command, ['Cards', command.write('a.csv', month(3)), '--out=/nowhere/at/all']);
  expect(nowhere.result).toMatchObject({
    exitCode: exitCodes.refused,
    sentence: 'There is no folder /nowhere/at/all. Nothing was sent.',
  });
});

test('a last row that looks like a sum is asked about, though the mapping knows how its file was read', async () => {
  const command = await openCommand();
  await saveMapping(command, 'card-number', { encoding: 'utf-8', delimiter: ',', header: true });
  const file = command.write('sum.csv', [...month(60), `Total Wine,${cards[0] ?? ''},`]);
  const asked = await run(command, ['Cards', file]);
  expect(asked.result).toMatchObject({
    exitCode: exitCodes.refused,
    jobId: null,
    sentence:
      'The file can be read in more than one way: where its table begins and ends is a guess. ' +
      'With --yes it is read as it seems. Nothing was sent.',
  });
});

test('what stays in clear has a code of its own', async () => {
  const command = await openCommand();
  await saveMapping(command);
  const noted = command.write('noted.csv', [...month(30), `30,${cards[0] ?? ''},paid by ${cards[1] ?? ''}`]);
  const { code, result } = await run(command, ['Cards', noted, '--yes']);
  expect(code).toBe(exitCodes.remains);
  expect(result?.sentence).toContain('1 values stay in clear in columns that were copied.');
});

test.each<[readonly string[], string]>([
  [[], 'Name the saved mapping, and the file to run it on.'],
  [['Cards'], 'Name the file to run Cards on.'],
  [['Cards', 'a.csv', '--force'], 'There is a switch that this command does not have.'],
  [['Cards', 'a.csv', '--out='], 'Name the folder behind --out=.'],
  [['Cards', 'a.csv', '--json=1'], 'A switch of this command has no value, or one that it does not take.'],
  [['Cards', 'a.csv', '--case'], 'A switch of this command has no value, or one that it does not take.'],
])('%j is wrong use, in words', (args, sentence) => {
  expect(parseRun(args)).toBe(sentence);
});

test('arguments', () => {
  expect(
    parseRun(['Cards', 'a.csv', 'b.csv', '--out=results', '--json', '--case=D-1', '--reason=Refund']),
  ).toEqual({
    mapping: 'Cards',
    files: ['a.csv', 'b.csv'],
    out: 'results',
    json: true,
    yes: false,
    caseReference: 'D-1',
    reason: 'Refund',
    passphraseOnInput: false,
  } satisfies RunArguments);
});
