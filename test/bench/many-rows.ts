import type { RowsView } from '../../electron/contract/models/rows.ts';
import { openHarness } from './harness.ts';
import { settledBytes } from './settled-bytes.ts';
import { type Timed, timed } from './timed.ts';
import { median, peakMemory } from './figures.ts';

/**
 * What the window asks of a finished job that fills a day, after a start of the app: filters, orders, pages of them
 * anywhere, a search. Options as JSON in the first argument; figures as JSON on the last line.
 */
const { home, jobId, rows } = JSON.parse(process.argv[2] ?? '{}') as {
  home: string;
  jobId: string;
  rows: number;
};

const pages = 25;
const rounds = 3;
const rowsOfPage = 40;
const harness = await openHarness({ home, url: 'https://127.0.0.1:9', ca: '', output: '', inFlight: 8 });

async function page(view: RowsView, from: number): Promise<number> {
  const query = { jobId, filter: 'all', view, from, count: rowsOfPage } as const;
  const answer = await harness.batch['batch.rows'](query);
  if (!answer.ok) throw new Error(answer.failure.code);
  const { total } = answer.value;
  const expected = Math.min(rowsOfPage, total - from);
  if (total === 0 || answer.value.rows.length !== expected) throw new Error('rows are missing');
  return total;
}

let slowestMs = 0;

/** Pages all over a view: of each place the median of a few visits to chunks beside each other, and of the places the worst. */
async function slowestPage(view: RowsView, total: number): Promise<Timed> {
  const visits: Timed[][] = Array.from({ length: pages }, () => []);
  for (let round = 0; round < rounds; round++)
    for (const [n, ofPlace] of visits.entries()) {
      const from = Math.floor((((n * 7 + round / rounds) % pages) / pages) * total);
      ofPlace.push(await timed(() => page(view, Math.min(from, total - rowsOfPage))));
    }
  slowestMs = Math.max(slowestMs, ...visits.flat().map(({ ms }) => ms));
  const worst = (figure: keyof Timed): number =>
    Math.max(...visits.map((ofPlace) => median(ofPlace.map((one) => one[figure]))));
  return { ms: worst('ms'), cpuMs: worst('cpuMs'), turn: worst('turn') };
}

const everyRow: RowsView = { where: [], sort: null };
const views = {
  few: { ...everyRow, where: [{ column: 0, test: 'ends', text: '00000' }] },
  half: { ...everyRow, where: [{ column: 0, test: 'contains', text: '7' }] },
  masked: { ...everyRow, where: [{ column: 1, test: 'begins', text: '9' }] },
  text: { ...everyRow, sort: { column: 2, descending: false } },
  number: { ...everyRow, sort: { column: 3, descending: true } },
  cards: { ...everyRow, sort: { column: 1, descending: false } },
} satisfies Record<string, RowsView>;

const steps: Record<string, Timed> = {};
const totals: Record<string, number> = {};
steps['opened'] = await timed(() => page(everyRow, 0));
steps['anyPage'] = await slowestPage(everyRow, rows);
const before = await settledBytes();
for (const [name, view] of Object.entries(views)) {
  let total = 0;
  steps[name] = await timed(async () => (total = await page(view, 0)));
  steps[`${name}Page`] = await slowestPage(view, total);
  totals[name] = total;
}
async function find(text: string, after: number): Promise<number> {
  const query = { jobId, filter: 'all', text, after, backwards: false } as const;
  const found = await harness.batch['batch.find'](query);
  if (!found.ok) throw new Error(found.failure.code);
  return found.value?.position ?? -1;
}
steps['nowhere'] = await timed(async () => {
  if ((await find('no such text', -1)) !== -1) throw new Error('a text that is nowhere was found');
});
let first = -1;
steps['find'] = await timed(async () => (first = await find('d-4321', -1)));
steps['findNext'] = await timed(async () => {
  if ((await find('d-4321', first)) <= first) throw new Error('no next one was found');
});
const keptBytes = (await settledBytes()) - before;
const peakRss = peakMemory();
await harness.close();
process.stdout.write(`${JSON.stringify({ steps, totals, slowestMs, keptBytes, peakRss })}\n`);
