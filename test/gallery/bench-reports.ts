import { buildWindow } from './build-window.ts';
import { openWindow, startBrowser } from './open-window.ts';

/**
 * How long the reports page takes from an answer of 365 days × 20 definitions, all combined, to the frame that shows
 * it: chart, table and totals. `node test/gallery/bench-reports.ts`; prints milliseconds, the worst of ten last.
 */
const folder = await buildWindow();
const browser = await startBrowser();
for (const operations of [1, 5]) {
  const { page, close } = await openWindow(browser, folder, 'production', {
    theme: 'light',
    width: 1_440,
    height: 900,
  });
  await page.getByRole('navigation', { name: 'Places' }).getByRole('button', { name: 'Reports' }).click();
  await page.evaluate(`{
    const rows = Array.from({ length: 365 * 20 * ${operations} }, (_, at) => ({
      day: new Date(Date.UTC(2025, 10, 22) + (at % 365) * 86400000).toISOString().slice(0, 10),
      definition: 'definition-' + Math.floor(at / 365) % 20,
      operation: 'Operation' + Math.floor(at / 7300),
      requests: (at * 7919) % 1000, failed: (at * 31) % 7, more: { transfers: String(at) },
    }));
    window.took = [];
    window.fake.bridge['reports.metrics'] = async (query) => {
      await new Promise((done) => setTimeout(done, 50));
      const answered = performance.now();
      requestAnimationFrame(() => requestAnimationFrame(() => {
        const drawn = document.querySelectorAll('figure.chart path').length + document.querySelectorAll('[role=gridcell]').length;
        window.took.push({ ms: performance.now() - answered, drawn });
      }));
      return { ok: true, value: { reportId: 'r', query, rows, requests: 1, failed: 1, previous: null, requestId: 'r' } };
    };
  }`);
  await page.getByRole('button', { name: /^Dates/ }).click();
  await page.getByRole('button', { name: 'Last 365 days' }).click();
  await page.getByText('By day and definition').click();
  const count = 'window.took.length';
  for (let turn = Number(await page.evaluate(count)); turn < 12; turn++) {
    await page.getByRole('button', { name: 'Load again' }).click();
    await page.evaluate(
      `new Promise((done) => { const look = () => (${count} > ${turn} ? done() : requestAnimationFrame(look)); look(); })`,
    );
  }
  const took = await page.evaluate<{ ms: number; drawn: number }[]>('window.took.slice(-10)');
  const sorted = took.map(({ ms }) => ms.toFixed(0)).sort((one, other) => Number(one) - Number(other));
  console.log(
    `365 days × 20 definitions × ${operations} operations: ${sorted.join(' ')} ms, ${took[0]?.drawn ?? 0} cells and lines drawn`,
  );
  await close();
}
await browser.close();
