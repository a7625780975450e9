import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ExportChoice, Job, Preview } from '../../../../electron/contract/models/batch.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import {
  codeOf,
  detokenize,
  openApp,
  plainExport,
  planOf,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
  app.service.answer = (_, elements) => ({
    ok: true,
    value: {
      requestId: 'r',
      elements: elements.map(({ ref, value }) =>
        value === 'bad'
          ? { ref, ok: false, code: 'service.element-refused' as const, reason: 'No' }
          : { ref, ok: true, value: cleartext(value === 'tbar' ? 'A|B' : value.toUpperCase()) },
      ),
    },
  });
});
afterEach(() => app.close());

/** 200 rows; the quotes of rows 71 and 91 are part of the text. */
const list = (token: (row: number) => string = (row) => `t${row}`): string =>
  `name|token|city\n${Array.from({ length: 200 }, (_, at) => {
    const row = at + 1;
    const name = row === 71 ? '"Zum Hirschen' : row === 91 ? 'Rohr 5"' : `Name ${row}`;
    return `${name}|${token(row)}|Ulm\n`;
  }).join('')}`;

const none = { delimiter: '|', quote: 'none' } as const;

async function previewOf(content: string, reading = {}): Promise<Preview> {
  const sourceId = await app.open(await app.write('in.csv', content));
  return valueOf(await app.batch['batch.preview']({ sourceId, reading, masked: null }));
}

async function run(content: string): Promise<Job> {
  const sourceId = await app.open(await app.write('in.csv', content));
  return app.run(sourceId, planOf([detokenize(1, { definition: 'text' })], none));
}

async function exportOf({ jobId }: Job, choice: Partial<ExportChoice> = {}): Promise<string> {
  const saved = await app.batch['batch.export']({ ...plainExport, safety: 'source', jobId, ...choice });
  return readFile(join(app.folder, valueOf(saved)?.name ?? ''), 'utf8');
}

const kindsOf = ({ notices }: Preview): string[] => notices.map(({ kind }) => kind);

describe('a cell that holds whole rows', () => {
  it.each([
    ['twenty rows between two quotes', list()],
    ['ditto marks', 'name|token|city\nAnn|t1|Ulm\n"|t2|Ulm\n"|t3|Ulm\nBen|t4|Ulm\n'],
    ['tabs', 'name\ttoken\tcity\n"a\tt1\tx\nb\tt2\tx\nc"\tt3\tx\nd\tt4\tx\n'],
  ])('is said: %s', async (_, content) => {
    expect(kindsOf(await previewOf(content))).toEqual(['rows-in-cell']);
  });

  it.each([
    ['an address of several lines', 'name;token;city\n"Ann\nStreet 1\nUlm";t1;x\nb;t2;y\n'],
    ['prose with delimiters', 'name,token,city\n"One, two, three.\nFour",t1,x\nb,t2,y\n'],
    ['a delimiter and a line end', 'name,token,city\n"One,two\nthree",t1,x\nb,t2,y\n'],
    ['no quotes', 'name|token\na|t1\nb|t2\n'],
  ])('is not said of %s', async (_, content) => {
    expect(kindsOf(await previewOf(content))).toEqual([]);
  });

  it('is shown with its row', async () => {
    const sourceId = await app.open(await app.write('in.csv', list()));
    const rows = valueOf(
      await app.batch['batch.noticedRows']({
        sourceId,
        reading: {},
        masked: null,
        plan: null,
        notice: { kind: 'rows-in-cell', row: 71, column: '' },
      }),
    );
    expect(rows.map(({ row }) => row)).toEqual([71]);
  });
});

