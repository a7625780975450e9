import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { PassThrough, Readable, Writable } from 'node:stream';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parseCommand } from '../../../electron/commands/arguments.ts';
import { printable } from '../../../electron/commands/asked.ts';
import { compareFiles } from '../../../electron/commands/compare.ts';
import { End, endOf, exitCodes } from '../../../electron/commands/ends.ts';
import { exportJob, printJobs, printMask } from '../../../electron/commands/questions.ts';
import { lookThroughFiles } from '../../../electron/commands/inventory.ts';
import { runFiles } from '../../../electron/commands/run.ts';
import { startCommand } from '../../../electron/commands/start.ts';
import { runLine, type RunLine } from '../../../electron/contract/models/run-lines.ts';
import { isCommandName } from '../../../electron/platform/command-line.ts';
import { formatSchemas } from '../../../scripts/schemas.ts';
import { sentenceFor } from '../../../src/messages/messages.ts';
import { formatNotice } from '../../../src/messages/notices.ts';
import { openCommand, type Command } from '../../support/command-app.ts';
import { monthCards, monthRows, saveMapping } from '../../support/saved-mapping.ts';

let command: Command;
beforeAll(async () => {
  command = await openCommand();
  await saveMapping(command.app, path.join(command.folder, 'october.csv'));
});
afterAll(() => command.close());

/** A command line behind `tokendesk`, from its words to its end. */
async function call(...words: string[]) {
  const [name = '', ...args] = words;
  if (!isCommandName(name)) throw new Error(name);
  const parsed = parseCommand(name, args);
  const lines: RunLine[] = [];
  if (typeof parsed === 'string') return { code: exitCodes.usage, sentence: parsed, lines, printed: parsed };
  const print = (line: RunLine): void => void lines.push(runLine.parse(line));
  const asking = {
    app: command.app,
    canMake: command.whole.canMake,
    words: { failure: sentenceFor, notice: formatNotice },
    passphrase: null,
  };
  const act = () => {
    switch (parsed.name) {
      case 'run':
        return runFiles(parsed.given, { ...asking, print, signal: new AbortController().signal });
      case 'jobs':
        return printJobs(asking, print);
      case 'lookup':
        return printMask(parsed.given, asking, print);
      case 'export':
        return exportJob(parsed.given, asking, print);
      case 'compare':
        return compareFiles(parsed.given, { ...asking, print, signal: new AbortController().signal });
      case 'inventory':
        return lookThroughFiles(parsed.given, { ...asking, print, signal: new AbortController().signal });
      case '--attest':
      case '--sign-connections':
        throw new Error('See statements.test.ts.');
    }
  };
  let said: string | undefined;
  const code = await act().catch((error: unknown) => {
    if (!(error instanceof End)) throw error;
    said = error.message;
    return error.exitCode;
  });
  const result = lines.find((line) => line.kind === 'result');
  return { code, sentence: said ?? result?.sentence ?? '', lines, printed: JSON.stringify([said, lines]) };
}

const file = (name: string, lines: readonly string[] = monthRows(3)): string => command.write(name, lines);

