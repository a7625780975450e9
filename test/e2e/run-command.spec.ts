import fs from 'node:fs';
import path from 'node:path';
import { loadKeytar } from '../../electron/storage/keytar.ts';
import { keychainEntry } from '../../electron/settings/home-id.ts';
import type { RunLine } from '../../electron/contract/models/run-lines.ts';
import { expect, openApp, test } from '../support/app-fixture.ts';
import {
  choose,
  chooseFile,
  exportRows,
  go,
  map,
  readSum,
  run,
  startBuiltIn,
} from '../support/page-actions.ts';
import { missingTools } from '../support/private-keyring.ts';
import { electronBinary } from '../../scripts/electron-binary.ts';
import { runApp, runUntilExit, type RunOptions } from '../support/run-app.ts';
import { watchProcesses } from '../support/watch-processes.ts';

const cards = ['4111111111111111', '5500005555555559', '4012888888881881'];

/** 300 rows, nine of them bad: six cards that are none, and three rows that are too short. */
function writeMonth(home: string, name: string, header = 'case,card,amount'): string {
  const file = path.join(home, `${name}.csv`);
  const rows = Array.from({ length: 300 }, (_, n) => {
    const row = `D-${n},${n % 50 === 7 ? 'unknown' : (cards[n % 3] ?? '')},${n}`;
    return n % 100 === 11 ? `D-${n}` : row;
  });
  fs.writeFileSync(file, `${[header, ...rows].join('\n')}\n`);
  return file;
}

