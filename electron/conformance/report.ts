import { type Outcome, outcomes, type Result } from './statement.ts';

export const countOutcomes = (results: readonly Result[]): Record<Outcome, number> =>
  Object.fromEntries(
    outcomes.map((outcome) => [outcome, results.filter((result) => result.outcome === outcome).length]),
  ) as Record<Outcome, number>;

/** A table with a line for each statement, what could not be tried after it with the reason, and the sums. */
export function formatText(results: readonly Result[]): string {
  const lines = results.map(
    ({ section, text, outcome, remark }) =>
      `§${section}  ${outcome.padEnd(9)}  ${remark === '' ? text : `${text}  [${remark}]`}`,
  );
  const untried = results.filter(({ outcome }) => outcome === 'not tried');
  const sums = Object.entries(countOutcomes(results)).map(([outcome, count]) => `${count} ${outcome}`);
  return [
    ...lines,
    '',
    ...(untried.length === 0 ? [] : ['Could not be tried:']),
    ...untried.map(({ section, text, remark }) => `§${section}  ${text}: ${remark}`),
    ...(untried.length === 0 ? [] : ['']),
    sums.join(', '),
  ].join('\n');
}

/** The same for programs. */
export const formatJson = (results: readonly Result[], baseUrl: string): string =>
  `${JSON.stringify({ baseUrl, counts: countOutcomes(results), statements: results }, null, 2)}\n`;

const escaped = (text: string): string =>
  text
    // What XML can't hold.
    .replaceAll(/[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu, ' ')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');

/** The same as JUnit XML: what could not be shown or tried is skipped, with its reason. */
export function formatJunit(results: readonly Result[]): string {
  const counts = countOutcomes(results);
  const skipped = counts['not shown'] + counts['not tried'];
  const cases = results.map(({ section, text, outcome, remark }) => {
    const reason = `message="${escaped(remark)}"`;
    const inner =
      outcome === 'pass'
        ? ''
        : outcome === 'fail'
          ? `<failure ${reason}/>`
          : `<skipped message="${escaped(`${outcome}: ${remark}`)}"/>`;
    return `  <testcase classname="section ${escaped(section)}" name="${escaped(text)}">${inner}</testcase>`;
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuite name="conformance" tests="${results.length}" failures="${counts.fail}" skipped="${skipped}">`,
    ...cases,
    '</testsuite>',
    '',
  ].join('\n');
}
