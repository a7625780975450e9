import fs from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/**
 * One start of a window, from the beginning of this process until its page has taken a key. `app`: Lookup's field has it;
 * `first`: the same home for the first time, to have it ready; `cold`: a home that is not there yet, where the key moves the
 * focus; `empty`: an empty page of an app in the folder `home` that does nothing else has heard it; `bare`: so has one of the
 * browser alone.
 */
const [what = '', home = ''] = process.argv.slice(2);
const headless = process.env['DISPLAY'] === undefined;
const since = (): number => Date.now() - performance.timeOrigin;

interface Start {
  readonly ms: number;
  /** Processor time of this process and the browser's; steadier than the clock where others share the machine. */
  readonly cpuMs: number | null;
}

const ticksPerSecond = 100;

/** Of this process and all below it, as Linux counts it; null elsewhere. */
function treeCpuMs(): number | null {
  if (process.platform !== 'linux') return null;
  const rows = fs.readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const stat = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      return [
        { pid: Number(pid), parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) },
      ];
    } catch {
      return []; // It has ended since.
    }
  });
  const sum = (pid: number): number =>
    rows.filter(({ parent }) => parent === pid).reduce((total, row) => total + row.ticks + sum(row.pid), 0);
  const own = rows.find(({ pid }) => pid === process.pid)?.ticks ?? 0;
  return ((own + sum(process.pid)) * 1_000) / ticksPerSecond;
}

const now = (): Start => ({ ms: since(), cpuMs: treeCpuMs() });

/** To press a key and to ask takes the test tool tens of milliseconds: it does both on every page. */
async function takeKey(page: Page, key: string, isTaken: () => Promise<boolean>): Promise<Start> {
  do await page.keyboard.down(key);
  while (!(await isTaken()));
  return now();
}

const takeAnyKey = (page: Page): Promise<Start> =>
  takeKey(page, '4', () => page.evaluate("performance.eventCounts.get('keydown') > 0"));

/**
 * The same Chromium, with the flags that the program over Chromium gives it, driven by the same tool. Both figures so
 * have the start of this process, the loading of Playwright, and the start of one browser in them.
 */
async function bare(): Promise<Start> {
  const { chromium } = await import('playwright-core');
  const { createProfile, emptyPage, findChromium, flags } =
    await import('../../dev/electron-on-chromium/browser.ts');
  const isRoot = process.getuid?.() === 0;
  const profile = createProfile();
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: findChromium(process.env) ?? '',
    headless,
    chromiumSandbox: !isRoot,
    viewport: null,
    args: [...flags, ...(isRoot ? ['--test-type=webdriver'] : []), `--app=${emptyPage}`],
  });
  const page = context.pages()[0] ?? (await context.waitForEvent('page'));
  await page.goto('data:text/html,<title>empty</title>');
  const start = await takeAnyKey(page);
  await context.close();
  fs.rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  return start;
}

async function empty(): Promise<Start> {
  const { launchElectron, untilOwnPage } = await import('../support/launch-app.ts');
  const application = await launchElectron([`--user-data-dir=${home}/data`, home]);
  const page = await application.firstWindow();
  await untilOwnPage(page);
  const start = await takeAnyKey(page);
  await application.close();
  return start;
}

async function app(): Promise<Start> {
  const { launchApp } = await import('../support/launch-app.ts');
  const { page, close } = await launchApp({ home, downloads: `${home}-downloads` });
  if (what === 'cold') {
    // Nothing is set up yet, so that there is no field to type into: its first button has the focus, until a key moves it on.
    const isReached = (): Promise<boolean> =>
      page.evaluate(
        `document.activeElement !== document.body && document.activeElement.textContent.trim() !== 'Start the built-in service'`,
      );
    const start = await takeKey(page, 'Tab', isReached);
    await close();
    return start;
  }
  if (what === 'first') await (await import('../support/page-actions.ts')).startBuiltIn(page);
  // Without a click: the field has the focus by itself. To look for it by its role would take a tenth of a second.
  const typed = (): Promise<string> => page.evaluate("document.activeElement?.value ?? ''");
  const start = await takeKey(page, '4', async () => (await typed()) !== '');
  if ((await page.getByRole('textbox', { name: 'Token' }).inputValue()) !== (await typed()))
    throw new Error('the key went elsewhere');
  await close();
  return start;
}

// Playwright is seven megabytes, and the support of tests is TypeScript: compiled once for all of them.
module.enableCompileCache(
  fileURLToPath(new URL('../../node_modules/.cache/tokendesk/bench', import.meta.url)),
);
const start = await (what === 'bare' ? bare() : what === 'empty' ? empty() : app());
process.stdout.write(`${JSON.stringify(start)}\n`, () => process.exit());
