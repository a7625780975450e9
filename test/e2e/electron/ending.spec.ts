import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { Decrypter } from 'age-encryption';
import { expect, openApp, test, type OpenApp } from '../../support/app-fixture.ts';
import { choose, chooseFile, go, map, readSum, run, startBuiltIn } from '../../support/page-actions.ts';

/* How the app ends, and what is written by then: what docs/first-run.md leaves to a program. */

/** Cards that are valid, one a row. */
function writeCards(file: string, rows: number): void {
  const digit = (text: string): number => {
    const sum = Array.from(text).reduce((all, one, at) => {
      const twice = Number(one) * (at % 2 === 0 ? 2 : 1);
      return all + (twice > 9 ? twice - 9 : twice);
    }, 0);
    return (10 - (sum % 10)) % 10;
  };
  const cards = Array.from({ length: rows }, (_, row) => `400000${String(row).padStart(9, '0')}`);
  fs.writeFileSync(file, `card\n${cards.map((card) => `${card}${digit(card)}\n`).join('')}`);
}

/** Sends a signal and waits for the end. Whoever is asked a question in the meantime is named. */
async function end({ application }: OpenApp, signal: NodeJS.Signals): Promise<unknown> {
  const child = application.process();
  await application.evaluate(({ dialog }) => {
    dialog.showMessageBox = (...args: unknown[]) => {
      console.error('A question was asked.');
      return Promise.resolve({ response: 1, checkboxChecked: false, args });
    };
  });
  let printed = '';
  child.stderr?.on('data', (part: Buffer) => (printed += part.toString('utf8')));
  const closed = once(child, 'exit');
  child.kill(signal);
  const [code] = (await closed) as [number | null];
  return { code, asked: printed.includes('A question was asked.') };
}

test('SIGTERM, SIGINT and SIGHUP end the app, and nothing of it stays', async ({ home }) => {
  test.skip(process.platform === 'win32', 'Windows has no such signals');
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    const app = await openApp(home);
    try {
      expect(await end(app, signal)).toEqual({ code: 0, asked: false });
    } finally {
      await app.close();
    }
  }
});

test('SIGTERM while a batch runs asks nothing, and the next start goes on with it to the last row', async ({
  home,
}) => {
  test.skip(process.platform === 'win32', 'Windows has no such signals');
  const rows = 20_000;
  const file = path.join(home, 'cards.csv');
  writeCards(file, rows);
  const first = await openApp(home);
  try {
    const { page } = first;
    await startBuiltIn(page);
    await choose(page, 'Policy', 'analyst');
    await go(page, 'Batch');
    await chooseFile(page, file);
    await map(page, 'card', 'Tokenize', 'Card number');
    await run(page);
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    expect(await end(first, 'SIGTERM')).toEqual({ code: 0, asked: false });
  } finally {
    await first.close();
  }
  const second = await openApp(home);
  try {
    const { page } = second;
    await go(page, 'Batch');
    await page.getByRole('row', { name: /cards\.csv/ }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    expect(await readSum(page)).toMatchObject({ rows, ok: rows });
  } finally {
    await second.close();
  }
});

test('an export under a passphrase ends, and age opens it', async ({ app, page, home }) => {
  const file = path.join(home, 'cards.csv');
  writeCards(file, 3);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  await chooseFile(page, file);
  await map(page, 'card', 'Tokenize', 'Card number');
  await run(page);
  await readSum(page);
  await page.getByRole('button', { name: 'Export', exact: true }).click();
  const panel = page.getByRole('region', { name: 'Export', exact: true });
  await panel.getByRole('button', { name: 'Format…' }).click();
  await panel.getByText('Encrypt with a passphrase').click();
  await panel.getByLabel('Passphrase, at least 8 characters').pressSequentially('correct horse battery');
  await panel.getByRole('button', { name: /^Export \d/ }).click();
  await expect(page.getByRole('status', { name: 'Exported' })).toContainText('3 rows');
  const [name = ''] = fs.readdirSync(app.downloads);
  const decrypter = new Decrypter();
  decrypter.addPassphrase('correct horse battery');
  const text = await decrypter.decrypt(fs.readFileSync(path.join(app.downloads, name)), 'text');
  expect(text.trim().split('\n')).toHaveLength(4);
});
