import fc from 'fast-check';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cleartext } from '../../electron/util/cleartext.ts';
import { done } from '../../electron/contract/errors.ts';
import { detokenize, plainExport, valueOf, type TestApp } from '../support/batch-app.ts';
import type { FidelityReport } from './run-cases.ts';

interface JsonCase {
  readonly name: string;
  readonly text: string;
  /** The values of the rows, as JSON.parse reads them. */
  readonly rows: readonly unknown[];
  /** Its strings are as JSON.stringify writes them: a changed one is written so, whatever it was before. */
  readonly isPlain: boolean;
}

const mark = 'x"é\\';

/**
 * JSON through the whole of a batch, twice: with answers that are the values, and every byte must be the source's; with a mark
 * behind each value, and JSON.parse must find all rows as they were but for the strings of the mapped pointers, while
 * the text without those strings is the same.
 */
export async function runJson(app: TestApp, cases: readonly JsonCase[]): Promise<FidelityReport> {
  const differing: { name: string; why: string }[] = [];
  for (const one of cases) {
    const why = await runCase(app, one);
    if (why !== null) differing.push({ name: one.name, why });
  }
  return { cases: cases.length, identical: cases.length - differing.length, refused: {}, differing };
}

async function runCase(app: TestApp, { text, rows, isPlain }: JsonCase): Promise<string | null> {
  const path = join(app.folder, 'case.json');
  await writeFile(path, text);
  const opened = await app.batch['batch.drop']({ reference: path });
  if (!opened.ok) return opened.failure.code;
  const { sourceId } = opened.value;
  const { reading, columns } = valueOf(
    await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }),
  );
  const pointers = reading.json?.pointers ?? [];
  const mapped = [...new Set([0, columns.length - 1])];
  const run = async (
    answer: (value: string) => string,
  ): Promise<string | { written: string; failed: number }> => {
    app.service.answer = (_, elements) =>
      done({
        requestId: 'r',
        elements: elements.map(({ ref, value }) => ({
          ref,
          ok: true as const,
          value: cleartext(answer(value)),
        })),
      });
    const plan = mapped.map((column) => detokenize(column, { definition: 'text' }));
    const job = await app.run(sourceId, { reading, columns: plan });
    if (job.state !== 'finished') return `the job is ${job.state}: ${job.failure?.code ?? ''}`;
    const exported = await app.batch['batch.export']({ ...plainExport, safety: 'source', jobId: job.jobId });
    if (!exported.ok || exported.value === null) return exported.ok ? 'not exported' : exported.failure.code;
    const target = join(app.folder, exported.value.name);
    const written = await readFile(target, 'utf8');
    await rm(target);
    await app.batch['batch.discard']({ jobId: job.jobId });
    return { written, failed: job.tally.failed };
  };
  const same = await run((value) => value);
  if (typeof same === 'string') return same;
  if (same.written !== text) return 'other bytes, though no value changed';
  const marked = await run((value) => value + mark);
  if (typeof marked === 'string') return marked;
  const after = readRows(marked.written);
  if (after.length !== rows.length) return `${after.length} rows instead of ${rows.length}`;
  const expected = rows.map((row) =>
    withMarks(
      row,
      mapped.map((column) => pointers[column] ?? ''),
    ),
  );
  const at = after.findIndex((row, index) => JSON.stringify(row) !== JSON.stringify(expected[index]));
  if (at >= 0) return `row ${at + 1}: ${JSON.stringify(after[at])}`;
  // Each mark as it is written in JSON; no case has it by itself.
  const written = JSON.stringify(mark).slice(1, -1);
  return !isPlain || marked.written.replaceAll(written, '') === text ? null : 'other bytes beside the values';
}

/** By JSON.parse: of lines each, those that are none as texts. */
function readRows(text: string): unknown[] {
  const plain = text.replace(/^\ufeff/, '');
  if (plain.trimStart().startsWith('[')) return JSON.parse(plain) as unknown[];
  return plain.split('\n').map((line) => {
    try {
      return line.trim() === '' ? null : (JSON.parse(line) as unknown);
    } catch {
      return line;
    }
  });
}

