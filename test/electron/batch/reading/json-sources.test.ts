import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync, gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { calls } from '../../../../electron/contract/calls.ts';
import type { ExportChoice, Job, Plan } from '../../../../electron/contract/models/batch.ts';
import {
  cleartextOf,
  codeOf,
  detokenize,
  openApp,
  plainExport,
  tokenOf,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const drop = async (name: string, text: string | Buffer) =>
  app.batch['batch.drop']({ reference: await app.write(name, Buffer.from(text)) });

async function previewOf(sourceId: string) {
  const shown = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
  calls['batch.preview'].output.parse(shown);
  return shown;
}

async function runOn(sourceId: string, columns: Plan['columns']): Promise<Job> {
  const { reading } = await previewOf(sourceId);
  return app.run(sourceId, { reading, columns });
}

async function exportOf(
  job: Job,
  choice: Partial<ExportChoice> = {},
): Promise<{ name: string; bytes: Buffer }> {
  const asked = { ...plainExport, safety: 'source' as const, jobId: job.jobId, ...choice };
  const { name } = valueOf(await app.batch['batch.export'](asked)) ?? { name: '' };
  return { name, bytes: await readFile(join(app.folder, name)) };
}

const tokenized = detokenize(0, { operation: 'tokenize', definition: 'card' });

const lines =
  '{"id": 1, "card" : "t1", "who":{"name":"Zo\\u00eb \\/ A", "tags":["a", "t9"]}}\r\n' +
  '\r\n' +
  ' {"who":{"tags":["b"],"name":"Ünal"},"card":"t2","id":2.50 }\n' +
  '{"id":3}\n' +
  '{"card":null,"id":1e400,"x":[[]]}\n' +
  '{"card":"t\\u0033","card2":"t3"}';

describe('JSON Lines', () => {
  it('are a table of their pointers, of which only the mapped strings change', async () => {
    const { sourceId } = valueOf(await drop('cards.jsonl', lines));
    const shown = await previewOf(sourceId);
    expect(shown.columns.map(({ name }) => name)).toEqual([
      '/id',
      '/card',
      '/who/name',
      '/who/tags/0',
      '/who/tags/1',
      '/card2',
    ]);
    expect(shown.guesses).toEqual({ encoding: null, delimiter: null, header: false });
    expect(shown.rows[0]).toEqual(['1', 't1', 'Zoë / A', 'a', 't9', '']);
    const job = await runOn(sourceId, [detokenize(1), detokenize(3)]);
    expect(job).toMatchObject({ state: 'finished', tally: { rows: 6, ok: 3, blank: 3 } });
    const { name, bytes } = await exportOf(job);
    expect(name).toBe('cards_cleartext.jsonl');
    const expected = lines
      .replace('"t1"', `"${cleartextOf('t1')}"`)
      .replace('"a"', `"${cleartextOf('a')}"`)
      .replace('"b"', `"${cleartextOf('b')}"`)
      .replace('"t2"', `"${cleartextOf('t2')}"`)
      .replace('"t\\u0033"', `"${cleartextOf('t3')}"`);
    expect(bytes.toString()).toBe(expected);
  });

  it('keep a byte order mark, and every escape where a value stays the same', async () => {
    const { sourceId } = valueOf(await drop('a.json', `\ufeff${lines}`));
    app.service.answer = (_, elements) => ({
      ok: true,
      value: {
        requestId: 'r',
        elements: elements.map(({ ref, value }) => ({ ref, ok: true as const, value: value as never })),
      },
    });
    const job = await runOn(sourceId, [detokenize(1), detokenize(2)]);
    expect((await exportOf(job)).bytes.toString()).toBe(`\ufeff${lines}`);
  });

  it('escape what a string can’t have, and are JSON again', async () => {
    const hard = 'a"b\\c\n\u2028é\u0001';
    const { sourceId } = valueOf(await drop('a.jsonl', '{"a":"t1"}\n{"a":"t2"}\n'));
    app.service.answer = (_, elements) => ({
      ok: true,
      value: {
        requestId: 'r',
        elements: elements.map(({ ref, value }) => ({
          ref,
          ok: true as const,
          value: (value + hard) as never,
        })),
      },
    });
    const { bytes } = await exportOf(await runOn(sourceId, [detokenize(0, { definition: 'text' })]));
    const read = bytes
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as unknown);
    expect(read).toEqual([{ a: `t1${hard}` }, { a: `t2${hard}` }]);
  });

  it('send no number, and say which rows have one', async () => {
    const pan = '4111111111111111';
    const { sourceId } = valueOf(await drop('a.jsonl', `{"pan":"${pan}"}\n{"pan":${pan}}\n{"pan":true}\n`));
    expect(JSON.stringify((await previewOf(sourceId)).rows)).not.toContain(pan);
    const job = await runOn(sourceId, [tokenized]);
    expect(app.service.sent).toEqual([pan]);
    expect(job).toMatchObject({ tally: { rows: 3, ok: 1, failed: 2 } });
    expect(job.failures).toMatchObject([{ code: 'value.no-text', count: 2, firstRow: 2, retriable: false }]);
    const { bytes } = await exportOf(job, { content: 'tokens' });
    const [first, second, third] = bytes.toString().split('\n');
    expect(first).toBe(`{"pan":"${tokenOf(pan)}"}`);
    // What was to be tokenized leaves as a mask, and a mask is a string.
    expect(second).toMatch(/^\{"pan":"[^"]*1111"\}$/);
    expect(second).not.toContain(pan);
    expect(typeof (JSON.parse(third ?? '') as { pan: unknown }).pan).toBe('string');
  });

  it('have a broken line as a row that fails, goes out as it came in, and is not sent', async () => {
    const text = '{"a":"t1"}\n{"a":"t2"\n{"a":"t3","a":"t4"}\n{"a":"\\ud800"}\n{"a":"\\u0000"}\n{"a":"t5"}\n';
    const { sourceId } = valueOf(await drop('a.jsonl', text));
    const job = await runOn(sourceId, [detokenize(0)]);
    expect(job.tally).toMatchObject({ rows: 6, ok: 2, failed: 4 });
    expect(app.service.sent).toEqual(['t1', 't5']);
    const { bytes } = await exportOf(job);
    expect(bytes.toString()).toBe(text.replace('"t1"', '"<t1>"').replace('"t5"', '"<t5>"'));
    const list = await exportOf(job, { rows: 'failed', content: 'tokens' });
    expect(list.name).toMatch(/_errors\.csv$/);
    expect(list.bytes.toString()).toContain('row.malformed');
  });

  it('become a CSV with a header where that is asked for, and have no room for another column', async () => {
    const { sourceId } = valueOf(await drop('a.jsonl', '{"b":"x","a":"t1"}\n{"a":"t2"}\n'));
    const job = await runOn(sourceId, [detokenize(1, { into: 'beside' })]);
    const refused = { ...plainExport, safety: 'source' as const, jobId: job.jobId };
    expect(codeOf(await app.batch['batch.export'](refused))).toBe('export.no-columns');
    const { bytes } = await exportOf(job, { safety: 'exact', byteOrderMark: false });
    expect(bytes.toString()).toBe('/b,/a,/a_cleartext\r\nx,t1,<t1>\r\n,t2,<t2>\r\n');
    // Tokens beside what was sent would be lost without a word.
    const { sourceId: cards } = valueOf(await drop('c.jsonl', '{"a":"4111111111111111"}\n'));
    const tokens = await runOn(cards, [{ ...tokenized, into: 'beside' }]);
    const asked = { ...refused, jobId: tokens.jobId, content: 'tokens' as const };
    expect(codeOf(await app.batch['batch.export'](asked))).toBe('export.no-columns');
  });

  it('count what stays in clear, also in a member that is no column', async () => {
    const pan = '4111111111111111';
    const rows = Array.from(
      { length: 300 },
      (_, i) =>
        `{"a":"4000001234${i}","n":"${i === 290 ? pan : 'x'}"${i === 295 ? `,"late":"${pan}"` : ''}}\n`,
    );
    const { sourceId } = valueOf(await drop('a.jsonl', rows.join('')));
    const job = await runOn(sourceId, [tokenized]);
    const found = valueOf(
      await app.batch['batch.checkExport']({ jobId: job.jobId, content: 'tokens', rows: 'all' }),
    );
    expect(found?.cards).toBe(2);
    expect(found?.places).toMatchObject([{ column: 1, firstRow: 291 }]);
  });

  it('may be in an archive', async () => {
    const { sourceId } = valueOf(await drop('a.jsonl.gz', gzipSync(lines)));
    const job = await runOn(sourceId, [detokenize(1)]);
    const { name, bytes } = await exportOf(job, { archive: 'gzip' });
    expect(name).toBe('a_cleartext.jsonl.gz');
    expect(gunzipSync(bytes).toString()).toContain(cleartextOf('t2'));
  });

  it('are read so by main alone: no reading that the window asks for makes a text JSON', async () => {
    const { sourceId } = valueOf(await drop('a.csv', 'a,b\n1,2\n'));
    const shown = valueOf(
      await app.batch['batch.preview']({
        sourceId,
        reading: { json: { rows: 'lines', pointers: ['/a'] } },
        masked: null,
      }),
    );
    expect(shown.reading.json).toBe(undefined);
  });
});

describe('an array', () => {
  const array = '[ {"a":"t1","n":1},\n  {"n":2, "a":"t2"}\n, {} ]\n';

  it.each(['[{"a":"t1"}]', '[\n{"a":"t1"}\n]\n'])('of one object is a table: %s', async (text) => {
    const { sourceId } = valueOf(await drop('a.json', text));
    const { bytes } = await exportOf(await runOn(sourceId, [detokenize(0)]));
    expect(bytes.toString()).toBe(text.replace('t1', '<t1>'));
  });

  it('is a table as lines are, and stays one array', async () => {
    const { sourceId } = valueOf(await drop('a.json', array));
    const job = await runOn(sourceId, [detokenize(0)]);
    expect(job.tally).toMatchObject({ rows: 3, ok: 2, blank: 1 });
    const { name, bytes } = await exportOf(job);
    expect(name).toBe('a_cleartext.json');
    expect(bytes.toString()).toBe(array.replace('"t1"', '"<t1>"').replace('"t2"', '"<t2>"'));
    const part = { ...plainExport, safety: 'source' as const, rows: 'matches' as const, jobId: job.jobId };
    expect(codeOf(await app.batch['batch.export'](part))).toBe('export.array-part');
  });

  it('of many chunks is read by any of them', async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => ({ n: i, a: `t${i}`, s: '{"x":"]}"},[' }));
    const text = JSON.stringify(rows, null, 1);
    const { sourceId } = valueOf(await drop('a.json', text));
    const job = await runOn(sourceId, [detokenize(1)]);
    expect(job.tally).toMatchObject({ rows: 20_000, ok: 20_000 });
    const { bytes } = await exportOf(job);
    expect(JSON.parse(bytes.toString())).toEqual(rows.map((row) => ({ ...row, a: cleartextOf(row.a) })));
  });

  it.each<[string, string]>([
    ['cut', array.slice(0, -4)],
    ['cut behind a comma', '[{"a":"1"},{"a":"2"},'],
    ['with text behind it', '[{"a":"1"}] x'],
    ['with a number among objects', '[{"a":"1"}, 2]'],
    ['with a member twice', '[{"a":"1"},{"a":"1","a":"2"}]'],
    ['in an array', '[{"a":"1"},[{"a":"2"}]'],
    ['without a comma', '[{"a":"1"} {"a":"2"}]'],
  ])('that is %s is refused whole', async (_, text) => {
    expect(codeOf(await drop('a.json', text))).toBe('file.json-damaged');
  });
});

it('JSON that is no table is called so', async () => {
  for (const text of ['{\n "a": 1\n}\n', '{"a":\n', '[\n]', '{}\n{}\n'])
    expect(codeOf(await drop('a.json', text)), text).toBe('file.not-a-table');
});
