import { crc32 } from 'node:zlib';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Preflight, Notice } from '../../contract/models/batch.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { describeColumns } from '../reading/columns.ts';
import { isBlankCell, looksTokenized } from '../reading/fit.ts';
import { formulaNotices, headerNotices, roundedNotices, rowNotices } from '../reading/preview.ts';
import { beginning, endOf, readRows, type Chunk, type Format } from '../reading/read-rows.ts';
import type { OpenSource } from '../reading/sources.ts';
import type { Guesses } from '../../privacy/guesses.ts';
import type { Position } from '../storing/journal.ts';
import { fittingValues } from './inside-cells.ts';
import { caseFlaw } from './row-case.ts';
import type { ColumnWork, ValueWork } from './column-work.ts';
import { targetsOf, type Counted } from './plan.ts';
import { createRecordTotals } from './record-totals.ts';
import { yieldToOthers } from '../../util/turns.ts';

/** Counts distinct strings in bounded memory, by 53-bit hashes: exact until it is full, then a lower bound. */
interface DistinctCounter {
  /** True when the string had not been seen; false also once the counter is full. */
  add(text: string, seed: number): boolean;
  readonly count: number;
  readonly exact: boolean;
}

export function createDistinctCounter(capacity = 1_000_000): DistinctCounter {
  // It grows: most files have few values, and a table for a million of them is 16 MB.
  let table = new Float64Array(1_024);
  let count = 0;
  let exact = true;
  /** Where a hash is, or the free place that is its own. */
  const placeOf = (hash: number): number => {
    let at = hash % table.length;
    while (table[at] !== hash && table[at] !== 0) at = (at + 1) % table.length;
    return at;
  };
  return {
    add(text, seed) {
      const hash = hash53(text, seed);
      let at = placeOf(hash);
      if (table[at] === hash) return false;
      if (count >= capacity) {
        exact = false;
        return false;
      }
      if (count * 2 >= table.length) {
        const known = table;
        table = new Float64Array(known.length * 2);
        for (const one of known) if (one !== 0) table[placeOf(one)] = one;
        at = placeOf(hash);
      }
      table[at] = hash;
      count += 1;
      return true;
    },
    get count() {
      return count;
    },
    get exact() {
      return exact;
    },
  };
}

/** cyrb53 (public domain, by bryc): two 32-bit multiplicative hashes side by side. Never 0. */
function hash53(text: string, seed: number): number {
  let one = 0xdeadbeef ^ seed;
  let two = 0x41c6ce57 ^ seed;
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    one = Math.imul(one ^ char, 2654435761);
    two = Math.imul(two ^ char, 1597334677);
  }
  one = Math.imul(one ^ (one >>> 16), 2246822507) ^ Math.imul(two ^ (two >>> 13), 3266489909);
  two = Math.imul(two ^ (two >>> 16), 2246822507) ^ Math.imul(one ^ (one >>> 13), 3266489909);
  return 4294967296 * (2097151 & two) + (one >>> 0) || 1;
}

export interface Rates {
  readonly batchSize: number;
  readonly requestsPerSecond: number;
  readonly transfersPerDay: number;
}

const readBytes = 256 * 1024;

/** What the app itself manages on two cores, however fast the service is. */
const rowsPerSecond = 150_000;

/** Before anything is counted. */
export const uncounted = (sourceId: string): Preflight => ({
  sourceId,
  done: false,
  rows: 0,
  blank: 0,
  malformed: 0,
  unfit: 0,
  guesses: 0,
  distinct: 0,
  distinctExact: true,
  requests: 0,
  columns: [],
  seconds: 0,
  dayShare: 0,
  targets: [],
  notices: [],
});

/** What is kept of it. */
export const countedOf = ({ rows, guesses, notices }: Preflight, crc: number): Counted => ({
  ...{ rows, guesses, crc, notices },
});

/** What counts the values of one mask, for all values that are tokenized. */
export type ForeseenGuesses = ReadonlyMap<ValueWork, Awaited<ReturnType<Guesses['foresee']>>>;