function withMarks(row: unknown, pointers: readonly string[]): unknown {
  const changed = structuredClone(row);
  for (const pointer of pointers) {
    const parts = pointer
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    const last = parts.pop() ?? '';
    let holder = changed as Record<string, unknown> | null | undefined;
    for (const part of parts)
      holder = Object.hasOwn(holder ?? {}, part) ? (holder?.[part] as typeof holder) : null;
    if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, last)) continue;
    const value = holder[last];
    if (typeof value === 'string' && value.trim() !== '') holder[last] = value + mark;
  }
  return changed;
}

/** Random rows, written by JSON.stringify and in other ways that mean the same. */
export function jsonCases(rows: 'lines' | 'array', count: number, seed: number): JsonCase[] {
  const text = fc.string({
    unit: fc.constantFrom(...Array.from('aZ0 é日"\\/,{}[]:\u2028\t😀')),
    maxLength: 8,
  });
  const value = fc.oneof(
    text,
    fc.constantFrom('tok1', '4111111111111111'),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  const object = fc.record(
    {
      id: value,
      card: fc.constantFrom('t1', 't2', '4111 1111 1111 1111'),
      who: fc.record({ name: text, list: fc.array(value, { maxLength: 4 }) }),
      'a/b~c': text,
    },
    { requiredKeys: ['card'] },
  );
  const style = fc.record({
    end: fc.constantFrom('\n', '\r\n'),
    hasEnd: fc.boolean(),
    hasMark: fc.boolean(),
    isSpaced: fc.boolean(),
    isEscaped: fc.boolean(),
    isReversed: fc.boolean(),
  });
  const samples = fc.sample(fc.tuple(fc.array(object, { minLength: 1, maxLength: 12 }), style), {
    numRuns: count,
    seed,
  });
  return samples.map(([objects, how], index) => {
    const write = (one: object, at: number): string => {
      const entries = Object.entries(one);
      const own = Object.fromEntries(how.isReversed && at % 2 === 1 ? entries.reverse() : entries);
      let json = JSON.stringify(own, null, how.isSpaced ? 1 : 0);
      if (rows === 'lines') json = json.replaceAll('\n', ' ');
      return how.isEscaped
        ? json.replaceAll(
            /[\u0080-\uffff]/g,
            (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
          )
        : json;
    };
    const written = objects.map(write);
    const body =
      rows === 'array'
        ? `[${how.end}${written.join(`,${how.end} `)}${how.end}]${how.hasEnd ? how.end : ''}`
        : written.join(how.end) + (how.hasEnd ? how.end : '');
    const whole = (how.hasMark ? '\ufeff' : '') + body;
    return {
      name: `${rows} ${index}, seed ${seed}`,
      text: whole,
      rows: readRows(whole),
      isPlain: !how.isEscaped,
    };
  });
}

/** As programs write them. */
export function realJson(): JsonCase[] {
  const orders = Array.from({ length: 40 }, (_, i) => ({
    _id: { $oid: `65${String(i).padStart(22, '0')}` },
    createdAt: '2026-11-25T08:00:00.000Z',
    payment: {
      card: { pan: `4000001234${String(i).padStart(6, '0')}`, exp: '11/29' },
      amount: 12.5,
      currency: 'EUR',
    },
    lines: [
      { sku: 'A-1', qty: 2 },
      { sku: 'Ü "2"', qty: 1 },
    ],
    note: i % 3 === 0 ? null : 'Zoë said: "ok"',
  }));
  const texts = {
    'an export of a document store': orders.map((one) => JSON.stringify(one)).join('\n') + '\n',
    'a log of requests, with blank and broken lines': orders
      .map((one, i) =>
        i === 5 ? '' : i === 9 ? '{"level":"info",' : JSON.stringify({ level: 'info', ...one }),
      )
      .join('\r\n'),
    'an answer of an API': JSON.stringify(orders, null, 2),
    'an array in one line': JSON.stringify(orders),
  };
  return Object.entries(texts).map(([name, text]) => ({ name, text, rows: readRows(text), isPlain: true }));
}
