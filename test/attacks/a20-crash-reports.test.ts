import fs from 'node:fs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, test } from 'vitest';
import { limitCoreDumps } from '../../electron/platform/core-dumps.ts';
import { runApp } from '../support/run-app.ts';
import { tempFolder } from '../support/temp-folder.ts';

/* The page's process crashes: Chromium writes a report with the stacks of its memory into the person's own profile. */

test('a crash leaves nothing behind', async () => {
  const home = tempFolder();
  const crashes = `require('electron').app.on('web-contents-created', (_event, contents) => {
    contents.once('did-finish-load', () => {
      contents.once('did-finish-load', () => require('electron').app.quit());
      contents.forcefullyCrashRenderer();
    });
    contents.on('render-process-gone', (_event, { reason }) => console.log(reason));
  });`;
  const ended = await runApp([`--user-data-dir=${path.join(home, 'data')}`], {
    env: { HOME: home, XDG_CONFIG_HOME: path.join(home, '.config') },
    modules: [crashes],
  });
  expect(ended).toMatchObject({ code: 0, stdout: 'crashed\n', left: [] });
  const left = fs.readdirSync(home, { recursive: true }).map(String);
  expect(left).toContain('data');
  expect(left.filter((name) => /crash|\.dmp/i.test(name))).toEqual([]);
});

/* Of main, which holds everything: that the started main does this is in test/electron/main.test.ts. */
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
