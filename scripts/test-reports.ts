import { z } from 'zod';

export interface Sum {
  passed: number;
  failed: number;
  skipped: number;
  /** What to show of each failure. */
  readonly failures: readonly string[];
  /** Names of what was skipped. */
  readonly skips: readonly string[];
}

const vitestReport = z.object({
  success: z.boolean(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string().optional(),
      assertionResults: z.array(
        z.object({
          status: z.string(),
          fullName: z.string(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

/** Reads the JSON reporter of Vitest. A file that could not be loaded has no tests and counts as one failure. */
export function vitestSum(report: unknown): Sum {
  const sum = { passed: 0, failed: 0, skipped: 0, failures: [] as string[], skips: [] as string[] };
  for (const file of vitestReport.parse(report).testResults) {
    for (const { status, fullName, failureMessages } of file.assertionResults) {
      if (status === 'passed') sum.passed++;
      else if (status === 'failed') {
        sum.failed++;
        sum.failures.push(`${file.name}\n${fullName}\n${(failureMessages ?? []).join('\n')}`);
      } else {
        sum.skipped++;
        sum.skips.push(fullName);
      }
    }
    if (file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed')) {
      sum.failed++;
      sum.failures.push(`${file.name}\n${file.message ?? ''}`);
    }
  }
  return sum;
}

const playwrightError = z.object({ message: z.string().optional() });
const playwrightSpec = z.object({
  title: z.string(),
  file: z.string(),
  tests: z.array(
    z.object({
      projectName: z.string(),
      status: z.enum(['expected', 'unexpected', 'flaky', 'skipped']),
      results: z.array(z.object({ errors: z.array(playwrightError).optional() })),
    }),
  ),
});
const playwrightSuite = z.object({
  specs: z.array(playwrightSpec),
  get suites() {
    return z.array(playwrightSuite).optional();
  },
});
const playwrightReport = z.object({ suites: z.array(playwrightSuite), errors: z.array(playwrightError) });

/** Reads the JSON reporter of Playwright. A test that passed only when tried again counts as failed. */
export function playwrightSum(report: unknown): Sum {
  const sum = { passed: 0, failed: 0, skipped: 0, failures: [] as string[], skips: [] as string[] };
  const { suites, errors } = playwrightReport.parse(report);
  const visit = (suite: z.infer<typeof playwrightSuite>): void => {
    for (const spec of suite.specs)
      for (const { projectName, status, results } of spec.tests) {
        const name = `[${projectName}] ${spec.file} ${spec.title}`;
        if (status === 'expected') sum.passed++;
        else if (status === 'skipped') {
          sum.skipped++;
          sum.skips.push(name);
        } else {
          sum.failed++;
          const messages = results
            .flatMap((result) => result.errors ?? [])
            .map((error) => error.message ?? '');
          sum.failures.push([name, ...messages].join('\n'));
        }
      }
    for (const inner of suite.suites ?? []) visit(inner);
  };
  for (const suite of suites) visit(suite);
  for (const error of errors) {
    sum.failed++;
    sum.failures.push(error.message ?? 'An error outside of tests.');
  }
  return sum;
}

/** End-to-end projects that can't run here, as the list of what was skipped names them. */
export function skippedHosts(electron: string | null): readonly string[] {
  return electron === null ? ['the project "electron": its executable is not on this machine'] : [];
}
