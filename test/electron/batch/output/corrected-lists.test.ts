import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { calls } from '../../../../electron/contract/calls.ts';
import { failed } from '../../../../electron/contract/errors.ts';
import type { Encoding, ExportChoice, Job } from '../../../../electron/contract/models/batch.ts';
import { codecOf } from '../../../../electron/batch/reading/encodings.ts';
import {
  codeOf,
  detokenize,
  openApp,
  planOf,
  plainExport,
  someGrounds,
  takeIn,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
  app.service.refuses = (value) => value.startsWith('BAD');
});
afterEach(() => app.close());

const encode = (text: string, encoding: Encoding): Buffer => {
  const encoded = codecOf(encoding).encode(text);
  if (!encoded.ok) throw new Error(`${encoding} has no ${encoded.character}`);
  return encoded.bytes;
};

const text = (column: number) => detokenize(column, { definition: 'text' });

async function run(content: string | Buffer, plan = planOf([text(0)])): Promise<Job> {
  return app.run(await app.open(await app.write('in.csv', content)), plan);
}

async function exportBytes(jobId: string, choice: Partial<ExportChoice>): Promise<Buffer> {
  const outcome = await app.batch['batch.export']({ ...plainExport, safety: 'source', jobId, ...choice });
  return readFile(join(app.folder, valueOf(outcome)?.name ?? ''));
}

const list = (jobId: string, choice: Partial<ExportChoice> = {}): Promise<Buffer> =>
  exportBytes(jobId, { content: 'tokens', rows: 'failed', ...choice });

const whole = (jobId: string): Promise<Buffer> => exportBytes(jobId, { rows: 'all' });

/** Bytes for bytes, whatever they mean. */
const replaceBytes = (bytes: Buffer, from: string, to: string): Buffer =>
  Buffer.from(bytes.toString('latin1').replace(from, to), 'latin1');

async function correct(jobId: string, content: string | Buffer) {
  const sourceId = await app.open(await app.write('corrected.csv', content));
  const result = valueOf(await takeIn(app, { jobId, sourceId }));
  const job = await app.until(jobId, 'finished');
  return { ...result, tally: job.tally };
}

const cities: [Encoding, string][] = [
  ['windows-1252', 'Müller'],
  ['iso-8859-1', 'Müller'],
  ['iso-8859-15', 'Mü€ller'],
  ['macintosh', 'Müller'],
  ['ibm850', 'Müller'],
  ['ibm437', 'Müller'],
  ['ibm852', 'Łódź'],
  ['windows-1250', 'Łódź'],
  ['iso-8859-2', 'Šimek'],
  ['windows-1251', 'рубль'],
  ['koi8-r', 'рубль'],
  ['ibm866', 'рубль'],
  ['windows-1253', 'Αθήνα'],
  ['windows-1254', 'ğ'],
  ['windows-1257', 'Rīga'],
  ['shift_jis', 'ｱｲｳ'],
  ['euc-jp', '東京'],
  ['gb18030', '北京'],
  ['big5', '台北'],
  ['euc-kr', '김'],
  ['utf-8', 'Łódź'],
  ['utf-16le', '김'],
];

