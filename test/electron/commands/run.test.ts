import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { Decrypter, Encrypter } from 'age-encryption';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parseCommand } from '../../../electron/commands/arguments.ts';
import { exitCodes } from '../../../electron/commands/ends.ts';
import { exportJob } from '../../../electron/commands/questions.ts';
import { runFiles } from '../../../electron/commands/run.ts';
import type { RunLine } from '../../../electron/contract/models/run-lines.ts';
import { receipt } from '../../../electron/contract/models/receipt.ts';
import { verifyEvidence } from '../../../scripts/verify-evidence.ts';
import { presetOf } from '../../../electron/contract/record-presets.ts';
import { settlementFile } from '../../fidelity/fixed-width.ts';
import { sentenceFor } from '../../../src/messages/messages.ts';
import type { Plan } from '../../../electron/contract/models/batch.ts';
import type { Mapping } from '../../../electron/contract/models/mapping.ts';
import { formatNotice } from '../../../src/messages/notices.ts';
import { bundleRun, killRuns } from '../../faults/killed-runs.ts';
import { openCommand, type Command } from '../../support/command-app.ts';
import { monthCards as cards, monthRows as month, saveMapping } from '../../support/saved-mapping.ts';
import { text, workbook } from '../../support/make-workbook.ts';
import { obscured } from '../../support/whole-app.ts';

/* `tokendesk run` over everything but Electron: the same app that the window asks. */

let command: Command;
beforeAll(async () => {
  command = await openCommand();
  await saveMapping(command.app, path.join(command.folder, 'october.csv'));
});
afterAll(() => command.close());

async function run(
  args: readonly string[],
  over: { signal?: AbortSignal; passphrase?: string; filePassphrase?: string; of?: Command } = {},
) {
  const parsed = parseCommand('run', args);
  if (typeof parsed === 'string' || parsed.name !== 'run') throw new Error('Wrong use');
  const { given } = parsed;
  const lines: RunLine[] = [];
  const code = await runFiles(given, {
    app: (over.of ?? command).app,
    canMake: (over.of ?? command).whole.canMake,
    words: { failure: sentenceFor, notice: formatNotice },
    print: (line) => void lines.push(line),
    signal: over.signal ?? new AbortController().signal,
    passphrase: over.passphrase ?? null,
    filePassphrase: over.filePassphrase ?? null,
  });
  const results = lines.filter((line) => line.kind === 'result');
  return { code, lines, results, result: results[0] };
}

/** What a mapping does with the column of cards. */
const column = (over: Partial<Mapping['columns'][number]>): Mapping['columns'][number] => ({
  header: 'card',
  operation: 'detokenize',
  policy: 'analyst',
  definition: 'card-number',
  target: null,
  parts: null,
  pattern: null,
  into: 'replace',
  ...over,
});

async function planOf(jobId: string): Promise<Plan> {
  const jobs = await command.app.ask('batch.jobs', {});
  const job = jobs.ok ? jobs.value.find((one) => one.jobId === jobId) : undefined;
  if (job === undefined) throw new Error('No such batch');
  return job.plan;
}

test('a month’s file is tokenized by the saved mapping, and every row is there', async () => {
  const file = command.write('november.csv', month(250));
  const { code, result, lines } = await run(['Cards', file]);
  expect(result?.sentence).toContain('250 rows = 250 succeeded + 0 failed + 0 not matched + 0 blank.');
  expect(code).toBe(exitCodes.done);
  expect(path.basename(result?.written ?? '')).toBe('november_tokens.csv');
  const written = fs.readFileSync(result?.written ?? '', 'utf8');
  expect(written.split('\n')).toHaveLength(252);
  for (const card of cards) {
    expect(written).not.toContain(card);
    expect(JSON.stringify(lines)).not.toContain(card);
  }
  // Once more: nothing is sent, and nothing is written over.
  const sent = command.sent('BatchTokenize');
  expect(sent).toBeGreaterThan(0);
  const again = await run(['Cards', file]);
  expect(path.basename(again.result?.written ?? '')).toBe('november_tokens-2.csv');
  expect(fs.readFileSync(again.result?.written ?? '', 'utf8')).toBe(written);
  expect(again.result).toMatchObject({ jobId: result?.jobId, takenUp: 250 });
  expect(again.result?.sentence).toContain('250 of them were sent before.');
  expect(command.sent('BatchTokenize')).toBe(sent);
  const anew = await run(['Cards', file, '--anew']);
  expect(anew.result?.takenUp).toBe(null);
  expect(command.sent('BatchTokenize')).toBeGreaterThan(sent);
});

