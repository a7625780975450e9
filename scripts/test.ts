import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { realElectron } from './electron-binary.ts';
import { countClaims, readClaims, type Claim } from './electron-claims.ts';

/*
 * All checks and tests, in order: each tool prints its own report, this script adds up. The last line is the sum:
 * `N passed, N failed, N skipped`. A check counts as one. Ends in error when anything failed, when a tool left no
 * report, and when nothing ran. Before it stands what is proved about Electron, and how.
 */

export interface Sum {
  readonly passed: number;
  readonly failed: number;
  /** Names of what was skipped. */
  readonly skipped: readonly string[];
}

const vitestReport = z.object({
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numFailedTestSuites: z.number(),
  testResults: z.array(
    z.object({ assertionResults: z.array(z.object({ status: z.string(), fullName: z.string() })) }),
  ),
});

/** Reads Vitest's JSON report. A file that could not be loaded has no tests and counts as one failure. */
export function vitestSum(report: unknown): Sum {
  const { numPassedTests, numFailedTests, numFailedTestSuites, testResults } = vitestReport.parse(report);
  const skipped = testResults
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status !== 'passed' && status !== 'failed')
    .map(({ fullName }) => fullName);
  const failed = numFailedTests === 0 && numFailedTestSuites > 0 ? numFailedTestSuites : numFailedTests;
  return { passed: numPassedTests, failed, skipped };
}

const playwrightSpec = z.object({
  title: z.string(),
  file: z.string(),
  tests: z.array(z.object({ projectName: z.string(), status: z.string() })),
});
const playwrightSuite = z.object({
  specs: z.array(playwrightSpec),
  get suites() {
    return z.array(playwrightSuite).optional();
  },
});
const playwrightReport = z.object({
  suites: z.array(playwrightSuite),
  errors: z.array(z.unknown()),
  stats: z.object({ expected: z.number(), unexpected: z.number(), flaky: z.number() }),
});

/** Reads Playwright's JSON report. A test that passed only when tried again counts as failed. */
export function playwrightSum(report: unknown): Sum {
  const { suites, errors, stats } = playwrightReport.parse(report);
  const skippedIn = ({ specs, suites: inner = [] }: z.infer<typeof playwrightSuite>): string[] => [
    ...specs.flatMap(({ file, title, tests }) =>
      tests
        .filter(({ status }) => status === 'skipped')
        .map(({ projectName }) => `[${projectName}] ${file} ${title}`),
    ),
    ...inner.flatMap(skippedIn),
  ];
  return {
    passed: stats.expected,
    failed: stats.unexpected + stats.flaky + errors.length,
    skipped: suites.flatMap(skippedIn),
  };
}

/** End-to-end projects that can't run on this machine. */
export function skippedProjects(electron: string | null): readonly string[] {
  return electron === null ? ['the project "electron": its executable is not on this machine'] : [];
}

const total = (sums: readonly Sum[], of: 'passed' | 'failed'): number =>
  sums.reduce((all, sum) => all + sum[of], 0);

/** What is printed last: what is proved about Electron, then the sum. */
export function lastLines(sums: readonly Sum[], claims: readonly Pick<Claim, 'level'>[]): readonly string[] {
  const skipped = sums.reduce((all, sum) => all + sum.skipped.length, 0);
  return [
    countClaims(claims),
    `${total(sums, 'passed')} passed, ${total(sums, 'failed')} failed, ${skipped} skipped`,
  ];
}

/** Whose imports are held to `.dependency-cruiser.mjs`. */
const modules = ['electron', 'src', 'dev', 'scripts'];

