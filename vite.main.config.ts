import type { InlineConfig, Plugin } from 'vite';

/**
 * Electron's main process and the workers of built-in service and parser: ES modules with everything in them but Electron
 * and the native keychain module.
 */
export const electronMain: InlineConfig = {
  configFile: false,
  logLevel: 'warn',
  publicDir: false,
  plugins: [withoutJsonSchemas()],
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

/**
 * Leaves out what electron-store's library `conf` brings for JSON schemas and migrations: no store of ours has any, and to load
 * it takes a twelfth of what all of main takes. Another use of it fails when it is first made.
 */
function withoutJsonSchemas(): Plugin {
  const leftOut = ['ajv/dist/2020.js', 'ajv-formats', 'semver'];
  return {
    name: 'without-json-schemas',
    enforce: 'pre',
    resolveId: (id, importer) =>
      leftOut.includes(id) && importer?.includes('/node_modules/conf/') ? '\0left-out' : null,
    load: (id) =>
      id === '\0left-out' ? 'export default undefined; export const Ajv2020 = undefined;' : null,
  };
}