test('a result is written as the last one by hand was, and in its folder, unless another is named', async () => {
  const desk = await openCommand();
  onTestFinished(() => desk.close());
  const october = path.join(desk.folder, 'october.csv');
  await saveMapping(desk.app, october);
  const results = path.join(desk.folder, 'results');
  fs.mkdirSync(results);
  const first = await run(['Cards', desk.write('september.csv', month(4))], { of: desk });
  expect(path.dirname(first.result?.written ?? '')).toBe(desk.folder);
  desk.app.exportTo(path.join(results, 'october.csv'));
  const form = { content: 'tokens', rows: 'all', format: 'csv', safety: 'exact', newline: '\n' } as const;
  const dialect = { encoding: 'utf-8', delimiter: ';', byteOrderMark: false } as const;
  const choice = { ...form, ...dialect, jobId: first.result?.jobId ?? '', grounds: null, passphrase: null };
  expect((await desk.app.ask('batch.export', choice)).ok).toBe(true);

  const november = desk.write('november.csv', month(4));
  const next = await run(['Cards', november], { of: desk });
  expect(next.result).toMatchObject({ written: path.join(results, 'november_tokens.csv') });
  expect(fs.readFileSync(next.result?.written ?? '', 'utf8').split('\n')[0]).toBe('id;card;note');
  const elsewhere = await run(['Cards', november, `--out=${desk.folder}`], { of: desk });
  expect(elsewhere.result?.written).toBe(path.join(desk.folder, 'november_tokens.csv'));
  fs.rmSync(results, { recursive: true });
  const gone = await run(['Cards', desk.write('december.csv', month(4))], { of: desk });
  expect(gone.result).toMatchObject({
    exitCode: exitCodes.refused,
    sentence: `There is no folder ${results}. Nothing was sent.`,
  });
});

test('records of fixed width are read by the layout of the mapping, and keep their lengths and other records', async () => {
  const desk = await openCommand();
  onTestFinished(() => desk.close());
  const records = presetOf('base2');
  await saveMapping(desk.app, path.join(desk.folder, 'october.csv'), {
    header: records.columns.map(({ name }) => name),
    reading: { encoding: 'utf-8', delimiter: ',', header: false, records },
    notices: [{ kind: 'records-others', column: null, count: 100 }],
    columns: [
      {
        header: 'Account number',
        operation: 'tokenize',
        policy: 'analyst',
        definition: 'card-number',
        target: null,
        parts: null,
        pattern: null,
        into: 'replace',
      },
    ],
  });
  const source = settlementFile(30);
  const file = path.join(desk.folder, 'november.ctf');
  fs.writeFileSync(file, source);
  const { result } = await run(['Cards', file], { of: desk });
  const others = source.split('\r\n').filter((one) => one !== '' && !/^0[567]00/.test(one)).length;
  expect(result?.sentence).toContain(`30 succeeded + 0 failed + 0 not matched + ${others} blank.`);
  expect(path.basename(result?.written ?? '')).toBe('november_tokens.ctf');
  const before = source.split('\r\n');
  const after = fs.readFileSync(result?.written ?? '', 'latin1').split('\r\n');
  expect(after).toHaveLength(before.length);
  for (const [at, line] of after.entries()) {
    const isDraft = /^0[567]00/.test(line);
    const without = (text = ''): string => (isDraft ? text.slice(0, 4) + text.slice(20) : text);
    expect(without(line)).toBe(without(before[at]));
    if (isDraft) expect(line.slice(4, 20)).not.toBe(before[at]?.slice(4, 20));
  }
});

