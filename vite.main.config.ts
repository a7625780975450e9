import type { InlineConfig } from 'vite';

/**
 * Electron's main process and the workers of built-in service and parser: ES modules with everything in them but Electron
 * and the native keychain module.
 */
export const electronMain: InlineConfig = {
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  ssr: { noExternal: true, external: ['electron', 'keytar'] },
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
      input: {
        main: 'electron/main.ts',
        'built-in-service-worker': 'electron/built-in-service/worker.ts',
        'parser-worker': 'electron/parsing/worker.ts',
      },
      external: [/^node:/, 'electron', 'keytar'],
      output: { entryFileNames: '[name].js', chunkFileNames: 'shared-[hash].js' },
    },
  },
};