/** How a command can be used wrongly, the code it ends with, and a part of its sentence. Nothing of it sends anything. */
const wrongUses: readonly (readonly [words: () => string[], code: number, sentence: string])[] = [
  [() => ['run'], 2, 'Name the saved mapping, and the file to run it on.'],
  [() => ['run', 'Cards'], 2, 'Name the file to run Cards on.'],
  [() => ['run', 'Cards', ''], 2, 'A file has no name.'],
  [() => ['run', '', 'a.csv'], 2, 'Name the saved mapping, and the file to run it on.'],
  [() => ['run', 'Cards', 'a.csv', '--force'], 2, 'There is a switch that this command does not have.'],
  [() => ['run', 'Cards', 'a.csv', '--policy=p'], 2, 'There is a switch that this command does not have.'],
  [() => ['run', 'Cards', 'a.csv', '--out='], 2, 'Name the folder behind --out=.'],
  [() => ['run', 'Cards', 'a.xlsx', '--sheet='], 2, 'Name the sheet behind --sheet=.'],
  [() => ['run', 'Cards', 'a.csv', '--reason='], 2, 'Name the reason behind --reason=.'],
  [() => ['run', 'Cards', file('c.csv'), '--case=CASE-1'], 2, 'A case is recorded with its reason'],
  [() => ['export', 'ffff', '--case=CASE-1'], 2, 'A case is recorded with its reason'],
  [() => ['run', 'Cards', 'a.csv', '--reason=x', `--case=${'9'.repeat(101)}`], 2, 'A case has at most 100'],
  [() => ['run', 'Cards', 'a.csv', `--reason=${'x'.repeat(201)}`], 2, 'A reason has at most 200'],
  [() => ['run', 'Cards', file(`${'n'.repeat(240)}.csv`)], 5, 'is too long'],
  [
    () => ['run', 'Cards', file('p.csv'), '--out=/proc'],
    5,
    'Nothing can be written in /proc. Nothing was sent.',
  ],
  [() => ['run', 'Cards', 'a.csv', '--json=1'], 2, 'A switch of this command has no value'],
  [() => ['run', 'Cards', 'a.csv', '--case'], 2, 'A switch of this command has no value'],
  [() => ['run', 'cards', file('a.csv')], 2, 'There is no saved mapping cards. Saved are: Cards.'],
  [() => ['run', 'Cards', path.join(command.folder, 'none.csv')], 6, 'is no longer there'],
  [() => ['run', 'Cards', command.folder], 6, 'is a folder'],
  [() => ['run', 'Cards', file('empty.csv', [])], 6, 'is empty'],
  [() => ['run', 'Cards', file('report.csv', ['%PDF-1.7'])], 6, 'PDF'],
  [() => ['run', 'Cards', file('pan.csv', monthRows(3, 'id,pan,note'))], 5, 'missing: card; 1 others'],
  [() => ['run', 'Cards', file('moved.csv', ['card,id,note', '4111118124045251,1,ok'])], 5, 'their order'],
  [() => ['run', 'Cards', file('bad.csv', ['id,card,note', '1,none,ok'])], 5, 'New in this file'],
  [() => ['run', 'Cards', file('b.csv'), '--out=/nowhere/at/all'], 5, 'There is no folder /nowhere/at/all.'],
  [() => ['run', 'Cards', file('c.csv'), '--sheet=June'], 2, '--sheet is for workbooks'],
  [() => ['jobs', 'all'], 2, 'This command takes nothing but switches.'],
  [() => ['jobs', '--out=x'], 2, 'There is a switch that this command does not have.'],
  [() => ['lookup'], 2, 'Name the token to look up.'],
  [() => ['lookup', 'one', 'two'], 2, 'One token is looked up at a time.'],
  [() => ['lookup', '4111 1181 2404 5251'], 2, 'That may be a card number'],
  [() => ['lookup', 'tok', '--definition='], 2, 'Name the definition behind --definition=.'],
  [() => ['lookup', 'tok'], 2, 'Name the definition with --definition:'],
  [() => ['lookup', 'tok', '--definition=none'], 2, 'has no definition none. Name one with --definition:'],
  [() => ['lookup', 'tok', '--definition=free-text', '--policy=none'], 2, 'has no policy none. It has:'],
  [() => ['compare', 'a.csv'], 2, 'Name two files or batches, or more, to compare.'],
  [() => ['compare', 'a', ''], 2, 'A file has no name.'],
  [() => ['compare', 'a', 'b'], 2, 'Name the column with --column=.'],
  [
    () => ['compare', ...'a b c d e f g h i'.split(' '), '--column=card'],
    2,
    'At most eight files or batches',
  ],
  [() => ['compare', 'a', 'b', 'c', '--column=card', '--column=pan'], 2, 'once for each in their order'],
  [() => ['compare', 'a', 'b', '--column=card', '--out='], 2, 'Name the file behind --out=.'],
  [
    () => ['compare', 'ffff', 'eeee', '--column=card'],
    2,
    'There is no file ffff, and no batch begins with it.',
  ],
  [() => ['compare', file('d.csv'), file('e.csv'), '--column=pan'], 2, 'd.csv has no column pan to compare.'],
  [
    () => ['compare', 'a', 'b', '--column=c', '--out=/nowhere/at/a.csv'],
    5,
    'There is no folder /nowhere/at.',
  ],
  [() => ['compare', 'a', 'b', '--column=c', `--out=${file('f.csv')}`], 5, 'There is a file'],
  [() => ['inventory'], 2, 'Name the files or folders to look through.'],
  [() => ['inventory', ''], 2, 'A file has no name.'],
  [() => ['inventory', 'a.csv', '--out='], 2, 'Name the file behind --out=.'],
  [() => ['inventory', 'a.csv', '--out=a.pdf'], 2, 'ends with .csv or .html'],
  [() => ['inventory', 'a.csv', '--yes'], 2, 'There is a switch that this command does not have.'],
  [() => ['inventory', 'a.csv', '--out=/nowhere/at/a.csv'], 5, 'There is no folder /nowhere/at.'],
  [() => ['--attest', 'all'], 2, 'Nothing is named behind it but switches.'],
  [() => ['--attest', '--out='], 2, 'Name the file behind --out=.'],
  [() => ['--sign-connections'], 2, 'Name the file of connections to sign.'],
  [() => ['--sign-connections', 'a', 'b'], 2, 'One file is signed at a time.'],
  [() => ['--sign-connections', 'a', '--json'], 2, 'There is a switch that this command does not have.'],
  [() => ['export'], 2, 'Name the batch: tokendesk jobs lists them.'],
  [() => ['export', 'one', 'two'], 2, 'One batch is exported at a time.'],
  [() => ['export', 'ffff'], 2, 'No batch begins with ffff.'],
  [() => ['export', ''], 2, 'Name the batch: tokendesk jobs lists them.'],
  [() => ['export', 'ffff', '--out='], 2, 'Name the folder behind --out=.'],
  [() => ['export', 'ffff', '--yes'], 2, 'There is a switch that this command does not have.'],
  [() => ['jobs', '--json=yes'], 2, 'A switch of this command has no value'],
  [() => ['lookup', ''], 2, 'Name the token to look up.'],
  [() => ['lookup', 'tok', '--policy='], 2, 'Name the policy behind --policy=.'],
  [() => ['lookup', 'tok', '--reason=Test'], 2, 'There is a switch that this command does not have.'],
];

