import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { InventoryFile } from '../../electron/contract/models/inventory.ts';
import type { Figure, Measure } from './figures.ts';
import { runPart, withEcho } from './parts.ts';

interface Found {
  readonly ms: number;
  readonly peakRss: number;
  readonly longest: number;
  readonly file: InventoryFile;
}

const names =
  'id,card,ssn,iban,email,note,opened,closed,phone,amount,currency,country,city,name,street,zip,merchant,terminal,reference,blank';

/** The n-th card: its digits and the check digit. */
function cardOf(n: number): string {
  const body = `4${String(10_000_000_000_000 + n * 7_919).padStart(14, '0')}`;
  let sum = 0;
  for (let at = 0; at < body.length; at++) {
    const digit = Number(body[at]) * (at % 2 === 0 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return body + String((10 - (sum % 10)) % 10);
}

/** Of twenty columns, as a file of disputes has them: one in ten notes holds a card's number. */
function lineOf(n: number): string {
  const card = cardOf(n);
  const note = n % 10 === 0 ? `customer gave ${card} by phone` : 'goods not received; second letter sent';
  return [
    ...[`D-${n}`, card, `${101 + (n % 500)}-${10 + (n % 80)}-${1_000 + (n % 8_000)}`],
    ...[n % 4 === 0 ? 'DE89370400440532013000' : '', n % 2 === 0 ? `p${n}@example.org` : '', note],
    ...['2026-11-26 18:00:00', '2026-12-01', '+49 30 901820', `${n % 9_000}.50`, 'EUR', 'DE', 'Bremen'],
    ...['Anna Example', 'Main Street 12', '28195', `M${100_000 + (n % 9_000)}`, `T${n % 900}`],
    ...[String(10_000_000_000 + n), ''],
  ].join(',');
}

async function writeFile(path: string, rows: number): Promise<void> {
  const out = createWriteStream(path);
  let text = `${names}\r\n`;
  for (let n = 0; n < rows; n++) {
    text += `${lineOf(n)}\r\n`;
    if (text.length < 1_000_000) continue;
    if (!out.write(text)) await once(out, 'drain');
    text = '';
  }
  out.end(text);
  await once(out, 'close');
}

/** By arithmetic on how the file was made: what each kind has in which column, and the blank cells. */
function agreesWith(rows: number, { rows: count, leftOut, columns, outside }: InventoryFile): boolean {
  const expected: Record<string, readonly [kind: string, are: number, contain: number]> = {
    card: ['card', rows, 0],
    ssn: ['ssn', rows, 0],
    iban: ['iban', rows / 4, 0],
    email: ['email', rows / 2, 0],
    note: ['card', 0, rows / 10],
  };
  const blank: Record<string, number> = { iban: rows * 0.75, email: rows / 2, blank: rows };
  return (
    count === rows &&
    leftOut === 0 &&
    outside.lines === 0 &&
    columns.length === 20 &&
    columns.every(({ name, found, blank: own }) =>
      Object.entries(found).every(([kind, { are, contain }]) => {
        const [sought, ...counts] = expected[name] ?? ['', 0, 0];
        const [wholes, parts] = sought === kind ? counts : [0, 0];
        return are === wholes && contain === parts && own === (blank[name] ?? 0);
      }),
    )
  );
}

/** What is in a file of twenty columns, of which five hold what is looked for. */
export const measureInventory: Measure = (folder) =>
  withEcho(async (url, ca) => {
    const figures: Figure[] = [];
    for (const rows of [1_000_000, 4_000_000]) {
      const file = join(folder, 'inventory.csv');
      await writeFile(file, rows);
      const found = await runPart<Found>('inventory-file.ts', JSON.stringify({ file, url, ca }));
      await rm(file);
      const isBar = rows === 1_000_000;
      const agrees = agreesWith(rows, found.file);
      figures.push(
        {
          name: `${rows.toLocaleString('en')} rows × 20 columns looked through`,
          value: found.ms / 1_000,
          unit: 's',
          ...(isBar && { bar: '<= 10 s', holds: found.ms <= 10_000 }),
        },
        {
          name: 'the same, peak memory',
          value: found.peakRss / 2 ** 20,
          unit: 'MiB',
          bar: '<= 400 MB',
          holds: found.peakRss <= 400e6,
        },
        { name: 'the same, longest pause of the app', value: found.longest, unit: 'ms' },
        {
          name: 'the same, counts against arithmetic',
          value: agrees ? 1 : 0,
          unit: '',
          bar: 'equal',
          holds: agrees,
        },
      );
    }
    return figures;
  });
