import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../support/app-fixture.ts';

/** Walks with Tab until the place has the focus; where Tab never leads, a person without a pointer never comes. */
async function tabTo(page: Page, place: Locator): Promise<void> {
  await place.waitFor();
  // Found once: to find it by its name at every step takes longer than the walk.
  const element = await place.elementHandle();
  for (let step = 0; step < 80; step++) {
    if (await element.evaluate((one) => one.matches(':focus'))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error('Tab never leads there.');
}

/**
 * What a person sees of the focus: the element's name, and what is wrong. A radio button's label stands for it. Null past
 * the end of the page.
 */
const lookAtFocus = `(() => {
  const focused = document.activeElement;
  if (focused === null || focused === document.body || focused.closest('footer.status') !== null) return null;
  const label = focused.ariaLabel ?? focused.labels?.[0]?.textContent ?? focused.textContent;
  const name = focused.tagName + ' ' + label.trim().slice(0, 40);
  const drawn = focused.matches('input[type=radio]') ? focused.closest('label') : focused;
  const isOutlined = [drawn, drawn.parentElement].some((element) => {
    const { outlineStyle, outlineWidth } = getComputedStyle(element);
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 1;
  });
  const { left, top, right, bottom } = drawn.getBoundingClientRect();
  const x = (Math.max(0, left) + Math.min(innerWidth, right)) / 2;
  const y = (Math.max(0, top) + Math.min(innerHeight, bottom)) / 2;
  const there = document.elementFromPoint(x, y);
  const isSeen = there !== null && (drawn.contains(there) || there.contains(drawn));
  return { name, flaw: isOutlined ? (isSeen ? null : 'out of sight') : 'no outline' };
})()`;

/** Walks with Tab from the sidebar through the page and returns the places whose focus can't be seen. */
async function flawsOfFocus(page: Page): Promise<string[]> {
  const flaws: string[] = [];
  await page.getByRole('navigation', { name: 'Places' }).getByRole('button').last().focus();
  for (let step = 0; step < 60; step++) {
    await page.keyboard.press('Tab');
    const focus = await page.evaluate<{ name: string; flaw: string | null } | null>(lookAtFocus);
    if (typeof focus?.flaw === 'string') flaws.push(`${focus.name}: ${focus.flaw}`);
    if (focus !== null) continue;
    // A walk that goes nowhere would find nothing.
    expect(step).toBeGreaterThan(2);
    break;
  }
  return flaws;
}

async function press(page: Page, place: Locator): Promise<void> {
  await tabTo(page, place);
  await page.keyboard.press('Enter');
}

test('the whole main job and the reports, by keyboard alone', async ({ page }) => {
  test.setTimeout(120_000);
  // The first page has its focus on its first action.
  await expect(page.getByRole('button', { name: 'Start the built-in service' })).toBeFocused();
  await page.keyboard.press('Enter');

  // Lookup: tokenize, reveal, hide.
  await tabTo(page, page.getByRole('radio', { name: 'Look up a token' }));
  await page.keyboard.press('ArrowRight');
  await tabTo(page, page.getByLabel('Value in clear'));
  await page.keyboard.type('4111111111111111');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('region', { name: 'Result' })).toBeFocused();
  await page.keyboard.press('Control+Shift+c');
  await expect(page.getByRole('region', { name: 'Reveal', exact: true }).getByLabel('Case')).toBeFocused();
  await page.keyboard.type('D-20931');
  // To the reasons, of which none is chosen. One digit chooses and shows.
  await expect(page.getByRole('button', { name: 'Chargeback response' })).toBeEnabled();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('group', { name: 'Reason' })).toBeFocused();
  await page.keyboard.press('1');
  await page.getByRole('group', { name: 'In clear' }).waitFor();
  await expect(page.getByRole('button', { name: 'Hide' })).toBeFocused();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('group', { name: 'In clear' })).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Result' })).toBeFocused();

  // The sample file under the policy of the start, which may do no batches: each column gets one that may.
  await page.keyboard.press('Control+2');
  await press(page, page.getByRole('button', { name: 'Try the sample file' }));
  await press(page, page.getByRole('button', { name: /^Use \d suggestions$/ }));
  await tabTo(page, page.getByRole('combobox', { name: /^card_token/ }));
  await page.keyboard.press('Enter');
  await page.getByRole('option', { name: /^Detokenize/ }).waitFor();
  await page.keyboard.type('Detok');
  await page.keyboard.press('Enter');
  await press(page, page.getByRole('button', { name: /^Run on/ }));
  await expect(page.getByRole('status', { name: 'Sum' })).toContainText('200 rows = 197 succeeded');
  await expect(page.getByRole('alert')).toHaveCount(0);

  // The table, and from there an export of what it shows.
  const grid = page.getByRole('grid');
  await tabTo(page, page.getByRole('button', { name: 'Filter', exact: true }));
  await page.keyboard.press('Enter');
  await tabTo(page, page.getByRole('textbox', { name: 'Filter card_token' }));
  await page.keyboard.type('4111');
  await expect(page.getByRole('status', { name: 'Table' })).toContainText('of 200 shown');
  await tabTo(page, grid);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Space');
  await expect(page.getByRole('complementary', { name: 'Row detail' })).toBeVisible();
  await press(page, page.getByRole('button', { name: 'Export', exact: true }));
  const panel = page.getByRole('region', { name: 'Export', exact: true });
  const write = panel.getByRole('button', { name: /^Export \d+ rows?$/ });
  await tabTo(page, write);
  // Right after the panel opened it takes no press.
  await expect(write).toBeEnabled();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('status', { name: 'Exported' })).toContainText('_masked_filtered.csv');

  // Reports: sign in, another grouping, the list of what failed.
  await page.keyboard.press('Control+3');
  await press(page, page.getByRole('button', { name: 'Sign in to the built-in portal' }));
  await expect(page.getByText(/signed in as reporter/)).toBeVisible();
  await tabTo(page, page.getByRole('radio', { name: 'Day', exact: true }));
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('grid').getByRole('columnheader').first()).toHaveText('Definition');
  await tabTo(page, page.getByRole('tab', { name: 'Account' }));
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('tab', { name: 'This workstation' })).toHaveAttribute('aria-selected', 'true');

  await page.keyboard.press('Control+l');
  await press(page, page.getByRole('button', { name: 'Unlock' }));
  await expect(page.getByRole('navigation', { name: 'Places' })).toBeVisible();
});

