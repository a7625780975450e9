import { cardsIn } from '../../electron/masking/find-values.ts';
import { maskCell } from '../../electron/masking/masking.ts';
import type { Case } from './corpora.ts';

/** The one card that the corpora have. */
const writtenCard = '4111111111111111';

/** How many other card numbers a text is said to hold. */
function countCards(bytes: Buffer, delimiter: string): number {
  const cells = textOf(bytes)
    .split(/[\r\n]/)
    .flatMap((line) => line.split(delimiter));
  return cells.flatMap(cardsIn).filter((card) => card !== writtenCard).length;
}

function textOf(bytes: Buffer): string {
  const order = bytes.subarray(0, 2).toString('hex');
  if (order !== 'fffe' && order !== 'feff') return bytes.toString();
  const even = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
  return (order === 'feff' ? even.swap16() : even).toString('utf16le');
}

/** Numbers of so many digits, any of them alike, from a seed (mulberry32): order numbers, with an ID and a date. */
export function orders(count: number, seed: number, [shortest, longest]: readonly [number, number]): Case {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const lines = Array.from({ length: count }, (_, row) => {
    const digits = shortest + Math.floor(next() * (longest + 1 - shortest));
    const order = Array.from({ length: digits }, (__, index) =>
      index === 0 ? 1 + Math.floor(next() * 9) : Math.floor(next() * 10),
    ).join('');
    return `${row},${order},2026-0${1 + (row % 9)}-1${row % 10} 12:30:00\n`;
  });
  return { name: 'order numbers', bytes: Buffer.from(lines.join('')), reading: { delimiter: ',' } };
}

/** How many of the order numbers a mask hides a part of. */
export const masked = ({ bytes }: Case): number =>
  bytes
    .toString()
    .split(/[\n,]/)
    .filter((cell) => maskCell(cell) !== cell).length;

/** Card numbers that the leak check of an export finds in files that have none. */
export function falseAlarms(cases: Iterable<Case>): { readonly files: number; readonly found: number } {
  let files = 0;
  let found = 0;
  for (const { bytes, reading } of cases) {
    const cards = countCards(bytes, reading?.delimiter ?? ',');
    found += cards;
    if (cards > 0) files += 1;
  }
  return { files, found };
}
