import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '../support/app-fixture.ts';
import {
  choose,
  chooseFile,
  go,
  lookUp,
  map,
  reveal,
  run,
  startBuiltIn,
  tokenize,
} from '../support/page-actions.ts';

const pan = '4111111111111111';

test('who saw this card: from a cell of a batch and from a lookup, with the keyboard', async ({
  page,
  app,
  home,
}) => {
  test.setTimeout(120_000);
  await startBuiltIn(page);
  await choose(page, 'Policy', 'analyst');
  const other = await tokenize(page, '5555555555554444');
  await lookUp(page, other);
  const token = await tokenize(page, pan);
  await lookUp(page, token);
  await reveal(page, 'D-20931');
  await page.keyboard.press('Escape');

  const source = path.join(home, 'november.csv');
  fs.writeFileSync(source, `card,n\n${other},1\n${token},2\n`);
  await go(page, 'Batch');
  await chooseFile(page, source);
  await map(page, 'card', 'Detokenize', 'Card number');
  await run(page);
  await page.getByRole('gridcell').filter({ hasText: '1111' }).click();
  await page.keyboard.press('Shift+F10');
  await page.getByRole('menu', { name: 'Cell' }).waitFor();
  await page.keyboard.press('Home');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await expect(page.getByRole('menuitem', { name: 'Story of this token' })).toBeFocused();
  await page.keyboard.press('Enter');
  const story = page.getByRole('complementary', { name: 'Story of a token' });
  await expect(story.getByRole('heading', { name: 'Story of this token' })).toBeFocused();
  await expect(story.getByRole('listitem')).toHaveCount(4);
  await expect(story.getByRole('listitem').nth(0)).toContainText(
    /Batch november\.csv.*Detokenize.*1 row \(row 2\)/s,
  );
  await expect(story.getByRole('listitem').nth(1)).toContainText(
    /Revealed.*Case D-20931.*Chargeback response/s,
  );
  await expect(story.getByRole('status')).toHaveText('4 acts on this token');
  await story.getByRole('button', { name: 'Save as CSV' }).click();
  await expect(story.getByText('Saved story.csv')).toBeVisible();
  const saved = fs.readFileSync(path.join(app.downloads, 'story.csv'), 'utf8');
  expect(saved.split('\r\n')).toHaveLength(6);
  expect([saved.includes(token), saved.includes(pan)]).toEqual([false, false]);
  await page.keyboard.press('Escape');
  await expect(story).toHaveCount(0);

  await go(page, 'Lookup');
  await page.getByRole('button', { name: 'Story of this token' }).click();
  // The look before is an act too; its saving is not about the token.
  await expect(story.getByRole('status').first()).toHaveText('5 acts on this token');
  await expect(story).toContainText('Story of the token looked at');
  expect((await app.outward()).filter((message) => message.includes(pan))).toEqual([]);

  await go(page, 'Activity');
  await expect(story).toHaveCount(0);
});