describe('quotes of other programs', () => {
  const rows = (line: (row: number) => string): string =>
    `name;token\n${Array.from({ length: 8 }, (_, at) => `${line(at + 1)}\n`).join('')}`;
  const notice = (kind: string, row: number, count: number) => [{ kind, row, column: null, count }];

  it.each<[string, string, object[]]>([
    ['single ones', rows((row) => `'Ann ${row}';'t${row}'`), notice('single-quotes', 1, 8)],
    [
      'single ones around a delimiter',
      rows((row) => `'Ann; ${row}';t${row}`).replaceAll('; ', ';'),
      [...notice('row-malformed', 1, 8), ...notice('single-quotes', 1, 8)],
    ],
    ['single ones, in one column', `t\n'a'\n'b'\n'c'\n`, notice('single-quotes', 1, 3)],
    [
      'a backslash before one in a text',
      rows((row) => (row === 3 ? 'a \\"b\\" c;t3' : `a;t${row}`)),
      notice('escaped-quotes', 3, 1),
    ],
    [
      'a backslash before one between two',
      rows((row) => (row > 5 ? `"a \\"b\\" ${row}";"t${row}"` : `"a";"t${row}"`)),
      [...notice('unclosed-quote', 6, 3), ...notice('escaped-quotes', 6, 3)],
    ],
    [
      'a backslash before the last one',
      rows((row) => (row === 2 ? `"5\\"";"t2"` : `"a";"t${row}"`)),
      [...notice('unclosed-quote', 2, 1), ...notice('escaped-quotes', 2, 1)],
    ],
  ])('are said: %s', async (_, content, expected) => {
    const shown = await previewOf(content);
    expect(shown.notices).toEqual(expected);
    const sourceId = shown.source.sourceId;
    const { kind, row } = shown.notices.at(-1) ?? { kind: 'nul', row: 0 };
    const ask = { sourceId, reading: {}, masked: null, plan: null, notice: { kind, row, column: '' } };
    const found = valueOf(await app.batch['batch.noticedRows'](ask));
    expect(found.map((one) => one.row)[0]).toBe(row);
  });

  it('are said below a long row above the table', async () => {
    const content = `${'n'.repeat(300_000)}\n${rows((row) => `'Ann ${row}';'t${row}'`)}`;
    const shown = await previewOf(content, { headerRow: 2, delimiter: ';' });
    expect(kindsOf(shown)).toContain('single-quotes');
  });

  it.each([
    ['names with an apostrophe', rows((row) => `'t Hooft;O'Brien ${row}`)],
    ['a name between two', rows((row) => (row === 2 ? `'Ann';t2` : `a;t${row}`))],
    ['a folder of Windows', rows((row) => `"C:\\dir\\";t${row}`)],
    ['doubled ones', rows((row) => `"a ""b"" c";t${row}`)],
  ])('are not said of %s', async (_, content) => {
    expect(kindsOf(await previewOf(content))).toEqual([]);
  });

  it('no card between or behind them is shown', async () => {
    const cards = rows((row) => `'Ann ${row}';'4111111111111111'`);
    const escaped = rows(() => '"a \\"b\\" c";"4111111111111111"');
    for (const content of [cards, escaped])
      expect(JSON.stringify(await previewOf(content))).not.toContain('4111111111111111');
  });
});

describe('where quotes are part of the text', () => {
  it('each line is a row, and its bytes stay', async () => {
    const shown = await previewOf(list(), none);
    expect(shown.reading.quote).toBe('none');
    expect(kindsOf(shown)).toEqual([]);
    const job = await run(list());
    expect(job.tally).toMatchObject({ rows: 200, ok: 200 });
    expect(await exportOf(job)).toBe(list((row) => `T${row}`));
  });

  it('a result that would be two cells is not written, and the row says so', async () => {
    const job = await run('name|token|city\n"a|tbar|x\nb"|t2|y\n');
    const choice = { ...plainExport, safety: 'source', jobId: job.jobId } as const;
    expect(codeOf(await app.batch['batch.export'](choice))).toBe('export.cells-lost');
    const saved = await exportOf(job, { leavesEmpty: true });
    expect(saved).toContain('b"|T2|y');
    const [, row = ''] = saved.split('\n');
    expect(row).toMatch(/^"a\|tbar\|x\|.*value\.unencodable/);
  });

  it('the list of failed rows has quotes as any program reads them, and comes back as it was', async () => {
    const source = 'name|token|city\n"a|bad|x\nb|t2|y\nc"|t3|z\n';
    const job = await run(source);
    expect(job.tally).toMatchObject({ rows: 3, ok: 2, failed: 1 });
    const failed = await exportOf(job, { rows: 'failed', delimiter: '|' });
    expect(failed).toContain('"""a"|bad|x');
  });
});