test('October by hand, November with one key, December by a command: the same bytes', async ({ home }) => {
  test.skip(missingTools().length > 0, 'Secrets of a start are gone with it where there is no keyring');
  const app = await openApp(home);
  const { page } = app;
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, writeMonth(home, 'october'));
  await map(page, 'card', 'Tokenize', 'Card number');
  // Once it is counted the mapping knows what its file is like.
  const notices = page.getByRole('list', { name: 'Notices' });
  await expect(notices).toContainText('2 notes');
  await expect(notices).not.toContainText('of the first');
  await page.getByRole('button', { name: 'Save mapping' }).click();
  await page.getByLabel('Name of the mapping').fill('Card file');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('combobox', { name: 'Mapping: Card file' }).waitFor();
  await run(page);
  const sum = await readSum(page);
  expect(sum).toMatchObject({ rows: 300, ok: 291, failed: 9 });
  const byHand = await exportRows(page, { content: 'Tokens', written: 'As the source' });

  await page.getByRole('button', { name: 'All batches' }).click();
  await chooseFile(page, writeMonth(home, 'november'));
  const note = page.getByRole('status', { name: 'Note' });
  await expect(note).toContainText(
    'is filled in. As october.csv: 300 rows, 9 bad as before. Ctrl Enter runs it.',
  );
  await expect(note.locator('strong')).toHaveCount(0);
  await page.keyboard.press('Control+Enter');
  await expect.poll(() => readSum(page)).toEqual(sum);
  const byKey = await exportRows(page, { content: 'Tokens', written: 'As the source' });

  const december = writeMonth(home, 'december');
  const bus = process.env['DBUS_SESSION_BUS_ADDRESS'];
  // Node warns on standard error where both are set.
  const searched = `${path.join(home, 'bin')}:${process.env['PATH'] ?? ''}`;
  const env = { DBUS_SESSION_BUS_ADDRESS: bus, NO_COLOR: undefined, PATH: searched };
  const asGiven = (args: readonly string[], given: RunOptions = {}) =>
    runApp([`--user-data-dir=${app.home}`, ...args], { ...given, env });
  const command = (...args: string[]) => asGiven(['run', ...args]);
  const whileOpen = await command('Card file', december);
  expect([whileOpen.code, whileOpen.stderr]).toEqual([
    5,
    expect.stringContaining('Tokendesk is open with this folder. Close it first'),
  ]);
  await app.close();

  const passphrase = 'canary of a passphrase';
  const seen = watchProcesses();
  // What it starts is over in a moment: this one writes down what it was given.
  const bin = path.join(home, 'bin');
  fs.mkdirSync(bin);
  const given = path.join(home, 'given.txt');
  fs.writeFileSync(path.join(bin, 'prlimit'), `#!/bin/sh\n(env; echo "$@") >> '${given}'\n`, { mode: 0o755 });
  const args = ['run', 'Card file', december, `--out=${app.downloads}`, '--json', '--passphrase-stdin'];
  const { code, stdout, stderr } = await asGiven(args, { input: `${passphrase}\n`, onStart: seen.watch });
  const processes = seen.stop();
  const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '{}') as RunLine & { kind: 'result' };
  expect([code, last.tally, stderr]).toEqual([
    3,
    { rows: 300, ok: 291, failed: 9, unmatched: 0, blank: 0 },
    '',
  ]);
  const read = (file: string): string =>
    fs.readFileSync(path.join(app.downloads, path.basename(file)), 'utf8');
  expect(read(byKey)).toBe(read(byHand));
  expect(read(last.written ?? '')).toBe(read(byHand));
  for (const card of cards) expect(stdout + stderr + read(last.written ?? '')).not.toContain(card);

  // Who is in both files: the batch, by a beginning of its number, and what another one wrote.
  const compared = path.join(app.downloads, 'compared.csv');
  const other = path.join(app.downloads, path.basename(byHand));
  const who = await asGiven([
    ...['compare', (last.jobId ?? '').slice(0, 12), other, '--column=card', `--out=${compared}`, '--yes'],
  ]);
  expect([who.code, who.stdout]).toEqual([0, expect.stringContaining('In all: 3 values (rows: 291, 291)')]);
  expect(fs.readFileSync(compared, 'utf8').split('\r\n')).toHaveLength(602);
  for (const card of cards) expect(who.stdout + who.stderr + read(compared)).not.toContain(card);

  // Nothing secret in what others see of it, or keep.
  const keytar = await loadKeytar();
  const { keychainIndex } = JSON.parse(fs.readFileSync(path.join(app.home, 'desk.json'), 'utf8')) as {
    readonly keychainIndex: readonly string[];
  };
  const stored = await Promise.all(
    // But for where the folder is.
    keychainIndex
      .filter((account) => account !== 'folder')
      .map((account) => keytar.getPassword('Tokendesk', keychainEntry(app.home, account))),
  );
  const secrets = [passphrase, ...stored.filter((one) => one !== null && one.length > 12)] as string[];
  expect(secrets.length).toBeGreaterThan(3);
  expect(processes.length).toBeGreaterThan(0);
  const kept = ['audit', 'logs'].flatMap((folder) =>
    fs.readdirSync(path.join(app.home, folder)).map((name) => path.join(app.home, folder, name)),
  );
  const receipt = `${last.written ?? ''}.receipt.json`;
  const texts = {
    stdout,
    stderr,
    processes: processes.join('\n'),
    started: fs.readFileSync(given, 'latin1'),
  };
  for (const name of [...kept, receipt]) Object.assign(texts, { [name]: fs.readFileSync(name, 'latin1') });
  for (const [name, text] of Object.entries(texts))
    expect([name, [...secrets, ...cards].filter((secret) => text.includes(secret)).length]).toEqual([
      name,
      0,
    ]);

  // The guide's own words, as they stand there.
  const guide = fs.readFileSync('docs/administrators-guide.md', 'utf8');
  const [, block = ''] = /### From nothing to each night([\s\S]*?)crontab -e/.exec(guide) ?? [];
  const lines = block.split('\n').flatMap((line) => /^ {4}tokendesk (.*)$/.exec(line)?.[1] ?? []);
  expect(lines.length).toBe(7);
  fs.mkdirSync(path.join(home, 'out'));
  const codes: (number | null)[] = [];
  for (const line of lines) {
    const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain = '']) => quoted ?? plain);
    const placed = words.map((word) =>
      word.replace(
        /^((?:--(?:out|source)=)?)(out|december\.csv)/,
        (_all, name: string, file: string) => `${name}${path.join(home, file)}`,
      ),
    );
    codes.push((await asGiven(placed)).code);
  }
  // Nine rows failed; and without a signer that is known the verifier ends with 3.
  expect(codes).toEqual([0, 0, 0, 3, 3, 3, 0]);
  expect(fs.readdirSync(path.join(home, 'out')).sort()).toEqual([
    'december_tokens-2.csv',
    'december_tokens-2.csv.receipt.json',
    'december_tokens.csv',
    'december_tokens.csv.receipt.json',
  ]);

  // The line of the crontab, by the shell and with the environment that cron gives it.
  const [, cron = ''] = /^ {4}15 2 \* \* \* (.*)$/m.exec(guide) ?? [];
  const program = [electronBinary(), process.cwd(), `--user-data-dir=${app.home}`]
    .map((word) => `'${word}'`)
    .join(' ');
  fs.writeFileSync(path.join(bin, 'tokendesk'), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
  fs.mkdirSync(path.join(home, 'data/in'), { recursive: true });
  fs.mkdirSync(path.join(home, 'data/out'));
  fs.renameSync(writeMonth(home, 'cards'), path.join(home, 'data/in/cards.csv'));
  const line = cron.replaceAll('/data/', `${home}/data/`).replace(/unix:path=\S+/, bus ?? '');
  const asCron = ['-i', `HOME=${home}`, `PATH=${searched}`, 'SHELL=/bin/sh', '/bin/sh', '-c', line];
  const nightly = await runUntilExit('/usr/bin/env', asCron);
  expect([nightly.code, nightly.stdout, nightly.stderr]).toEqual([3, '', '']);
  const logged = fs.readFileSync(path.join(home, 'data/run.log'), 'utf8').trimEnd().split('\n');
  expect(JSON.parse(logged.at(-1) ?? '')).toMatchObject({
    kind: 'result',
    file: 'cards.csv',
    tally: last.tally,
  });

  const changed = await command('Card file', writeMonth(home, 'january', 'case,pan,amount'));
  expect([changed.code, changed.stdout]).toEqual([
    5,
    'january.csv: The columns are not those of the mapping (missing: card; 1 others). Nothing was sent.\n',
  ]);
  const wrong = await command('Card file');
  expect([wrong.code, wrong.stderr.split('\n')[0]]).toEqual([2, 'Name the file to run Card file on.']);
});
