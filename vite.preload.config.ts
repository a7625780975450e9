import { fileURLToPath } from 'node:url';
import type { InlineConfig } from 'vite';
import { calls } from './electron/contract/calls.ts';
import { events } from './electron/contract/events.ts';

const names = Object.entries(calls).map(([name, { takesFile }]) => ({ name, takesFile }));

/** One file from `electron/preload.ts`, with the contract's names but not its schemas. */
function preload(output: { format: 'cjs' | 'iife'; entryFileNames: string }): InlineConfig {
  return {
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    define: { DESK_CALLS: JSON.stringify(names), DESK_EVENTS: JSON.stringify(Object.keys(events)) },
    build: {
      target: 'chrome140',
      outDir: 'dist/main',
      emptyOutDir: false,
      sourcemap: false,
      minify: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input: 'electron/preload.ts',
        external: output.format === 'cjs' ? ['electron'] : [],
        output: { ...output, codeSplitting: false },
      },
    },
  };
}

/** For Electron: a sandboxed preload is one CommonJS script. */
export const electronPreload = preload({ format: 'cjs', entryFileNames: 'preload.cjs' });

/** For the system's Chromium: the same source over a stand-in for `electron`. */
export const chromiumPreload: InlineConfig = {
  ...preload({ format: 'iife', entryFileNames: 'preload-chromium.js' }),
  resolve: {
    alias: [
      {
        find: /^electron$/,
        replacement: fileURLToPath(new URL('electron/shell/chromium-electron-shim.ts', import.meta.url)),
      },
    ],
  },
};
