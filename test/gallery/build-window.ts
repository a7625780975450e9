import { svelte } from '@sveltejs/vite-plugin-svelte';
import { build } from 'vite';
import window from '../../vite.config.ts';

/** The product's window with the fake bridge in the preload's place. Answers the folder it is in. */
export async function buildWindow(): Promise<string> {
  const folder = new URL('../../out/gallery-window/', import.meta.url).pathname;
  await build({
    ...window,
    root: new URL('../../src/', import.meta.url).pathname,
    configFile: false,
    logLevel: 'warn',
    plugins: [
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
      outDir: folder,
      // Not in one file with the rest: the fake bridge has to be there before the window's own code runs.
      rolldownOptions: { checks: { bundlerTimings: false } },
    },
  });
  return folder;
}
