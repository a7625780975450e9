import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { build } from 'vite';
import { electronMain } from '../../vite.main.config.ts';
import window, { staticIcons } from '../../vite.config.ts';

const project = fileURLToPath(new URL('../..', import.meta.url));

/** An app for Electron: the product's window with the fake bridge in the preload's place. Answers the folder it is in. */
export async function buildWindow(): Promise<string> {
  const folder = path.join(project, 'out/gallery-window');
  await build({
    ...window,
    root: path.join(project, 'src'),
    configFile: false,
    logLevel: 'warn',
    plugins: [
      staticIcons(),
      svelte(),
      {
        name: 'fake-bridge-first',
        transformIndexHtml: {
          order: 'pre',
          handler: (html) => html.replace('./main.ts', '../test/src/support/gallery-page.ts'),
        },
      },
    ],
    build: {
      ...window.build,
      outDir: path.join(folder, 'renderer'),
      // Not in one file with the rest: the fake bridge has to be there before the window's own code runs.
      rolldownOptions: { checks: { bundlerTimings: false } },
    },
  });
  await buildWindowMain(folder);
  return folder;
}

/** Main of such an app: it shows `renderer/index.html` of its folder in the product's window. */
export async function buildWindowMain(folder: string): Promise<void> {
  await build({
    ...electronMain,
    root: project,
    build: {
      ...electronMain.build,
      outDir: folder,
      license: false,
      rolldownOptions: {
        ...electronMain.build?.rolldownOptions,
        input: { main: path.join(import.meta.dirname, 'window-main.ts') },
      },
    },
  });
  fs.writeFileSync(path.join(folder, 'preload.cjs'), '');
  const manifest = { name: 'window', version: '1.0.0', type: 'module', main: 'main.js' };
  fs.writeFileSync(path.join(folder, 'package.json'), JSON.stringify(manifest));
}
