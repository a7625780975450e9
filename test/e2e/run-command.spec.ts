import fs from 'node:fs';
import path from 'node:path';
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
import { runApp } from '../support/run-app.ts';

const cards = ['4111111111111111', '5500005555555559', '4012888888881881'];

function writeMonth(home: string, name: string, header = 'case,card,amount'): string {
  const file = path.join(home, `${name}.csv`);
  const rows = Array.from({ length: 300 }, (_, n) => `D-${n},${cards[n % 3] ?? ''},${n}`);
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
  await page.getByRole('button', { name: 'Save mapping' }).click();
  await page.getByLabel('Name of the mapping').fill('Card file');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('combobox', { name: 'Mapping: Card file' }).waitFor();
  await run(page);
  const sum = await readSum(page);
  expect(sum).toMatchObject({ rows: 300, ok: 300 });
  const byHand = await exportRows(page, { content: 'Tokens', written: 'As the source' });

  await page.getByRole('button', { name: 'All batches' }).click();
  await chooseFile(page, writeMonth(home, 'november'));
  await expect(page.getByRole('status', { name: 'Note' })).toContainText('is filled in');
  await page.keyboard.press('Control+Enter');
  await expect.poll(() => readSum(page)).toEqual(sum);
  const byKey = await exportRows(page, { content: 'Tokens', written: 'As the source' });

  const december = writeMonth(home, 'december');
  const command = (...args: string[]) => asGiven('run', ...args);
  const asGiven = (...args: string[]) =>
    runApp([`--user-data-dir=${app.home}`, ...args], {
      env: {
        DBUS_SESSION_BUS_ADDRESS: process.env['DBUS_SESSION_BUS_ADDRESS'],
        // Node warns on standard error where both are set.
        NO_COLOR: undefined,
      },
    });
  const whileOpen = await command('Card file', december);
  expect([whileOpen.code, whileOpen.stderr]).toEqual([
    5,
    expect.stringContaining('Tokendesk is open with this folder. Close it first'),
  ]);
  await app.close();

  const { code, stdout, stderr } = await command('Card file', december, `--out=${app.downloads}`, '--json');
  const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '{}') as RunLine & { kind: 'result' };
  expect([code, last.sentence, stderr]).toEqual([0, expect.stringContaining('300 rows = 300 succeeded'), '']);
  const read = (file: string): string =>
    fs.readFileSync(path.join(app.downloads, path.basename(file)), 'utf8');
  expect(read(byKey)).toBe(read(byHand));
  expect(read(last.written ?? '')).toBe(read(byHand));
  for (const card of cards) expect(stdout + stderr + read(last.written ?? '')).not.toContain(card);

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
    codes.push((await asGiven(...placed)).code);
  }
  // Without a signer that is known, the verifier ends with 3.
  expect(codes).toEqual([0, 0, 0, 0, 0, 3, 0]);
  expect(fs.readdirSync(path.join(home, 'out')).sort()).toEqual([
    'december_tokens-2.csv',
    'december_tokens-2.csv.receipt.json',
    'december_tokens.csv',
    'december_tokens.csv.receipt.json',
  ]);

  const changed = await command('Card file', writeMonth(home, 'january', 'case,pan,amount'));
  expect([changed.code, changed.stdout]).toEqual([
    5,
    'january.csv: The columns are not those of the mapping (missing: card; 1 others). Nothing was sent.\n',
  ]);
  const wrong = await command('Card file');
  expect([wrong.code, wrong.stderr.split('\n')[0]]).toEqual([2, 'Name the file to run Card file on.']);
});
