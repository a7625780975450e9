import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { electronOnChromium } from '../../../scripts/electron-binary.ts';
import { runUntilExit } from '../../support/run-app.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** An app that prints this, and ends before it is ready. */
function writeApp(folder: string, expression: string): void {
  fs.writeFileSync(path.join(folder, 'package.json'), '{"name":"app","version":"1.0.0","main":"main.cjs"}');
  const main = `const { app } = require('electron'); console.log(${expression}); app.exit(0);`;
  fs.writeFileSync(path.join(folder, 'main.cjs'), main);
}

test('a checkout lies wherever its folder may: the path is no address', async () => {
  const folder = path.join(tempFolder(), "it's #1? 100%41");
  const program = path.join(folder, 'dev/electron-on-chromium');
  fs.cpSync(path.dirname(electronOnChromium), program, { recursive: true });
  fs.symlinkSync(fs.realpathSync(path.join(root, 'node_modules')), path.join(folder, 'node_modules'));
  fs.writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}');
  const app = path.join(folder, 'app');
  fs.mkdirSync(app);
  writeApp(app, 'process.versions.electron');
  const ended = await runUntilExit(path.join(program, 'electron'), [app]);
  expect(ended).toMatchObject({ code: 0, stderr: '' });
  expect(ended.stdout).toMatch(/-on-chromium\n$/);
});

test('a folder that the environment names as nothing is the usual one', async () => {
  const folder = tempFolder();
  writeApp(folder, "app.getPath('userData'), app.getPath('downloads')");
  const ended = await runUntilExit(electronOnChromium, [folder], {
    env: { HOME: folder, XDG_CONFIG_HOME: '', XDG_DOWNLOAD_DIR: '' },
  });
  const [data, downloads] = [path.join(folder, '.config/app'), path.join(folder, 'Downloads')];
  expect(ended).toMatchObject({ code: 0, stdout: `${data} ${downloads}\n`, stderr: '' });
});
