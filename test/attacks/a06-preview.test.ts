import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Reading } from '../../electron/contract/models/batch.ts';
import { detokenize, openApp, planOf, valueOf, type TestApp } from '../support/batch-app.ts';

const cards = ['4111111111111111', '5555555555554444', '4012888888881881', '6011111111111117'];
const ssns = ['078-05-1120', '219-09-9999', '457-55-5462', '123-45-6789'];
const table = ['name,card_number,ssn', ...cards.map((card, i) => `n${i},${card},${ssns[i] ?? ''}`), ''].join(
  '\n',
);

let app: TestApp;
let sourceId: string;
beforeEach(async () => {
  app = await openApp();
  sourceId = await app.open(await app.write('people.csv', table));
});
afterEach(() => app.close());

const shown = async (masked: number[] | null, reading: Partial<Reading> = {}) =>
  JSON.stringify(valueOf(await app.batch['batch.preview']({ sourceId, reading, masked })));

describe('a preview', () => {
  const choices: [string, number[] | null, Partial<Reading>][] = [
    ['no masks at all', [], {}],
    ['masks of other columns', [0, 7], {}],
    ['no header, so no names', [], { header: false }],
    ['another delimiter, so one column', [], { delimiter: ';' }],
    ['another delimiter and no header', null, { delimiter: '|', header: false }],
  ];
  it.each(choices)('shows nothing that main would hide: %s', async (_, masked, reading) => {
    const text = await shown(masked, reading);
    for (const value of [...cards, ...ssns]) expect(text).not.toContain(value);
  });

  it('hides more where the window asks for it', async () => {
    const preview = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: [0] }));
    expect(preview.columns.map(({ masked }) => masked)).toEqual([true, true, true]);
    expect(preview.rows[0]?.[0]).toBe('••');
  });

  it('nor do rows that were tried, or of a job, without the header', async () => {
    const plan = planOf([detokenize(0)], { header: false });
    const tried = JSON.stringify(valueOf(await app.batch['batch.try']({ sourceId, plan, grounds: null })));
    const { jobId } = await app.run(sourceId, plan);
    const rows = await app.batch['batch.rows']({ jobId, filter: 'all', from: 0, count: 10 });
    const text = tried + JSON.stringify(valueOf(rows));
    for (const value of [...cards, ...ssns]) expect(text).not.toContain(value);
  });
});
