import type { Page } from '@playwright/test';
import { expect, test } from '../../support/app-fixture.ts';
import { answerOf } from '../../support/ask-bridge.ts';
import {
  choose,
  chooseFile,
  giveReason,
  go,
  lookUp,
  map,
  paste,
  readSum,
  run,
  startBuiltIn,
  tokenize,
} from '../../support/page-actions.ts';
import fs from 'node:fs';
import path from 'node:path';

/*
 * Nothing is disclosed by accident: keys that are held or repeated, texts that are typed or pasted, second clicks. Played
 * at random on each page that can disclose, from a seed; TOKENDESK_ACCIDENTS plays that many on each instead of a few.
 */

const rounds = Number(process.env['TOKENDESK_ACCIDENTS'] ?? 14);
const seed = Number(process.env['TOKENDESK_SEED'] ?? 1);

function random(start: number): (below: number) => number {
  let state = start;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const disclosing = ['Reveal', 'Copy', 'Export', 'Match', 'Guess', 'Move'];
const disclosed = async (page: Page): Promise<number> => {
  const { entries } = await answerOf(page, 'activity.list', {
    before: null,
    limit: 200,
    caseReference: null,
  });
  return entries.filter(({ action, phase }) => disclosing.includes(action) && phase === 'begun').length;
};

/** As a key that sticks: one press, then repeats for about a second. */
async function hold(page: Page, key: string): Promise<void> {
  const names = key.split('+');
  for (const name of names.slice(0, -1)) await page.keyboard.down(name);
  for (let turn = 0; turn < 12; turn++) {
    await page.keyboard.down(names.at(-1) ?? '');
    await page.evaluate('new Promise((resolve) => setTimeout(resolve, 60))');
  }
  for (const name of names.toReversed()) await page.keyboard.up(name);
}

/** Faster than any machine could delay them: what is measured is the order, and no machine's speed. */
const typeAtOnce = (page: Page, text: string): Promise<void> =>
  page.evaluate(`for (const key of ${JSON.stringify(text)})
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))`);

type Accident = readonly [name: string, play: (page: Page) => Promise<void>];

const everywhere: readonly Accident[] = [
  ['Enter held', (page) => hold(page, 'Enter')],
  ['Space held', (page) => hold(page, ' ')],
  ...[100, 200, 350].map((delay): Accident => [
    `Enter five times, ${delay} ms`,
    async (page) => {
      for (let turn = 0; turn < 5; turn++) await page.keyboard.press('Enter', { delay });
    },
  ]),
  ['a token typed', (page) => typeAtOnce(page, '4111110000121111')],
  ['a case typed', (page) => typeAtOnce(page, 'CR-2201')],
  ['a digit held', (page) => hold(page, '9')],
  ['a token pasted', (page) => paste(page, '4111110000131111')],
];

const panel: Accident = ['the panel opened by its key', (page) => page.keyboard.press('Control+Shift+C')];
const onLookup: readonly Accident[] = [
  ...everywhere,
  panel,
  ['the panel’s key held', (page) => hold(page, 'Control+Shift+C')],
  ...['Reveal', 'Copy cleartext'].map((name): Accident => [
    `${name} clicked twice`,
    async (page) => {
      const button = page.getByRole('region', { name: 'Result' }).getByRole('button', { name, exact: true });
      if ((await button.count()) > 0) await button.first().dblclick();
    },
  ]),
];
const onResults: readonly Accident[] = [
  ...everywhere,
  panel,
  [
    'a cell clicked twice',
    async (page) => {
      await page.getByRole('gridcell').nth(1).dblclick();
    },
  ],
  [
    'Reveal cell clicked twice',
    async (page) => {
      const button = page.getByRole('button', { name: 'Reveal cell' });
      if (await button.isEnabled()) await button.dblclick();
    },
  ],
];

async function play(page: Page, accidents: readonly Accident[], ready: () => Promise<void>): Promise<void> {
  const next = random(seed);
  const played: string[] = [];
  const before = await disclosed(page);
  // The one that was decided.
  expect(before).toBe(1);
  for (let round = 0; round < rounds; round++) {
    await ready();
    for (const _ of Array(1 + next(3))) {
      const [name, run] = accidents[next(accidents.length)] ?? panel;
      played.push(name);
      await run(page);
    }
    expect(await disclosed(page), played.slice(-4).join(', then ')).toBe(before);
  }
}

test('on Lookup, with a case and a reason that stays', async ({ page }) => {
  test.setTimeout(60_000 + rounds * 6_000);
  await startBuiltIn(page);
  const token = await tokenize(page, '4111111111111111');
  await page.getByRole('button', { name: 'Reveal', exact: true }).click();
  await giveReason(page.getByRole('region', { name: 'Reveal', exact: true }), 'D-777');
  await page.getByRole('group', { name: 'In clear' }).waitFor();
  await page.keyboard.press('Escape');
  await play(page, onLookup, async () => {
    await page.keyboard.press('Escape');
    await lookUp(page, token);
  });
});

test('in the results of a batch, with a case and a reason that stays', async ({ page, home }) => {
  test.setTimeout(60_000 + rounds * 6_000);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  // The service's keys differ from home to home: a number that is made up is seldom a token.
  const tokens: string[] = [];
  for (const card of ['4111111111111111', '5555555555554444', '4012888888881881'])
    tokens.push(await tokenize(page, card));
  const source = path.join(home, 'cards.csv');
  fs.writeFileSync(source, ['card', ...tokens, ''].join('\r\n'));
  await go(page, 'Batch');
  await chooseFile(page, source);
  await map(page, 'card', 'Detokenize', 'Card number');
  await run(page);
  await readSum(page);
  await page.getByRole('gridcell').first().click();
  await page.getByRole('button', { name: 'Reveal cell' }).click();
  await giveReason(page.getByRole('region', { name: 'Reveal', exact: true }), 'D-5');
  await page.getByRole('group', { name: 'In clear' }).waitFor();
  await page.keyboard.press('Escape');
  await play(page, onResults, async () => {
    await page.keyboard.press('Escape');
    await page.getByRole('gridcell').nth(1).click();
  });
});
