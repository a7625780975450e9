import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { luhnDigitBetween } from '../../electron/built-in-service/engine/card-number.ts';
import { median, type Figure, type Measure } from './figures.ts';
import { runProduct, withEcho, type Product } from './parts.ts';

const rows = 500_000;
const rounds = 3;
const bars = { throughput: 0.55 };

const notes: readonly ((card: string) => string)[] = [
  (card) => `Caller asks why ${card} was charged twice, wants a call back before noon`,
  (card) => `refund of order 2026-118842 to ${card} agreed, customer was friendly`,
  (card) => `Paid with ${card.replaceAll(/(....)(?=.)/g, '$1 ')}; expects a letter. Angry.`,
];

/** A call-centre note a row, with a card in it. */
async function writeNotes(path: string): Promise<void> {
  function* lines(): Generator<string, void> {
    yield 'case,note,opened\r\n';
    for (let n = 0; n < rows; n++) {
      const digits = `4${String((n * 7_919_777) % 10_000_000_000).padStart(14, '0')}`;
      const note = notes[n % notes.length]?.(digits + String(luhnDigitBetween(digits, ''))) ?? '';
      yield `D-${n},"${note}",2026-0${(n % 9) + 1}-11\r\n`;
    }
  }
  await pipeline(Readable.from(lines()), createWriteStream(path));
}

/** The cards inside of texts, against each of the same texts as one value just before: the median of the rounds. */
export const measureInside: Measure = (folder) =>
  withEcho(async (url, ca): Promise<Figure[]> => {
    const input = join(folder, 'notes.csv');
    await writeNotes(input);
    const options = { url, ca, audited: true, choice: { content: 'tokens', safety: 'source' } } as const;
    const whole: Product[] = [];
    const inside: Product[] = [];
    for (let round = 0; round < rounds; round++) {
      whole.push(await runProduct(rows, input, { ...options, operation: 'tokenize' }));
      inside.push(await runProduct(rows, input, { ...options, operation: 'tokenize inside' }));
    }
    const of = (some: readonly Product[]): number => median(some.map(({ ms }) => rows / (ms / 1_000)));
    const spread = (some: readonly Product[]): string =>
      some
        .map(({ runMs, exportMs }) => `run ${Math.round(runMs)} ms, export ${Math.round(exportMs)} ms`)
        .join('; ');
    const ratios = inside.map(({ ms }, round) => (whole[round]?.ms ?? 0) / ms);
    const ratio = median(ratios);
    return [
      { name: 'texts tokenized whole', value: of(whole), unit: 'rows/s', note: spread(whole) },
      {
        name: 'the card inside of each text tokenized',
        value: of(inside),
        unit: 'rows/s',
        ratio,
        reference: 'texts tokenized whole',
        bar: `>= ${bars.throughput}`,
        holds: ratio >= bars.throughput,
        note: `${ratios.map((one) => one.toFixed(2)).join(', ')}; ${spread(inside)}`,
      },
    ];
  });
