import { afterEach, beforeEach, expect, it } from 'vitest';
import { detokenize, openApp, plainExport, planOf, valueOf, type TestApp } from '../support/batch-app.ts';

/* Cells whose column is not known or lies about them: rows with too many fields, and columns that are called masked. */

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const tokenize = (column: number, definition: string) =>
  detokenize(column, { operation: 'tokenize', definition });

it.each([
  ['text', 'X1234567'],
  ['text', 'Jane van Roe'],
  ['card', '4111.1111.1111.1111'],
  ['card', 'paid 4111 1111 1111 1111'],
  ['ssn', '078.05.1120'],
  ['email', 'jane.roe @ bank.example'],
])('a %s in a malformed row is in no export of tokens, nor in the table: %s', async (definition, value) => {
  const text = `id|name|note\n1|other value|x\n2|y|${value}|z\n3|${value}\n`;
  const source = await app.open(await app.write('rows.csv', text));
  const { jobId, tally } = await app.run(source, planOf([tokenize(1, definition)], { delimiter: '|' }));
  expect(tally.failed).toBeGreaterThanOrEqual(2);
  const words = value.split(/[\s.]+/).filter((word) => word.length > 4);
  const seen = JSON.stringify(await app.batch['batch.rows']({ jobId, filter: 'all', from: 0, count: 9 }));
  const choice = { ...plainExport, content: 'tokens', safety: 'source', grounds: null } as const;
  for (const rows of ['all', 'failed'] as const) {
    const written = valueOf(await app.export(jobId, { ...choice, rows }));
    for (const word of words) expect(`${seen}${written}`).not.toContain(word);
    expect(valueOf(await app.batch['batch.checkExport']({ jobId, content: 'tokens', rows }))).toMatchObject({
      cards: 0,
      values: 0,
    });
  }
});

it('such a row that nobody changed in the list is the same', async () => {
  const text = 'id|name|note\n1|Jane van Roe|x\n2|y|Max Power|z\n';
  const source = await app.open(await app.write('rows.csv', text));
  const { jobId } = await app.run(source, planOf([tokenize(1, 'text')], { delimiter: '|' }));
  const choice = {
    ...plainExport,
    content: 'tokens',
    safety: 'source',
    rows: 'failed',
    grounds: null,
  } as const;
  const written = valueOf(await app.export(jobId, choice));
  const list = await app.open(await app.write('failed.csv', written));
  expect(written.split('\n')).toHaveLength(3);
  expect(valueOf(await app.batch['batch.compare']({ jobId, sourceId: list }))).toMatchObject({
    cells: 0,
    unchanged: 1,
  });
});

async function shown(header: string, values: readonly string[]) {
  const text = `id|${header}\n${values.map((value, row) => `${row}|${value}\n`).join('')}`;
  const sourceId = await app.open(await app.write('column.csv', text));
  const { rows } = valueOf(
    await app.batch['batch.preview']({ sourceId, reading: { delimiter: '|' }, masked: null }),
  );
  return rows.map((row) => row[1]);
}

it.each([
  ['masked_email', 'jane.roe@bank.example'],
  ['email hash', 'jane.roe@bank.example'],
  ['hashed_mail', 'jane.roe@bank.example'],
  ['passport_masked', 'X1234567'],
  ['masked passport', 'C01X00T47'],
  ['ssn_masked', '078051120'],
  ['masked_social_security', 'Z 078051120'],
])('%s of values in clear hides them', async (header, value) => {
  for (const seen of await shown(header, [value, value.replace('0', '1'), value.replace('1', '2')]))
    expect(seen).toMatch(/••••/);
});

it.each([
  ['passport_masked', 'X12****7'],
  ['passport_hash', '9f86d081884c7d659a2feaa0c55ad015'],
  ['ssn_hash', 'n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg='],
  ['masked_card', '411111******1111'],
  ['email_token', 'q7ab22@tok.example'],
])('%s of what it says stays readable: %s', async (header, value) => {
  expect(await shown(header, [value, value])).toEqual([value, value]);
});
