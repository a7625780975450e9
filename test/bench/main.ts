import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Figure, Measure } from './figures.ts';
import { measureCompared } from './measure-compared.ts';
import { measureCosts } from './measure-costs.ts';
import { measureCorrected } from './measure-corrected.ts';
import { measureInside } from './measure-inside.ts';
import { measureInventory } from './measure-inventory.ts';
import { measureFormats } from './measure-formats.ts';
import { measureLists } from './measure-lists.ts';
import { measureManyRows } from './measure-many-rows.ts';
import { measureMemory } from './measure-memory.ts';
import { measurePreview } from './measure-preview.ts';
import { measureThroughput } from './measure-throughput.ts';
import { measureReports } from './measure-reports.ts';
import { measureReveal } from './measure-reveal.ts';
import { measureRows } from './measure-rows.ts';
import { measureTorture } from './measure-torture.ts';
import { measureTurns } from './measure-turns.ts';
import { measureWindow } from './measure-window.ts';
import { measureWorkbook } from './measure-workbook.ts';

/**
 * `npm run bench` measures everything and writes out/bench.json; `npm run bench -- throughput memory` only those
 * named. Reference and product run in the same minutes on the same machine: the ratio is the figure that travels.
 */
const measures: Readonly<Record<string, Measure>> = {
  throughput: measureThroughput,
  costs: measureCosts,
  memory: measureMemory,
  formats: measureFormats,
  workbook: measureWorkbook,
  inside: measureInside,
  preview: measurePreview,
  rows: measureRows,
  'many-rows': measureManyRows,
  lists: measureLists,
  corrected: measureCorrected,
  turns: measureTurns,
  compared: measureCompared,
  inventory: measureInventory,
  reports: measureReports,
  window: measureWindow,
  reveal: measureReveal,
  torture: measureTorture,
};

function describe({ name, value, unit, ratio, bar, holds, note }: Figure): string {
  const shown = value === null ? '–' : Math.round(value * 100) / 100;
  const against = ratio === undefined || ratio === null ? '' : ` (ratio ${ratio.toFixed(2)})`;
  const verdict = bar === undefined ? '' : ` ${holds === true ? 'holds' : 'MISSES'}: ${bar}`;
  return `${name}: ${shown} ${unit}${against}${verdict}${note === undefined ? '' : ` [${note}]`}`;
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in measures));
if (unknown.length > 0) {
  process.stderr.write(
    `No such measure: ${unknown.join(', ')}. There are: ${Object.keys(measures).join(', ')}.\n`,
  );
  process.exit(2);
}
const figures: Figure[] = [];
const folder = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));
try {
  for (const [name, measure] of Object.entries(measures)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    process.stdout.write(`${name} …\n`);
    for (const figure of await measure(folder)) {
      figures.push(figure);
      process.stdout.write(`  ${describe(figure)}\n`);
    }
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}
const out = join(import.meta.dirname, '../../out');
await mkdir(out, { recursive: true });
const machine = {
  cpus: cpus().length,
  model: cpus()[0]?.model ?? '',
  node: process.version,
  load: loadavg(),
};
const report = { at: new Date().toISOString(), machine, figures };
await writeFile(join(out, 'bench.json'), `${JSON.stringify(report, null, 2)}\n`);
process.exitCode = figures.every(({ holds }) => holds !== false) ? 0 : 1;