test.each(wrongUses.map(([words, code, sentence], at) => [at + 1, { words, code, sentence }] as const))(
  'wrong use %i ends with a sentence and a code, and sends nothing',
  async (_, { words, code, sentence }) => {
    const ended = await call(...words());
    expect([ended.code, ended.sentence]).toEqual([code, expect.stringContaining(sentence)]);
    expect(command.sent('BatchTokenize')).toBe(0);
    for (const card of monthCards) expect(ended.printed).not.toContain(card);
  },
);

test('jobs are listed, one is exported, and a token is looked up by its mask alone', async () => {
  expect((await call('jobs')).lines).toEqual([
    { kind: 'end', exitCode: exitCodes.done, sentence: 'There is no batch.', code: null },
  ]);
  const run = await call('run', 'Cards', file('march.csv', monthRows(40)));
  const [written] = run.lines.filter((line) => line.kind === 'result');
  const jobs = await call('jobs');
  expect(jobs.lines).toEqual([
    expect.objectContaining({
      kind: 'job',
      jobId: written?.jobId,
      sourceName: 'march.csv',
      state: 'finished',
      total: 40,
    }),
  ]);
  const out = path.join(command.folder, 'out');
  fs.mkdirSync(out);
  const sent = command.sent('BatchTokenize');
  const exported = await call('export', (written?.jobId ?? '').slice(0, 8), `--out=${out}`);
  expect([exported.code, exported.sentence]).toEqual([0, expect.stringContaining('40 rows = 40 succeeded')]);
  expect(command.sent('BatchTokenize')).toBe(sent);
  expect(fs.readdirSync(out).sort()).toEqual(['march_tokens.csv', 'march_tokens.csv.receipt.json']);
  const tokens = fs.readFileSync(path.join(out, 'march_tokens.csv'), 'utf8');
  expect(tokens).toBe(fs.readFileSync(written?.written ?? '', 'utf8'));

  const token = tokens.split('\n')[1]?.split(',')[1] ?? '';
  const looked = await call('lookup', token, '--definition=card-number');
  expect(looked.lines).toEqual([
    expect.objectContaining({ kind: 'lookup', masked: expect.stringMatching(/[^\d]{4,}\d{4}$/) as string }),
  ]);
  for (const card of monthCards) expect(looked.printed + jobs.printed + exported.printed).not.toContain(card);
});

