import { obscureText, newXorKey } from '../../../electron/contract/obscured.ts';
import { readdir, readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultExport, failedRowsForms } from '../../../electron/contract/export-choice.ts';
import { calls } from '../../../electron/contract/calls.ts';
import type { ExportChoice } from '../../../electron/contract/models/batch.ts';
import { createReveals } from '../../../electron/privacy/reveals.ts';
import {
  cleartextOf,
  codeOf,
  connection,
  connectionsOf,
  detokenize,
  memoryStore,
  openApp,
  planOf,
  valueOf,
  type TestApp,
  someGrounds,
} from '../../support/batch-app.ts';
import { fakeClock } from '../../support/fake-clock.ts';
import { text as textCell, workbook } from '../../support/make-workbook.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const rowsOf = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => `tok${i},name ${i},"a;b, ""${i}"""`);
const table = (count: number): string => ['token,name,note', ...rowsOf(count)].join('\r\n') + '\r\n';

async function finished(content: string | Buffer, plan = planOf([detokenize(0)])) {
  const sourceId = await app.open(await app.write('in.csv', content));
  return app.run(sourceId, plan);
}

describe('a batch from file to file', () => {
  it('detokenizes every row and keeps every other column', async () => {
    const job = await finished(table(10_000));
    expect(job.state).toBe('finished');
    expect(job.tally).toEqual({ rows: 10_000, ok: 10_000, failed: 0, unmatched: 0, blank: 0 });
    const text = valueOf(await app.export(job.jobId));
    const expected = ['token,name,note', ...rowsOf(10_000).map((row) => row.replace(/^tok\d+/, cleartextOf))];
    expect(text).toBe(expected.join('\r\n') + '\r\n');
    expect(Math.max(...app.service.sizes)).toBeLessThanOrEqual(100);
    expect(app.service.mostBusy).toBeLessThanOrEqual(8);
    expect(app.service.mostBusy).toBeGreaterThan(1);
  });

  it('shows masks to the window, and any page of any filter', async () => {
    app.service.refuses = (value) => value.endsWith('7');
    const job = await finished(table(5_000));
    const page = valueOf(
      await app.batch['batch.rows']({ jobId: job.jobId, filter: 'all', from: 4_990, count: 500 }),
    );
    expect(calls['batch.rows'].output.parse(page).rows.map(({ row }) => row)).toEqual(
      Array.from({ length: 10 }, (_, i) => 4_991 + i),
    );
    expect(page.rows[0]?.cells.map(({ text }) => text)).toEqual(['•••••••••', 'name 4990', 'a;b, "4990"']);
    expect(JSON.stringify(page)).not.toContain(cleartextOf('tok4990'));
    const failedRows = valueOf(
      await app.batch['batch.rows']({ jobId: job.jobId, filter: 'failed', from: 498, count: 5 }),
    );
    expect(failedRows.total).toBe(500);
    expect(failedRows.rows.map(({ row }) => row)).toEqual([4_988, 4_998]);
    expect(failedRows.rows[0]).toMatchObject({ state: 'failed', code: 'service.element-refused' });
    expect(job.failures).toEqual([
      { column: 0, code: 'service.element-refused', count: 500, firstRow: 8, retriable: true },
    ]);
  });

  it('opens the rows of a job once more: the file as it is now, pasted rows from its own copy', async () => {
    const job = await finished('token,n\na,1\nb,2\n');
    const again = valueOf(await app.batch['batch.reopen']({ jobId: job.jobId }));
    const shown = valueOf(
      await app.batch['batch.preview']({ sourceId: again.sourceId, reading: {}, masked: null }),
    );
    expect(shown.rows).toEqual([
      ['a', '1'],
      ['b', '2'],
    ]);
    const pasted = valueOf(await app.batch['batch.paste']({ text: 'token\tn\nc\t3\n' }));
    const plan = planOf([detokenize(0)], { delimiter: '\t' });
    const { jobId } = await app.run(pasted.sourceId, plan);
    app = await app.again();
    const reopened = valueOf(await app.batch['batch.reopen']({ jobId }));
    const rows = valueOf(
      await app.batch['batch.preview']({ sourceId: reopened.sourceId, reading: plan.reading, masked: null }),
    );
    expect(rows.rows).toEqual([['c', '3']]);
    const second = await app.run(reopened.sourceId, plan);
    expect(second).toMatchObject({ state: 'finished', tally: { rows: 1, ok: 1 } });
  });

  it('is of a workbook by what the file is, whatever it is called', async () => {
    const row = (at: number, cells: readonly string[]): string =>
      `<row r="${at}">${cells.map((cell, i) => textCell(`${'AB'[i] ?? ''}${at}`, cell)).join('')}</row>`;
    const sheet = await workbook({ sheets: [{ rows: row(1, ['token', 'n']) + row(2, ['a', '007']) }] });
    const formsOf = async (sourceId: string, plan = planOf([detokenize(0)])) => {
      const job = await app.run(sourceId, plan);
      const { format, safety } = defaultExport(job);
      return { jobId: job.jobId, isWorkbook: job.isWorkbook, format, safety, lists: failedRowsForms(job) };
    };
    const asWorkbook = { isWorkbook: true, format: 'workbook', safety: 'spreadsheet', lists: ['workbook'] };
    const asText = { isWorkbook: false, format: 'csv', safety: 'source', lists: ['csv', 'workbook'] };
    const text = 'token,n\na,007\n';
    const first = await formsOf(await app.open(await app.write('in.csv', sheet)));
    expect(first).toMatchObject(asWorkbook);
    for (const name of ['in.csv', 'in.xlsx', 'in.XLTM'])
      expect(await formsOf(await app.open(await app.write(name, text))), name).toMatchObject(asText);
    const pasted = valueOf(await app.batch['batch.paste']({ text: 'token\tn\na\t007\n' }));
    const tabs = planOf([detokenize(0)], { delimiter: '\t' });
    expect(await formsOf(pasted.sourceId, tabs)).toMatchObject(asText);
    // Also where its rows are those that an earlier batch kept.
    app = await app.again();
    const again = valueOf(await app.batch['batch.reopen']({ jobId: first.jobId }));
    expect(await formsOf(again.sourceId)).toMatchObject(asWorkbook);
  });

  it('writes the failed rows with their reason, and the whole with an error column', async () => {
    app.service.refuses = (value) => value === 'b';
    const job = await finished('token,n\na,1\nb,2\n,3\nd,4,extra\ne,5\n');
    expect(job.tally).toEqual({ rows: 5, ok: 2, failed: 2, unmatched: 0, blank: 1 });
    expect(valueOf(await app.export(job.jobId, { rows: 'failed' }))).toBe(
      'source_row,column,reason,code,token,n\r\n' +
        '2,token,Refused by the service,service.element-refused,b,2\r\n' +
        '4,,More or fewer fields than the header,row.malformed,d,4,extra\r\n',
    );
    expect(valueOf(await app.export(job.jobId))).toBe(
      'token,n,error\r\n<a>,1,\r\nb,2,service.element-refused\r\n,3,\r\nd,4,row.malformed,extra\r\n<e>,5,\r\n',
    );
    expect((await readdir(app.folder)).sort()).toEqual([
      'in.csv',
      'in_cleartext.csv',
      'in_errors.csv',
      'jobs',
    ]);
    expect(app.service.sent).toEqual(['a', 'b', 'e']);
  });

  it('keeps results from the disk unless encrypted, with files for their owner only', async () => {
    const job = await finished('token\n' + Array.from({ length: 50 }, (_, i) => `CANARY${i}`).join('\n'));
    const folder = join(app.options.folder, job.jobId);
    for (const name of await readdir(folder)) {
      const bytes = await readFile(join(folder, name));
      expect(bytes.includes('CANARY'), name).toBe(false);
      expect((await stat(join(folder, name))).mode & 0o077, name).toBe(0);
    }
    valueOf(await app.export(job.jobId));
    expect((await stat(join(app.folder, 'in_cleartext.csv'))).mode & 0o077).toBe(0);
  });

  it('records an export before it is written, with the sum after', async () => {
    const job = await finished('token\na\nb\n');
    app.audit.refuse = { code: 'audit.unwritable' };
    expect(codeOf(await app.export(job.jobId))).toBe('audit.unwritable');
    expect(await readdir(app.folder)).not.toContain('in_cleartext.csv');
    app.audit.refuse = null;
    valueOf(await app.export(job.jobId));
    expect(app.audit.intents).toEqual([
      expect.objectContaining({
        action: 'Export',
        reason: 'Chargeback response',
        rows: 2,
        job: job.jobId,
        cleartext: true,
        export: { content: 'cleartext', rows: 'all', format: 'exact', encrypted: false },
      }),
    ]);
    expect(app.audit.ends).toEqual([{ ok: true, rows: 2, values: 2, note: '2 = 2 succeeded' }]);
    expect(codeOf(await app.export(job.jobId, { grounds: null }))).toBe('reveal.reason-required');
  });

  it('writes down what the file holds, whatever was asked for', async () => {
    app.service.refuses = (value) => value === 'b';
    const { jobId } = await finished('token\na\nb\n');
    const held = async (choice: Partial<ExportChoice>) => {
      valueOf(await app.export(jobId, choice));
      const { cleartext, export: exported } = app.audit.intents.at(-1) ?? {};
      return [cleartext, exported?.content, valueOf(await app.disclosures.today()).exportedRows];
    };
    expect(await held({ content: 'masked' })).toEqual([false, 'masked', 0]);
    expect(await held({ content: 'tokens' })).toEqual([false, 'tokens', 0]);
    // What was refused came in as a token.
    expect(await held({ content: 'cleartext', rows: 'failed', grounds: null })).toEqual([false, 'tokens', 0]);
    expect(await held({ content: 'cleartext' })).toEqual([true, 'cleartext', 2]);
  });

  it('wants the row count before cleartext leaves production, and never writes over the source', async () => {
    await app.close();
    app = await openApp({
      connections: connectionsOf({ ...connection, environment: 'production' }),
    });
    const job = await finished('token\na\nb\n');
    expect(codeOf(await app.export(job.jobId))).toBe('export.confirm');
    expect(codeOf(await app.export(job.jobId, { grounds: { ...someGrounds, confirmRows: 1 } }))).toBe(
      'export.confirm',
    );
    expect(codeOf(await app.export(job.jobId, { grounds: { ...someGrounds, confirmRows: 2 } }))).toBe('ok');
    expect(codeOf(await app.export(job.jobId, { content: 'masked' }))).toBe('ok');
    app.target = join(app.folder, 'in.csv');
    await expect(app.export(job.jobId, { content: 'masked' })).rejects.toThrow('no target');
    expect(await readFile(app.target, 'utf8')).toBe('token\na\nb\n');
  });

  it('reveals one cell with a reason, recorded first', async () => {
    const job = await finished('token,n\na,1\nb,2\n');
    const ask = {
      jobId: job.jobId,
      row: 2,
      column: 0,
      xorKey: newXorKey(),
      reason: 'Refund',
      caseReference: 'C-1',
    };
    const revealed = valueOf(await app.batch['batch.reveal'](ask));
    expect(revealed).toEqual({
      revealId: 'reveal-1',
      obscured: obscureText('<b>', ask.xorKey),
      hideAfterMs: 20_000,
      requestId: 'req-1',
    });
    expect(app.audit.intents[0]).toMatchObject({
      action: 'Reveal',
      reason: 'Refund',
      caseReference: 'C-1',
      cleartext: true,
    });
    expect(JSON.stringify(app.audit)).not.toContain('<b>');
    expect(codeOf(await app.batch['batch.reveal']({ ...ask, column: 1 }))).toBe('reveal.gone');
    expect(codeOf(await app.batch['batch.reveal']({ ...ask, row: 3 }))).toBe('reveal.gone');
    app.audit.refuse = { code: 'audit.unwritable' };
    expect(codeOf(await app.batch['batch.reveal'](ask))).toBe('audit.unwritable');
  });

  it('reveals ten cells in a minute, as of anything else, and the next one leaves no line', async () => {
    await app.close();
    const reveals = createReveals({
      clock: fakeClock(),
      revealMs: () => 20_000,
      newId: () => 'r',
      emit: () => undefined,
      protectContent: () => undefined,
      endRenderer: () => undefined,
    });
    app = await openApp({ reveals: { allow: () => reveals.allow() } });
    const { jobId } = await finished(table(12));
    const codes: string[] = [];
    for (let row = 1; row <= 11; row += 1) {
      const ask = { jobId, row, column: 0, xorKey: newXorKey(), ...someGrounds };
      codes.push(codeOf(await app.batch['batch.reveal'](ask)));
    }
    expect(codes).toEqual([...Array<string>(10).fill('ok'), 'reveal.throttled']);
    expect(app.audit.intents.filter(({ action }) => action === 'Reveal')).toHaveLength(10);
  });

  it('wants a case reference for cleartext where the settings require one', async () => {
    await app.close();
    app = await openApp({ store: memoryStore({ caseRequired: true }) });
    const { jobId } = await finished('token\na\n');
    const ask = { jobId, row: 1, column: 0, xorKey: newXorKey(), reason: 'Refund' };
    expect(codeOf(await app.batch['batch.reveal']({ ...ask, caseReference: '' }))).toBe(
      'reveal.reason-required',
    );
    expect(codeOf(await app.batch['batch.reveal']({ ...ask, caseReference: 'C-1' }))).toBe('ok');
    expect(codeOf(await app.export(jobId))).toBe('reveal.reason-required');
    expect(codeOf(await app.export(jobId, { content: 'masked' }))).toBe('ok');
    expect(codeOf(await app.export(jobId, { grounds: someGrounds }))).toBe('ok');
  });

  it('keeps exactly the rows whose cleartext matches', async () => {
    const plan = planOf([detokenize(0, { operation: 'match', pattern: '[37]>$' })]);
    const job = await finished(table(1_000), plan);
    expect(job.tally).toEqual({ rows: 1_000, ok: 200, failed: 0, unmatched: 800, blank: 0 });
    const text = valueOf(await app.export(job.jobId, { rows: 'matches' }));
    const kept = rowsOf(1_000).filter((row) => /^tok\d*[37],/.test(row));
    expect(text).toBe(
      ['token,name,note', ...kept.map((row) => row.replace(/^tok\d+/, cleartextOf))].join('\r\n') + '\r\n',
    );
    const all = valueOf(await app.export(job.jobId)).split('\r\n');
    expect(all.slice(0, 5)).toEqual([
      'token,token_match,name,note',
      'tok0,no,name 0,"a;b, ""0"""',
      'tok1,no,name 1,"a;b, ""1"""',
      'tok2,no,name 2,"a;b, ""2"""',
      '<tok3>,yes,name 3,"a;b, ""3"""',
    ]);
  });
});