test('each page by keyboard alone, and the focus can always be seen', async ({ page }) => {
  test.setTimeout(120_000);
  await expect(page.getByRole('button', { name: 'Start the built-in service' })).toBeFocused();
  await page.keyboard.press('Enter');

  // The case: opened, filled by a lookup, closed and opened again.
  const place = page.getByRole('complementary', { name: 'Case' });
  await tabTo(page, place.getByRole('textbox', { name: 'Case' }));
  await page.keyboard.type('D-20931');
  await page.keyboard.press('Enter');
  await expect(place.getByRole('button', { name: 'Close case' })).toBeVisible();
  await press(page, page.getByRole('button', { name: 'Try a sample token' }));
  await expect(page.getByRole('region', { name: 'Result' })).toBeFocused();
  await page.keyboard.press('Control+Shift+c');
  await expect(page.getByRole('group', { name: 'Reason' })).toBeFocused();
  await page.keyboard.press('1');
  await expect(page.getByRole('button', { name: 'Hide' })).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(page.getByRole('group', { name: 'In clear' })).toHaveCount(0);
  await expect(place.getByText('Revealed')).toBeVisible();
  expect(await flawsOfFocus(page)).toEqual([]);
  await press(page, place.getByRole('button', { name: 'Close case' }));
  await press(page, place.getByRole('button', { name: 'Reopen' }));
  await expect(place.getByText('Revealed')).toBeVisible();

  await page.keyboard.press('Control+2');
  await expect(page.getByRole('button', { name: 'Try the sample file' })).toBeVisible();
  expect(await flawsOfFocus(page)).toEqual([]);

  // Reports: from a bar of the chart to its failures, then the auditor's page.
  await page.keyboard.press('Control+3');
  await press(page, page.getByRole('button', { name: 'Sign in to the built-in portal' }));
  await tabTo(page, page.getByRole('radio', { name: 'Day', exact: true }));
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await press(page, page.getByRole('button', { name: /^Detokenize: .* show failures$/ }));
  await expect(page.getByText('Failures of Detokenize')).toBeVisible();
  expect(await flawsOfFocus(page)).toEqual([]);
  await tabTo(page, page.getByRole('tab', { name: 'Account' }));
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  await expect(page.getByText(/1 person saw cleartext 1 time/)).toBeVisible();
  expect(await flawsOfFocus(page)).toEqual([]);

  await page.keyboard.press('Control+4');
  await tabTo(page, page.getByRole('radio', { name: 'Cleartext and exports' }));
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('region', { name: 'Audit entries' })).toContainText('Built-in service started');
  expect(await flawsOfFocus(page)).toEqual([]);

  // A connection in its three steps.
  await page.keyboard.press('Control+5');
  await press(page, page.getByRole('button', { name: 'Add a connection' }));
  await tabTo(page, page.getByLabel('Name', { exact: true }));
  await page.keyboard.type('Acme');
  expect(await flawsOfFocus(page)).toEqual([]);
  await press(page, page.getByRole('button', { name: 'Next: Access' }));
  await tabTo(page, page.getByLabel('Policy name'));
  await page.keyboard.type('analyst');
  await page.keyboard.press('Enter');
  await expect(page.getByLabel('Password for analyst', { exact: true })).toBeVisible();
  expect(await flawsOfFocus(page)).toEqual([]);
  await press(page, page.getByRole('button', { name: 'Next: Test' }));
  expect(await flawsOfFocus(page)).toEqual([]);

  await page.keyboard.press('Control+6');
  await tabTo(page, page.getByRole('radio', { name: 'Match system' }));
  await page.keyboard.press('ArrowRight');
  await expect(page.getByRole('radio', { name: 'Light', exact: true })).toBeChecked();
  expect(await flawsOfFocus(page)).toEqual([]);

  await page.keyboard.press('Control+7');
  await press(page, page.getByRole('button', { name: 'Sign in as administrator' }));
  await expect(page.getByText(/signed in as admin/)).toBeVisible();
  await tabTo(page, page.getByRole('tab', { name: 'Token definitions' }));
  await page.keyboard.press('ArrowRight');
  await press(page, page.getByRole('button', { name: 'New policy' }));
  await tabTo(page, page.getByLabel('Policy name'));
  await page.keyboard.type('refunds');
  expect(await flawsOfFocus(page)).toEqual([]);
});