test('a file in an archive or under a passphrase is written so, and a passphrase is no argument', async () => {
  const lines = month(30);
  const gz = command.write('packed.csv.gz', []);
  fs.writeFileSync(gz, zlib.gzipSync(lines.join('\n')));
  const { code, result } = await run(['Cards', gz]);
  expect(code).toBe(exitCodes.done);
  expect(path.basename(result?.written ?? '')).toBe('packed_tokens.csv.gz');
  const rows = zlib
    .gunzipSync(fs.readFileSync(result?.written ?? ''))
    .toString()
    .split('\n');
  expect(rows.slice(0, 1)).toEqual(lines.slice(0, 1));
  expect(rows).toHaveLength(lines.length);
  const written = receipt.parse(JSON.parse(fs.readFileSync(`${result?.written ?? ''}.receipt.json`, 'utf8')));
  const sha256 = createHash('sha256').update(fs.readFileSync(gz)).digest('hex');
  expect(written).toMatchObject({ source: { name: 'packed.csv.gz', sha256 } });
  expect((await run(['Cards', gz])).result).toMatchObject({ jobId: result?.jobId, takenUp: 30 });

  const encrypter = new Encrypter();
  encrypter.setPassphrase('correct horse');
  encrypter.setScryptWorkFactor(8);
  const encrypted = command.write('packed.csv.age', []);
  fs.writeFileSync(encrypted, await encrypter.encrypt(lines.join('\n')));
  const sent = command.sent('BatchTokenize');
  const refused = await run(['Cards', encrypted]);
  expect(refused.result).toMatchObject({ exitCode: exitCodes.refused, code: 'file.passphrase-needed' });
  expect(refused.result?.sentence).toContain('--file-passphrase-stdin');
  const wrong = await run(['Cards', encrypted], { filePassphrase: 'wrong horse' });
  expect(wrong.result).toMatchObject({ exitCode: exitCodes.broken, code: 'file.passphrase-wrong' });
  expect(command.sent('BatchTokenize')).toBe(sent);
  const opened = await run(['Cards', encrypted], { filePassphrase: 'correct horse' });
  expect(opened.code).toBe(exitCodes.done);
  expect(path.basename(opened.result?.written ?? '')).toBe('packed_tokens.csv.age');
  const decrypter = new Decrypter();
  decrypter.addPassphrase('correct horse');
  const text = await decrypter.decrypt(fs.readFileSync(opened.result?.written ?? ''), 'text');
  expect(text.split('\n')).toEqual(rows);
});

test('several files are one command; the gravest end is its code, and each has its own', async () => {
  const good = command.write('good.csv', month(20));
  const bad = command.write('bad.csv', [...month(20), '20,no card,ok']);
  const other = command.write('other.csv', month(20, 'id,pan,note'));
  const none = path.join(command.folder, 'none.csv');
  const { code, results, lines } = await run(['Cards', good, bad, other, none]);
  expect(results.map(({ file, exitCode }) => [file, exitCode])).toEqual([
    ['good.csv', exitCodes.done],
    ['bad.csv', exitCodes.refused],
    ['other.csv', exitCodes.refused],
    ['none.csv', exitCodes.broken],
  ]);
  expect(code).toBe(exitCodes.broken);
  expect(results[1]?.sentence).toBe(
    'New in this file: 1 value in card does not fit the definition and will not be sent (row 21). ' +
      'With --yes it is run all the same. Nothing was sent.',
  );
  expect(results[2]?.sentence).toBe(
    'The columns are not those of the mapping (missing: card; 1 others). Nothing was sent.',
  );
  const tally = { rows: 20, ok: 20, failed: 0, unmatched: 0, blank: 0 };
  expect(lines.at(-1)).toEqual({ kind: 'sum', files: 4, written: 1, tally });
  const agreed = await run(['Cards', good, bad, '--yes']);
  expect(agreed.code).toBe(exitCodes.failedRows);
  expect(agreed.results[1]?.sentence).toContain(
    '21 rows = 20 succeeded + 1 failed + 0 not matched + 0 blank.',
  );
  expect(agreed.lines.at(-1)).toEqual({
    ...{ kind: 'sum', files: 2, written: 2 },
    tally: { rows: 41, ok: 40, failed: 1, unmatched: 0, blank: 0 },
  });
  const alone = await run(['Cards', good]);
  expect(alone.lines.at(-1)?.kind).toBe('result');
  // Named twice it is one file, and no row is counted twice.
  const twice = await run(['Cards', good, path.relative('.', good)]);
  expect(twice.results).toHaveLength(1);
  expect(twice.lines.at(-1)?.kind).toBe('result');
  const folder = await run(['Cards', command.folder]);
  expect(folder.results[0]?.sentence).toMatch(/is a folder\. Choose the files in it\.$/);
});

