import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

/** The window. Nothing is inlined, since the content security policy allows files of the bundle only. */
export default defineConfig({
  root: 'src',
  base: './',
  plugins: [svelte()],
  logLevel: 'warn',
  build: {
    // Read by the About section.
    license: { fileName: 'licences.json' },
    outDir: '../dist/renderer',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // One sheet: a page that comes later is never seen without its style.
    cssCodeSplit: false,
    sourcemap: false,
    target: 'chrome140',
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { bundlerTimings: false },
      // What the window needs first is one file: each more would be a question to main before it shows anything.
      output: { codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }] } },
    },
  },
});