describe('a cell that nobody touched', () => {
  it.each(cities)('keeps its bytes in %s, where the list is only a few rows long', async (encoding, city) => {
    const rows = Array.from({ length: 40 }, (_, i) => `tok${i},Town ${i}\r\n`).join('');
    const source = encode(`token,city\r\nBAD1,${city}\r\n${rows}`, encoding);
    const { jobId } = await run(source, planOf([text(0)], { encoding }));
    const listed = await list(jobId);
    const corrected =
      encoding === 'utf-16le'
        ? encode(codecOf(encoding).decode(listed).text.replace('BAD1', 'good1'), encoding)
        : replaceBytes(listed, 'BAD1', 'good1');
    expect(await correct(jobId, corrected)).toMatchObject({ changed: 1, leftOutRows: 0, tally: { ok: 41 } });
    const row = encode(`\r\n<good1>,${city},\r\n`, encoding);
    expect((await whole(jobId)).includes(row)).toBe(false);
    expect((await whole(jobId)).includes(encode(`\r\n<good1>,${city}\r\n`, encoding))).toBe(true);
  });

  it('is not changed by the apostrophes that the list has before what could be a formula', async () => {
    const source = 'token,phone,note\r\nBAD1,+49 30 1234,-- Bob\r\nBAD2,@ann,=1+1\r\n';
    const { jobId } = await run(source, planOf([text(0), text(1)]));
    const listed = (await list(jobId, { safety: 'spreadsheet' })).toString();
    expect(listed).toContain("'+49");
    const sentBefore = app.service.sent.length;
    await correct(jobId, listed.replace('BAD1', 'good1').replace('BAD2', 'good2'));
    expect(app.service.sent.slice(sentBefore).sort()).toEqual(['+49 30 1234', '@ann', 'good1', 'good2']);
    expect((await whole(jobId)).toString()).toBe(
      'token,phone,note\r\n<good1>,<+49 30 1234>,-- Bob\r\n<good2>,<@ann>,=1+1\r\n',
    );
  });

  it('is not emptied where the encoding of the list can’t hold it', async () => {
    const { jobId } = await run('token,city,note\r\nBAD1,Łódź,Zażółć\r\n');
    const listed = await list(jobId, { safety: 'exact', encoding: 'windows-1252', leavesEmpty: true });
    expect(listed.toString('latin1')).toContain('BAD1,,');
    for (const [from, to] of [
      ['BAD1', 'BAD2'],
      ['BAD2', 'good1'],
    ] as const) {
      const next = from === 'BAD1' ? listed : replaceBytes(listed, 'BAD1', from);
      await correct(jobId, replaceBytes(next, from, to));
    }
    expect((await whole(jobId)).toString()).toBe('token,city,note\r\n<good1>,Łódź,Zażółć\r\n');
  });

  describe('is told from one that a person emptied', () => {
    const source = 'token,city,note,memo\r\nBAD1,Łódź,Müller,plain\r\nBAD2,Aachen,Müller,Łódź\r\n';
    const listOf = (jobId: string, choice: Partial<ExportChoice> = {}) =>
      list(jobId, { safety: 'exact', encoding: 'windows-1252', leavesEmpty: true, ...choice });
    const asUtf8 = (listed: Buffer): Buffer =>
      Buffer.from(`\ufeff${codecOf('windows-1252').decode(listed).text}`);
    const changesOf = async (jobId: string, content: Buffer) => {
      const sourceId = await app.open(await app.write('corrected.csv', content));
      valueOf(await app.batch['batch.compare']({ jobId, sourceId }));
      const { cells } = valueOf(await app.batch['batch.changes']({ jobId, from: 0, count: 200 }));
      return cells.map(({ row, column, before, after, doubt }) => [row, column, before, after, doubt]);
    };

    it.each([
      ['as it was written', (listed: Buffer) => listed],
      ['saved again in UTF-8', asUtf8],
    ])('by what the list says of itself, %s', async (_, resave) => {
      const { jobId } = await run(source);
      const listed = await listOf(jobId);
      expect(listed.toString('latin1').split('\r\n').slice(1, 3)).toEqual([
        '1,token,Refused by the service; The encoding of the export has not all characters of a cell (source columns 2),' +
          'service.element-refused; value.unencodable,BAD1,,M\xfcller,plain',
        '2,token,Refused by the service; The encoding of the export has not all characters of a cell (source columns 4),' +
          'service.element-refused; value.unencodable,BAD2,Aachen,M\xfcller,',
      ]);
      expect(await changesOf(jobId, resave(listed))).toEqual([]);
      // Three cells that a person emptied: one beside a lost one, one in plain letters, and one of each in another row.
      const emptied = replaceBytes(
        replaceBytes(replaceBytes(listed, 'BAD1,,M\xfcller', 'BAD1,,'), 'plain', ''),
        'BAD2,Aachen,M\xfcller,',
        'BAD2,,,',
      );
      expect(await changesOf(jobId, resave(emptied))).toEqual([
        [1, 2, 'Müller', '', null],
        [1, 3, 'plain', '', null],
        [2, 1, 'Aachen', '', null],
        [2, 2, 'Müller', '', null],
      ]);
      await correct(jobId, resave(replaceBytes(replaceBytes(emptied, 'BAD1', 'good1'), 'BAD2', 'good2')));
      expect((await whole(jobId)).toString()).toBe(
        'token,city,note,memo\r\n<good1>,Łódź,,\r\n<good2>,,,Łódź\r\n',
      );
    });

    it('by asking, where the list no longer says so', async () => {
      const { jobId } = await run(source);
      const silent = Buffer.from(
        (await listOf(jobId)).toString('latin1').replaceAll(/,(?:token),[^,]*,[^,]*,BAD/g, ',,,,BAD'),
        'latin1',
      );
      expect(silent.toString('latin1')).toContain('\r\n1,,,,BAD1,,M\xfcller,plain\r\n');
      expect(await changesOf(jobId, silent)).toEqual([]);
      expect(await changesOf(jobId, replaceBytes(silent, 'BAD1,,M\xfcller,plain', 'BAD1,,,'))).toEqual([
        [1, 2, 'Müller', '', 'letters'],
        [1, 3, 'plain', '', null],
      ]);
    });

    it('also where it is masked in the list', async () => {
      const plan = planOf([
        { ...text(0), operation: 'tokenize' },
        { ...text(1), operation: 'tokenize' },
      ]);
      const { jobId } = await run('name,city\r\nBAD1,Łódź\r\n', plan);
      const listed = await listOf(jobId);
      expect(listed.toString('latin1')).not.toContain('unencodable');
      const emptied = Buffer.from(listed.toString('latin1').replace(/[^,]+\r\n$/, '\r\n'), 'latin1');
      expect(emptied.equals(listed)).toBe(false);
      expect(await changesOf(jobId, listed)).toEqual([]);
      expect(await changesOf(jobId, emptied)).toMatchObject([[1, 1, expect.anything(), '', null]]);
      // In clear the cell was left empty, and not by a person.
      const clear = await listOf(jobId, { content: 'cleartext', grounds: someGrounds });
      expect(clear.toString('latin1')).toContain(
        '(source columns 2),service.element-refused; value.unencodable,BAD1,\r\n',
      );
      expect(await changesOf(jobId, clear)).toEqual([]);
    });
  });

  it('is not changed by what a spreadsheet makes of it', async () => {
    const source =
      'token,account,card,date\r\nBAD1,00123456,4111111111111111,2026-01-31\r\nBAD2,00123456,4111111111111111,2026-01-31\r\n';
    const { jobId } = await run(source);
    const sentBefore = app.service.sent.length;
    const listed = (await list(jobId))
      .toString()
      .replaceAll('00123456', '123456')
      .replaceAll('4111111111111111', '4.11111E+15')
      .replaceAll('2026-01-31', '31.01.2026')
      .replace('BAD1', 'good1');
    expect(await correct(jobId, listed)).toMatchObject({ changed: 1, unchanged: 1 });
    expect(app.service.sent.slice(sentBefore)).toEqual(['good1']);
    expect((await whole(jobId)).toString()).toBe(
      'token,account,card,date,error\r\n<good1>,00123456,4111111111111111,2026-01-31,\r\n' +
        'BAD2,00123456,4111111111111111,2026-01-31,service.element-refused\r\n',
    );
  });

  it('is not sent because its row was filled up with empty cells', async () => {
    const source = 'name,token,note\r\na,tok1,x\r\ntok2,hello\r\nc\r\nd,tok4,x\r\n';
    const { jobId } = await run(source, planOf([text(1)]));
    const sentBefore = app.service.sent.length;
    const padded = (await list(jobId))
      .toString()
      .trimEnd()
      .split('\r\n')
      .map((row) => row + ','.repeat(Math.max(0, 6 - row.split(',').length)))
      .join('\r\n');
    expect(await correct(jobId, padded)).toMatchObject({ changed: 0, unchanged: 2 });
    expect(app.service.sent).toHaveLength(sentBefore);
    expect((await whole(jobId)).toString()).toBe(
      'name,token,note,error\r\na,<tok1>,x,\r\ntok2,hello,,row.malformed\r\nc,,,row.malformed\r\nd,<tok4>,x,\r\n',
    );
  });

  it('keeps its quotes in a short row, and the row its line end', async () => {
    const { jobId } = await run('"name","token","note"\r\n"a","tok1","x"\r\n"b","tok2"', planOf([text(1)]));
    const listed = (await list(jobId)).toString();
    expect(await correct(jobId, `${listed},"late"`)).toMatchObject({ changed: 1 });
    expect((await whole(jobId)).toString()).toBe(
      '"name","token","note"\r\n"a",<tok1>,"x"\r\n"b",<tok2>,"late"'.replace(/<(.*?)>/g, '"<$1>"'),
    );
  });
});

