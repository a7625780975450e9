import { describe, expect, test } from 'vitest';
import { playwrightSum, vitestSum } from '../../scripts/test-reports.ts';

const assertion = (status: string, fullName: string) => ({ status, fullName, failureMessages: ['why'] });

describe('the report of Vitest', () => {
  test('is summed over its files', () => {
    const sum = vitestSum({
      success: false,
      testResults: [
        {
          name: 'a.test.ts',
          status: 'failed',
          assertionResults: [
            assertion('passed', 'one'),
            assertion('failed', 'two'),
            assertion('pending', 'three'),
          ],
        },
        { name: 'b.test.ts', status: 'passed', assertionResults: [assertion('passed', 'four')] },
      ],
    });
    expect(sum).toMatchObject({ passed: 2, failed: 1, skipped: 1, skips: ['three'] });
    expect(sum.failures).toEqual(['a.test.ts\ntwo\nwhy']);
  });

  test('counts a file that could not be loaded', () => {
    const file = { name: 'a.test.ts', status: 'failed', message: 'SyntaxError', assertionResults: [] };
    expect(vitestSum({ success: false, testResults: [file] })).toMatchObject({
      failed: 1,
      failures: ['a.test.ts\nSyntaxError'],
    });
  });

  test('is refused when it is something else', () => {
    expect(() => vitestSum({})).toThrow();
  });
});

describe('the report of Playwright', () => {
  const spec = (status: string, title: string) => ({
    title,
    file: 'a.spec.ts',
    tests: [{ projectName: 'chromium-platform', status, results: [{ errors: [{ message: 'why' }] }] }],
  });

  test('is summed over suites within suites; flaky is failed', () => {
    const report = {
      suites: [
        {
          specs: [spec('expected', 'one')],
          suites: [{ specs: [spec('unexpected', 'two'), spec('skipped', 'three'), spec('flaky', 'four')] }],
        },
      ],
      errors: [],
    };
    expect(playwrightSum(report)).toMatchObject({
      passed: 1,
      failed: 2,
      skipped: 1,
      skips: ['[chromium-platform] a.spec.ts three'],
    });
  });

  test('counts an error outside of tests', () => {
    expect(playwrightSum({ suites: [], errors: [{ message: 'No tests found' }] })).toMatchObject({
      passed: 0,
      failed: 1,
      failures: ['No tests found'],
    });
  });
});