async function main(): Promise<void> {
  process.chdir(fileURLToPath(new URL('..', import.meta.url)));
  const reports = path.resolve('out/test');
  fs.rmSync(reports, { recursive: true, force: true });
  fs.mkdirSync(reports, { recursive: true });
  const bin = (tool: string): string => path.resolve('node_modules/.bin', tool);
  const sums: Sum[] = [];

  function add(title: string, sum: Sum, started: number): void {
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(
      `== ${title}: ${sum.passed} passed, ${sum.failed} failed, ${sum.skipped.length} skipped (${seconds} s)`,
    );
    for (const name of sum.skipped) console.log(`   skipped: ${name}`);
    sums.push(sum);
  }

  async function check(title: string, tool: string, ...args: string[]): Promise<void> {
    const started = performance.now();
    const ok = (await exitCode(bin(tool), args)) === 0;
    add(title, { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: [] }, started);
  }

  async function suite(
    title: string,
    [command = '', ...args]: readonly string[],
    read: (report: unknown) => Sum,
  ): Promise<void> {
    const started = performance.now();
    const file = path.join(reports, `${title}.json`);
    const code = await exitCode(command, args, { PLAYWRIGHT_JSON_OUTPUT_NAME: file });
    const sum = fs.existsSync(file)
      ? read(JSON.parse(fs.readFileSync(file, 'utf8')))
      : { passed: 0, failed: 0, skipped: [] };
    // An error outside of any test, or a tool that left no report: it must not look like success.
    if (code !== 0 && sum.failed === 0) console.log(`${title} ended with ${code ?? 'a signal'}.`);
    add(title, { ...sum, failed: code === 0 ? sum.failed : Math.max(1, sum.failed) }, started);
  }

  // Two at a time: most of them are one thread.
  await Promise.all([
    (async () => {
      await check('Lint of names and components', 'eslint', '.');
      await check('Format', 'prettier', '--check', '--cache', '.');
    })(),
    (async () => {
      await check('Lint and types', 'oxlint', '--type-aware', '--type-check', '.');
      await check('Structure', 'depcruise', '--config', '.dependency-cruiser.mjs', ...modules);
      await check('What nobody uses', 'knip', '--no-progress');
      await check('Renderer types', 'svelte-check', '--tsconfig', 'src/tsconfig.json', '--fail-on-warnings');
    })(),
  ]);
  const vitestReporters = (title: string): string[] => [
    '--reporter=dot',
    '--reporter=json',
    `--outputFile.json=${path.join(reports, `${title}.json`)}`,
  ];
  await suite('unit', [bin('vitest'), 'run', ...vitestReporters('unit')], vitestSum);
  await suite('keyring', [process.execPath, 'test/keyring/run.ts', ...vitestReporters('keyring')], vitestSum);
  const electron = realElectron();
  const noDisplay =
    process.platform === 'linux' && !process.env['DISPLAY'] && !process.env['WAYLAND_DISPLAY'];
  // The program over Chromium needs no display; Electron has no headless mode.
  const display = electron !== null && noDisplay ? ['xvfb-run', '--auto-servernum'] : [];
  await suite('end-to-end', [...display, bin('playwright'), 'test', '--reporter=dot,json'], (report) => {
    const sum = playwrightSum(report);
    if (sum.failed > 0) printPages();
    return { ...sum, skipped: [...skippedProjects(electron), ...sum.skipped] };
  });

  console.log(`\n${lastLines(sums, readClaims()).join('\n')}`);
  const [passed, failed] = [total(sums, 'passed'), total(sums, 'failed')];
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
}

/** What the window showed where an end-to-end test failed: the folder is gone where the tests ran on another machine. */
function printPages(): void {
  const folder = path.resolve('out/e2e');
  for (const file of fs.globSync('**/error-context.md', { cwd: folder }).slice(0, 5))
    console.log(`\n${file}\n${fs.readFileSync(path.join(folder, file), 'utf8').slice(0, 12_000)}`);
}

/** Null when a signal ended it or it did not start. */
function exitCode(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<number | null> {
  const child = spawn(command, args, {
    // The build is of these sources: `npm test` has just seen to it.
    env: { ...process.env, NO_COLOR: '1', TOKENDESK_BUILT: '1', ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    shell: process.platform === 'win32',
  });
  return new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('close', resolve);
  });
}

if (import.meta.main) await main();