test('another environment, an unknown mapping and a lock stop it, with nothing sent', async () => {
  const locking = await openCommand();
  onTestFinished(() => locking.close());
  const file = locking.write('november.csv', month(5));
  const runHere: typeof run = (args, over) => run(args, { ...over, of: locking });
  const unknown = await runHere(['Cards', file]);
  expect(unknown.result).toMatchObject({
    exitCode: exitCodes.usage,
    sentence: 'There is no saved mapping Cards. None is saved.',
  });
  await saveMapping(locking.app, path.join(locking.folder, 'october.csv'));
  const mappings = await locking.app.ask('batch.mappings', {});
  const [saved] = mappings.ok ? mappings.value : [];
  if (saved?.origin === undefined) throw new Error('Not saved');
  const { id: _, ...mapping } = saved;
  await locking.app.ask('batch.saveMapping', {
    ...mapping,
    name: 'Elsewhere',
    origin: { ...saved.origin, environment: 'production' },
  });
  const elsewhere = await runHere(['Elsewhere', file]);
  expect(elsewhere.result?.exitCode).toBe(exitCodes.refused);
  expect(elsewhere.result?.sentence).toMatch(
    /was saved for .* \(production\), and .* is in use\. Nothing was sent\./,
  );
  await locking.app.ask('lock.setPassphrase', {
    current: obscured(''),
    next: obscured('a long passphrase'),
  });
  await locking.app.ask('lock.now', {});
  const locked = await runHere(['Cards', file]);
  expect(locked.result?.exitCode).toBe(exitCodes.refused);
  expect(locked.result?.sentence).toContain('locked with a passphrase');
  const jobs = fs.existsSync(path.join(locking.whole.home, 'jobs'))
    ? fs.readdirSync(path.join(locking.whole.home, 'jobs'))
    : [];
  expect(jobs).toEqual([]);
  const right = await runHere(['Cards', file, '--passphrase-stdin'], {
    passphrase: 'a long passphrase',
  });
  expect(right.code).toBe(exitCodes.done);
  await locking.app.ask('lock.now', {});
  const wrong = await runHere(['Cards', file, '--passphrase-stdin'], { passphrase: 'another one' });
  expect(wrong.result?.exitCode).toBe(exitCodes.refused);
});

test('a signal pauses it at a chunk’s edge; the same command goes on, with the batch of this very file', async () => {
  const october = path.join(command.folder, 'october.csv');
  await saveMapping(command.app, october, { name: 'Texts', definition: 'free-text' });
  // All values differ, so that a run of it takes longer than a signal does, on a busy machine too.
  const many = 80_000;
  const rows = (of: string): string[] => [
    'id,card,note',
    ...Array.from({ length: many }, (_, n) => `${n},${of} ${n},ok`),
  ];
  const file = command.write('data.csv', rows('one'));
  const stop = new AbortController();
  const stopWatching = command.app.on('batch.job', ({ committed }) => {
    if (committed > 0) stop.abort();
  });
  const first = await run(['Texts', file], { signal: stop.signal });
  stopWatching();
  expect(first.code).toBe(exitCodes.paused);
  expect(first.result?.sentence).toMatch(/^It is paused after \d+ rows\. The same command goes on with it\./);
  const { jobId, tally } = first.result ?? {};
  expect(tally?.rows).toBeGreaterThan(0);
  expect(tally?.rows).toBeLessThan(many);

  /** Which batch the command would go on with. */
  const plan = await planOf(jobId ?? '');
  const takenUp = async (mapping: string, reference: string): Promise<string | undefined> => {
    const opened = await command.app.ask('batch.drop', { reference });
    const sourceId = opened.ok ? opened.value.sourceId : '';
    const found = await command.app.ask('batch.takeUp', { sourceId, plan, mapping });
    if (!found.ok) throw new Error(found.failure.code);
    return found.value?.jobId;
  };
  expect(await takenUp('Texts', file)).toBe(jobId);
  // The same bytes in another folder; by another mapping; other bytes at the same path, of the same size.
  const copy = command.write('copy/data.csv', rows('one'));
  expect(await takenUp('Texts', copy)).toBe(undefined);
  expect(await takenUp('Cards', file)).toBe(undefined);
  command.write('data.csv', rows('own'));
  expect(await takenUp('Texts', file)).toBe(undefined);
  command.write('data.csv', rows('one'));

  const second = await run(['Texts', file]);
  expect(second.result).toMatchObject({ exitCode: exitCodes.done, jobId, takenUp: tally?.rows });
  const atOnce = await run(['Texts', copy]);
  expect(atOnce.result?.jobId).not.toBe(jobId);
  const [resumed, whole] = [second, atOnce].map(({ result }) =>
    fs.readFileSync(result?.written ?? '', 'utf8'),
  );
  expect(resumed).toBe(whole);
});

