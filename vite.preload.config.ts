import { fileURLToPath } from 'node:url';
import type { InlineConfig } from 'vite';
import { calls, events } from './electron/contract/calls.ts';

const names = Object.entries(calls).map(([name, { takesFile }]) => ({ name, takesFile }));

/** One file from `electron/preload.ts`, with the contract's names but not its schemas. */
function preload(outDir: string, output: { format: 'cjs' | 'iife'; entryFileNames: string }): InlineConfig {
  return {
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    define: { BRIDGE_CALLS: JSON.stringify(names), BRIDGE_EVENTS: JSON.stringify(Object.keys(events)) },
    build: {
      target: 'chrome140',
      outDir,
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
export const electronPreload = preload('dist/main', { format: 'cjs', entryFileNames: 'preload.cjs' });

/** For the system's Chromium: the same source over a stand-in for `electron`. */
export const chromiumPreload: InlineConfig = {
  ...preload('dist/chromium', { format: 'iife', entryFileNames: 'preload.js' }),
  resolve: {
    alias: [
      {
        find: /^electron$/,
        replacement: fileURLToPath(new URL('dev/chromium-platform/electron-shim.ts', import.meta.url)),
      },
    ],
  },
};
