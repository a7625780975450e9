import fs from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { expect, test } from 'vitest';
import { findChromium, launchChromium } from '../../dev/chromium-platform/launch.ts';
import { limitCoreDumps } from '../../electron/platform/core-dumps.ts';
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

/* Of main, which holds everything: that the started main does this is in test/electron/platform/built-main.test.ts. */
test.skipIf(process.platform !== 'linux')(
  'a process that is limited writes no memory, and can’t again',
  async () => {
    const folder = tempFolder();
    const child = spawn('sh', ['-c', 'echo ready; read line'], {
      cwd: folder,
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let said = '';
    child.stdout.on('data', (text: Buffer) => (said += text.toString()));
    await once(child.stdout, 'data');
    const infos: string[] = [];
    await limitCoreDumps({ log: { info: (event) => infos.push(event) }, os: 'linux', pid: child.pid ?? 0 });
    expect(infos).toEqual([]);
    const limits = fs.readFileSync(`/proc/${child.pid}/limits`, 'utf8');
    expect(limits).toMatch(/^Max core file size +1 +1 /m);
    child.kill('SIGSEGV');
    await once(child, 'exit');
    expect(said).toBe('ready\n');
    expect(fs.readdirSync(folder)).toEqual([]);
  },
);

test.skipIf(process.platform !== 'linux')('where that fails the log says so', async () => {
  const infos: string[] = [];
  await limitCoreDumps({ log: { info: (event) => infos.push(event) }, os: 'linux', pid: 0x7fff_fffe });
  expect(infos).toEqual(['core dumps not limited']);
});