describe('bad input', () => {
  it.each([
    ['nothing at all', ''],
    ['a byte order mark alone', '\ufeff'],
  ])('says that %s is empty', async (_, content) => {
    const path = await app.write('empty.csv', content);
    const source = await app.batch['batch.drop']({ reference: path });
    if (!source.ok) expect(source.failure.code).toBe('file.empty');
    else {
      const sourceId = source.value.sourceId;
      expect(codeOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }))).toBe(
        'file.empty',
      );
    }
  });

  it('finishes a file that is a header only', async () => {
    const job = await finished('token,name\n');
    expect(job).toMatchObject({ state: 'finished', total: 0, tally: { rows: 0 } });
    expect(valueOf(await app.export(job.jobId))).toBe('token,name\r\n');
  });

  it('runs a file without a header', async () => {
    const job = await finished('tok1,x\ntok2,y', planOf([detokenize(0)], { header: false }));
    expect(job.tally.ok).toBe(2);
    expect(valueOf(await app.export(job.jobId))).toBe('<tok1>,x\r\n<tok2>,y\r\n');
  });

  it('keeps a field of 5 MB and does not send its row', async () => {
    const long = 'x'.repeat(5_000_000);
    const job = await finished(`token,note\na,1\nb,"${long}"\nc,3\n`);
    expect(job.tally).toMatchObject({ rows: 3, ok: 2, failed: 1 });
    expect(app.service.sent).toEqual(['a', 'c']);
    expect(valueOf(await app.export(job.jobId, { rows: 'failed' }))).toBe(
      `source_row,column,reason,code,token,note\r\n2,,A field is too long,row.field-too-long,b,${long}\r\n`,
    );
  });

  it('keeps NUL bytes and does not send their rows', async () => {
    const job = await finished('token,n\na,1\nb\0b,2\nc,3\n');
    expect(job.tally).toMatchObject({ rows: 3, ok: 2, failed: 1 });
    expect(valueOf(await app.export(job.jobId))).toBe(
      'token,n,error\r\n<a>,1,\r\nb\0b,2,row.nul\r\n<c>,3,\r\n',
    );
  });

  it.each(['utf16le', 'utf16be'] as const)('reads %s', async (encoding) => {
    const le = Buffer.from('\ufefftoken;Name\r\na;Zoë\r\nb;日本\r\n', 'utf16le');
    const path = await app.write('in.csv', encoding === 'utf16le' ? le : Buffer.from(le).swap16());
    const sourceId = await app.open(path);
    const { reading } = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
    expect(reading).toEqual({ encoding: encoding.replace('utf16', 'utf-16'), delimiter: ';', header: true });
    const job = await app.run(sourceId, { reading, columns: [detokenize(0)] });
    expect(valueOf(await app.export(job.jobId))).toBe('token,Name\r\n<a>,Zoë\r\n<b>,日本\r\n');
  });

  it('loses only the row of an unclosed quote', async () => {
    const job = await finished(`token,note\na,1\nb,"2\nc,"3, ""x"""\nd,4\n`);
    expect(job.tally).toMatchObject({ rows: 4, ok: 3, failed: 1 });
    expect(valueOf(await app.export(job.jobId, { rows: 'failed' }))).toBe(
      'source_row,column,reason,code,token,note\r\n2,,A quote never closes,row.unclosed-quote,b,"""2"\r\n',
    );
    const last = await finished('token,note\na,1\nb,"2\n');
    expect(last.tally).toMatchObject({ rows: 2, ok: 1, failed: 1 });
  });

  it('does not send a header that comes twice', async () => {
    const job = await finished('token,n\na,1\ntoken,n\nb,2\n');
    expect(job.tally).toMatchObject({ rows: 3, ok: 2, failed: 1 });
    expect(app.service.sent).toEqual(['a', 'b']);
  });

  it('returns bytes that are not UTF-8 as they came', async () => {
    const bytes = Buffer.concat([
      Buffer.from('token,n\na,1\nb,Z'),
      Buffer.from([0xeb, 0xff]),
      Buffer.from('x\nc,ë\n'),
    ]);
    const job = await finished(bytes);
    expect(job.tally).toMatchObject({ rows: 3, ok: 2, failed: 1 });
    valueOf(await app.export(job.jobId, { newline: '\n', rows: 'all' }));
    const out = await readFile(join(app.folder, 'in_cleartext.csv'));
    expect(out.includes(Buffer.from([0x5a, 0xeb, 0xff, 0x78]))).toBe(true);
    expect(out.includes('<c>,ë')).toBe(true);
  });

  it('pauses when its file is deleted while it runs, and goes on when it is back', async () => {
    const path = await app.write('in.csv', table(20_000));
    let deleted = false;
    app.service.answer = async () => {
      if (!deleted) {
        deleted = true;
        await rename(path, `${path}.away`);
      }
      return null;
    };
    const job = await app.run(await app.open(path), planOf([detokenize(0)]));
    expect(job).toMatchObject({ state: 'paused', waiting: { failure: { code: 'file.gone' } } });
    expect(codeOf(await app.batch['batch.resume']({ jobId: job.jobId }))).toBe('job.source-gone');
    await rename(`${path}.away`, path);
    valueOf(await app.batch['batch.resume']({ jobId: job.jobId }));
    const resumed = await app.until(job.jobId, 'finished', 'failed', 'paused');
    expect(resumed).toMatchObject({ state: 'finished', tally: { ok: 20_000 } });
    expect(new Set(app.service.sent).size).toBe(20_000);
  });
});