export interface PreflightOptions {
  readonly opened: Pick<OpenSource, 'source' | 'bytes' | 'converted'>;
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  readonly rates: Rates;
  /** Of the connections that values are moved to, by their IDs. */
  readonly targets: ReadonlyMap<string, Omit<Rates, 'batchSize'> & { readonly name: string }>;
  /** Characters a value may have. */
  readonly maxLength: number;
  /** Receives the counts so far, from time to time. */
  readonly report: (counts: Preflight) => void;
  readonly signal: AbortSignal;
  readonly guesses: Promise<ForeseenGuesses>;
  /** Told where each chunk of rows begins. */
  readonly onChunk?: (start: Position) => void;
}

/**
 * Reads the whole source and counts; nothing is sent. `crc`: CRC-32 of the bytes read, which is all behind the byte
 * order mark. An aborted one answers with what it has so far, not `done`. Failures: file.*, row.field-too-long.
 */
export async function runPreflight(
  options: PreflightOptions,
): Promise<Outcome<{ counts: Preflight; crc: number }>> {
  const { opened, format, work, rates, maxLength, report, signal } = options;
  const { sourceId } = opened.source;
  const distinct = createDistinctCounter();
  const works = work.flatMap(({ values }) => values);
  const seeds = new Map([...new Set(works.map(({ key }) => key))].map((key, i) => [key, i + 1]));
  const notices = new Map<string, Notice>();
  const guesses = await options.guesses;
  const counts = { rows: 0, blank: 0, malformed: 0, unfit: 0 };
  /** By mapped column. */
  const unfit = work.map(() => ({ row: 0, count: 0 }));
  let names: readonly string[] = [];
  const rules = work.map(({ plan: { operation } }) => ({ operation, maxLength }));
  let sendable = 0;
  /** Those of them that nothing before sends. */
  const sentBy = new Map(works.map((one) => [one, 0]));
  /** By column to be tokenized: values sent, those that look like tokens among them, and the first of these. */
  const tokenized = work.map(() => ({ all: 0, like: 0, firstRow: 0 }));
  let chunks = 0;

  const addNotice = (found: Notice): void => {
    const key = `${found.kind}:${found.column ?? ''}`;
    const known = notices.get(key);
    notices.set(key, known === undefined ? found : { ...known, count: known.count + found.count });
  };
  const countsSoFar = (finished: boolean): Preflight => {
    // Once the counter is full, what it can't tell apart is taken as distinct: an upper bound for time and quota.
    const sent = distinct.exact ? distinct.count : sendable;
    // A request holds values of one call; a mask is a request of its own.
    const columns = work.map(({ plan: { column, operation }, values }, w) => ({
      column,
      unfit: unfit[w]?.count ?? 0,
      requests: values.reduce(
        (sum, one) => sum + Math.ceil((sentBy.get(one) ?? 0) / (operation === 'mask' ? 1 : rates.batchSize)),
        0,
      ),
    }));
    const requests = columns.reduce((sum, column) => sum + column.requests, 0);
    // What one connection detokenizes the other tokenizes, request by request.
    const targets = [...options.targets].map(([id, target]) => {
      const moved = work.flatMap(({ values: [one] }, w) =>
        targetsOf([{ values: [one] }]).includes(id) ? [{ one, w }] : [],
      );
      return {
        connection: target.name,
        requests: moved.reduce((sum, { w }) => sum + (columns[w]?.requests ?? 0), 0),
        dayShare: moved.reduce((sum, { one }) => sum + (sentBy.get(one) ?? 0), 0) / target.transfersPerDay,
        perSecond: target.requestsPerSecond,
      };
    });
    const sendingSeconds = Math.max(
      requests / rates.requestsPerSecond,
      ...targets.map((target) => target.requests / target.perSecond),
    );
    return {
      sourceId,
      done: finished,
      ...counts,
      guesses: [...guesses.values()].reduce((sum, one) => sum + one.guesses, 0),
      distinct: distinct.count,
      distinctExact: distinct.exact,
      requests,
      columns,
      seconds: Math.ceil(Math.max(sendingSeconds, counts.rows / rowsPerSecond)),
      dayShare: sent / rates.transfersPerDay,
      targets: targets.map(({ perSecond: _, ...target }) => target),
      notices: [
        ...notices.values(),
        ...unfit.flatMap(({ row, count }, w) => {
          const column = names[work[w]?.plan.column ?? 0] ?? null;
          return count === 0 ? [] : [{ kind: 'value-unfit' as const, row, column, count }];
        }),
      ],
    };
  };

  /** Some values may be mistyped; nearly all of a column are not. */
  function addTokenNotices(): void {
    work.forEach(({ plan }, index) => {
      const { all = 0, like = 0, firstRow = 0 } = tokenized[index] ?? {};
      if (like === 0 || like < all * 0.8) return;
      const column = names[plan.column] ?? `Column ${plan.column + 1}`;
      addNotice({ kind: 'looks-tokenized', row: firstRow, column, count: like });
    });
  }

  headerNotices(format).forEach(addNotice);
  const totals = createRecordTotals(format);
  let crc = 0;
  /** Up to where it is of. */
  let counted = format.markLength;
  const source: Pick<ByteSource, 'identity' | 'read'> = {
    identity: opened.bytes.identity,
    // The rows are read in the order of the bytes; what is left of a block is read again with the next.
    async read(offset, length) {
      const bytes = await opened.bytes.read(offset, length);
      if (!bytes.ok) return bytes;
      crc = crc32(bytes.value.subarray(Math.max(0, counted - offset)), crc);
      counted = Math.max(counted, offset + bytes.value.length);
      return bytes;
    },
  };
  for await (const read of readRows(source, format, beginning(format))) {
    if (signal.aborted) break;
    if (!read.ok) return read;
    options.onChunk?.(read.value.start);
    if (chunks === 0) await describeFirst(read.value);
    countChunk(read.value);
    chunks += 1;
    if (chunks % 4 === 0) await yieldToOthers();
    if (chunks % 64 === 0) report(countsSoFar(false));
  }
  // The checksum is of all bytes: what is below the table goes out as well.
  for (let offset = endOf(format, source.identity); !signal.aborted && offset < source.identity.size;) {
    const below = await source.read(offset, readBytes);
    if (!below.ok) return below;
    if (below.value.length === 0) return failed('file.changed');
    offset += below.value.length;
  }
  if (!signal.aborted) {
    addTokenNotices();
    totals.notices(work.map(({ plan }) => plan.column)).forEach(addNotice);
  }
  return done({ counts: countsSoFar(!signal.aborted), crc });

  async function describeFirst({ table }: Chunk): Promise<void> {
    const rows = table.firstRows();
    const columns = await describeColumns(format, rows);
    names = columns.map(({ name }) => name.slice(0, 200));
    roundedNotices(rows, columns, opened.converted, format).forEach(addNotice);
    formulaNotices(columns, opened.converted, format).forEach(addNotice);
  }

  function countChunk(chunk: Chunk): void {
    const { table } = chunk;
    rowNotices(chunk, format, opened.converted).forEach(addNotice);
    totals.add(chunk);
    for (let r = 0; r < table.count; r++) {
      counts.rows += 1;
      if (chunk.flaws.size > 0 && chunk.flaws.has(r)) {
        counts.malformed += 1;
        continue;
      }
      let empty = 0;
      const caseColumn = work[0]?.caseColumn;
      const hasNoCase = caseFlaw(table, r, caseColumn) !== null;
      for (const [w, one] of work.entries()) {
        const { plan } = one;
        const rule = rules[w] ?? { operation: plan.operation, maxLength };
        const value = table.value(r, plan.column);
        if (isBlankCell(value)) {
          empty += 1;
          continue;
        }
        if (hasNoCase) continue;
        const sent = table.isText(r, plan.column) ? fittingValues(one, value, rule) : null;
        if (sent === null) {
          counts.unfit += 1;
          const found = unfit[w];
          if (found !== undefined && ++found.count === 1) found.row = chunk.start.row + r;
          continue;
        }
        for (const { sent: text, work: own } of sent) {
          guesses.get(own)?.add(text);
          const seen = plan.operation === 'tokenize' ? tokenized[w] : undefined;
          if (seen !== undefined) {
            seen.all += 1;
            if (looksTokenized(text, own.kind)) {
              seen.like += 1;
              if (seen.like === 1) seen.firstRow = chunk.start.row + r;
            }
          }
          if (!distinct.add(text, seeds.get(own.key) ?? 0) && distinct.exact) continue;
          sendable += 1;
          sentBy.set(own, (sentBy.get(own) ?? 0) + 1);
        }
      }
      if (empty === work.length) counts.blank += 1;
      else if (hasNoCase && caseColumn !== undefined)
        addNotice({
          kind: 'case-missing',
          row: chunk.start.row + r,
          column: names[caseColumn] ?? `Column ${caseColumn + 1}`,
          count: 1,
        });
    }
  }
}
