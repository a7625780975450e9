import type { InlineConfig } from 'vite';
import pkg from './package.json' with { type: 'json' };

/** ES modules with everything in them but the platforms and the native keychain module. */
function mainProcess(outDir: string, input: Record<string, string>): InlineConfig {
  return {
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    define: { APP_VERSION: JSON.stringify(pkg.version) },
    ssr: { noExternal: true, external: ['electron', 'keytar', 'playwright-core'] },
    build: {
      // Read by the About section.
      license: { fileName: 'licences.json' },
      ssr: true,
      target: 'node24',
      outDir,
      emptyOutDir: false,
      sourcemap: false,
      reportCompressedSize: false,
      rolldownOptions: {
        input,
        external: [/^node:/, 'electron', 'keytar', 'playwright-core'],
        output: { entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' },
      },
    },
  };
}

/** The product: Electron's main process and the workers of built-in service and parser. */
export const electronMain = mainProcess('dist/main', {
  main: 'electron/main.ts',
  'built-in-service-worker': 'electron/built-in-service/worker.ts',
  'parser-worker': 'electron/parsing/worker.ts',
});

/** The same app in the system's Chromium. A bundle of its own, so that none of it can be part of the product's. */
export const chromiumMain = mainProcess('dist/chromium', {
  main: 'dev/chromium-platform/main.ts',
  'built-in-service-worker': 'electron/built-in-service/worker.ts',
  'parser-worker': 'electron/parsing/worker.ts',
});
