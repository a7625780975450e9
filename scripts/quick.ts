import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createRelated } from './related-tests.ts';

/*
 * `npm run quick`: format, lint, types and the tests nearest to a change, those of the project `proof` excepted. What is
 * changed is what the last commit does not have. `npm test` stays the whole: half of all tests load the whole app, and so
 * reach each of its files.
 */

/** How many test files are run, all changed files together. Twenty-five take less than a minute. */
const nearest = 25;

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const listed = spawnSync('git', ['ls-files', '--modified', '--others', '--exclude-standard', '-z'], {
  encoding: 'utf8',
});
const staged = spawnSync('git', ['diff', '--cached', '--name-only', '-z'], { encoding: 'utf8' });
const changed = [...new Set(`${listed.stdout}${staged.stdout}`.split('\0'))].filter(
  (file) => file !== '' && fs.existsSync(file),
);
if (changed.length === 0) {
  console.log('Nothing is changed since the last commit.');
  process.exit();
}
const code = changed.filter((file) => /\.(ts|svelte|mjs|js)$/.test(file));

const isCode = code.length > 0;

// Side by side: linting and types are one thread each.
const outcomes = await Promise.all([
  checks(),
  !isCode ||
    run('vitest', 'run', '--passWithNoTests', '--project', '!proof', '--reporter', 'dot', ...nearestTests()),
]);
process.exitCode = outcomes.every(Boolean) ? 0 : 1;

/** Tests that are changed, then those nearest to each changed file in turn. */
function nearestTests(): readonly string[] {
  const relatedTo = createRelated(process.cwd(), () => false);
  const modules = code.filter((file) => !file.startsWith('test/') || !file.endsWith('.test.ts'));
  const ranked = modules.map((file) => relatedTo(file, nearest));
  const chosen = new Set(code.filter((file) => file.endsWith('.test.ts')));
  for (let place = 0; place < nearest; place++)
    for (const tests of ranked) {
      const test = tests[place];
      if (test !== undefined && chosen.size < nearest) chosen.add(test);
    }
  return [...chosen];
}

async function checks(): Promise<boolean> {
  const passed = [
    await run('prettier', '--check', '--ignore-unknown', ...changed),
    // The whole: a change can break the types of a file that it does not touch.
    !isCode || (await run('oxlint', '--type-aware', '--type-check', '.')),
    !isCode ||
      (await run(
        'eslint',
        '--cache',
        '--cache-strategy',
        'content',
        '--cache-location',
        'out/eslint',
        ...code,
      )),
    !code.some((file) => file.startsWith('src/')) ||
      (await run('svelte-check', '--tsconfig', 'src/tsconfig.json', '--fail-on-warnings')),
  ];
  return passed.every(Boolean);
}

/** Prints what the tool says once it has ended, so that no two are mixed. */
async function run(tool: string, ...args: readonly string[]): Promise<boolean> {
  const started = performance.now();
  const child = spawn(path.resolve('node_modules/.bin', tool), args, {
    // Tests start workers from the sources, which Node else translates again for each.
    env: { ...process.env, NODE_COMPILE_CACHE: path.resolve('out/compiled') },
    stdio: ['ignore', 'pipe', 'pipe'],
    shell: process.platform === 'win32',
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const status = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${output.trimEnd()}\n== ${tool}: ${status === 0 ? 'passed' : 'failed'} (${seconds} s)`);
  return status === 0;
}
