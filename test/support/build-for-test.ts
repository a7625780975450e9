import fs from 'node:fs';
import path from 'node:path';
import { build, mergeConfig, type InlineConfig, type Rolldown } from 'vite';
import { chromiumMain, electronMain } from '../../vite.main.config.ts';
import { chromiumPreload, electronPreload } from '../../vite.preload.config.ts';

const preloads = {
  electron: { config: electronPreload, file: 'preload.cjs' },
  chromium: { config: chromiumPreload, file: 'preload.js' },
};

/** Builds a preload as the product's build does, into `folder`. Answers the file. */
export async function buildPreload(platform: keyof typeof preloads, folder: string): Promise<string> {
  const { config, file } = preloads[platform];
  await build(into(config, folder));
  return path.join(folder, file);
}

const mains = { electron: electronMain, chromium: chromiumMain };

/** Builds a main process as the product's build does, into `folder`. Answers the modules that went into it. */
export async function buildMain(platform: keyof typeof mains, folder: string): Promise<string[]> {
  const built = (await build(into(mains[platform], folder))) as Rolldown.RolldownOutput;
  return built.output.flatMap((file) => (file.type === 'chunk' ? [...file.moduleIds, ...file.imports] : []));
}

/** Builds the window as the product's build does, without writing it. Answers its files. */
export async function buildWindow(): Promise<Rolldown.RolldownOutput['output']> {
  const configFile = path.join(import.meta.dirname, '../../vite.config.ts');
  const built = (await build({ configFile, build: { write: false } })) as Rolldown.RolldownOutput;
  return built.output;
}

function into(config: InlineConfig, outDir: string): InlineConfig {
  fs.mkdirSync(outDir, { recursive: true });
  return mergeConfig(config, { build: { outDir, emptyOutDir: false } }) as InlineConfig;
}
