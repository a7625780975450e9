import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import Papa from 'papaparse';
import {
  choose,
  exportRows,
  go,
  lookUp,
  map,
  readSum,
  reveal,
  run,
  startBuiltIn,
  tokenize,
} from '../test/support/page-actions.ts';
import { launchApp } from '../test/support/launch-app.ts';
import { missingTools, startKeyring } from '../test/support/private-keyring.ts';

const out = path.resolve('out/demo');
const card = '4111111111111111';

/**
 * The guided demo: the same app, headless, walks through the main job on the sample file. Prints each step, writes
 * numbered pictures and the exported files to `out/demo/`. True only if every number and value agreed.
 */
export async function runDemo(): Promise<boolean> {
  fs.rmSync(out, { recursive: true, force: true });
  fs.mkdirSync(out, { recursive: true, mode: 0o700 });
  const keyring = missingTools().length === 0 ? await startKeyring() : null;
  if (keyring === null) say('No keyring here: secrets are kept in memory for this run.');
  else Object.assign(process.env, keyring.env);
  try {
    const checks = await walk();
    const agreed = checks.every(({ ok }) => ok);
    for (const { what, ok } of checks) if (!ok) say(`DOES NOT AGREE: ${what}`);
    say(agreed ? `Everything agreed. Pictures and files: ${path.relative('.', out)}/` : 'The demo failed.');
    return agreed;
  } catch (error) {
    say(`The demo stopped: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : 'unknown'}`);
    return false;
  } finally {
    await keyring?.stop();
  }
}

interface Check {
  readonly what: string;
  readonly ok: boolean;
}

async function walk(): Promise<Check[]> {
  const app = await launchApp({ home: path.join(out, 'home'), downloads: out });
  const { page } = app;
  page.setDefaultTimeout(30_000);
  await page.setViewportSize({ width: 1280, height: 800 });
  const checks: Check[] = [];
  let pictures = 0;
  const step = async (words: string): Promise<void> => {
    pictures++;
    say(`${String(pictures).padStart(2)}  ${words}`);
    await page.screenshot({
      path: path.join(out, `${String(pictures).padStart(2, '0')}-${slug(words)}.png`),
    });
  };
  const check = (what: string, ok: boolean): void => {
    checks.push({ what, ok });
  };

  try {
    await page.getByRole('button', { name: 'Start the built-in service' }).waitFor();
    await step('First run');
    await startBuiltIn(page);
    await step('The built-in service is running');

    const token = await tokenize(page, card);
    check('the token is another number of the same form', /^\d{16}$/.test(token) && token !== card);
    await step('A card number is tokenized');
    await lookUp(page, token);
    await page.getByText('411111••••••1111').first().waitFor();
    const outward = await app.outward();
    check('no cleartext reached the window before the reveal', !outward.some((text) => text.includes(card)));
    await step('The token is looked up: masked by the service');
    await reveal(page, 'D-20931');
    check('the reveal shows the number', (await page.getByText(card).count()) === 1);
    await step('Revealed for seconds, with a reason and a case');
    await page.keyboard.press('Escape');
    await page.getByRole('group', { name: 'In clear' }).waitFor({ state: 'detached' });
    check('it is masked again', (await page.getByText(card).count()) === 0);
    await step('Masked again');

    await choose(page, 'Policy', 'analyst');
    await go(page, 'Batch');
    await page.getByRole('button', { name: 'Try the sample file' }).click();
    await map(page, 'card_token', 'Detokenize', 'Card number');
    await page.getByRole('status', { name: 'Preflight' }).getByText(/rows/).first().waitFor();
    await step('The sample file, with a column to detokenize');
    await run(page);
    const sum = await readSum(page);
    await step('Every row is accounted for');
    say(
      `    rows in = ok + failed + unmatched + blank: ` +
        `${sum.rows} = ${sum.ok} + ${sum.failed} + ${sum.unmatched} + ${sum.blank}`,
    );
    check(
      'rows in = ok + failed + unmatched + blank',
      sum.rows === sum.ok + sum.failed + sum.unmatched + sum.blank,
    );

    const masked = await exportRows(page, { content: 'Masked', written: 'Safe for Excel' });
    const clear = await exportRows(page, {
      content: 'With cleartext',
      written: 'Exact values',
      caseReference: 'D-20931',
    });
    await step('Exported, masked and in clear');
    const original = read(path.resolve('resources/samples/disputes.csv'));
    const back = read(path.join(out, clear));
    check(
      'the exports have every row of the sample',
      sum.rows === original.length - 1 && back.length === original.length,
    );
    check('every value that was sent came back as it was', differing(original, back) === sum.failed);
    check('the masked export holds no card number', !holdsCard(read(path.join(out, masked)), original));

    await go(page, 'Activity');
    await page.getByRole('table').waitFor();
    await step('Every step of it in the audit log');
  } catch (error) {
    await page.screenshot({ path: path.join(out, 'stopped.png') }).catch(() => undefined);
    throw error;
  } finally {
    await app.close();
    fs.rmSync(path.join(out, 'home'), { recursive: true, force: true });
  }
  return checks;
}

const say = (line: string): void => {
  console.log(line);
};
const slug = (words: string): string =>
  words
    .toLowerCase()
    .replaceAll(/[^a-z]+/g, '-')
    .replaceAll(/^-|-$/g, '');
const read = (file: string): string[][] =>
  Papa.parse<string[]>(fs.readFileSync(file, 'utf8').replace('\uFEFF', ''), { skipEmptyLines: true }).data;

/** Rows whose card is not the one of the sample: those that were not sent keep their token. */
function differing(original: string[][], back: string[][]): number {
  const column = original[0]?.indexOf('card_number') ?? -1;
  const place = back[0]?.findIndex((name) => name.startsWith('card')) ?? -1;
  return original.filter((row, index) => index > 0 && row[column] !== back[index]?.[place]).length;
}

function holdsCard(table: string[][], original: string[][]): boolean {
  const column = original[0]?.indexOf('card_number') ?? -1;
  const cards = new Set(original.slice(1).map((row) => row[column] ?? ''));
  cards.delete('');
  return table.some((row) => row.some((field) => cards.has(field)));
}
