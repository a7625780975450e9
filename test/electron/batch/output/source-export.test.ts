import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import { exportJob } from '../../../../electron/batch/output/export.ts';
import { codecOf } from '../../../../electron/batch/reading/encodings.ts';
import type { Encoding, ExportChoice, Job, Plan } from '../../../../electron/contract/models/batch.ts';
import { failed } from '../../../../electron/contract/errors.ts';
import {
  codeOf,
  detokenize,
  openApp,
  planOf,
  plainExport,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

/** Letters only: any encoding has them, and no cell needs quotes because of them. */
const answerWith = (answer: (value: string) => string): void => {
  app.service.answer = (_, elements) => ({
    ok: true,
    value: {
      requestId: 'r',
      elements: elements.map(({ ref, value }) =>
        value.startsWith('bad')
          ? { ref, ok: false, code: 'service.element-refused' as const, reason: `No such token: ${value}` }
          : { ref, ok: true, value: cleartext(answer(value)) },
      ),
    },
  });
};

async function run(content: string | Buffer, plan: Plan): Promise<Job> {
  const sourceId = await app.open(await app.write('in.csv', content));
  return app.run(sourceId, plan);
}

async function bytesOf(job: Job, choice: Partial<ExportChoice> = {}): Promise<Buffer> {
  const outcome = await app.batch['batch.export']({
    ...plainExport,
    safety: 'source',
    jobId: job.jobId,
    ...choice,
  });
  return readFile(join(app.folder, valueOf(outcome)?.name ?? ''));
}

const exportOf = async (job: Job, choice: Partial<ExportChoice> = {}): Promise<string> =>
  (await bytesOf(job, choice)).toString('latin1');

describe("an export in the source's own dialect", () => {
  beforeEach(() => {
    answerWith((value) => value.toUpperCase());
  });

  it.each([
    ['quotes that are not needed', '"name","tok"\n"a","t1"\n', '"name","tok"\n"a","T1"\n'],
    ['empty and quoted empty cells', 'name,tok,x\n"",t1,\n,t2,""\n', 'name,tok,x\n"",T1,\n,T2,""\n'],
    ['white space', 'name,tok\n a ,t1\n"b" ,"t2" \n', 'name,tok\n a ,T1\n"b" ,"T2 "\n'],
    ['quotes within a cell', 'name,tok\n5" pipe,t1\n "x",t2\n', 'name,tok\n5" pipe,T1\n "x",T2\n'],
    ['mixed line ends', 'name,tok\r\na,t1\nb,t2\r\nc\rd,t3\n', 'name,tok\r\na,T1\nb,T2\r\nc\rd,T3\n'],
    ['CR alone', 'name,tok\ra,t1\r"b\nc",t2\r', 'name,tok\ra,T1\r"b\nc",T2\r'],
    ['a missing last line end', 'name,tok\na,t1\nb,t2', 'name,tok\na,T1\nb,T2'],
    ['empty lines', 'name,tok\n\na,t1\n\n\n', 'name,tok\n\na,T1\n\n\n'],
    ['a byte order mark', '\xef\xbb\xbfname,tok\na,t1\n', '\xef\xbb\xbfname,tok\na,T1\n'],
    ['line ends in cells', 'name,tok\r\n"a\nb\r\nc","t1"\r\n', 'name,tok\r\n"a\nb\r\nc","T1"\r\n'],
    ['a delimiter in a cell', 'name,tok\n"a,b","t,1"\n', 'name,tok\n"a,b","T,1"\n'],
  ])('keeps %s', async (_, source, expected) => {
    const job = await run(Buffer.from(source, 'latin1'), planOf([detokenize(1, { definition: 'text' })]));
    expect(job).toMatchObject({ state: 'finished', tally: { failed: 0 } });
    expect(await exportOf(job)).toBe(expected);
  });

  it('quotes a cell only where it had quotes or needs them now', async () => {
    answerWith((value) => ({ t1: 'a,b', t2: 'plain', t3: '5"', t4: '' })[value] ?? '');
    const job = await run('tok\nt1\n"t2"\nt3\nt4\n', planOf([detokenize(0, { definition: 'text' })]));
    expect(await exportOf(job)).toBe('tok\n"a,b"\n"plain"\n"5"""\n""\n');
  });

  it('keeps bytes that are no characters, and tells their row', async () => {
    const job = await run(
      Buffer.from('name,tok\ncaf\xe9,t1\nb,t2\n\xc3\xa9,t3\n', 'latin1'),
      planOf([detokenize(1, { definition: 'text' })]),
    );
    expect(job.tally).toMatchObject({ ok: 2, failed: 1 });
    expect(await exportOf(job)).toBe('name,tok,error\ncaf\xe9,t1,row.bad-encoding\nb,T2,\n\xc3\xa9,T3,\n');
  });

  it.each<[Encoding, string]>([
    ['utf-16le', '日本語|té1'],
    ['utf-16be', '日本語|té1'],
    ['windows-1252', '€ür|té1'],
    ['shift_jis', '表ソ能|t1'],
    ['big5', '功許蓋|t1'],
    ['gb18030', '世界丂|t1'],
    ['euc-jp', '日本語|t1'],
  ])('finds the delimiters of %s, whatever bytes its characters have', async (encoding, line) => {
    const bytesIn = (text: string): Buffer => {
      const encoded = codecOf(encoding).encode(text);
      if (!encoded.ok) throw new Error(encoded.character);
      return encoded.bytes;
    };
    const job = await run(
      bytesIn(`名|tok\n${line}\n`.replace('名', encoding === 'windows-1252' ? 'n' : '名')),
      planOf([detokenize(1, { definition: 'text' })], { encoding, delimiter: '|' }),
    );
    expect(job.tally).toMatchObject({ rows: 1, ok: 1 });
    const [name = '', token = ''] = line.split('|');
    expect(app.service.sent).toEqual([token]);
    const head = encoding === 'windows-1252' ? 'n' : '名';
    expect(await bytesOf(job)).toEqual(bytesIn(`${head}|tok\n${name}|${token.toUpperCase()}\n`));
  });

  it('writes anew with any delimiter that a reading may have, if the encoding has it', async () => {
    const job = await run(
      Buffer.from('n\xa7tok\na,b\xa7t1\n', 'latin1'),
      planOf([detokenize(1, { definition: 'text' })], { delimiter: '§', encoding: 'windows-1252' }),
    );
    const anew = { safety: 'exact', delimiter: '§', newline: '\n', byteOrderMark: false } as const;
    expect(await exportOf(job, { ...anew, encoding: 'windows-1252' })).toBe('n\xa7tok\na,b\xa7T1\n');
    expect(await exportOf(job, { ...anew, encoding: 'utf-8' })).toBe('n\xc2\xa7tok\na,b\xc2\xa7T1\n');
    expect(codeOf(await app.export(job.jobId, { ...anew, encoding: 'koi8-r' }))).toBe('file.delimiter');
  });

  it('keeps half a character at the end of a file, and tells its row', async () => {
    const bytes = Buffer.from('n,tok\na,t1\nb,t2\n', 'utf16le').subarray(0, -1);
    const job = await run(bytes, planOf([detokenize(1, { definition: 'text' })], { encoding: 'utf-16le' }));
    expect(job.tally).toMatchObject({ rows: 2, ok: 1, failed: 1 });
    expect((await bytesOf(job, { rows: 'failed' })).at(-1)).toBe(bytes.at(-1));
  });

  it('leaves a cell as it was where the encoding has not its result, and says so', async () => {
    answerWith((value) => (value === 't1' ? 'żółw' : 'É'));
    const job = await run(
      Buffer.from('n,tok\na,t1\nb,t2\n'),
      planOf([detokenize(1, { definition: 'text' })], { encoding: 'iso-8859-1' }),
    );
    expect(await exportOf(job, { leavesEmpty: true })).toBe('n,tok,error\na,t1,value.unencodable\nb,\xc9,\n');
    expect(valueOf(await app.export(job.jobId, { safety: 'exact' }))).toBe('n,tok\r\na,żółw\r\nb,É\r\n');
  });

  it('puts new columns beside theirs, in the same dialect', async () => {
    const job = await run(
      '"name";"tok"\r\n"a";"t1"\r\nb;bad\r\n\r\n;\r\n',
      planOf([detokenize(1, { definition: 'text', into: 'beside' })], { delimiter: ';' }),
    );
    expect(await exportOf(job)).toBe(
      '"name";"tok";"tok_cleartext";"error"\r\n' +
        '"a";"t1";"T1";""\r\n' +
        'b;bad;;service.element-refused\r\n' +
        '\r\n' +
        ';;;\r\n',
    );
  });

  it('notices the quotes of a header, and keeps its bytes', async () => {
    const sourceId = await app.open(await app.write('in.csv', 'na"me,"tok"en\na,t1\n'));
    const plan = planOf([detokenize(1, { definition: 'text' })]);
    const preview = valueOf(
      await app.batch['batch.preview']({ sourceId, reading: plan.reading, masked: null }),
    );
    expect(preview.notices).toContainEqual({ kind: 'header-damaged', row: 0, column: null, count: 1 });
    expect(await exportOf(await app.run(sourceId, plan))).toBe('na"me,"tok"en\na,T1\n');
  });
});

describe.each(['source', 'exact'] as const)('rows with more or fewer fields, written as %s', (safety) => {
  it('have their error under its head, and no field under another', async () => {
    answerWith(() => 'CLEAR');
    const job = await run(
      'name,token,note\r\na,tok1,x\r\nb,tok2,y,\r\nc,tok3,z\r\nd,tok4\r\n',
      planOf([detokenize(1)]),
    );
    expect(await exportOf(job, { safety })).toBe(
      'name,token,note,error\r\na,CLEAR,x,\r\nb,tok2,y,row.malformed,\r\nc,CLEAR,z,\r\nd,tok4,,row.malformed\r\n',
    );
  });

  it('keep a clear number away from the column of tokens beside it', async () => {
    answerWith(() => 'TOKEN');
    const job = await run(
      'name,card,note\r\na,4242424242424242,x\r\nb,5555,4242424242424242,y\r\n',
      planOf([detokenize(1, { operation: 'tokenize', into: 'beside' })]),
    );
    expect(await exportOf(job, { safety })).toBe(
      'name,card,card_token,note,error\r\n' +
        'a,4242424242424242,TOKEN,x,\r\n' +
        'b,5555,,4242424242424242,row.malformed,y\r\n',
    );
  });

  it('hide a clear number in whatever column it stands', async () => {
    answerWith(() => 'TOKEN');
    const job = await run(
      'name,card,note\r\na,4242424242424242,x\r\nb,5555,4242424242424242,y\r\n',
      planOf([detokenize(1, { operation: 'tokenize', into: 'beside' })]),
    );
    const exported = await exportOf(job, { safety, content: 'tokens' });
    expect(exported).toContain('row.malformed');
    expect(exported).not.toContain('4242424242424242');
  });

  it('leave nothing in the column of matches', async () => {
    const job = await run(
      'token,note\r\n1,x\r\n2,y,no\r\n',
      planOf([detokenize(0, { operation: 'match', pattern: '1' })]),
    );
    expect(await exportOf(job, { safety, content: 'tokens' })).toBe(
      'token,token_match,note,error\r\n1,yes,x,\r\n2,,y,row.malformed,no\r\n',
    );
  });
});

describe('the list of failed rows', () => {
  it('says why in front of the row as it came in', async () => {
    answerWith((value) => value);
    const job = await run(
      'name;tok\n"-- Bob";bad1\n@ann;t2\n+49 30 1;bad3;x\n"a"x;t4\nok;t5',
      planOf([detokenize(1, { definition: 'text' })], { delimiter: ';' }),
    );
    expect(await exportOf(job, { rows: 'failed', content: 'tokens' })).toBe(
      'source_row;column;reason;code;name;tok\n' +
        '"1";"tok";"Refused by the service: No such token: bad1";"service.element-refused";"-- Bob";bad1\n' +
        '3;;More or fewer fields than the header;row.malformed;+49 30 1;bad3;x\n' +
        '4;;A quote never closes;row.unclosed-quote;"a"x;t4\n',
    );
  });

  it('names the columns where the file does not', async () => {
    answerWith((value) => value);
    const job = await run(
      'a,bad1\nb,t2\n',
      planOf([detokenize(1, { definition: 'text' })], { header: false }),
    );
    expect(await exportOf(job, { rows: 'failed', content: 'tokens' })).toBe(
      'source_row,column,reason,code,Column 1,Column 2\n' +
        '1,Column 2,Refused by the service: No such token: bad1,service.element-refused,a,bad1\n',
    );
  });

  it('hides what was to be tokenized, in the reason too, unless it is asked for with a reason', async () => {
    app.service.answer = (_, elements) => ({
      ok: true,
      value: {
        requestId: 'r',
        elements: elements.map(({ ref, value }) => ({
          ref,
          ok: false as const,
          code: 'service.element-refused' as const,
          reason: `${value} is not known`,
        })),
      },
    });
    const job = await run(
      'name,card\na,4111111111111111\n',
      planOf([detokenize(1, { operation: 'tokenize' })]),
    );
    const choice = { rows: 'failed' } as const;
    const hidden = (await bytesOf(job, { ...choice, content: 'masked', grounds: null })).toString();
    expect(hidden).toBe(
      'source_row,column,reason,code,name,card\n' +
        '1,card,Refused by the service: 411111••••••1111 is not known,service.element-refused,a,411111••••••1111\n',
    );
    const refused = await app.batch['batch.export']({
      ...plainExport,
      ...choice,
      safety: 'source',
      jobId: job.jobId,
      grounds: null,
    });
    expect(codeOf(refused)).toBe('reveal.reason-required');
    expect(await exportOf(job, choice)).toContain(',a,4111111111111111\n');
    expect(app.audit.intents.at(-1)).toMatchObject({ action: 'Export', cleartext: true, rows: 1 });
  });

  it("has the messages of a request that was refused for one value's sake", async () => {
    app.service.answer = (_, elements) =>
      elements.some(({ value }) => value === 'bad')
        ? failed('service.invalid-input', { fields: [{ name: 'Value', message: 'Must be a token' }] })
        : null;
    const job = await run('tok,n\nt1,1\nbad,2\nt3,3\n', planOf([detokenize(0, { definition: 'text' })]));
    expect(await exportOf(job, { rows: 'failed', content: 'tokens' })).toBe(
      'source_row,column,reason,code,tok,n\n' +
        '2,tok,Not accepted by the service: Must be a token,service.invalid-input,bad,2\n',
    );
  });
});

describe('an export in an encoding that a person chose', () => {
  const asText = planOf([detokenize(1, { definition: 'text' })], { encoding: 'utf-8' });

  beforeEach(() => {
    answerWith((value) => value.toUpperCase());
  });

  it.each([
    ['windows-1252', 'name,tok\r\nRenée,é'],
    ['windows-1251', 'имя,tok\r\nОльга,ж'],
    ['shift_jis', '名,tok\r\n花子,あ'],
    ['utf-16le', '名,tok\r\n😀,ж'],
    ['utf-16be', '名,tok\r\n😀,ж'],
  ] as const)('is written in %s, and reads back the same', async (encoding, text) => {
    const job = await run(`${text}\r\n`, asText);
    const bytes = await bytesOf(job, { safety: 'exact', encoding });
    const written = codecOf(encoding).decode(bytes);
    expect(written.clean).toBe(true);
    expect(written.text).toBe(`${text.replace(/.$/u, (last) => last.toUpperCase())}\r\n`);
  });

  it.each(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const)(
    'begins with a byte order mark in %s where there is one and it is wanted',
    async (encoding) => {
      const job = await run('name,tok\r\na,b\r\n', asText);
      const bytes = await bytesOf(job, { safety: 'exact', encoding, byteOrderMark: true });
      const { text } = codecOf(encoding).decode(bytes);
      expect(text).toBe(`${encoding === 'windows-1252' ? '' : '\ufeff'}name,tok\r\na,B\r\n`);
    },
  );

  it('leaves a cell that it can not hold empty, and flags its row and no other', async () => {
    const job = await run('name,tok\r\nŽofie,a\r\nAnna,b\r\n"x ☃",c\r\n', asText);
    const latin = { safety: 'exact', encoding: 'iso-8859-1', leavesEmpty: true } as const;
    expect(await exportOf(job, latin)).toBe(
      'name,tok,error\r\n,A,value.unencodable\r\nAnna,B,\r\n,C,value.unencodable\r\n',
    );
    expect(await exportOf(job, { ...latin, rows: 'matches' })).toContain(',A,value.unencodable');
  });

  it('says in the list of failed rows that a cell is empty for it', async () => {
    const job = await run('name,tok\r\nŽofie,bad\r\nAnna,bad2\r\n', asText);
    const list = await exportOf(job, {
      safety: 'exact',
      encoding: 'iso-8859-1',
      rows: 'failed',
      leavesEmpty: true,
    });
    const [, first = '', second = ''] = list.split('\r\n');
    expect(first).toContain('value.unencodable');
    expect(first).toMatch(/,,bad$/);
    expect(second).toMatch(/,Anna,bad2$/);
    expect(second).not.toContain('value.unencodable');
  });

  it('flags a result that it can not hold, and the token stays', async () => {
    answerWith(() => 'żółw');
    const job = await run('name,tok\r\na,t1\r\n', asText);
    expect(await exportOf(job, { safety: 'exact', encoding: 'windows-1252', leavesEmpty: true })).toBe(
      'name,tok,error\r\na,t1,value.unencodable\r\n',
    );
  });

  it('counts the cells that it can not hold, and is not written unless a person says so', async () => {
    const job = await run('name,tok\r\nŽofie ☃,a\r\nAnna,b\r\n☃,c\r\n', asText);
    const { jobId } = job;
    const choice = { ...plainExport, safety: 'exact', encoding: 'iso-8859-1', jobId } as const;
    const refused = await app.batch['batch.export'](choice);
    expect(refused).toMatchObject({ failure: { code: 'export.cells-lost', subject: '2 2' } });
    expect((await readdir(app.folder)).filter((name) => name.includes('cleartext'))).toEqual([]);
    const written = valueOf(await app.batch['batch.export']({ ...choice, leavesEmpty: true }));
    expect(written).toMatchObject({ lostCells: 2, lostRows: 2 });
    const whole = valueOf(await app.batch['batch.export']({ ...choice, encoding: 'utf-8' }));
    expect(whole).toMatchObject({ lostCells: 0, lostRows: 0 });
  });

  it('is refused where it can not hold the header, and writes nothing', async () => {
    const job = await run('имя,tok\r\na,b\r\n', asText);
    const choice = { ...plainExport, safety: 'exact', encoding: 'iso-8859-1', jobId: job.jobId } as const;
    expect(codeOf(await app.batch['batch.export'](choice))).toBe('export.encoding');
    expect((await readdir(app.folder)).filter((name) => name.includes('cleartext'))).toEqual([]);
  });

  it('writes masks in words that it has', async () => {
    const job = await run('name,tok\r\na,4111111111111111\r\n', planOf([detokenize(1)]));
    const masked = await exportOf(job, { safety: 'exact', encoding: 'iso-8859-1', content: 'masked' });
    expect(masked).toMatch(/^name,tok\r\na,[0-9* ]+\r\n$/);
  });
});

it('a long row is written as a short one is', async () => {
  answerWith(() => 'TOKEN');
  const plan = planOf([detokenize(1, { operation: 'tokenize', into: 'beside' })], { encoding: 'utf-8' });
  const choices = [
    {},
    { content: 'tokens' },
    { content: 'tokens', safety: 'exact', encoding: 'iso-8859-1' },
    { content: 'masked', safety: 'spreadsheet', encoding: 'gb18030' },
    { safety: 'exact', encoding: 'shift_jis' },
    { content: 'tokens', rows: 'failed', safety: 'exact', encoding: 'iso-8859-1' },
  ] as const;
  const exportsOf = async (note: string): Promise<string[]> => {
    const rows = [
      'name,card,note',
      `Žofie,4242424242424242,${note}`,
      `b,5555,${note},4242424242424242,z`,
      `${note},4111111111111111,☃${note}`,
      `Anna,4111111111111111,x`,
      `${note},,,é`,
    ];
    const job = await run(rows.map((row) => `${row}\r\n`).join(''), plan);
    const written: string[] = [];
    for (const choice of choices) written.push(await exportOf(job, { ...choice, leavesEmpty: true }));
    expect(written[1]).not.toContain('4242424242424242,z');
    return written.map((text) => text.replaceAll('long ', ''));
  };
  expect(await exportsOf('long '.repeat(20_000))).toEqual(await exportsOf('long '));
});

describe('W17 an export of many rows', () => {
  const many = `tok;note\n${Array.from({ length: 20_000 }, (_, n) => `t${n};a note that takes some room in the file`).join('\n')}\n`;

  it('says how far it is, and leaves no file where it is stopped', async () => {
    answerWith((value) => value.toUpperCase());
    const job = await run(many, planOf([detokenize(0, { definition: 'text' })], { delimiter: ';' }));
    const before = await readdir(app.folder);
    const seen: { share: number; rows: number }[] = [];
    app.onExporting = ({ jobId, share, rows }) => {
      seen.push({ share, rows });
      void app.batch['batch.stopExport']({ jobId });
    };
    const stopped = await app.batch['batch.export']({ ...plainExport, safety: 'source', jobId: job.jobId });
    expect(stopped).toEqual(failed('service.cancelled'));
    expect(seen[0]?.rows).toBeGreaterThan(0);
    expect(seen[0]?.share).toBeLessThan(1);
    expect(await readdir(app.folder)).toEqual(before);
    expect(app.audit.ends.at(-1)).toMatchObject({ ok: false, code: 'service.cancelled' });
    app.onExporting = () => undefined;
    expect((await exportOf(job)).split('\n')).toHaveLength(20_002);
  });
});

describe('an export whose batch is removed meanwhile', () => {
  const many = `tok;note\n${Array.from({ length: 20_000 }, (_, n) => `t${n};a note that takes some room in the file`).join('\n')}\n`;
  const plan = planOf([detokenize(0, { definition: 'text' })], { delimiter: ';' });
  const pasted = async (): Promise<string> =>
    valueOf(await app.batch['batch.paste']({ text: many })).sourceId;
  const opened = async (): Promise<string> => app.open(await app.write('in.csv', many));

  it.each([
    ['of a file', opened, {}],
    ['of pasted rows', pasted, {}],
    ['of results alone', opened, { withoutSource: true }],
  ] as const)('%s says that it is gone while rows are written, and leaves no file', async (_, open, over) => {
    answerWith((value) => value.toUpperCase());
    const { jobId } = await app.run(await open(), plan);
    const before = await readdir(app.folder);
    const discarded = Promise.withResolvers<unknown>();
    app.onExporting = () => {
      discarded.resolve(app.batch['batch.discard']({ jobId }));
      app.onExporting = () => undefined;
    };
    const choice = { ...plainExport, safety: 'source', jobId, ...over } as const;
    expect(await app.batch['batch.export'](choice)).toEqual(failed('job.unknown'));
    expect(await discarded.promise).toEqual({ ok: true, value: {} });
    expect(await readdir(app.folder)).toEqual(before);
    expect(app.audit.ends.at(-1)).toMatchObject({ ok: false, code: 'job.unknown' });
  });

  it.each([
    ['of a file', opened],
    ['of pasted rows', pasted],
  ])('%s says so before the first row too', async (_, open) => {
    answerWith((value) => value.toUpperCase());
    const { jobId } = await app.run(await open(), plan);
    // Asked for once the store is open and the target is chosen.
    Object.defineProperty(app.audit, 'refuse', {
      get: () => (void app.batch['batch.discard']({ jobId }), null),
    });
    const choice = { ...plainExport, safety: 'source', jobId } as const;
    expect(await app.batch['batch.export'](choice)).toEqual(failed('job.unknown'));
  });
});

it('as a workbook of more rows than a sheet has is refused before a file is chosen', async () => {
  const tally = { rows: 1_048_576, ok: 1_048_576, failed: 0, unmatched: 0, blank: 0 };
  const job = {
    ...{ busy: false, spec: {}, work: [] },
    view: () => ({ valueless: [] }),
    openResults: () => Promise.resolve({ ok: true, value: { tally } }),
  };
  const asked = { ...plainExport, content: 'tokens', rows: 'all', format: 'workbook', shownRows: undefined };
  const nothingElse = {} as never;
  expect(await exportJob(nothingElse, job as never, asked as never)).toEqual(
    failed('file.workbook-full', { subject: '1048575' }),
  );
});
