import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig, type Plugin } from 'vite';

/** The window. Nothing is inlined, since the content security policy allows files of the bundle only. */
export default defineConfig({
  root: 'src',
  base: './',
  plugins: [staticIcons(), svelte()],
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

/**
 * An icon as the markup that it is: Lucide's own component makes each of its lines by itself, which took a fifteenth of what
 * the window takes to be drawn. Of its properties there are `size` and `strokeWidth`; none is read out.
 */
export function staticIcons(): Plugin {
  return {
    name: 'static-icons',
    enforce: 'pre',
    transform(code, id) {
      if (!/@lucide\/svelte\/dist\/icons\/[\w-]+\.svelte$/.test(id)) return null;
      const [, data = ''] = /const iconData = (\{.*\});/.exec(code) ?? [];
      const { node } = JSON.parse(data) as { node: [string, Record<string, string>][] };
      const lines = node.map(([name, { key: _, ...attributes }]) => {
        const written = Object.entries(attributes).map(([attribute, value]) => ` ${attribute}="${value}"`);
        return `<${name}${written.join('')} />`;
      });
      return `<script>let { size = 24, strokeWidth = 2 } = $props();</script>
<svg width={size} height={size} stroke-width={strokeWidth} viewBox="0 0 24 24" fill="none" stroke="currentColor"
  stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${lines.join('')}</svg>`;
    },
  };
}
