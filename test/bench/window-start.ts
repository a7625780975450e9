import type * as Built from '../../electron/main-chromium.ts';

/**
 * One start of a window, from the beginning of this process. `desk`: until a key arrives in Lookup's field; `first`:
 * the same home for the first time, to have it ready; `bare`: until an empty page is shown.
 */
const [what = '', home = ''] = process.argv.slice(2);
const headless = process.env['DISPLAY'] === undefined;
const since = (): number => Date.now() - performance.timeOrigin;

async function bare(): Promise<number> {
  const { chromium } = await import('playwright-core');
  const { launchChromium } = await import('../../electron/shell/launch-chromium.ts');
  const { page, quit } = await launchChromium(chromium, { headless, env: process.env });
  await page.goto('data:text/html,<title>empty</title>');
  const ms = since();
  await quit();
  return ms;
}

async function desk(): Promise<number> {
  const built = new URL('../../dist/main/main-chromium.js', import.meta.url);
  const { startDesk } = (await import(built.href)) as typeof Built;
  const started = await startDesk({ home, headless });
  const { page } = started;
  if (what === 'first') await (await import('../e2e/hands.ts')).startBuiltIn(page);
  const field = page.getByRole('textbox', { name: 'Token' });
  await field.waitFor();
  // Without a click: the field has the focus by itself.
  while ((await field.inputValue()) === '') await page.keyboard.press('4');
  const ms = since();
  await started.close();
  return ms;
}

const ms = await (what === 'bare' ? bare() : desk());
process.stdout.write(`${JSON.stringify({ ms })}\n`, () => process.exit());
