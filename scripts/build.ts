import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { z } from 'zod';
import { electronMain } from '../vite.main.config.ts';
import { electronPreload } from '../vite.preload.config.ts';
import { writeGuidePages } from './guide-pages.ts';
import { writeVerifiers } from './write-verifiers.ts';

type Built = Awaited<ReturnType<typeof build>>;

/** Builds `dist/`: `main` and `renderer`. */
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const started = performance.now();
fs.rmSync('dist', { recursive: true, force: true });
const [renderer] = await Promise.all([
  build({ configFile: 'vite.config.ts' }),
  build(electronMain),
  build(electronPreload),
]);
addLicences('dist/renderer/licences.json', packagesOfAssets(renderer));
// Not bundled: a native module is loaded from its own folder.
addLicences('dist/main/licences.json', ['keytar']);
writeLicenceTexts('dist/licences.txt', ['dist/main/licences.json', 'dist/renderer/licences.json']);
writeVerifiers('dist/verify');
writeGuidePages('dist/guides');
console.log(`Built in ${((performance.now() - started) / 1000).toFixed(1)} s`);

/** The packages of which a file (a font) was copied. Vite's own list has the packages of modules only. */
function packagesOfAssets(built: Built): string[] {
  const outputs = [built].flat().flatMap((one) => ('output' in one ? one.output : []));
  const names = outputs.flatMap((file) =>
    file.type === 'asset'
      ? file.originalFileNames.map((from) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(from)?.[1])
      : [],
  );
  return [...new Set(names.filter((name) => name !== undefined))];
}

function addLicences(list: string, folders: readonly string[]): void {
  const manifest = z.object({ name: z.string(), version: z.string(), license: z.string() });
  const added = folders.map((name) => {
    const folder = path.join('node_modules', name);
    const { license, ...own } = manifest.parse(JSON.parse(fs.readFileSync(`${folder}/package.json`, 'utf8')));
    const text = fs.readdirSync(folder).find((file) => /^licen[cs]e/i.test(file));
    if (text === undefined) throw new Error(`${name} has no licence file`);
    return { ...own, identifier: license, text: fs.readFileSync(path.join(folder, text), 'utf8') };
  });
  const bundled = z.array(z.unknown()).parse(JSON.parse(fs.readFileSync(list, 'utf8')));
  fs.writeFileSync(list, JSON.stringify([...bundled, ...added], null, 2));
}

/** All licences in one text, for people without the app; the window lists the names alone. */
function writeLicenceTexts(file: string, lists: readonly string[]): void {
  const shape = z.array(
    z.object({
      name: z.string(),
      version: z.string(),
      identifier: z.string().nullish(),
      text: z.string().nullish(),
    }),
  );
  const found = lists.flatMap((list) => shape.parse(JSON.parse(fs.readFileSync(list, 'utf8'))));
  const texts = new Map(
    found.map(({ name, version, identifier, text }) => [
      `${name} ${version}`,
      `${name} ${version} (${identifier ?? 'not stated'})\n\n${text?.trim() ?? ''}\n`,
    ]),
  );
  const sorted = [...texts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, text]) => text);
  fs.writeFileSync(file, sorted.join(`\n${'-'.repeat(80)}\n\n`));
}
