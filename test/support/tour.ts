import { randomInt } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Page } from '@playwright/test';
import Papa from 'papaparse';
import type { OpenApp } from './app-fixture.ts';
import {
  choose,
  chooseFile,
  exportRows,
  giveReason,
  go,
  map,
  readSum,
  run,
  startBuiltIn,
} from './page-actions.ts';

/*
 * What a person does in a day, without the test ever putting a secret or a card number into the page: whatever goes
 * through the test's own tool stays in the page's memory. Cards reach the app in a file, and tokens are no secret.
 */

export interface Cards {
  /** Made at random for this run. */
  readonly cards: readonly string[];
  /** Their tokens, in the same order, as the app exported them. */
  readonly tokens: readonly string[];
}

/** A card number of sixteen digits that passes Luhn. */
export function randomCard(): string {
  const digits = Array.from({ length: 15 }, (_, place) => (place === 0 ? 4 : randomInt(10)));
  const sum = digits.reduce((total, digit, place) => {
    const twice = digit * (place % 2 === 0 ? 2 : 1);
    return total + (twice > 9 ? twice - 9 : twice);
  }, 0);
  return `${digits.join('')}${(10 - (sum % 10)) % 10}`;
}

/**
 * What a token and a mask do not already show of a card: six digits, with one more on either side, since six alone
 * stand in any memory by chance.
 */
export const hiddenPart = (card: string): string => card.slice(5, 13);

const write = (file: string, rows: string[][]): void => fs.writeFileSync(file, Papa.unparse(rows));

/** First run, then a file of cards tokenized and exported. */
export async function tokenizeCards(
  page: Page,
  app: Pick<OpenApp, 'downloads'>,
  home: string,
  count = 40,
): Promise<Cards> {
  const cards = Array.from({ length: count }, randomCard);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  await go(page, 'Batch');
  const source = path.join(home, 'cards.csv');
  write(source, [['case', 'card'], ...cards.map((card, index) => [`D-${index}`, card])]);
  await chooseFile(page, source);
  await map(page, 'card', 'Tokenize', 'Card number');
  await run(page);
  await readSum(page);
  const exported = await exportRows(page, { content: 'Tokens', written: 'Exact values' });
  const rows = Papa.parse<string[]>(fs.readFileSync(path.join(app.downloads, exported), 'utf8')).data;
  return { cards, tokens: rows.slice(1, count + 1).map(([, token = '']) => token) };
}

/** The tokens as a file of their own, detokenized; its results stay in view. */
export async function detokenizeCards(page: Page, home: string, { tokens }: Cards): Promise<void> {
  await go(page, 'Batch');
  await page.getByRole('button', { name: 'All batches' }).click();
  const source = path.join(home, 'tokens.csv');
  write(source, [['case', 'card'], ...tokens.map((token, index) => [`D-${index}`, token])]);
  await chooseFile(page, source);
  await map(page, 'card', 'Detokenize', 'Card number');
  await run(page);
  await readSum(page);
}

/** Fills in the strip that is open, shows. Nothing here reads the text of the page. */
export async function show(page: Page): Promise<void> {
  await giveReason(page.getByRole('region', { name: 'Reveal', exact: true }), 'D-1');
  await page.locator('.revealed').waitFor();
}

export async function revealLookup(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Reveal', exact: true }).click();
  await show(page);
}

/** The card of a row of the results, counted from one: the mapped column comes first. */
export async function revealCell(page: Page, row: number): Promise<void> {
  await page.getByRole('row').nth(row).getByRole('gridcell').first().click();
  await page.getByRole('button', { name: 'Reveal cell' }).click();
  await show(page);
}

export async function hide(page: Page): Promise<void> {
  await page.keyboard.press('Escape');
  await page.locator('.revealed').waitFor({ state: 'detached' });
}
