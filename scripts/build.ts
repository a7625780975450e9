import fs from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { chromiumMain, electronMain } from '../vite.main.config.ts';
import { chromiumPreload, electronPreload } from '../vite.preload.config.ts';
import { listBundle } from './list-bundle.ts';

/** Builds `dist/`: `main` and `renderer` are the product, `chromium` shows them in the system's Chromium. */
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const started = performance.now();
fs.rmSync('dist', { recursive: true, force: true });
await Promise.all([
  build(electronMain),
  build(chromiumMain),
  build(electronPreload),
  build(chromiumPreload),
  build({ configFile: 'vite.config.ts' }),
]);
fs.writeFileSync('dist/main/files.json', JSON.stringify(listBundle('.'), null, 1));
console.log(`Built in ${((performance.now() - started) / 1000).toFixed(1)} s`);
