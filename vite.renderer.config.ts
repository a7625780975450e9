import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

/** The window by itself: what the screenshots and a developer's own build use. */
export default defineConfig({
  root: 'src',
  base: './',
  plugins: [svelte()],
  build: {
    outDir: '../out/renderer',
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'chrome140',
  },
});
