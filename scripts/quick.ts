import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/*
 * `npm run quick`: format, lint, types and the tests that a change reaches, those of the project `proof` excepted. What
 * is changed is what the last commit does not have. `npm test` stays the whole.
 */

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

const failed = [
  run('prettier', '--check', '--ignore-unknown', ...changed),
  code.length === 0 ||
    run('eslint', '--cache', '--cache-strategy', 'content', '--cache-location', 'out/eslint', ...code),
  code.length === 0 || run('tsc', '--noEmit', '--incremental', '--tsBuildInfoFile', 'out/types.json'),
  !code.some((file) => file.startsWith('src/')) ||
    run('svelte-check', '--tsconfig', 'src/tsconfig.json', '--fail-on-warnings'),
  code.length === 0 || run('vitest', 'related', '--run', '--project', '!proof', '--reporter', 'dot', ...code),
].filter((ok) => !ok).length;
process.exitCode = failed > 0 ? 1 : 0;

function run(tool: string, ...args: readonly string[]): boolean {
  const started = performance.now();
  const { status } = spawnSync(path.resolve('node_modules/.bin', tool), args, {
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
  console.log(
    `== ${tool}: ${status === 0 ? 'passed' : 'failed'} (${((performance.now() - started) / 1000).toFixed(1)} s)`,
  );
  return status === 0;
}
