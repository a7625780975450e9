import fs from 'node:fs';
import { defineConfig } from 'vite';
import pkg from './package.json' with { type: 'json' };

const input: Record<string, string> = {
  main: 'electron/main.ts',
  'main-chromium': 'electron/main-chromium.ts',
  'sandbox-worker': 'electron/sandbox/worker.ts',
};

/** The trusted side: ES modules with everything in them but the hosts and the native keychain module. */
export default defineConfig({
  logLevel: 'warn',
  publicDir: false,
  define: { DESK_VERSION: JSON.stringify(pkg.version) },
  ssr: { noExternal: true, external: ['electron', 'keytar', 'playwright-core'] },
  build: {
    // Read by the About section.
    license: { fileName: 'licences.json' },
    ssr: true,
    target: 'node24',
    outDir: 'dist/main',
    emptyOutDir: false,
    sourcemap: false,
    reportCompressedSize: false,
    rolldownOptions: {
      input: Object.fromEntries(Object.entries(input).filter(([, file]) => fs.existsSync(file))),
      external: [/^node:/, 'electron', 'keytar', 'playwright-core'],
      output: { entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' },
    },
  },
});
