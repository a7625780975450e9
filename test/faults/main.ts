import { matrix } from './matrix.ts';
import { realRates } from './real-rates.ts';

/**
 * Prints the matrix of faults with pass or fail a row, and exits with 1 if any failed. `--rates` adds the rates achieved
 * against services that allow 5, 50 and 600 requests a second, in real time: half a minute more.
 */
const parts = process.argv.includes('--rates') ? [...matrix, realRates] : matrix;
const rowLimitMs = 120_000;
// Node's own remarks (the rows do set NODE_TLS_REJECT_UNAUTHORIZED, to no avail) are no part of the matrix.
process.removeAllListeners('warning');

function limited(run: () => Promise<void>): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error('never ended')), rowLimitMs);
  return Promise.race([run(), promise]).finally(() => clearTimeout(timer));
}

let passed = 0;
const failed: string[] = [];
for (const { part, rows } of parts) {
  console.log(`\n${part}`);
  for (const { fault, expected, run } of rows) {
    const from = performance.now();
    const error = await limited(run).then(
      () => null,
      (reason: unknown) => (reason instanceof Error ? reason : new Error(String(reason))),
    );
    const seconds = ((performance.now() - from) / 1000).toFixed(1);
    console.log(`  ${error ? 'FAIL' : 'pass'}  ${fault} → ${expected}  (${seconds} s)`);
    if (error) {
      failed.push(fault);
      console.log(`        ${error.message.split('\n', 1)[0] ?? ''}`);
    } else {
      passed++;
    }
  }
}
console.log(`\n${passed} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;
