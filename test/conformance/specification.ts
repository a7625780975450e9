/*
 * Runs the tests that docs/specification.md names, and prints its table with what they said:
 * `npm run conformance -- --rows`. Exits with 1 unless every row has passed. `--without-window` leaves out the end-to-end tests.
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readSpecificationRows, type SpecificationRow } from '../support/specification-rows.ts';

interface Ran {
  readonly file: string;
  readonly title: string;
  readonly passed: boolean;
}

const withoutWindow = process.argv.includes('--without-window');
const conformance = 'test/electron/built-in-service/conformance.test.ts';
const rows = readSpecificationRows();
const files = [...new Set([conformance, ...rows.flatMap((row) => row.files.map(({ file }) => file))])];
const isWindow = (file: string): boolean => file.endsWith('.spec.ts');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-specification-'));

function runWith(tool: readonly string[], output: string, env: NodeJS.ProcessEnv): unknown {
  const result = path.join(folder, output);
  spawnSync(process.execPath, [...tool], {
    env: { ...process.env, ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: result },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return JSON.parse(fs.readFileSync(result, 'utf8'));
}

function runUnit(): Ran[] {
  const output = path.join(folder, 'unit.json');
  const tool = ['node_modules/vitest/vitest.mjs', 'run', '--reporter=json', `--outputFile=${output}`];
  const named = files.filter((file) => !isWindow(file));
  const { testResults } = runWith([...tool, ...named], 'unit.json', {}) as {
    testResults: { name: string; assertionResults: { fullName: string; status: string }[] }[];
  };
  return testResults.flatMap(({ name, assertionResults }) =>
    // Skipped: what this machine lacks the tools for.
    assertionResults
      .filter(({ status }) => status === 'passed' || status === 'failed')
      .map(({ fullName, status }) => ({
        file: path.relative(process.cwd(), name),
        title: fullName.trim(),
        passed: status === 'passed',
      })),
  );
}

interface Suite {
  readonly title: string;
  readonly suites?: readonly Suite[];
  readonly specs?: readonly { readonly title: string; readonly ok: boolean }[];
}

function runWindow(): Ran[] {
  const named = files.filter(isWindow);
  const tool = ['node_modules/@playwright/test/cli.js', 'test', '--reporter=json', ...named];
  const { suites } = runWith(tool, 'window.json', {}) as { suites: Suite[] };
  const flat = ({ suites = [], specs = [] }: Suite, file: string, before: string): Ran[] => [
    ...specs.map(({ title, ok }) => ({ file, title: `${before} ${title}`.trim(), passed: ok })),
    ...suites.flatMap((inner) => flat(inner, file, `${before} ${inner.title}`)),
  ];
  return suites.flatMap((suite) => flat(suite, path.join('test/e2e', suite.title), ''));
}

/** Whether a title, or that of a group it is in, begins with the number. */
const isOf = (row: string, title: string): boolean =>
  new RegExp(`(?:^| )§?(?:[\\dC]\\.\\d+, )*${row.replace('.', '\\.')}(?:,| )`).test(title);

function ranFor({ row, files: named, isConformance }: SpecificationRow, ran: readonly Ran[]): Ran[] {
  const chosen = named.flatMap(({ file, isNamed }) => {
    const found = ran.filter((one) => one.file === file && (!isNamed || isOf(row, one.title)));
    const isLeftOut = isWindow(file) && withoutWindow;
    return found.length > 0 || isLeftOut ? found : [{ file, title: 'no test ran', passed: false }];
  });
  const checks = isConformance ? ran.filter((one) => one.file === conformance && isOf(row, one.title)) : [];
  return [...chosen, ...checks];
}

/** Prints every row, and says whether all of them have passed. */
export function printRows(): boolean {
  try {
    const ran = [...runUnit(), ...(withoutWindow ? [] : runWindow())];
    const counts = { full: 0, 'not shown': 0, failed: 0 };
    for (const row of rows) {
      const own = ranFor(row, ran);
      const failed = own.filter(({ passed }) => !passed);
      const outcome =
        failed.length > 0 || own.length === 0 ? 'failed' : (row.outcome as 'full' | 'not shown');
      counts[outcome] += 1;
      const tests = `${own.length} ${own.length === 1 ? 'test' : 'tests'}`;
      console.log(`${row.row.padEnd(5)} ${outcome.padEnd(10)} ${tests.padEnd(10)} ${row.statement}`);
      for (const { file, title } of failed) console.log(`        ${file}: ${title}`);
    }
    const shown = counts.full + counts['not shown'];
    console.log(
      `\n${shown} of ${rows.length}: ${counts.full} full, ${counts['not shown']} not shown by the specification, ${counts.failed} failed`,
    );
    return counts.failed === 0;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}
