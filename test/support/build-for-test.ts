import path from 'node:path';
import { build, mergeConfig, type InlineConfig, type Rolldown } from 'vite';
import { electronMain } from '../../vite.main.config.ts';

/** Builds the main process as the product's build does, without writing it. Answers its chunks. */
export async function buildMain(): Promise<Rolldown.OutputChunk[]> {
  const config = mergeConfig(electronMain, { build: { write: false } }) as InlineConfig;
  const { output } = (await build(config)) as Rolldown.RolldownOutput;
  return output.filter((file) => file.type === 'chunk');
}

/** Builds the window as the product's build does, without writing it. Answers its files. */
export async function buildWindow(): Promise<Rolldown.RolldownOutput['output']> {
  const configFile = path.join(import.meta.dirname, '../../vite.config.ts');
  const built = (await build({ configFile, build: { write: false } })) as Rolldown.RolldownOutput;
  return built.output;
}
