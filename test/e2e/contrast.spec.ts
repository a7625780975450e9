import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../support/app-fixture.ts';
import { axeViolations } from '../support/axe.ts';
import { go, reveal, startBuiltIn, tokenize } from '../support/page-actions.ts';

const places = ['Lookup', 'Batch', 'Reports', 'Activity', 'Connections', 'Settings'];

interface Look {
  background: string;
  outline: number;
  border: number;
  borderColor: string;
}

type Style = Record<
  'backgroundColor' | 'outlineStyle' | 'outlineWidth' | 'borderTopWidth' | 'borderTopColor',
  string
>;

/** What a person can see of a part: its colours and its edge. */
const look = (part: Locator): Promise<Look> =>
  part.evaluate((element): Look => {
    const window = globalThis as unknown as { getComputedStyle: (one: unknown) => Style };
    const style = window.getComputedStyle(element);
    return {
      background: style.backgroundColor,
      outline: style.outlineStyle === 'none' ? 0 : Number.parseFloat(style.outlineWidth),
      border: Number.parseFloat(style.borderTopWidth),
      borderColor: style.borderTopColor,
    };
  });

/** The same pages are checked by all rules in `pages.spec.ts`. */
async function axe(page: Page, place: string): Promise<void> {
  expect(await axeViolations(page, { coloursOnly: true }), place).toEqual([]);
}

test('high contrast keeps every signal of safety', async ({ page }) => {
  test.setTimeout(180_000);
  await startBuiltIn(page);
  const token = await tokenize(page, '4111111111111111');
  expect(token).not.toBe('');
  for (const media of [{ forcedColors: 'active' }, { forcedColors: 'none', contrast: 'more' }] as const) {
    const name = JSON.stringify(media);
    await page.emulateMedia(media);
    const canvas = (await look(page.locator('main'))).background;

    // Cleartext: its own colour, an edge, and the words.
    await reveal(page, 'D-1');
    const shown = page.getByRole('group', { name: 'In clear' });
    const clear = await look(shown);
    expect(clear.background, name).not.toBe(canvas);
    expect(clear.background, name).not.toBe('rgba(0, 0, 0, 0)');
    expect(clear.outline, name).toBeGreaterThanOrEqual(3);
    await expect(shown.getByText('In clear', { exact: true })).toBeVisible();
    await axe(page, `${name}, revealed`);
    await page.keyboard.press('Escape');

    // The environment: its colour as a frame and as a block, with its name.
    const block = page.getByText('DEVELOPMENT', { exact: true }).first();
    const frame = page.locator('.window');
    expect((await look(block)).background, name).not.toBe(canvas);
    expect((await look(frame)).border, name).toBeGreaterThanOrEqual(6);
    expect((await look(frame)).borderColor, name).toBe((await look(block)).background);

    // What is chosen, and what failed.
    expect(
      (await look(page.getByRole('button', { name: 'Lookup', exact: true }))).outline,
      name,
    ).toBeGreaterThan(0);
    await page.getByText('Look up a token').click();
    await page.getByRole('textbox', { name: 'Token' }).fill('4000');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    const anyway = page.getByRole('button', { name: /anyway/ });
    if ((await anyway.count()) > 0) await anyway.click();
    const problem = page.getByRole('alert');
    await problem.waitFor();
    expect((await look(problem)).border, name).toBeGreaterThanOrEqual(3);
    for (const place of places.slice(1)) {
      await go(page, place);
      await axe(page, `${name}, ${place}`);
    }
    await go(page, 'Lookup');
    await page.getByText('Look up a token').click();
    await page.getByRole('textbox', { name: 'Token' }).fill(token);
    await page.keyboard.press('Enter');
    await page.getByText('masked by the service').waitFor();
  }
});

test('at 200 % nothing is lost: no page is wider than the window, and every control of the frame is in it', async ({
  page,
}) => {
  test.setTimeout(120_000);
  await page.setViewportSize({ width: 720, height: 450 });
  const lost = (): Promise<string[]> =>
    page.evaluate<string[]>(`
      [...document.querySelectorAll('main, header, footer, nav[aria-label="Places"], main .scroll, main .main')]
        .filter((part) => part.scrollWidth > part.clientWidth + 1)
        .map((part) => part.tagName + ' ' + part.className + ' ' + part.scrollWidth + ' of ' + part.clientWidth)`);
  expect(await lost()).toEqual([]);
  await startBuiltIn(page);
  await tokenize(page, '4111111111111111');
  for (const place of places) {
    await go(page, place);
    await page.getByRole('heading', { level: 1 }).first().waitFor({ state: 'attached' });
    expect(await lost(), place).toEqual([]);
    for (const control of [
      page.getByRole('button', { name: 'Lock', exact: true }),
      page.getByRole('combobox', { name: /^Policy/ }).first(),
      page.getByRole('button', { name: 'Settings', exact: true }),
      page.getByText(/^Signed in /),
    ])
      await expect(control, place).toBeInViewport();
  }
});

test('with reduced motion nothing moves but the ring, which shows the time that is left', async ({
  page,
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await startBuiltIn(page);
  await tokenize(page, '4111111111111111');
  await reveal(page, 'D-1');
  const moving = await page.evaluate<string[]>(`
    document
      .getAnimations()
      .filter((one) => Number(one.effect.getComputedTiming().duration) > 1)
      .map((one) => one.effect.target.getAttribute('class').split(' ')[0])`);
  expect(moving).toEqual(['ring-shrinks']);
});
