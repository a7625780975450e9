import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CoverageReport } from 'monocart-coverage-reports';
import { build } from 'vite';
import { electronMain } from '../vite.main.config.ts';

/**
 * `npm run coverage [-- SPEC…]`: which lines of the code around Electron are reached in the built app by the tests that
 * start it: the end-to-end tests, both projects, and the files below. Arguments go to Playwright, and then that alone is
 * run. Of a whole run at least so many lines of the sum are expected:
 */
const minPercent = 85;
/** How the app starts, ends and is asked from the command line needs no page, and is tested without the test tool of pages. */
const otherStarts = [
  'test/electron/main.test.ts',
  'test/electron/platform/in-electron.test.ts',
  'test/electron/packaging/packed-archive.test.ts',
  'test/attacks/',
];
const measured = /^electron\/(main\.ts|platform\/.*)$/;

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const specs = process.argv.slice(2);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-coverage-'));
process.once('exit', () => {
  fs.rmSync(folder, { recursive: true, force: true });
});

// The maps are no part of the product: it is built once more beside them, and must come out the same.
const mapped = path.join(folder, 'mapped');
await build({ ...electronMain, build: { ...electronMain.build, outDir: mapped, sourcemap: 'hidden' } });
for (const name of fs.readdirSync(mapped).filter((file) => file.endsWith('.js'))) {
  const built = path.join('dist/main', name);
  if (fs.existsSync(built) && fs.readFileSync(built).equals(fs.readFileSync(path.join(mapped, name))))
    continue;
  console.error(`${built} is not what the source gives. Run "npm run build" first.`);
  process.exit(2);
}

const written = path.join(folder, 'v8');
const runs = [['node_modules/@playwright/test/cli.js', 'test', ...specs]];
if (specs.length === 0)
  runs.push(['node_modules/vitest/vitest.mjs', 'run', '--reporter=dot', ...otherStarts]);
const statuses = runs.map(
  (run) =>
    spawnSync(process.execPath, run, {
      stdio: 'inherit',
      env: { ...process.env, TOKENDESK_ELECTRON_PROJECT: '1', NODE_V8_COVERAGE: written },
    }).status,
);

const report = new CoverageReport({
  name: 'Reached by the end-to-end tests',
  logging: 'error',
  outputDir: path.join(folder, 'report'),
  reports: ['none'],
  sourceFilter: (source) => measured.test(source),
});
let starts = 0;
for (const name of fs.existsSync(written) ? fs.readdirSync(written) : []) {
  const file = path.join(written, name);
  const entries = readEntries(file).flatMap((entry) => {
    const name = bundled(entry.url);
    return name === null ? [] : [{ ...entry, name }];
  });
  fs.rmSync(file);
  if (entries.some(({ name }) => name === 'main.js')) starts += 1;
  if (entries.length > 0)
    await report.add(
      entries.map(({ name, ...entry }) => ({
        ...entry,
        url: new URL(`../dist/main/${name}`, import.meta.url).href,
        source: fs.readFileSync(path.join('dist/main', name), 'utf8'),
        sourceMap: JSON.parse(fs.readFileSync(path.join(mapped, `${name}.map`), 'utf8')) as unknown,
      })),
    );
}
const files = (await report.generate())?.files ?? [];
const rows = files
  .map(({ sourcePath, summary, data }) => ({
    name: sourcePath,
    covered: summary.lines.covered,
    total: summary.lines.total,
    missed: missedLines((data as { lines?: Record<string, number | string> }).lines ?? {}),
  }))
  .sort((one, other) => (one.name < other.name ? -1 : 1));
const sum = (member: 'covered' | 'total'): number => rows.reduce((all, row) => all + row[member], 0);
const percent = (covered: number, total: number): string => `${((covered / total) * 100).toFixed(1)} %`;
for (const { name, covered, total, missed } of rows)
  console.log(`${percent(covered, total).padStart(7)}  ${name} (${covered} of ${total}) not: ${missed}`);
if (rows.length === 0) {
  console.error('No process of the app wrote what it ran.');
  process.exit(2);
}
const [covered, total] = [sum('covered'), sum('total')];
console.log(
  `${percent(covered, total).padStart(7)}  of ${total} lines together, in ${starts} starts of the app`,
);
if (specs.length === 0 && covered / total < minPercent / 100) {
  console.log(`At least ${minPercent} % are expected.`);
  process.exitCode = 1;
}
if (statuses.some((status) => status !== 0)) process.exitCode = 1;

/** The name of a file of the bundle, also where it ran from a package; null for all other code. */
function bundled(url: string): string | null {
  const [, name = ''] = /\/dist\/main\/([\w.-]+\.js)$/.exec(url) ?? [];
  return fs.existsSync(path.join(mapped, `${name}.map`)) ? name : null;
}

interface Entry {
  readonly url: string;
}

/** What one process ran; nothing where it was killed while it wrote. */
function readEntries(file: string): readonly Entry[] {
  try {
    return (JSON.parse(fs.readFileSync(file, 'utf8')) as { readonly result: readonly Entry[] }).result;
  } catch {
    return [];
  }
}

/** Lines of which not all ran, as the library counts them, neighbours as a range. */
function missedLines(counts: Readonly<Record<string, number | string>>): string {
  const lines = Object.keys(counts)
    .filter((line) => counts[line] === 0 || typeof counts[line] === 'string')
    .map(Number);
  const ranges: [number, number][] = [];
  for (const line of lines.sort((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last?.[1] === line - 1) last[1] = line;
    else ranges.push([line, line]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(' ');
}
