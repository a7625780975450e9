import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { done } from '../../../../electron/contract/errors.ts';
import type { ColumnPlan, Encoding, Job } from '../../../../electron/contract/models/batch.ts';
import { findCleartext } from '../../../../electron/batch/inside/marks.ts';
import { usualMarks, valueKinds } from '../../../../electron/contract/value-kinds.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import {
  codeOf,
  detokenize,
  openApp,
  plainExport,
  planOf,
  type TestApp,
  tokenOf,
  valueOf,
} from '../../../support/batch-app.ts';
import { createNotes } from '../../../support/notes.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
  app.service.answer = (call, elements) =>
    call.operation !== 'BatchDetokenize'
      ? null
      : done({
          requestId: 'd',
          elements: elements.map(({ ref, value }) => ({
            ref,
            ok: true as const,
            value: cleartext(Array.from(value.replace(/^tok:/, '')).reverse().join('')),
          })),
        });
});
afterEach(() => app.close());

const definitions = { card: 'card', ssn: 'ssn', iban: 'text', email: 'email' };
const inside = (operation: 'tokenize' | 'detokenize', over: Partial<ColumnPlan> = {}): ColumnPlan =>
  detokenize(1, { operation, definition: 'card', inside: { ...usualMarks, definitions }, ...over });

const csv = (texts: readonly string[]): string =>
  'id,note\r\n' + texts.map((text, at) => `${at},"${text.replaceAll('"', '""')}"\r\n`).join('');

async function run(content: string, columns: ColumnPlan[], name = 'in.csv'): Promise<Job> {
  const sourceId = await app.open(await app.write(name, content));
  return app.run(sourceId, planOf(columns, { delimiter: ',' }));
}

/** Texts all of which can be sent: of the others none comes back as it was, and the list of failed rows has them. */
const whole = (notes: ReturnType<typeof createNotes>, count: number): string[] => {
  const texts: string[] = [];
  while (texts.length < count) {
    const { text } = notes.next();
    const found = findCleartext(text, { kinds: new Set(valueKinds), marks: usualMarks });
    if (found.ok && text.trim() !== '') texts.push(text);
  }
  return texts;
};

const write = async ({ jobId }: Job, content: 'tokens' | 'cleartext' | 'masked'): Promise<string> =>
  valueOf(await app.export(jobId, { content, safety: 'source' }));

const shownNote = async ({ jobId }: Job): Promise<string | undefined> =>
  valueOf(await app.batch['batch.rows']({ jobId, filter: 'all', from: 0, count: 10 })).rows[0]?.cells[1]
    ?.text;

const card = '4111 1111 1111 1111';
const bare = '4111111111111111';

