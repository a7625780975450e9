import { describe, expect, test } from 'vitest';
import { lastLines, playwrightSum, skippedProjects, vitestSum } from '../../scripts/test.ts';

describe('the report of Vitest', () => {
  const counts = { numPassedTests: 2, numFailedTests: 1, numFailedTestSuites: 1 };
  const assertionResults = [
    { status: 'passed', fullName: 'one' },
    { status: 'failed', fullName: 'two' },
    { status: 'pending', fullName: 'three' },
    { status: 'todo', fullName: 'four' },
  ];

  test('is added up, with the names of what was skipped', () => {
    const sum = vitestSum({ ...counts, testResults: [{ assertionResults }] });
    expect(sum).toEqual({ passed: 2, failed: 1, skipped: ['three', 'four'] });
  });

  test('counts files that could not be loaded', () => {
    const report = { numPassedTests: 5, numFailedTests: 0, numFailedTestSuites: 2, testResults: [] };
    expect(vitestSum(report)).toMatchObject({ failed: 2 });
  });

  test('is refused when it is something else', () => {
    expect(() => vitestSum({})).toThrow();
  });
});

describe('the report of Playwright', () => {
  const spec = (status: string, title: string) => ({
    title,
    file: 'a.spec.ts',
    tests: [{ projectName: 'chromium', status }],
  });
  const stats = { expected: 3, unexpected: 1, flaky: 1 };

  test('is added up; flaky is failed; what was skipped is named, in suites within suites too', () => {
    const suites = [{ specs: [spec('expected', 'one')], suites: [{ specs: [spec('skipped', 'two')] }] }];
    expect(playwrightSum({ suites, errors: [], stats })).toEqual({
      passed: 3,
      failed: 2,
      skipped: ['[chromium] a.spec.ts two'],
    });
  });

  test('counts an error outside of tests', () => {
    const report = { suites: [], errors: [{ message: 'No tests found' }], stats };
    expect(playwrightSum({ ...report, stats: { expected: 0, unexpected: 0, flaky: 0 } })).toMatchObject({
      passed: 0,
      failed: 1,
    });
  });
});

test('a project that can not run here is named', () => {
  expect(skippedProjects(null)).toEqual([expect.stringContaining('"electron"')]);
  expect(skippedProjects('/opt/electron')).toEqual([]);
});

test('the last line is the sum of all, after what is proved about Electron', () => {
  const sums = [
    { passed: 2, failed: 0, skipped: ['one'] },
    { passed: 3, failed: 1, skipped: ['two', 'three'] },
  ];
  expect(lastLines(sums, [{ level: 'stand-in' }])).toEqual([
    expect.stringMatching(/^1 claims about Electron: .*1 stand-in/),
    '5 passed, 1 failed, 3 skipped',
  ]);
});
