import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { electronBinary } from './electron-binary.ts';
import { playwrightSum, skippedHosts, vitestSum, type Sum } from './test-reports.ts';
import { runTool, type Finished } from './run-tool.ts';

/*
 * All checks and tests, in order. The last line is the sum: `N passed, N failed, N skipped`. A check counts as one.
 * Ends in error when anything failed, when a runner left no report, and when there was nothing to run.
 */
process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const reports = path.resolve('out/test');
fs.rmSync(reports, { recursive: true, force: true });
fs.mkdirSync(reports, { recursive: true });

const total: Sum = { passed: 0, failed: 0, skipped: 0, failures: [], skips: [] };
const bin = (tool: string): string => path.resolve('node_modules/.bin', tool);

const checks: readonly (readonly [title: string, tool: string, ...args: string[]])[] = [
  ['Format', 'prettier', '--check', '--cache', '.'],
  ['Lint', 'eslint', '.'],
  ['Types', 'tsc', '--noEmit'],
  ['Types in the window', 'svelte-check', '--tsconfig', 'src/tsconfig.json', '--fail-on-warnings'],
];
// Two at a time: each of them is one thread.
for (const pair of [checks.slice(0, 2), checks.slice(2)]) {
  const running = pair.map(([title, tool, ...args]) => ({ title, done: runTool(bin(tool), args) }));
  for (const { title, done } of running) {
    const finished = await done;
    const ok = finished.code === 0;
    const failures = ok ? [] : [finished.output.trim()];
    add(title, { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0, failures, skips: [] }, finished.ms);
  }
}

await run('Unit and contract', bin('vitest'), ['run'], vitestSum);
if (fs.existsSync('test/keyring/run.ts'))
  await run('Keyring', process.execPath, ['test/keyring/run.ts'], vitestSum);
await endToEnd();

const { passed, failed, skipped } = total;
console.log(`\n${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

async function endToEnd(): Promise<void> {
  const electron = electronBinary();
  const noDisplay =
    process.platform === 'linux' && !process.env['DISPLAY'] && !process.env['WAYLAND_DISPLAY'];
  const command = [bin('playwright'), 'test', '--reporter=json'];
  // Headless Chromium needs no display; Electron has no headless mode.
  if (electron !== null && noDisplay) command.unshift('xvfb-run', '--auto-servernum');
  const [tool = '', ...args] = command;
  const skips = skippedHosts(electron);
  await run('End to end', tool, args, (report) => {
    const sum = playwrightSum(report);
    return { ...sum, skipped: sum.skipped + skips.length, skips: [...skips, ...sum.skips] };
  });
}

/** Runs a runner that writes its report as JSON, and adds what it says. */
async function run(
  title: string,
  command: string,
  args: readonly string[],
  read: (report: unknown) => Sum,
): Promise<void> {
  const file = path.join(reports, `${title.toLowerCase().replaceAll(' ', '-')}.json`);
  const byOption = args.includes('--reporter=json') ? [] : ['--reporter=json', `--outputFile=${file}`];
  const finished = await runTool(command, [...args, ...byOption], { PLAYWRIGHT_JSON_OUTPUT_NAME: file });
  add(title, sumOf(finished, file, read), finished.ms);
}

function sumOf(finished: Finished, file: string, read: (report: unknown) => Sum): Sum {
  const crashed = (why: string): Sum => {
    const tail = finished.output.trim().split('\n').slice(-40).join('\n');
    return { passed: 0, failed: 1, skipped: 0, failures: [`${why}\n${tail}`], skips: [] };
  };
  if (!fs.existsSync(file))
    return crashed(`It ended with ${finished.code ?? 'a signal'} and left no report.`);
  let sum: Sum;
  try {
    sum = read(JSON.parse(fs.readFileSync(file, 'utf8')) as unknown);
  } catch {
    return crashed('Its report could not be read.');
  }
  if (finished.code === 0 || sum.failed > 0) return sum;
  // It failed for a reason that is no test's: an error outside of tests, a process that did not end.
  const other = crashed(`All its tests passed, and it ended with ${finished.code ?? 'a signal'}.`);
  return { ...sum, failed: 1, failures: other.failures };
}

function add(title: string, sum: Sum, ms: number): void {
  const skipped = sum.skipped > 0 ? `, ${sum.skipped} skipped` : '';
  const failed = sum.failed > 0 ? `, ${sum.failed} FAILED` : '';
  console.log(`${title.padEnd(20)} ${sum.passed} passed${failed}${skipped} (${(ms / 1000).toFixed(1)} s)`);
  for (const name of sum.skips) console.log(`  skipped: ${name}`);
  for (const failure of sum.failures) console.log(failure.replaceAll(/^/gm, '  '));
  total.passed += sum.passed;
  total.failed += sum.failed;
  total.skipped += sum.skipped;
}
