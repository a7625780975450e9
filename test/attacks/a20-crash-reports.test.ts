import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { findChromium, launchChromium } from '../../dev/chromium-platform/launch.ts';
import { tempFolder } from '../support/temp-folder.ts';

/* The page's process crashes: Chromium writes a report with the stacks of its memory into the person's own profile. */

test.skipIf(findChromium(process.env) === null)(
  'a crash leaves nothing behind',
  { timeout: 60_000 },
  async () => {
    const home = tempFolder();
    const temp = tempFolder();
    const { TMPDIR: before } = process.env;
    process.env['TMPDIR'] = temp;
    const env = { ...process.env, HOME: home, XDG_CONFIG_HOME: path.join(home, '.config') };
    try {
      const { page, quit } = await launchChromium(chromium, { headless: true, env });
      const crashed = page.waitForEvent('crash');
      void page.goto('chrome://crash').catch(() => undefined);
      await crashed;
      await quit();
    } finally {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    }
    const left = [home, temp].flatMap((folder) => fs.readdirSync(folder, { recursive: true }).map(String));
    expect(left.filter((name) => /crash|\.dmp|tokendesk-/i.test(name))).toEqual([]);
  },
);
