import fs from 'node:fs';
import path from 'node:path';
import { build, mergeConfig, type InlineConfig } from 'vite';
import { chromiumPreload, electronPreload } from '../../vite.preload.config.ts';

const preloads = {
  electron: { config: electronPreload, file: 'preload.cjs' },
  chromium: { config: chromiumPreload, file: 'preload.js' },
};

/** Builds a preload as the product's build does, into `folder`. Answers the file. */
export async function buildPreload(host: keyof typeof preloads, folder: string): Promise<string> {
  const { config, file } = preloads[host];
  await build(into(config, folder));
  return path.join(folder, file);
}

/** Builds the trusted side, into `folder`. */
export async function buildMain(folder: string): Promise<void> {
  await build(into({ configFile: 'vite.main.config.ts' }, folder));
}

function into(config: InlineConfig, outDir: string): InlineConfig {
  fs.mkdirSync(outDir, { recursive: true });
  return mergeConfig(config, { build: { outDir, emptyOutDir: false } }) as InlineConfig;
}