test('where the file was refused after all was sent, the same command writes it and sends nothing', async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-refused-'));
  onTestFinished(() => {
    fs.rmSync(home, { recursive: true, force: true });
  });
  const strict = await openCommand({ home, managed: { remainingCleartext: 'forbidden' } });
  await saveMapping(strict.app, path.join(strict.folder, 'october.csv'));
  const file = path.join(home, 'noted.csv');
  const lines = [...month(30), `30,${cards[0] ?? ''},paid by ${cards[1] ?? ''}`];
  fs.writeFileSync(file, `${lines.join('\n')}\n`);
  const refused = await run(['Cards', file], { of: strict });
  expect(refused.result).toMatchObject({ exitCode: exitCodes.broken, code: 'export.remaining-forbidden' });
  expect(refused.result?.sentence).toContain(
    'the same command writes the file, and sends none of them again',
  );
  const sent = strict.sent('BatchTokenize');
  expect(sent).toBeGreaterThan(0);
  await run(['Cards', file], { of: strict });
  expect(strict.sent('BatchTokenize')).toBe(sent);
  const { keyring } = strict.whole;
  await strict.close();

  const open = await openCommand({ home, keyring });
  onTestFinished(() => open.close());
  const written = await run(['Cards', file], { of: open });
  expect(written.result).toMatchObject({
    exitCode: exitCodes.remains,
    jobId: refused.result?.jobId,
    takenUp: 31,
  });
  expect(open.sent('BatchTokenize')).toBe(sent);
});

test(
  'killed and called again until it ends, it is one batch and the same bytes',
  { timeout: 120_000 },
  async () => {
    const { file, remove } = await bundleRun();
    onTestFinished(remove);
    // A part of `node test/faults/killed-runs.ts`: while it runs, and when nearly all is written.
    const { kills, takenUp, wrong } = killRuns(file, 1, ({ from, to }) => [
      Math.floor((from + to) / 2),
      Math.floor(from + (to - from) / 6),
    ]);
    expect({ kills, wrong }).toEqual({ kills: 2, wrong: [] });
    expect(takenUp[0]).toBeGreaterThan(0);
  },
);

test('a run leaves a signed receipt that the verifier checks, against both files and the log', async () => {
  const file = command.write('receipt/march.csv', [...month(40), '40,,blank']);
  const { result } = await run(['Cards', file, '--yes']);
  const written = result?.written ?? '';
  const document = path.join(path.dirname(written), result?.receipt?.name ?? '');
  expect(path.basename(document)).toBe('march_tokens.csv.receipt.json');
  const text = fs.readFileSync(document, 'utf8');
  for (const card of cards) expect(text).not.toContain(card);
  expect(receipt.parse(JSON.parse(text))).toMatchObject({
    mapping: 'Cards',
    job: result?.jobId,
    sum: { rows: 41, ok: 40, failed: 0, unmatched: 0, blank: 1 },
    source: { name: 'march.csv', bytes: fs.statSync(file).size },
    remaining: { cards: 0, values: 0 },
  });

  const key = [...command.whole.keyring.entries].find(([name]) => name.endsWith('audit:key'))?.[1] ?? '';
  const signer = result?.receipt?.signer ?? '';
  const log = path.join(command.whole.home, 'audit');
  const verify = (over: Partial<Parameters<typeof verifyEvidence>[0]> = {}) =>
    verifyEvidence({ file: document, signer, source: file, log, ...over });
  const { verdict, holds } = await verify({ key: Buffer.from(key, 'base64') });
  expect([verdict, key === '']).toEqual(['valid', false]);
  expect(holds).toEqual(
    expect.arrayContaining([
      'march_tokens.csv is the file that was written.',
      'The source is the file that was run.',
      '41 rows = 40 succeeded + 0 failed + 0 not matched + 1 blank.',
      'In the log, the chain goes from the first to the last.',
      'Each line’s MAC is the key’s.',
    ]),
  );
  expect((await verify({ signer: 'f'.repeat(64) })).problems).toHaveLength(1);
  expect((await verify({ source: written })).problems).toEqual(['The source is not the file that was run.']);
  fs.appendFileSync(written, 'one row more');
  expect((await verify()).problems).toEqual(['march_tokens.csv was changed.']);
  fs.writeFileSync(document, text.replace('"ok": 40', '"ok": 41'));
  expect((await verify()).problems).toEqual(
    expect.arrayContaining([
      'The signature does not hold: the file was changed.',
      'The sum of the rows does not agree.',
    ]),
  );
});

