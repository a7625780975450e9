import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { convertWithLibreOffice, hasLibreOffice } from '../support/libreoffice.ts';
import { median, type Figure, type Measure } from './figures.ts';
import { runProduct, withEcho, type Product } from './parts.ts';
import { writeTable } from './table.ts';

const rows = 200_000;
const rounds = 3;
/** Of LibreOffice's own time. */
const maxOfOther = 1;

const workbookFilter = 'xlsx:Calc MS Excel 2007 XML';
/** UTF-8 with commas; all six columns are text, or a token of 16 digits would be rounded. */
const textFilter = 'Text - txt - csv (StarCalc):44,34,76,1,1/2/2/2/3/2/4/2/5/2/6/2';

/**
 * A workbook that LibreOffice wrote, read by the path of the product, which keeps it encrypted, and written again with the
 * results: against LibreOffice's conversions of the same rows from a workbook to CSV and from CSV to a workbook, without
 * its start, and against the CSV of the same rows. In turns.
 */
export const measureWorkbook: Measure = (folder) =>
  hasLibreOffice
    ? withEcho((url, ca) => compare(join(folder, 'workbooks'), { url, ca }))
    : Promise.resolve([
        {
          name: 'workbook against LibreOffice',
          value: null,
          unit: 'ms',
          note: 'skipped: there is no soffice (libreoffice-calc-nogui)',
        },
      ]);

async function compare(
  folder: string,
  service: { readonly url: string; readonly ca: string },
): Promise<Figure[]> {
  await mkdir(folder, { recursive: true });
  const [few, all] = [join(folder, 'few.csv'), join(folder, 'all.csv')];
  await writeTable(few, 10);
  await writeTable(all, rows);
  const convert = async (file: string, options: { to: string; from?: string }): Promise<number> => {
    const started = performance.now();
    await convertWithLibreOffice(folder, [file], { ...options, timeout: 600_000 });
    return performance.now() - started;
  };
  const out = { to: workbookFilter, from: textFilter };
  await convert(all, out);
  const workbook = join(folder, 'source.xlsx');
  await rename(join(folder, 'all.xlsx'), workbook);
  const starts: number[] = [];
  const writes: number[] = [];
  const reads: number[] = [];
  const ours: Product[] = [];
  const ofCsv: Product[] = [];
  for (let round = 0; round < rounds; round++) {
    starts.push(await convert(few, out));
    writes.push(await convert(all, out));
    reads.push(await convert(workbook, { to: 'csv' }));
    ours.push(await runProduct(rows, workbook, { ...service, reading: {}, choice: { format: 'workbook' } }));
    ofCsv.push(await runProduct(rows, all, { ...service, reading: {} }));
  }
  const start = median(starts);
  const against = (name: string, values: number[], others: readonly number[]): Figure[] => {
    const theirs = others.map((ms) => ms - start);
    const ratio = median(values) / median(theirs);
    return [
      {
        name: `workbook ${name} by LibreOffice, without its start`,
        value: median(theirs),
        unit: 'ms',
        note: spread(theirs),
      },
      {
        name: `workbook ${name}`,
        value: median(values),
        unit: 'ms',
        ratio,
        reference: 'LibreOffice',
        bar: `<= ${maxOfOther} of LibreOffice's`,
        holds: ratio <= maxOfOther,
        note: spread(values),
      },
    ];
  };
  const whole = (some: readonly Product[]): number[] => some.map(({ openMs, ms }) => openMs + ms);
  const ratio = median(whole(ofCsv)) / median(whole(ours));
  return [
    { name: 'start of LibreOffice, with ten rows', value: start, unit: 'ms', note: spread(starts) },
    ...against(
      'read',
      ours.map(({ openMs }) => openMs),
      reads,
    ),
    ...against(
      'written',
      ours.map(({ exportMs }) => exportMs),
      writes,
    ),
    {
      name: `workbook of ${rows} rows: opened, run and exported`,
      value: median(whole(ours)),
      unit: 'ms',
      ratio,
      reference: 'rows/s of the CSV of the same rows',
      note: `${spread(whole(ours))}; the CSV ${spread(whole(ofCsv))}`,
    },
  ];
}

const spread = (values: readonly number[]): string =>
  `${Math.round(Math.min(...values))} to ${Math.round(Math.max(...values))} ms`;