test('a file that is not tokenized yet is, and its batch is compared with a file of tokens; rows are written, no value is', async () => {
  const run = await call('run', 'Cards', file('first.csv', monthRows(6)));
  const [first] = run.lines.filter((line) => line.kind === 'result');
  const tokens = fs
    .readFileSync(first?.written ?? '', 'utf8')
    .trimEnd()
    .split('\n');
  const second = file('second.csv', [...tokens.slice(0, 3), '7,tok-none,ok']);
  const out = path.join(command.folder, 'compared.csv');
  const words = ['compare', (first?.jobId ?? '').slice(0, 8), second, '--column=card', `--out=${out}`];
  const compared = await call(...words, '--yes');
  expect(compared.code).toBe(0);
  const line = compared.lines.find(({ kind }) => kind === 'comparison');
  expect(line).toMatchObject({
    files: [
      { name: 'first.csv', rows: 6, repeated: { values: 2, rows: 4 } },
      { name: 'second.csv', rows: 3, repeated: { values: 0, rows: 0 } },
    ],
    groups: [
      { files: [0, 1], values: 2, rows: [4, 2] },
      { files: [0], values: 2, rows: [2, 0] },
      { files: [1], values: 1, rows: [0, 1] },
    ],
    written: 'compared.csv',
    sentence: expect.stringContaining('In all: 2 values (rows: 4, 2)') as string,
  });
  const written = fs.readFileSync(out, 'utf8');
  expect(written.split('\r\n')[1]).toBe('1,first.csv,1,1 2,yes');
  for (const value of [...monthCards, ...tokens.slice(1).map((row) => row.split(',')[1] ?? '')])
    expect(compared.printed + written).not.toContain(value);
  expect((await call(...words)).sentence).toContain('There is a file');
  const mixed = await call('compare', (first?.jobId ?? '').slice(0, 8), file('clear.csv'), '--column=card');
  expect([mixed.code, mixed.sentence]).toEqual([5, expect.stringContaining('seems to hold cleartext')]);
});

