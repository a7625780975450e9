import type { InlineConfig } from 'vite';
import { calls, events } from './electron/contract/calls.ts';

const names = Object.entries(calls).map(([name, { files }]) => ({ name, files }));

/**
 * The preload: one CommonJS script, since a sandboxed one can load nothing else. It gets the contract's names but not its
 * schemas.
 */
export const electronPreload: InlineConfig = {
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  define: { BRIDGE_CALLS: JSON.stringify(names), BRIDGE_EVENTS: JSON.stringify(Object.keys(events)) },
  build: {
    target: 'chrome140',
    outDir: 'dist/main',
    emptyOutDir: false,
    sourcemap: false,
    minify: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: 'electron/preload.ts',
      external: ['electron'],
      output: { format: 'cjs', entryFileNames: 'preload.cjs', codeSplitting: false },
    },
  },
};