it('a cell with asterisks of its own can be corrected', async () => {
  const { jobId } = await run('token,note\r\nBAD1,4 ** hotel\r\n');
  const listed = (await list(jobId)).toString();
  const corrected = listed.replace('BAD1', 'good1').replace('4 **', '5 **');
  expect(await correct(jobId, corrected)).toMatchObject({ changed: 1, leftOutRows: 0 });
  expect((await whole(jobId)).toString()).toBe('token,note\r\n<good1>,5 ** hotel\r\n');
});

describe('a merge', () => {
  const source = 'id,a,b\r\n1,BAD1,tokOLD\r\n2,tokx,toky\r\n';
  const merged = 'id,a,b\r\n1,<tokA>,<tokNEW>\r\n2,<tokx>,<toky>\r\n';
  const plan = planOf([text(1), text(2)]);
  const correctBoth = (listed: Buffer): Buffer =>
    replaceBytes(replaceBytes(listed, 'BAD1', 'tokA'), 'tokOLD', 'tokNEW');
  const openList = async (content: Buffer): Promise<string> =>
    app.open(await app.write('corrected.csv', content));

  it('changes nothing where its start is refused', async () => {
    let locked = false;
    const { service } = app;
    const options = {
      clients: {
        for: () =>
          Promise.resolve(locked ? failed('keychain.locked') : { ok: true as const, value: service.client }),
      },
    };
    app = await app.again(options);
    const { jobId } = await run(source, plan);
    const before = await whole(jobId);
    const corrected = correctBoth(await list(jobId));
    locked = true;
    const sourceId = await openList(corrected);
    expect(codeOf(await takeIn(app, { jobId, sourceId }))).toBe('keychain.locked');
    expect((await whole(jobId)).toString()).toBe(before.toString());
    locked = false;
    await correct(jobId, corrected);
    expect((await whole(jobId)).toString()).toBe(merged);
  });

  it('changes nothing where it can’t be written, and the job is as it was', async () => {
    const { jobId } = await run(source, plan);
    const before = await whole(jobId);
    const corrected = correctBoth(await list(jobId));
    const inTheWay = join(app.options.folder, jobId, 'mended');
    await mkdir(join(inTheWay, 'x'), { recursive: true });
    const sourceId = await openList(corrected);
    expect(codeOf(await takeIn(app, { jobId, sourceId }))).toBe('file.unwritable');
    await rm(inTheWay, { recursive: true });
    expect((await app.until(jobId, 'finished')).tally).toMatchObject({ ok: 1, failed: 1 });
    expect((await whole(jobId)).toString()).toBe(before.toString());
    // It was not taken in: it still can be.
    valueOf(await app.batch['batch.mend']({ jobId, taken: { doubts: [], except: [] } }));
    await app.until(jobId, 'finished');
    expect((await whole(jobId)).toString()).toBe(merged);
  });

  it.each(['resume', 'another policy', 'a new start'] as const)(
    'that is paused mixes no old result with a new value, and %s sends all of it',
    async (way) => {
      const { jobId } = await run(source, plan);
      const corrected = correctBoth(await list(jobId));
      app.service.answer = () => failed('service.unreachable');
      valueOf(await takeIn(app, { jobId, sourceId: await openList(corrected) }));
      await app.until(jobId, 'paused');
      expect((await whole(jobId)).toString()).toBe(
        'id,a,b,error\r\n1,tokA,tokNEW,mend.pending\r\n2,<tokx>,<toky>,\r\n',
      );
      const page = { jobId, filter: 'all' as const, from: 0, count: 1 };
      const [shown] = valueOf(await app.batch['batch.rows'](page)).rows;
      expect(shown?.cells.map(({ state }) => state)).toEqual(['kept', 'failed', 'failed']);
      if (way === 'a new start') app = await app.again();
      app.service.answer = () => null;
      app.service.refuses = (value) => value.startsWith('BAD');
      const sentBefore = app.service.sent.length;
      const changes = [{ column: 1, policy: 'Other', targetPolicy: null }];
      valueOf(
        way === 'another policy'
          ? await app.batch['batch.changePolicy']({ jobId, changes })
          : await app.batch['batch.resume']({ jobId }),
      );
      expect((await app.until(jobId, 'finished')).tally).toMatchObject({ ok: 2, failed: 0 });
      expect(app.service.sent.slice(sentBefore).sort()).toEqual(['tokA', 'tokNEW']);
      expect((await whole(jobId)).toString()).toBe(merged);
    },
  );

  it('is refused where the batch changed after the list was compared', async () => {
    const { jobId } = await run(source, plan);
    const corrected = correctBoth(await list(jobId));
    valueOf(await app.batch['batch.compare']({ jobId, sourceId: await openList(corrected) }));
    valueOf(await app.batch['batch.retry']({ jobId, code: null }));
    await app.until(jobId, 'finished');
    const taken = { doubts: [], except: [] };
    expect(codeOf(await app.batch['batch.mend']({ jobId, taken }))).toBe('mend.outdated');
    valueOf(await app.batch['batch.compare']({ jobId, sourceId: await openList(corrected) }));
    valueOf(await app.batch['batch.dropComparison']({ jobId }));
    expect(codeOf(await app.batch['batch.mend']({ jobId, taken }))).toBe('mend.outdated');
  });
});