test('what is written is as its JSON Schema says, by a validator of another author', async () => {
  const { app, folder, whole } = command;
  const { lines } = await call('run', 'Cards', file('april.csv', monthRows(30)));
  const result = lines.find((line) => line.kind === 'result');
  const tokens = fs.readFileSync(result?.written ?? '', 'utf8');
  const token = tokens.split('\n')[1]?.split(',')[1] ?? '';
  const looked = await call('lookup', token, '--definition=card-number', '--case=D-1');
  const [evidence, connections] = ['evidence.json', 'connections.json'].map((name) =>
    path.join(folder, name),
  );
  app.exportTo(evidence ?? '');
  expect(await app.ask('reports.evidence', { caseReference: 'D-1' })).toMatchObject({ ok: true });
  app.exportTo(connections ?? '');
  expect(await app.ask('connections.export', {})).toMatchObject({ ok: true });
  const mappings = await app.ask('batch.mappings', {});
  const references = ['may.csv', 'june.csv'].map((name) => file(name, monthRows(3)));
  const several = await app.ask('batch.dropFiles', { references });
  const jobs = await app.ask('batch.jobs', {});
  const plan = jobs.ok ? jobs.value.find(({ jobId }) => jobId === result?.jobId)?.plan : undefined;
  if (!several.ok || several.value.queue === null || plan === undefined) throw new Error('No files');
  const { queueId } = several.value.queue;
  const begun = { queueId, sourceId: several.value.source?.sourceId ?? '', plan, grounds: null };
  expect(await app.ask('batch.startQueue', begun)).toMatchObject({ ok: true });
  const jobFile = (name: string): string => path.join(whole.home, 'jobs', result?.jobId ?? '', name);
  const json = (name: string): unknown => JSON.parse(fs.readFileSync(name, 'utf8'));
  const audit = path.join(whole.home, 'audit');
  const attested = await whole.statements.attest({
    ...{ workstation: 'ws-01', checks: [], files: null, sbom: null, policy: { sources: [], settings: {} } },
    versions: { application: '1', electron: '', chromium: '', node: '', system: '', release: '' },
  });
  const signed = await whole.statements.signConnections(fs.readFileSync(connections ?? ''));
  const written: Record<string, readonly unknown[]> = {
    attestation: attested.ok ? [JSON.parse(JSON.stringify(attested.value))] : [],
    'audit-line': fs
      .readdirSync(audit)
      .filter((name) => name.endsWith('.jsonl'))
      .flatMap((name) => fs.readFileSync(path.join(audit, name), 'utf8').trim().split('\n'))
      .map((line): unknown => JSON.parse(line)),
    connections: [json(connections ?? ''), ...(signed.ok ? [JSON.parse(JSON.stringify(signed.value))] : [])],
    evidence: [json(evidence ?? '')],
    'job-state': [json(jobFile('state.json'))],
    job: [json(jobFile('job.json'))],
    mapping: mappings.ok ? mappings.value : [],
    queues: [json(path.join(whole.home, 'jobs', 'queues.json'))],
    receipt: [json(`${result?.written ?? ''}.receipt.json`)],
    'run-line': [...lines, ...looked.lines, ...(await call('jobs')).lines],
  };
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  for (const [name, text] of Object.entries(formatSchemas())) {
    expect(JSON.parse(fs.readFileSync(name, 'utf8')), `npm run schemas: ${name}`).toEqual(JSON.parse(text));
    const validate = ajv.compile(JSON.parse(text) as object);
    const found = written[path.basename(name, '.schema.json')] ?? [];
    expect([name, found.length > 0]).toEqual([name, true]);
    for (const one of found) expect([name, validate(one), validate.errors]).toEqual([name, true, null]);
    expect([
      name,
      validate({ ...(found[0] as object), version: 99, kind: 'else', state: 'else', id: 5 }),
    ]).toEqual([name, false]);
  }
  const guide = fs.readFileSync('docs/formats.md', 'utf8');
  for (const name of Object.keys(formatSchemas())) expect(guide).toContain(path.basename(name));
});

test('nothing secret is in what commands print, write or log', () => {
  // One entry says which folder the others belong to, and is no secret.
  const homeId = fs.readFileSync(path.join(command.whole.home, 'home-id'), 'utf8');
  const secrets = [...command.whole.keyring.entries.values()].filter(
    (secret) => secret.length > 12 && !homeId.includes(secret),
  );
  expect(secrets.length).toBeGreaterThan(2);
  const files = [command.folder, command.whole.home].flatMap((folder) =>
    fs
      .readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name)),
  );
  const isSource = (name: string): boolean => /^(?!.*_tokens).*\.csv$/.test(path.basename(name));
  for (const name of files.filter((one) => !isSource(one))) {
    const content = fs.readFileSync(name, 'latin1');
    const found = [...secrets, ...monthCards].filter((secret) => content.includes(secret));
    expect([path.basename(name), found.length]).toEqual([path.basename(name), 0]);
  }
});

