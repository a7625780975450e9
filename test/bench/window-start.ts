import type * as Built from '../../dev/chromium-platform/main.ts';

/**
 * One start of a window, from the beginning of this process. `app`: until a key arrives in Lookup's field; `first`:
 * the same home for the first time, to have it ready; `bare`: until an empty page is shown.
 */
const [what = '', home = ''] = process.argv.slice(2);
const headless = process.env['DISPLAY'] === undefined;
const since = (): number => Date.now() - performance.timeOrigin;

async function bare(): Promise<number> {
  const { chromium } = await import('playwright-core');
  const { launchChromium } = await import('../../dev/chromium-platform/launch.ts');
  const { page, quit } = await launchChromium(chromium, { headless, env: process.env });
  await page.goto('data:text/html,<title>empty</title>');
  const ms = since();
  await quit();
  return ms;
}

async function app(): Promise<number> {
  const built = new URL('../../dist/chromium/main.js', import.meta.url);
  const { startApp } = (await import(built.href)) as typeof Built;
  const started = await startApp({ home, headless });
  const { page } = started;
  if (what === 'first') await (await import('../support/page-actions.ts')).startBuiltIn(page);
  const field = page.getByRole('textbox', { name: 'Token' });
  await field.waitFor();
  // Without a click: the field has the focus by itself.
  while ((await field.inputValue()) === '') await page.keyboard.press('4');
  const ms = since();
  await started.close();
  return ms;
}

const ms = await (what === 'bare' ? bare() : app());
process.stdout.write(`${JSON.stringify({ ms })}\n`, () => process.exit());
