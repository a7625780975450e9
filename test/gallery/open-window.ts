import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { electronOrigin } from '../../electron/platform/protocol.ts';
import { launchElectron } from '../support/launch-app.ts';
import { buildWindow } from './build-window.ts';

export interface Look {
  theme: 'light' | 'dark';
  width: number;
  height: number;
  /** The person's own, such as `de-DE`; English by default. */
  locale?: string;
  /** High contrast: the system's colours alone. */
  forcedColors?: boolean;
}

export interface GalleryWindow {
  readonly page: Page;
  /** What the page was refused, and errors in it, since this list was last emptied. */
  readonly violations: string[];
  /** Loads the page anew, with the data of this scene. */
  readonly show: (scene: string, look: Look) => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The window, built anew and opened as the product's is, without the product behind it. */
export async function openWindow(): Promise<GalleryWindow> {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-gallery-'));
  const application = await launchElectron([`--user-data-dir=${home}`, await buildWindow()]);
  const page = await application.firstWindow();
  page.setDefaultTimeout(30_000);
  // Another page before this one is loaded would end main's own call.
  await page.locator('#app > *').first().waitFor();
  const violations: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') violations.push(message.text());
  });
  page.on('pageerror', (error) => violations.push(error.message));
  const protocol = await page.context().newCDPSession(page);
  const { userAgent } = await protocol.send('Browser.getVersion');
  return {
    page,
    violations,
    async show(scene, { theme, width, height, locale = 'en-US', forcedColors = false }) {
      await page.setViewportSize({ width, height });
      await page.emulateMedia({
        colorScheme: theme,
        reducedMotion: 'reduce',
        forcedColors: forcedColors ? 'active' : 'none',
      });
      await protocol.send('Emulation.setLocaleOverride', { locale });
      await protocol.send('Emulation.setUserAgentOverride', { userAgent, acceptLanguage: locale });
      await application.evaluate(async ({ BrowserWindow }, url) => {
        await BrowserWindow.getAllWindows()[0]?.loadURL(url);
      }, `${electronOrigin}/index.html?scene=${scene}`);
      await page.locator('#app > *').first().waitFor();
      await page.evaluate('document.fonts.ready');
    },
    async close() {
      await application.close();
      fs.rmSync(home, { recursive: true, force: true });
    },
  };
}