test('what can’t be counted ends it with a sentence, and a missing folder before anything is sent', async () => {
  const long = command.write('long.csv', [...month(20), `21,${'9'.repeat(17_000_000)},ok`]);
  const broken = await run(['Cards', long]);
  expect(broken.results.map(({ exitCode, jobId }) => [exitCode > 3, jobId])).toEqual([[true, null]]);
  const nowhere = await run(['Cards', command.write('a.csv', month(3)), '--out=/nowhere/at/all']);
  expect(nowhere.result).toMatchObject({
    exitCode: exitCodes.refused,
    sentence: 'There is no folder /nowhere/at/all. Nothing was sent.',
  });
});

test('a last row that looks like a sum is asked about, though the mapping knows how its file was read', async () => {
  const reading = { encoding: 'utf-8', delimiter: ',', header: true } as const;
  await saveMapping(command.app, path.join(command.folder, 'october.csv'), { name: 'Read', reading });
  const file = command.write('sum.csv', [...month(60), `Total Wine,${cards[0] ?? ''},`]);
  const asked = await run(['Read', file]);
  expect(asked.result).toMatchObject({
    exitCode: exitCodes.refused,
    jobId: null,
    sentence:
      'The file can be read in more than one way: where its table begins and ends is a guess. ' +
      'With --yes it is read as it seems. Nothing was sent.',
  });
});

test('where the first cell of a mapped column looks like a name, it is asked about; of another column not', async () => {
  // The first row is taken for one of data.
  const rows = Array.from({ length: 9 }, (_, n) => `tok${n};D-${n};B${n};${n}.50`);
  const file = command.write('header.csv', ['tok77;D-77;B77;Betrag', ...rows]);
  const header = [1, 2, 3, 4].map((n) => `Column ${n}`);
  for (const name of ['Column 4', 'Column 3'])
    await saveMapping(command.app, path.join(command.folder, 'october.csv'), {
      name,
      header,
      columns: [column({ header: name, operation: 'tokenize', definition: 'free-text' })],
    });
  const asked = await run(['Column 4', file]);
  expect(asked.result).toMatchObject({ exitCode: exitCodes.refused, jobId: null });
  expect(asked.result?.sentence).toContain('where its table begins and ends is a guess');
  const other = await run(['Column 3', file]);
  expect(other.result).toMatchObject({ exitCode: exitCodes.done, tally: { rows: 10, ok: 10 } });
});

test('of a workbook the sheet is run that is named, or that the mapping was saved for', async () => {
  const sheet = (name: string, count: number) => ({
    name,
    rows: month(count)
      .map((line, row) => {
        const cells = line.split(',').map((cell, at) => text(`${'ABC'[at] ?? ''}${row + 1}`, cell));
        return `<row r="${row + 1}">${cells.join('')}</row>`;
      })
      .join(''),
  });
  const file = path.join(command.folder, 'book.xlsx');
  fs.writeFileSync(file, await workbook({ sheets: [sheet('May', 9), sheet('June', 4)] }));
  const asked = await run(['Cards', file]);
  expect(asked.result).toMatchObject({ exitCode: exitCodes.refused, jobId: null });
  expect(asked.result?.sentence).toContain('The workbook has 2 sheets.');
  const named = await run(['Cards', file, '--sheet=June']);
  expect(named.result).toMatchObject({ exitCode: exitCodes.done, tally: { rows: 4 } });
  const unknown = await run(['Cards', file, '--sheet=July']);
  expect(unknown.result?.sentence).toBe(
    'The workbook has no sheet July. It has: May, June. Nothing was sent.',
  );
  await saveMapping(command.app, path.join(command.folder, 'october.csv'), { name: 'Junes', sheet: 'June' });
  const saved = await run(['Junes', file]);
  expect(saved.result).toMatchObject({ exitCode: exitCodes.done, tally: { rows: 4 } });
  const none = await run(['Cards', command.write('plain.csv', month(3)), '--sheet=June']);
  expect(none.result).toMatchObject({ exitCode: exitCodes.usage, jobId: null });
});