test('what an icon is called is shown to who comes with a key or the pointer, until Escape', async ({
  page,
}) => {
  const places = page.getByRole('navigation', { name: 'Places' });
  const hint = page.getByRole('tooltip');
  await places.getByRole('button', { name: 'Lookup' }).focus();
  await page.keyboard.press('Tab');
  await expect(hint).toHaveText(/^Batch/);
  await expect(places.getByRole('button', { name: 'Batch' })).toHaveAccessibleDescription(/^Batch/);
  await page.keyboard.press('Escape');
  await expect(hint).toHaveCount(0);
  await places.getByRole('button', { name: 'Reports' }).hover();
  await expect(hint).toHaveText(/^Reports/);
  // What is shown can be read with the pointer on it.
  await hint.hover();
  await expect(hint).toHaveText(/^Reports/);
  await page.getByRole('button', { name: 'Lock' }).hover();
  await expect(hint).toHaveCount(0);
});

test('the shortcuts are opened by a key, and closed by Escape', async ({ page }) => {
  await page.getByRole('button', { name: /^Shortcuts/ }).waitFor();
  await page.keyboard.press('Control+/');
  const dialog = page.getByRole('dialog', { name: 'Shortcuts' });
  await expect(dialog).toContainText('Find');
  await page.keyboard.press('Escape');
  await expect(dialog).toBeHidden();
});