test('a folder is looked through, its counts are written as CSV and HTML, and no value is in any of them', async () => {
  const folder = path.join(command.folder, 'to-look-through');
  fs.mkdirSync(path.join(folder, 'deeper'), { recursive: true });
  fs.writeFileSync(
    path.join(folder, 'a.csv'),
    'id,card,note\n1,4111118124045251,ok\n2,,call ann@example.org\n',
  );
  fs.writeFileSync(path.join(folder, 'deeper', 'b.csv'), 'id,text\n1,none\n');
  fs.writeFileSync(path.join(folder, 'c.pdf'), '%PDF-1.7');
  const page = path.join(command.folder, 'counts.html');
  const { code, lines, printed } = await call('inventory', folder, `--out=${page}`);
  expect(code).toBe(exitCodes.broken);
  const [line] = lines.filter(({ kind }) => kind === 'inventory');
  if (line?.kind !== 'inventory') throw new Error(printed);
  expect(line.files.map(({ name, rows, failure }) => [name, rows, failure?.code ?? null])).toEqual([
    ['to-look-through/a.csv', 2, null],
    ['to-look-through/c.pdf', 0, 'file.not-a-table'],
    ['to-look-through/deeper/b.csv', 1, null],
  ]);
  expect(line.sentence).toContain('  card: 1 are and 0 contain cards (row 1)');
  expect(line.sentence).toContain('  note: 0 are and 1 contain e-mail addresses (row 2)');
  expect(line.written).toBe('counts.html');
  const table = path.join(command.folder, 'counts.csv');
  expect((await call('inventory', path.join(folder, 'a.csv'), `--out=${table}`)).code).toBe(exitCodes.done);
  const written = fs.readFileSync(page, 'utf8') + fs.readFileSync(table, 'utf8');
  expect(written).toContain('a.csv,,2,card,2,0,1,0,,1,0,1,0,0,,0,0,,0,0,,');
  for (const value of ['4111118124045251', 'ann@example.org', '••'])
    expect(written + printed).not.toContain(value);
});

test('what is not there is named, and the others are counted; receipts are no tables', async () => {
  const folder = path.join(command.folder, 'with-receipt');
  fs.mkdirSync(folder);
  fs.writeFileSync(path.join(folder, 'a.csv'), 'id\n1\n');
  fs.writeFileSync(path.join(folder, 'a.csv.receipt.json'), '{}');
  const none = path.join(command.folder, 'none.csv');
  const { code, lines } = await call('inventory', folder, none);
  expect(code).toBe(exitCodes.broken);
  const [line] = lines.filter(({ kind }) => kind === 'inventory');
  expect(line?.kind === 'inventory' && line.files.map(({ name, failure }) => [name, failure?.code])).toEqual([
    ['with-receipt/a.csv', undefined],
    ['none.csv', 'file.gone'],
  ]);
});

test('nothing that is there is written over: no file, no receipt whose file was taken away, and no link', async () => {
  const out = path.join(command.folder, 'taken');
  fs.mkdirSync(out);
  const source = file('may.csv', monthRows(4));
  expect((await call('run', 'Cards', source, `--out=${out}`)).code).toBe(0);
  const receipt = fs.readFileSync(path.join(out, 'may_tokens.csv.receipt.json'), 'utf8');
  fs.rmSync(path.join(out, 'may_tokens.csv'));
  fs.symlinkSync('/nowhere/at/all', path.join(out, 'may_tokens-2.csv'));
  fs.writeFileSync(path.join(out, 'may_tokens-3.csv.partial'), 'of another command');
  const again = await call('run', 'Cards', source, `--out=${out}`);
  expect([again.code, again.sentence]).toEqual([0, expect.stringContaining('may_tokens-4.csv')]);
  expect(fs.readFileSync(path.join(out, 'may_tokens.csv.receipt.json'), 'utf8')).toBe(receipt);
  expect(fs.readlinkSync(path.join(out, 'may_tokens-2.csv'))).toBe('/nowhere/at/all');
  expect(fs.readFileSync(path.join(out, 'may_tokens-3.csv.partial'), 'utf8')).toBe('of another command');
  expect(fs.readdirSync(out).sort()).toEqual([
    'may_tokens-2.csv',
    'may_tokens-3.csv.partial',
    'may_tokens-4.csv',
    'may_tokens-4.csv.receipt.json',
    'may_tokens.csv.receipt.json',
  ]);
});