test('a file is a workbook, or none, by what it holds and not by its name', async () => {
  const row = (line: string, at: number): string => {
    const cells = line.split(',').map((cell, i) => text(`${'ABC'[i] ?? ''}${at + 1}`, cell));
    return `<row r="${at + 1}">${cells.join('')}</row>`;
  };
  const book = path.join(command.folder, 'inside.csv');
  fs.writeFileSync(book, await workbook({ sheets: [{ rows: month(6).map(row).join('') }] }));
  const one = await run(['Cards', book]);
  expect(one.result).toMatchObject({ exitCode: exitCodes.done, tally: { rows: 6 } });
  expect(path.basename(one.result?.written ?? '')).toBe('inside_tokens.xlsx');
  expect(
    fs
      .readFileSync(one.result?.written ?? '')
      .subarray(0, 2)
      .toString(),
  ).toBe('PK');
  const plain = await run(['Cards', command.write('text.xlsx', month(7))]);
  expect(plain.result).toMatchObject({ exitCode: exitCodes.done, tally: { rows: 7 } });
  expect(path.basename(plain.result?.written ?? '')).toBe('text_tokens.csv');
  expect(fs.readFileSync(plain.result?.written ?? '', 'utf8')).toMatch(/^id,card,note\n/);
});

test('what detokenizes gives masks alone; values that fail as none did before wait for a person', async () => {
  const { result } = await run(['Cards', command.write('back/cards.csv', month(8))]);
  const cellsOf = (file: string | null | undefined): string[] =>
    fs
      .readFileSync(file ?? '', 'utf8')
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => line.split(',')[1] ?? '');
  const tokens = cellsOf(result?.written);
  const rows = (values: readonly string[]): string[] => [
    'id,card,note',
    ...values.map((token, n) => `${n},${token},ok`),
  ];
  await saveMapping(command.app, path.join(command.folder, 'october.csv'), {
    name: 'Back',
    columns: [column({})],
  });
  const first = await run(['Back', command.write('back/one.csv', rows(tokens))]);
  expect(first.code).toBe(exitCodes.done);
  expect(path.basename(first.result?.written ?? '')).toBe('one_masked.csv');
  for (const mask of cellsOf(first.result?.written)) expect(mask).toMatch(/[^\d]{4,}\d{4}$/);
  const exportOf = (jobId: string) =>
    command
      .audit()
      .filter(({ job, action, phase }) => job === jobId && action === 'Export' && phase === 'begun');
  const jobId = first.result?.jobId ?? '';
  expect(exportOf(jobId)).toMatchObject([{ cleartext: false, export: { content: 'masked' } }]);

  const unknown = rows([...tokens, 'no-token']);
  // No result of it was written by hand yet: there is nothing to compare with.
  const failing = await run(['Back', command.write('back/two.csv', unknown)]);
  expect(failing.code).toBe(exitCodes.failedRows);
  command.app.exportTo(path.join(command.folder, 'back/by-hand.csv'));
  const form = { content: 'masked', rows: 'all', format: 'csv', safety: 'source', newline: '\n' } as const;
  const dialect = { encoding: 'utf-8', delimiter: ',', byteOrderMark: false } as const;
  const byHand = { ...form, ...dialect, jobId, grounds: null, passphrase: null };
  expect((await command.app.ask('batch.export', byHand)).ok).toBe(true);
  const file = command.write('back/three.csv', unknown);
  const asked = await run(['Back', file]);
  expect(asked.result).toMatchObject({
    exitCode: exitCodes.paused,
    written: null,
    tally: { ok: 8, failed: 1 },
  });
  expect(asked.result?.sentence).toMatch(
    /^Values failed as none did in the last result that was written by hand: .+ \(1\) Look at it in the window\./,
  );
  const sent = command.sent('GetMasked');
  const agreed = await run(['Back', file, '--yes']);
  expect(agreed.result).toMatchObject({ exitCode: exitCodes.failedRows, jobId: asked.result?.jobId });
  expect(command.sent('GetMasked')).toBe(sent);
  // Written by hand, it is as before from then on.
  command.app.exportTo(path.join(command.folder, 'back/by-hand.csv'));
  await command.app.ask('batch.export', { ...byHand, jobId: asked.result?.jobId ?? '' });
  const next = await run(['Back', command.write('back/four.csv', unknown)]);
  expect(next.code).toBe(exitCodes.failedRows);
});

