import { openWindow } from '../gallery/open-window.ts';
import { go } from '../gallery/page-steps.ts';
import { traceTasks } from '../gallery/trace-tasks.ts';
import { median } from './figures.ts';

/**
 * The reports page with an answer of 365 days × 40 definitions: from a click to the frame in
 * which chart and table stand, and the longest task of the renderer meanwhile. Figures as JSON on the last line.
 */
const rounds = 5;
const { page, violations, show, close } = await openWindow();
await show('production', { theme: 'light', width: 1_440, height: 900 });

// Answers are made once for each query, so that making them is not measured, and copied as the bridge copies them.
await page.evaluate(`{
  const made = new Map();
  const make = ({ from, to }) => {
    const days = Math.round((Date.parse(to) - Date.parse(from)) / 86400000) + 1;
    return Array.from({ length: days * 40 }, (_, at) => ({
      day: new Date(Date.parse(from) + (at % days) * 86400000).toISOString().slice(0, 10),
      definition: 'definition-' + Math.floor(at / days), operation: 'Detokenize',
      requests: (at * 7919) % 1000, failed: (at * 31) % 7, more: { transfers: String(at) },
    }));
  };
  window.bench = { answered: 0, hasRows: false };
  window.fake.bridge['reports.metrics'] = async (query) => {
    const key = JSON.stringify(query);
    if (!made.has(key)) made.set(key, make(query));
    const rows = structuredClone(window.bench.hasRows ? made.get(key) : []);
    await new Promise((done) => setTimeout(done));
    window.bench.answered += 1;
    return { ok: true, value: { reportId: 'r', query, rows, requests: 1, failed: 1, previous: null, requestId: 'r' } };
  };
}`);

const buttonNamed = (name: string): string => `document.querySelector('button[aria-label="${name}"]')`;
/** An element of the page, for what runs inside it; null where none has the text. */
const withText = (element: string, text: string): string =>
  `document.evaluate("//${element}[contains(., '${text}')]", document, null, 9).singleNodeValue`;

/** Milliseconds from a click inside the page to the frame that shows what it leads to. */
const until = (act: string, stands: string): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    const { answered } = window.bench;
    const before = performance.now();
    ${act};
    const look = () =>
      requestAnimationFrame(
        ${stands} ? () => setTimeout(() => resolve(performance.now() - before)) : look);
    look();
  })`);

const isAnswered = `window.bench.answered > answered && document.querySelector('[aria-busy=true]') === null`;
const drawn = `${isAnswered} && document.querySelectorAll('figure.chart path.line').length >= 80
  && document.querySelectorAll('[role=grid] [role=gridcell]').length > 20`;
const leave = async (): Promise<void> => {
  await go(page, 'Lookup');
  await page.getByRole('heading', { name: 'Reports' }).waitFor({ state: 'detached' });
};
const setRows = (hasRows: boolean): Promise<unknown> => page.evaluate(`window.bench.hasRows = ${hasRows}`);
const openDates = (): Promise<void> => page.getByRole('button', { name: /^Dates/ }).click();
async function chooseDates(label: string): Promise<void> {
  await openDates();
  await page.getByRole('button', { name: label }).click();
  await page.getByRole('dialog', { name: 'Dates' }).waitFor({ state: 'detached' });
}

/** To the end of the table, an eightieth each frame; milliseconds a frame. */
const scroll = (): Promise<number> =>
  page.evaluate<number>(`new Promise((resolve) => {
    const grid = document.querySelector('[role=grid]');
    grid.scrollTop = 0;
    const before = performance.now();
    let frames = 0;
    const next = () => {
      grid.scrollTop += (grid.scrollHeight - grid.clientHeight) / 80;
      frames += 1;
      requestAnimationFrame(frames < 80 ? next : () => resolve((performance.now() - before) / frames));
    };
    next();
  })`);

const steps: Record<string, { before: () => Promise<unknown>; act: () => Promise<number> }> = {
  empty: {
    before: () => leave().then(() => setRows(false)),
    act: () =>
      until(
        `${buttonNamed('Reports')}.click()`,
        `${isAnswered} && ${withText('*', 'No requests in these days')} !== null`,
      ),
  },
  opened: {
    before: () => leave().then(() => setRows(true)),
    act: () => until(`${buttonNamed('Reports')}.click()`, drawn),
  },
  again: {
    before: () => Promise.resolve(),
    act: () => until(`${buttonNamed('Load again')}.click()`, drawn),
  },
  range: {
    before: async () => {
      await chooseDates('Last 90 days');
      await openDates();
    },
    act: () => until(`${withText('button', 'Last 365 days')}.click()`, drawn),
  },
  definition: {
    before: () => page.evaluate(`${buttonNamed('Show all failures')}?.click()`),
    act: () =>
      until(
        `document.querySelector('figure.chart li button').click()`,
        `${withText('p', 'Failures of')} !== null`,
      ),
  },
  scrolled: { before: () => Promise.resolve(), act: scroll },
};

await go(page, 'Reports');
await setRows(true);
await page.getByText('By day and definition').click();
await chooseDates('Last 365 days');
const took: Record<string, { ms: number; task: number }> = {};
for (const [name, { before, act }] of Object.entries(steps)) {
  const times: number[] = [];
  let task = 0;
  // The first is to get warm.
  for (let round = 0; round <= rounds; round++) {
    await before();
    const { result: ms, tasks } = await traceTasks(page, act);
    if (round === 0) continue;
    times.push(ms);
    task = Math.max(task, tasks[0] ?? 0);
  }
  took[name] = { ms: median(times), task };
}
if (violations.length > 0) throw new Error(violations.join('\n'));
await close();
process.stdout.write(`${JSON.stringify(took)}\n`);
