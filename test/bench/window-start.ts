import fs from 'node:fs';
import type * as Built from '../../dev/chromium-platform/main.ts';

/**
 * One start of a window, from the beginning of this process. `app`: until a key arrives in Lookup's field; `first`:
 * the same home for the first time, to have it ready; `bare`: until an empty page is shown.
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

async function bare(): Promise<Start> {
  const { chromium } = await import('playwright-core');
  const { launchChromium } = await import('../../dev/chromium-platform/launch.ts');
  const { page, quit } = await launchChromium(chromium, { headless, env: process.env });
  await page.goto('data:text/html,<title>empty</title>');
  const start = now();
  await quit();
  return start;
}

async function app(): Promise<Start> {
  const built = new URL('../../dist/chromium/main.js', import.meta.url);
  const { startApp } = (await import(built.href)) as typeof Built;
  const started = await startApp({ home, headless });
  const { page } = started;
  if (what === 'first') await (await import('../support/page-actions.ts')).startBuiltIn(page);
  // Without a click: the field has the focus by itself. To look for it by its role would take a tenth of a second.
  const typed = (): Promise<string> => page.evaluate("document.activeElement?.value ?? ''");
  while ((await typed()) === '') await page.keyboard.press('4');
  const start = now();
  if ((await page.getByRole('textbox', { name: 'Token' }).inputValue()) !== (await typed()))
    throw new Error('the key went elsewhere');
  await started.close();
  return start;
}

const start = await (what === 'bare' ? bare() : app());
process.stdout.write(`${JSON.stringify(start)}\n`, () => process.exit());
