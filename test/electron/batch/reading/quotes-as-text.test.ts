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
