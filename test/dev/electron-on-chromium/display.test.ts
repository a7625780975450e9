import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ask } from '../../support/ask-bridge.ts';
import { launchElectron, untilOwnPage } from '../../support/launch-app.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const isMissing = process.platform !== 'linux' || spawnSync('sh', ['-c', 'command -v Xvfb']).status !== 0;

/** A screen that nobody sees. */
async function startDisplay(): Promise<{ display: string; server: ChildProcess }> {
  const server = spawn('Xvfb', ['-displayfd', '1', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void server.kill());
  const [number] = (await once(server.stdout, 'data')) as [Buffer];
  return { display: `:${number.toString('utf8').trim()}`, server };
}

test.skipIf(isMissing)(
  'on a screen a file is chosen in Chromium’s own dialog, and main is told its path',
  async () => {
    const { display } = await startDisplay();
    const home = tempFolder();
    const file = path.join(home, 'cards.csv');
    fs.writeFileSync(file, 'card\n1\n');
    const application = await launchElectron([`--user-data-dir=${path.join(home, 'data')}`, process.cwd()], {
      ...process.env,
      DISPLAY: display,
    });
    onTestFinished(() => application.close());
    const page = await application.firstWindow();
    await untilOwnPage(page);
    const inputs = await page.locator('input[type=file]').count();

    const chooser = page.waitForEvent('filechooser');
    const chosen = ask(page, 'batch.choose', {});
    await (await chooser).setFiles(file);
    expect(await chosen).toMatchObject({ ok: true, value: { name: 'cards.csv' } });

    const another = page.waitForEvent('filechooser');
    const cancelled = ask(page, 'batch.choose', {});
    await (
      await another
    )
      .element()
      .evaluate((input) => (input as unknown as EventTarget).dispatchEvent(new Event('cancel')));
    expect(await cancelled).toEqual({ ok: true, value: null });
    // Nothing of the dialog stays in the page.
    expect(await page.locator('input[type=file]').count()).toBe(inputs);
  },
);
