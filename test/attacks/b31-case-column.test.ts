import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { newXorKey } from '../../electron/contract/obscured.ts';
import { planFor } from '../../electron/contract/saved-mapping.ts';
import { maskCaseReference } from '../../electron/masking/masking.ts';
import { codeOf, detokenize, openApp, planOf, takeIn, type TestApp, valueOf } from '../support/batch-app.ts';

/* Somebody wants values under a case that is not theirs, or under none. */

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const byCase = { ...planOf([detokenize(1)]), caseColumn: 0 };
const grounds = { reason: 'Refund', caseReference: 'D-9' };

it('the cases of the file are changed between the count and the run, or between the run and a reveal', async () => {
  const path = await app.write('in.csv', 'case,token\nD-1,a\nD-2,b\n');
  const sourceId = await app.open(path);
  valueOf(await app.batch['batch.preflight']({ sourceId, plan: byCase }));
  const { jobId } = await app.run(sourceId, byCase);
  await writeFile(path, 'case,token\nD-9,a\nD-9,b\n');
  const cell = { jobId, column: 1, row: 1, xorKey: newXorKey(), ...grounds };
  expect(codeOf(await app.batch['batch.reveal'](cell))).toBe('file.changed');
  expect(codeOf(await app.export(jobId, { grounds }))).toBe('file.changed');
  expect(codeOf(await app.batch['batch.start']({ sourceId, plan: byCase, grounds: null }))).toBe(
    'file.changed',
  );
});

it('a case of what nobody sees is none, for a row that is tried again too', async () => {
  const sourceId = await app.open(
    await app.write('in.csv', 'case,token\n\u200b\u2060,a\n\u3164,b\nD-1,c\nD-2,d\nD-3,e\n'),
  );
  const { jobId } = await app.run(sourceId, byCase);
  expect(app.service.sent).toEqual(['c', 'd', 'e']);
  const list = valueOf(await app.export(jobId, { rows: 'failed', content: 'tokens' }));
  const invisible = list.replace('\u200b\u2060', '\u2800\u00ad');
  const corrected = await app.open(await app.write('list.csv', invisible));
  await takeIn(app, { jobId, sourceId: corrected });
  await app.until(jobId, 'finished');
  expect(app.service.sent).toEqual(['c', 'd', 'e']);
});

it('a cell with a line break, a tab or a control character in it is no case, and not another one', async () => {
  const path = await app.write(
    'in.csv',
    'case,token\n"D-1\n2",a\nD-12,b\n"D\t-12",c\nD-1\u00072,d\n"D-1\u20282",e\n',
  );
  const { jobId, failures } = await app.run(await app.open(path), byCase);
  expect(app.service.sent).toEqual(['b']);
  expect(failures).toEqual([expect.objectContaining({ code: 'value.case-value', count: 4 })]);
  expect(valueOf(await app.batch['batch.ofCase']({ caseReference: 'D-12' })).batches).toMatchObject([
    { rows: 1, first: [2] },
  ]);
  const cell = { jobId, column: 1, row: 1, xorKey: newXorKey(), ...grounds };
  expect(codeOf(await app.batch['batch.reveal'](cell))).not.toBe('ok');
});

it.each(['Réf-12'.normalize('NFD'), 'D\u2011 1', '№ 5', 'Ｄ－１', '案件１２', 'Fall ½', 'm²', 'x…'])(
  'the case %s is sent, logged and found, as its person wrote it',
  async (written) => {
    const content = `case,token\n${written},a\nD-2,b\nD-3,c\nD-4,d\n`;
    const { jobId } = await app.run(await app.open(await app.write('in.csv', content)), byCase);
    expect(app.service.sent).toEqual(['a', 'b', 'c', 'd']);
    const cell = { jobId, column: 1, row: 1, xorKey: newXorKey(), ...grounds };
    valueOf(await app.batch['batch.reveal'](cell));
    expect(app.audit.intents.at(-1)).toMatchObject({ action: 'Reveal', caseReference: written });
    // Also as it is asked for from a line of the log.
    for (const caseReference of [written, maskCaseReference(written)])
      expect(valueOf(await app.batch['batch.ofCase']({ caseReference })).batches).toMatchObject([
        { rows: 1, first: [1] },
      ]);
  },
);

it('the window names another case for a reveal, or wants an export without the source', async () => {
  const sourceId = await app.open(await app.write('in.csv', 'case,token\nD-1,a\n'));
  const { jobId } = await app.run(sourceId, byCase);
  const cell = { jobId, column: 1, row: 1, xorKey: newXorKey(), ...grounds };
  valueOf(await app.batch['batch.reveal'](cell));
  expect(app.audit.intents.at(-1)).toMatchObject({ action: 'Reveal', caseReference: 'D-1' });
  const withoutSource = { grounds, withoutSource: true };
  expect(codeOf(await app.export(jobId, withoutSource))).toBe('export.cases-unknown');
});

it('a saved mapping is run over a file in which the column of cases is another one, or missing', () => {
  const mapping = {
    header: ['case', 'token'],
    caseColumn: 'case',
    columns: [{ ...detokenize(1), header: 'token' }],
  };
  const reading = byCase.reading;
  const columns = (...names: string[]) =>
    names.map((name, index) => ({ index, name, looksLike: null, content: null, masked: false }));
  expect(planFor(mapping, { columns: columns('case', 'token'), reading })).toHaveProperty(
    'plan.caseColumn',
    0,
  );
  for (const names of [['token', 'case'], ['note', 'token'], ['token']])
    expect(planFor(mapping, { columns: columns(...names), reading })).not.toHaveProperty('plan');
  const json = { ...reading, json: { rows: 'lines' as const, pointers: ['/token'] } };
  expect(planFor(mapping, { columns: columns('token'), reading: json })).toEqual({
    missing: ['case'],
    added: 0,
  });
});

it('a hidden column is taken for the cases, so that the list of a case tells a guess, and the log a value', async () => {
  const content = 'ssn,token\n123456789,a\n234567891,b\n';
  const sourceId = await app.open(await app.write('in.csv', content));
  const shown = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
  expect(shown.columns[0]).toMatchObject({ masked: true });
  for (const call of ['batch.start', 'batch.preflight', 'batch.try'] as const)
    expect(codeOf(await app.batch[call]({ sourceId, plan: byCase, grounds: null }))).toBe('plan.case-column');
  expect(valueOf(await app.batch['batch.ofCase']({ caseReference: '123456789' }))).toEqual({
    batches: [],
    uncovered: [],
  });
  expect(app.service.sent).toEqual([]);
});
