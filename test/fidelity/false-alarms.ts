import { cardEnd, createRunFinder, eachDigit } from '../../electron/batch/output/card-numbers.ts';
import type { Units } from '../../electron/batch/reading/table.ts';
import { shortestCard } from '../../electron/masking/cards.ts';
import type { Case } from './corpora.ts';

/** The one card that the corpora have. */
const writtenCard = '4111111111111111';

/** How many other card numbers a text is said to hold. */
function countCards(bytes: Buffer, delimiter: string): number {
  let cards = 0;
  const find = createRunFinder(delimiter, shortestCard, (run) => {
    for (let group = 0; group < run.count; group++) {
      const last = cardEnd(run, group);
      if (last < 0) continue;
      let digits = '';
      eachDigit(run, group, 16, (digit) => (digits += String(digit)));
      if (digits !== writtenCard) cards += 1;
      group = last;
    }
  });
  const units = unitsOf(bytes);
  find(units, 0, units.length);
  return cards;
}

function unitsOf(bytes: Buffer): Units {
  const order = bytes.subarray(0, 2).toString('hex');
  if (order !== 'fffe' && order !== 'feff') return bytes;
  const even = Buffer.from(bytes.subarray(0, bytes.length - (bytes.length % 2)));
  const text = (order === 'feff' ? even.swap16() : even).toString('utf16le');
  return Uint16Array.from({ length: text.length }, (_, at) => text.charCodeAt(at));
}

/** Numbers of 13 to 16 digits, any of them alike, from a seed (mulberry32): order numbers, with an ID and a date. */
export function orders(count: number, seed: number): Case {
  let state = seed;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const lines = Array.from({ length: count }, (_, row) => {
    const digits = 13 + Math.floor(next() * 4);
    const order = Array.from({ length: digits }, (__, index) =>
      index === 0 ? 1 + Math.floor(next() * 9) : Math.floor(next() * 10),
    ).join('');
    return `${row},${order},2026-0${1 + (row % 9)}-1${row % 10} 12:30:00\n`;
  });
  return { name: 'order numbers', bytes: Buffer.from(lines.join('')), reading: { delimiter: ',' } };
}

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
