import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { chromium, type Browser, type Page } from '@playwright/test';

export const origin = 'https://tokendesk.invalid';

/** The product's policy, so that whatever would break there breaks here. */
const csp =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; connect-src 'none'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
  'trusted-types svelte-trusted-html';

const types: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
};

export async function startBrowser(): Promise<Browser> {
  return await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-quic',
    ],
  });
}

export interface Look {
  theme: 'light' | 'dark';
  width: number;
  height: number;
  /** The person's own, such as `de-DE`; English by default. */
  locale?: string;
  /** High contrast: the system's colours alone. */
  forcedColors?: boolean;
}

/** A window on the built files, served by interception: nothing listens and nothing reaches the network. */
export async function openWindow(
  browser: Browser,
  folder: string,
  scene: string,
  look: Look,
): Promise<{ page: Page; violations: string[]; close: () => Promise<void> }> {
  const context = await browser.newContext({
    viewport: { width: look.width, height: look.height },
    colorScheme: look.theme,
    reducedMotion: 'reduce',
    ...(look.locale !== undefined && { locale: look.locale }),
    ...(look.forcedColors === true && { forcedColors: 'active' }),
  });
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  const violations: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') violations.push(message.text());
  });
  page.on('pageerror', (error) => violations.push(error.message));
  await context.route('**/*', async (route) => {
    const url = new URL(route.request().url());
    if (url.origin !== origin) {
      violations.push(`asked for ${url.origin}`);
      await route.abort();
      return;
    }
    const path = normalize(url.pathname === '/' ? '/index.html' : url.pathname);
    try {
      const body = await readFile(join(folder, path));
      const contentType = types[extname(path)] ?? 'application/octet-stream';
      await route.fulfill({ body, contentType, headers: { 'content-security-policy': csp } });
    } catch {
      await route.fulfill({ status: 404, body: '' });
    }
  });
  await page.goto(`${origin}/?scene=${scene}`);
  await page.locator('#app > *').first().waitFor();
  await page.evaluate('document.fonts.ready');
  return { page, violations, close: () => context.close() };
}