describe('values inside the texts of a column', () => {
  it('are tokenized where they stand, each kind by its definition, and come back byte for byte', async () => {
    const notes = createNotes(3);
    const content = csv(whole(notes, 3_000));
    const job = await run(content, [inside('tokenize')]);
    expect(job.state).toBe('finished');
    const used = new Set(app.service.calls.map(({ definition }) => definition));
    expect(used).toEqual(new Set(['card', 'ssn', 'text', 'email']));
    expect(job.tally).toMatchObject({ ok: 3_000, failed: 0 });
    const tokenized = await write(job, 'tokens');
    expect(tokenized).not.toBe(content);
    const back = await run(tokenized, [inside('detokenize')], 'tokens.csv');
    expect(await write(back, 'cleartext')).toBe(content);
  });

  it('are counted as values, all of a text or none', async () => {
    app.service.refuses = (value) => value === '5500000000000004';
    const job = await run(
      csv([`${card} and a.b@bank.example`, 'nothing here', `${card}, 5500 0000 0000 0004 refused`, '']),
      [inside('tokenize')],
    );
    expect(job).toMatchObject({
      tally: { rows: 4, ok: 2, failed: 1, blank: 1 },
      values: { all: 4, failed: 2 },
      failures: [{ code: 'service.element-refused', count: 2, firstRow: 3 }],
    });
    expect(app.service.sent.sort()).toEqual([bare, '5500000000000004', 'a.b@bank.example'].sort());
    const [, first, second, third, fourth] = valueOf(
      await app.export(job.jobId, { content: 'tokens' }),
    ).split('\r\n');
    expect(first).toContain(
      `[[card 4 4 4 4 token:${tokenOf(bare)}]] and [[email:${tokenOf('a.b@bank.example')}]]`,
    );
    expect(second).toContain('nothing here');
    expect(third).toMatch(/4111 11•• •••• 1111, 5500 00•• •••• 0004 refused.*service\.element-refused/);
    expect(fourth).toMatch(/^3,/);
  });

  it('are sent again by a retry, and are whole then', async () => {
    app.service.refuses = (value) => value === bare;
    app.service.answer = () => null;
    const job = await run(csv([`${card} a.b@bank.example`, 'c.d@bank.example']), [inside('tokenize')]);
    app.service.refuses = () => false;
    valueOf(
      await app.batch['batch.retry']({ jobId: job.jobId, code: 'service.element-refused', grounds: null }),
    );
    const again = await app.until(job.jobId, 'finished');
    expect(again).toMatchObject({ tally: { ok: 2, failed: 0 }, values: { all: 3, failed: 0 } });
  });

  it('show tokens and masks in the window, never what stands in clear', async () => {
    const job = await run(csv([`${card} of her, ssn 536-22-1234`]), [
      inside('tokenize', { inside: { ...usualMarks, definitions: { card: 'card' } } }),
    ]);
    expect(await shownNote(job)).toBe(`[[card 4 4 4 4 token:${tokenOf(bare)}]] of her, ssn •••-••-1234`);
  });

  it('leave nothing in clear uncounted beside their tokens', async () => {
    const job = await run(csv([`a.b@bank.example pays ${card}`]), [
      inside('tokenize', { definition: 'email', inside: { ...usualMarks, definitions: { email: 'email' } } }),
    ]);
    const { jobId } = job;
    const checked = await app.batch['batch.checkExport']({ jobId, content: 'tokens', rows: 'all' });
    expect(valueOf(checked)).toMatchObject({ cards: 1 });
  });

  it('leave nothing uncounted where the source is gone and only results are written', async () => {
    const job = await run(csv([`a.b@bank.example pays ${card}`, 'nothing']), [
      inside('tokenize', { definition: 'email', inside: { ...usualMarks, definitions: { email: 'email' } } }),
    ]);
    rmSync(join(app.folder, 'in.csv'));
    const choice = { ...plainExport, jobId: job.jobId, content: 'tokens', withoutSource: true } as const;
    expect(valueOf(await app.batch['batch.export'](choice))?.remaining).toMatchObject({ cards: 1 });
  });

  it('are values of a disclosing act, as many as a file holds', async () => {
    const marked = csv([
      `[[card 4 4 4 4 token:${tokenOf(bare)}]] and [[card:${tokenOf('5500000000000004')}]]`,
      'no mark',
    ]);
    const job = await run(marked, [
      inside('detokenize', { inside: { ...usualMarks, definitions: { card: 'card' } } }),
    ]);
    expect(await write(job, 'cleartext')).toBe(csv([`${card} and 5500000000000004`, 'no mark']));
    expect(app.audit.ends.at(-1)).toMatchObject({ values: 2 });
    expect(await write(job, 'masked')).not.toMatch(/5500000000000004|4111 1111/);
  });

  it('count where a text is not taken apart: all that it holds', async () => {
    const job = await run(csv([`[[card x]] ${card} / 5500 0000 0000 0004 / a.b@bank.example`]), [
      inside('tokenize'),
    ]);
    expect(job).toMatchObject({ tally: { failed: 1 }, values: { all: 3, failed: 3 } });
    expect(app.service.sent).toEqual([]);
    await app.export(job.jobId, { content: 'cleartext', rows: 'failed' });
    expect(app.audit.ends.at(-1)).toMatchObject({ values: 3 });
  });

  it('are as many values as they are, where the text is revealed', async () => {
    const job = await run(csv([`${card} and a.b@bank.example`]), [inside('tokenize')]);
    const grounds = { reason: 'Chargeback', caseReference: '', xorKey: 'ab'.repeat(16) };
    valueOf(await app.batch['batch.reveal']({ ...grounds, jobId: job.jobId, row: 1, column: 1 }));
    expect(app.audit.intents.at(-1)).toMatchObject({ action: 'Reveal', values: 2 });
  });

  it.each(['4.01288888888188E+15', '5.36221234E+8'])(
    'are none in a number that a spreadsheet rounded: %s is not sent, and hidden',
    async (text) => {
      const job = await run(csv([text]), [inside('tokenize')]);
      expect(job).toMatchObject({ tally: { failed: 1 }, failures: [{ code: 'value.unfit' }] });
      expect(await shownNote(job)).toBe('•'.repeat(text.length));
      expect(await write(job, 'tokens')).not.toContain(text);
    },
  );

  it.each<[encoding: Encoding, bytes: number[]]>([
    ['shift_jis', [0x87, 0x90]],
    ['big5', [0xf9, 0xf9]],
    ['gb18030', [0x80]],
  ])('leave a text alone of which %s has other bytes as well', async (encoding, bytes) => {
    const path = await app.write('in.csv', '');
    const cell = (more: Buffer): Buffer => Buffer.concat([more, Buffer.from(` ${card}`)]);
    const content = Buffer.concat([
      Buffer.from('id,note\r\n1,'),
      cell(Buffer.from(bytes)),
      Buffer.from('\r\n2,'),
      cell(Buffer.alloc(0)),
      Buffer.from('\r\n'),
    ]);
    writeFileSync(path, content);
    const plan = planOf([inside('tokenize')], { delimiter: ',', encoding });
    const job = await app.run(await app.open(path), plan);
    expect(job).toMatchObject({
      tally: { ok: 1, failed: 1 },
      failures: [{ code: 'value.spelled-inside', count: 1, firstRow: 1 }],
    });
  });

  it('are no plan where the encoding has not all signs of the marks', async () => {
    const sourceId = await app.open(await app.write('in.csv', csv([card])));
    const marks = { open: '«', close: '»', definitions };
    const plan = planOf([inside('tokenize', { inside: marks })], { delimiter: ',', encoding: 'shift_jis' });
    const refused = await app.batch['batch.start']({ sourceId, plan, grounds: null });
    expect(refused).toMatchObject({ failure: { code: 'plan.inside', subject: 'shift_jis' } });
  });

  it('come back whole where what stands before them could be a part of them', async () => {
    const texts = [
      'IBAN GB44 WEST 1234 56, anna@bank.example called',
      'MT89 MALT 0110, a@b.ch, 1234 5MTL CAST 001S to be refunded',
    ];
    const job = await run(csv(texts), [inside('tokenize')]);
    const back = await run(await write(job, 'tokens'), [inside('detokenize')], 'back.csv');
    expect(await write(back, 'cleartext')).toBe(csv(texts));
  });

  it('stay where their marks are of kinds that are not chosen', async () => {
    const text = `[[ssn:536-22-1234]] [[card:${tokenOf(bare)}]]`;
    const job = await run(csv([text, 'a note', 'another one']), [
      inside('detokenize', { inside: { ...usualMarks, definitions: { card: 'card' } }, into: 'beside' }),
    ]);
    expect(await shownNote(job)).toBe(`[[ssn:•••-••-1234]] [[card:${tokenOf(bare)}]]`);
  });

  it.each<[string, Partial<ColumnPlan>]>([
    ['another operation', { operation: 'mask' }],
    ['no definition', { inside: { ...usualMarks, definitions: {} } }],
    [
      'a definition of other values',
      { inside: { ...usualMarks, definitions: { card: 'card', email: 'ssn' } } },
    ],
    ['another definition in its head', { definition: 'text' }],
  ])('are no plan with %s', async (_, over) => {
    const sourceId = await app.open(await app.write('in.csv', csv([card])));
    const plan = planOf([
      inside('tokenize', { inside: { ...usualMarks, definitions: { card: 'card' } }, ...over }),
    ]);
    expect(codeOf(await app.batch['batch.start']({ sourceId, plan, grounds: null }))).toBe('plan.inside');
  });

  it('go on after a stop where they were, with the answers they had', async () => {
    const notes = createNotes(11);
    const content = csv(whole(notes, 4_000));
    const expected = await write(await run(content, [inside('tokenize')]), 'tokens');
    let calls = 0;
    app.service.answer = () => {
      calls += 1;
      if (calls === 20) void app.batch['batch.pause']({ jobId: app.jobs.at(-1)?.jobId ?? '' });
      return null;
    };
    const stopped = await run(content, [inside('tokenize')], 'again.csv');
    expect(stopped.state).toBe('paused');
    app.service.answer = () => null;
    app = await app.again();
    valueOf(await app.batch['batch.resume']({ jobId: stopped.jobId }));
    await app.until(stopped.jobId, 'finished');
    expect(await write(stopped, 'tokens')).toBe(expected);
  });
});