describe('what a person sees before anything is sent', () => {
  const source =
    'card,token,account,note\r\n4111111111111111,BAD1,0012,a\r\n5555555555554444,BAD2,0013,b\r\n';
  const plan = planOf([text(1)]);

  async function compare() {
    const { jobId } = await run(source, plan);
    const listed = (await list(jobId)).toString();
    const corrected = listed
      .replace('4111111111111111', '378282246310005')
      .replace('BAD1', 'good1')
      .replaceAll(/,00(1.)/g, ',$1')
      .replace(',b\r', ',bb\r');
    const sourceId = await app.open(await app.write('corrected.csv', corrected));
    const summary = valueOf(await app.batch['batch.compare']({ jobId, sourceId }));
    return { jobId, summary };
  }

  it('is every changed cell, masked as in the table, with what is in doubt and why', async () => {
    const { jobId, summary } = await compare();
    expect(summary).toEqual({
      cells: 5,
      rows: 2,
      correctedRows: 2,
      doubts: [{ doubt: 'zeros', cells: 2 }],
      unchanged: 0,
      leftOutRows: 0,
      leftOut: [],
      pending: 0,
    });
    const answer = valueOf(await app.batch['batch.changes']({ jobId, from: 0, count: 200 }));
    expect(calls['batch.changes'].output.safeParse(answer).success).toBe(true);
    expect(answer.cells).toEqual([
      { row: 1, column: 0, name: 'card', before: '411111••••••1111', after: '378282•••••0005', doubt: null },
      { row: 1, column: 1, name: 'token', before: 'BAD1', after: 'good1', doubt: null },
      { row: 1, column: 2, name: 'account', before: '0012', after: '12', doubt: 'zeros' },
      { row: 2, column: 2, name: 'account', before: '0013', after: '13', doubt: 'zeros' },
      { row: 2, column: 3, name: 'note', before: 'b', after: 'bb', doubt: null },
    ]);
    const part = valueOf(await app.batch['batch.changes']({ jobId, from: 3, count: 1 }));
    expect(part).toEqual({ from: 3, cells: [answer.cells[3]] });
  });

  it.each([
    [[], [], '378282246310005,<good1>,0012,a,\r\n5555555555554444,BAD2,0013,bb,service.element-refused\r\n'],
    [
      ['zeros'],
      [0, 4],
      '4111111111111111,<good1>,12,a,\r\n5555555555554444,BAD2,13,b,service.element-refused\r\n',
    ],
    [
      [],
      [0, 3, 4],
      '4111111111111111,<good1>,0012,a,\r\n5555555555554444,BAD2,13,b,service.element-refused\r\n',
    ],
  ] as const)('decides what is taken in: doubts %j, except %j', async (doubts, except, rows) => {
    const { jobId } = await compare();
    const sentBefore = app.service.sent.length;
    valueOf(await app.batch['batch.mend']({ jobId, taken: { doubts: [...doubts], except: [...except] } }));
    await app.until(jobId, 'finished');
    expect(app.service.sent.slice(sentBefore).toSorted()).toEqual(['BAD2', 'good1']);
    expect((await whole(jobId)).toString()).toBe(`card,token,account,note,error\r\n${rows}`);
  });

  it('is nothing where another comparison began meanwhile', async () => {
    const { jobId } = await run(source, plan);
    const sourceId = await app.open(await app.write('corrected.csv', await list(jobId)));
    const [first, second] = await Promise.all([
      app.batch['batch.compare']({ jobId, sourceId }),
      app.batch['batch.compare']({ jobId, sourceId }),
    ]);
    expect([codeOf(first), codeOf(second)]).toEqual(['service.cancelled', 'ok']);
  });

  it('can be stopped while it is looked for, and says how far that is', async () => {
    const rows = Array.from({ length: 3_000 }, (_, n) => `a,${n % 3 === 0 ? 'BAD' : 'tok'}${n}\n`).join('');
    const { jobId } = await run(`a,token\n${rows}`, planOf([text(1)]));
    const sourceId = await app.open(await app.write('corrected.csv', await list(jobId)));
    const shares: number[] = [];
    app.onComparing = ({ share }) => {
      shares.push(share);
      void app.batch['batch.dropComparison']({ jobId });
    };
    expect(codeOf(await app.batch['batch.compare']({ jobId, sourceId }))).toBe('service.cancelled');
    expect(shares).toEqual([0]);
    app.onComparing = () => undefined;
    const compared = await app.batch['batch.compare']({ jobId, sourceId });
    expect(valueOf(compared)).toMatchObject({ cells: 0, unchanged: 1_000 });
  });
});
