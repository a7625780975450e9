import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { luhnDigitBetween } from '../../electron/built-in-service/engine/card-number.ts';
import { launchApp } from '../support/launch-app.ts';
import { chooseFile, choose, go, map, readSum, run, startBuiltIn } from '../support/page-actions.ts';

/**
 * Page Down in the result table of a file of a thousand columns. The folder of its files in the
 * first argument; milliseconds as JSON on the last line.
 */
const [folder = ''] = process.argv.slice(2);
const presses = 30;
const columns = 1_000;

const input = join(folder, 'wide.csv');
const cells = (row: number): string =>
  Array.from({ length: columns - 2 }, (_, n) => `v${row}-${n}`).join(',');
const heads = Array.from({ length: columns - 2 }, (_, n) => `attribute_with_a_long_name_${n}`).join(',');
/** A real one: a run of which most values are refused pauses by itself. */
function card(row: number): string {
  const digits = `4${String(row * 7_919).padStart(14, '0')}`;
  return `${digits}${luhnDigitBetween(digits, '')}`;
}
const lines = Array.from({ length: 2_000 }, (_, row) => `${row},${card(row)},${cells(row)}`);
await writeFile(input, `id,card_number,${heads}\n${lines.join('\n')}\n`);

const app = await launchApp({ home: join(folder, 'wide-home'), downloads: join(folder, 'wide-downloads') });
const { page } = app;
await startBuiltIn(page);
await choose(page, 'Policy', 'analyst');
await go(page, 'Batch');
await chooseFile(page, input);
await map(page, 'card_number', 'Tokenize', 'Card number');
await run(page);
const sum = await readSum(page);
if (sum.ok !== 2_000) throw new Error(`the run did not succeed: ${JSON.stringify(sum)}`);
const grid = page.getByRole('grid');
await grid.getByRole('rowheader').first().waitFor();
await grid.focus();

// From the key to the frame in which its rows stand.
await page.evaluate(`(() => {
  window.pageDowns = [];
  document.querySelector('[role=grid]').addEventListener('keydown', ({ timeStamp }) => {
    requestAnimationFrame(() => setTimeout(() => window.pageDowns.push(performance.now() - timeStamp)));
  }, { capture: true });
})()`);
const protocol = await page.context().newCDPSession(page);
await protocol.send('Performance.enable', { timeDomain: 'threadTicks' });
const taskMs = async (): Promise<number> => {
  const { metrics } = await protocol.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0) * 1_000;
};
const before = await taskMs();
for (let n = 1; n <= presses; n++) {
  await page.keyboard.press('PageDown');
  // The policy of the page allows no function that would wait inside it.
  while ((await page.evaluate<number>('window.pageDowns.length')) < n);
}
const processorMs = ((await taskMs()) - before) / presses;
const waits = await page.evaluate<number[]>('window.pageDowns.sort((a, b) => a - b)');
const drawn = await grid.getByRole('gridcell').count();
await app.close();
const figures = { median: waits[presses >> 1] ?? null, processorMs, drawn };
process.stdout.write(`${JSON.stringify(figures)}\n`, () => process.exit());