test('a reason and a case stand in the log, where the file has no value in clear either', async () => {
  const words = ['run', 'Cards', file('june.csv', monthRows(2)), '--reason=Audit of June', '--case=CASE-77'];
  expect((await call(...words)).code).toBe(0);
  const lines = command.audit().filter(({ caseReference }) => caseReference === 'CASE-77');
  expect(lines).toEqual([expect.objectContaining({ action: 'Export', reason: 'Audit of June' })]);
});

test('what could not be printed is said to be lost, and wrong use is a line of JSON too', async () => {
  const start = (args: readonly string[], failure: string | null) => {
    const stdout = new Writable({
      write(_piece, _encoding, done) {
        done(failure === null ? null : Object.assign(new Error(failure), { code: failure }));
      },
    });
    const stderr = new PassThrough();
    const program = Object.assign(new EventEmitter(), {
      env: {},
      stdin: Readable.from([]),
      stdout: failure === null ? new PassThrough() : stdout,
      stderr,
    });
    stdout.on('error', () => undefined);
    const ended = startCommand('jobs', args, {
      process: program as never,
      takeHome: () => ({ release: () => undefined }),
      open: () => Promise.resolve('Refused by a rule.'),
      words: { failure: sentenceFor, notice: formatNotice },
    } as never);
    return ended.then((code) => ({
      code,
      out: failure === null ? String((program.stdout as PassThrough).read() ?? '') : '',
      error: String(stderr.read() ?? ''),
    }));
  };
  expect(await start(['--json'], 'ENOSPC')).toMatchObject({
    code: exitCodes.broken,
    error: 'What was printed could not be written, and is lost.\n',
  });
  expect((await start(['--json'], 'EPIPE')).code).toBe(exitCodes.refused);
  const wrong = await start(['--json', '--nothing'], null);
  expect(runLine.parse(JSON.parse(wrong.out))).toMatchObject({ kind: 'end', exitCode: exitCodes.usage });
  expect(wrong.error).toContain('There is a switch that this command does not have.');
});

test('a command without a session is told what it lacks', () => {
  const { exitCode, message } = endOf({ code: 'keychain.unavailable' }, sentenceFor);
  expect([exitCode, message]).toEqual([
    exitCodes.broken,
    expect.stringContaining('DBUS_SESSION_BUS_ADDRESS'),
  ]);
});

test('what a file is called is one line, and nothing that a terminal obeys', () => {
  expect(printable('a\n\u001b[2Jb\u202e.csv')).toBe('a\ufffd\ufffd[2Jb\ufffd.csv');
});

test('a second signal, as timeout(1) sends it to the group of the program, ends nothing by force', async () => {
  const program = Object.assign(new EventEmitter(), {
    env: {},
    stdin: Readable.from([]),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
  });
  const ended = startCommand('jobs', [], {
    process: program as never,
    takeHome: () => 'command',
    open: () => Promise.reject(new Error('Not opened')),
    words: { failure: sentenceFor, notice: formatNotice },
  } as never);
  await vi.waitFor(() => expect(program.listenerCount('SIGTERM')).toBe(1));
  program.emit('SIGTERM');
  // Without a listener Node ends the process.
  expect(program.emit('SIGTERM')).toBe(true);
  expect(await ended).toBe(exitCodes.paused);
  expect(program.listenerCount('SIGTERM')).toBe(0);
});