test('what tells something in clear takes a reason and a case, and is refused where an administrator forbids it', async () => {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-reasons-'));
  onTestFinished(() => {
    fs.rmSync(home, { recursive: true, force: true });
  });
  const asking = await openCommand({
    home,
    managed: { remainingCleartext: 'reason', reasons: ['Chargeback response'] },
  });
  await saveMapping(asking.app, path.join(asking.folder, 'october.csv'));
  await saveMapping(asking.app, path.join(asking.folder, 'october.csv'), {
    name: 'Find',
    columns: [column({ operation: 'match', pattern: '^4111118124045251$', into: 'beside' })],
  });
  const match = path.join(home, 'match.csv');
  fs.writeFileSync(
    match,
    month(12)
      .map((line) => `${line}\n`)
      .join(''),
  );
  const given = ['Find', match];
  const runHere = (...args: string[]) => run(args, { of: asking });
  const reason = '--reason=Chargeback response';
  for (const [args, code] of [
    [given, 'reveal.reason-required'],
    [[...given, '--yes'], 'reveal.reason-required'],
    [[...given, reason], 'reveal.reason-required'],
    [[...given, '--reason=Because', '--case=D-1'], 'reveal.reason-refused'],
  ] as const) {
    const refused = await runHere(...args);
    expect([args.slice(2), refused.result?.exitCode, refused.result?.code]).toEqual([
      args.slice(2),
      exitCodes.refused,
      code,
    ]);
  }
  expect(asking.sent('PatternMatch')).toBe(0);
  const told = await runHere(...given, reason, '--case=D-1');
  expect(told.result?.exitCode).toBe(exitCodes.done);
  const ofMatch = asking.audit().find(({ action, phase }) => action === 'Match' && phase === 'begun');
  expect(ofMatch).toMatchObject({ cleartext: true, reason: 'Chargeback response', caseReference: 'D-1' });

  // A file in which something stays in clear.
  const noted = path.join(home, 'noted.csv');
  fs.writeFileSync(noted, ['id,card,note', `1,${cards[0] ?? ''},paid by ${cards[1] ?? ''}`, ''].join('\n'));
  const without = await runHere('Cards', noted);
  expect(without.result).toMatchObject({
    exitCode: exitCodes.broken,
    code: 'export.remaining-reason',
    written: null,
  });
  const job = { job: without.result?.jobId ?? '', out: home, json: false, passphraseOnInput: false };
  const exported = async (over: { reason: string | null; caseReference: string }) => {
    const lines: RunLine[] = [];
    const options = {
      app: asking.app,
      canMake: asking.whole.canMake,
      words: { failure: sentenceFor, notice: formatNotice },
      passphrase: null,
    };
    const code = await exportJob({ ...job, ...over }, options, (line) => void lines.push(line));
    return [code, lines.flatMap((line) => (line.kind === 'result' ? [line.code] : []))[0]];
  };
  expect(await exported({ reason: null, caseReference: 'D-1' })).toEqual([6, 'export.remaining-reason']);
  expect(await exported({ reason: 'Chargeback response', caseReference: '' })).toEqual([
    6,
    'reveal.reason-required',
  ]);
  expect(fs.readdirSync(home).filter((name) => name.startsWith('noted_'))).toEqual([]);
  expect(await exported({ reason: 'Chargeback response', caseReference: 'D-1' })).toEqual([7, null]);
  const { keyring } = asking.whole;
  await asking.close();

  const strict = await openCommand({ home, keyring, managed: { bulkMatch: false } });
  onTestFinished(() => strict.close());
  const forbidden = await run([...given, '--anew', reason, '--case=D-1'], { of: strict });
  expect(forbidden.result).toMatchObject({
    exitCode: exitCodes.refused,
    code: 'pattern.forbidden',
    written: null,
  });
});

test('what stays in clear has a code of its own', async () => {
  const noted = command.write('noted.csv', [...month(30), `30,${cards[0] ?? ''},paid by ${cards[1] ?? ''}`]);
  const { code, result } = await run(['Cards', noted, '--yes']);
  expect(code).toBe(exitCodes.remains);
  expect(result?.sentence).toContain('1 values stay in clear in columns that were copied.');
});
