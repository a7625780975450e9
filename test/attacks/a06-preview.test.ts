import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { done } from '../../electron/contract/errors.ts';
import { encoding, type ColumnPlan, type Reading } from '../../electron/contract/models/batch.ts';
import type { RowCondition, RowsView } from '../../electron/contract/models/rows.ts';
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
    ['the header elsewhere', [], { header: true, headerRow: 4 }],
    ['the first row elsewhere', [], { header: false, firstRow: 4 }],
    ['most rows below the table', [], { header: true, rowsBelow: 3 }],
  ];
  it.each(choices)('shows nothing that main would hide: %s', async (_, masked, reading) => {
    const text = await shown(masked, reading);
    for (const value of [...cards, ...ssns]) expect(text).not.toContain(value);
  });

  it('shows no value of a personal column as the name of one, where a row of data is taken for the header', async () => {
    const content = `passport,n\n${['X1234567', 'P98765432', 'K55501234'].map((one) => `${one},1\n`).join('')}`;
    const id = await app.open(await app.write('people.csv', content));
    const preview = valueOf(
      await app.batch['batch.preview']({
        sourceId: id,
        reading: { header: true, headerRow: 3 },
        masked: null,
      }),
    );
    expect(JSON.stringify(preview)).not.toContain('P98765432');
    expect(preview.columns[0]?.name).toBe('Column 1');
  });

  it.each(['passport,n\n', 'n;passport\n', 'passport\n', 'Customers\n\nn|Passport no.\n'])(
    'shows no value of a personal column where its lines are taken for records: %j',
    async (header) => {
      const passports = ['X1234567', 'P98765432', 'K55501234'];
      const row = header.trimEnd().split('\n').at(-1) ?? '';
      const lines = passports.map((one) =>
        row.replaceAll(/[a-z. ]+/gi, (name) => (/^n$/.test(name) ? '1' : one)),
      );
      const id = await app.open(await app.write('people.csv', `${header}${lines.join('\n')}\n`));
      for (const records of [
        { lines: true, columns: [{ name: 'a', start: 1, width: 4 }] },
        { lines: true, columns: [] },
        { lines: false, bytes: 11, columns: [{ name: 'a', start: 1, width: 11 }] },
      ]) {
        const preview = await app.batch['batch.preview']({
          sourceId: id,
          reading: { records, header: false },
          masked: [],
        });
        for (const one of passports) expect(JSON.stringify(preview)).not.toContain(one);
      }
    },
  );

  it.each(['1', '4', '8', '-', ' ', 'n', '.', '_'])(
    'shows no parts of what main would hide, divided at %j',
    async (delimiter) => {
      const cells: string[] = [];
      for (const reading of [
        { delimiter },
        { delimiter, header: false },
        { delimiter, header: true, headerRow: 2 },
      ]) {
        const { rows, above, last, below, columns } = valueOf(
          await app.batch['batch.preview']({ sourceId, reading, masked: [] }),
        );
        cells.push(...[rows, above, last, below].flat(2), ...columns.map(({ name }) => name));
      }
      // Four digits in a row are as many as a mask shows.
      const digits = new Set(cells.flatMap((cell) => cell.match(/\d{2,}/g) ?? []));
      expect(
        [...digits].filter(
          (run) => run.length > 4 && [...cards, ...ssns].some((value) => value.includes(run)),
        ),
      ).toEqual([]);
      expect(
        cells.filter((cell) => /\d/.test(cell) && !cell.includes('•') && !/^Column \d+$/.test(cell)),
      ).toEqual([]);
    },
  );

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

/** Whether a text holds a value: as it is, or in its bytes as UTF-16, in both orders and alignments. */
function tells(text: string, value: string): boolean {
  const bytes = Buffer.from(text, 'utf16le');
  const views = [bytes, Buffer.from(bytes).swap16()].map((view) => view.toString('latin1'));
  return [text, ...views].some((view) => view.includes(value));
}

/** Every text of an answer: JSON would hide the bytes of one behind its escapes. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

function expectNothingIn(answer: unknown, values: readonly string[], what: string): void {
  const texts = textsOf(answer);
  expect(
    values.filter((value) => texts.some((text) => tells(text, value))),
    what,
  ).toEqual([]);
}

describe('whatever the window asks for', () => {
  const secrets = [...cards, ...ssns, 'X1234567', '1980-02-29', 'jane@bank.example'];
  const rows = cards.map(
    (card, i) => `n${i},${card},${ssns[i] ?? ''},X1234567,1980-02-29,jane@bank.example,paid ${card} by phone`,
  );
  const people = ['name,card_number,ssn,passport,date_of_birth,mail,note', ...rows, ''].join('\n');

  it('nor a row that is malformed, nor a definition of another kind', async () => {
    const content = `bank_account,name\n${Array.from({ length: 9 }, (_, i) => `123456789012345${i},n\n`).join('')}1234567890123459,n,x\n`;
    const opened = await app.open(await app.write('accounts.csv', content));
    const reading = { reading: {}, masked: null, sourceId: opened };
    app.service.refuses = () => true;
    const malformed = { kind: 'row-malformed' as const, row: 1, column: '' };
    const plan = planOf([detokenize(0, { operation: 'tokenize' })]);
    const { jobId } = await app.run(opened, plan);
    const shown = [
      valueOf(await app.batch['batch.preview'](reading)),
      valueOf(await app.batch['batch.noticedRows']({ ...reading, plan: null, notice: malformed })),
      valueOf(await app.batch['batch.rows']({ jobId, filter: 'failed', from: 0, count: 20 })),
      valueOf(await app.batch['batch.try']({ sourceId: opened, plan, grounds: null })),
    ];
    expectNothingIn(shown, ['123456', '2345'], 'accounts');
  });

  it('no reading shows what main would hide', async () => {
    const opened = await app.open(await app.write('all.csv', people));
    for (const encodingName of encoding.options)
      for (const delimiter of [',', ';', '\t', '|'] as const)
        for (const header of [true, false]) {
          const reading = { encoding: encodingName, delimiter, header };
          const outcome = await app.batch['batch.preview']({ sourceId: opened, reading, masked: [] });
          if (outcome.ok) expectNothingIn(outcome.value, secrets, JSON.stringify(reading));
        }
  });

  it('nor where only the name of a column says what to hide', async () => {
    const content = `passport,name\n${Array.from({ length: 9 }, (_, i) => `X123456${i},n\n`).join('')}`;
    const opened = await app.open(await app.write('passports.csv', content));
    for (const encodingName of ['utf-8', 'utf-16le', 'utf-16be'] as const) {
      const reading = { encoding: encodingName, delimiter: ';', header: false } as const;
      const preview = valueOf(await app.batch['batch.preview']({ sourceId: opened, reading, masked: [] }));
      expectNothingIn(preview, ['X1234561', 'X1234568'], encodingName);
    }
  });

  it('nor in a file of units of two bytes that is read by one', async () => {
    const content = `passport,name\n${Array.from({ length: 9 }, (_, i) => `X123456${i},n\n`).join('')}`;
    const opened = await app.open(await app.write('wide.csv', Buffer.from(content, 'utf16le')));
    for (const encodingName of encoding.options)
      for (const header of [true, false]) {
        const reading = { encoding: encodingName, header };
        const outcome = await app.batch['batch.preview']({ sourceId: opened, reading, masked: [] });
        const texts = textsOf(outcome).map((text) => text.replaceAll('\0', ''));
        expectNothingIn(texts, ['X1234561', 'X1234568'], JSON.stringify(reading));
      }
  });

  it.each(['utf-8', 'utf-16le', 'utf-16be'] as const)('no job read as %s shows it', async (read) => {
    const opened = await app.open(await app.write('all.csv', people));
    const tokenize: Partial<ColumnPlan> = { operation: 'tokenize' };
    const plan = planOf([detokenize(0, tokenize)], { encoding: read, header: false });
    expectNothingIn(
      await app.batch['batch.try']({ sourceId: opened, plan, grounds: null }),
      secrets,
      'a try',
    );
    const { jobId } = await app.run(opened, plan);
    const page = await app.batch['batch.rows']({ jobId, filter: 'all', from: 0, count: 10 });
    expectNothingIn([page, await app.batch['batch.jobs']({})], secrets, 'rows and jobs');
  });

  const target = { policy: 'Disputes', definition: 'text' };
  it.each<[ColumnPlan['operation'], Partial<ColumnPlan>]>([
    ['tokenize', {}],
    ['detokenize', {}],
    ['mask', {}],
    ['translate', { target }],
    ['match', { parts: { by: 'digits', bin: '9', lastFour: '', length: null } }],
  ])('no plan takes a mask off: %s', async (operation, over) => {
    app.service.refuses = () => operation !== 'match';
    const opened = await app.open(await app.write('all.csv', people));
    for (const into of ['replace', 'beside'] as const) {
      const plan = planOf(
        [1, 2, 3, 4, 5, 6].map((column) => detokenize(column, { operation, into, ...over })),
      );
      const tried = await app.batch['batch.try']({ sourceId: opened, plan, grounds: null });
      expect(tried.ok).toBe(true);
      expectNothingIn(tried, secrets, into);
      const { jobId } = await app.run(opened, plan);
      const page = valueOf(await app.batch['batch.rows']({ jobId, filter: 'all', from: 0, count: 10 }));
      expect(page.rows).toHaveLength(4);
      expectNothingIn(page, secrets, into);
    }
  });
});

describe('a column is hidden by its name', () => {
  it('where its first rows are blank', async () => {
    const late = 't1,X1234567,078051120,1980-02-29';
    const content = `ref,passport,ssn,date_of_birth\n${'b,,,\n'.repeat(260)}${late}\n`;
    const opened = await app.open(await app.write('late.csv', content));
    const { jobId } = await app.run(opened, planOf([detokenize(0)]));
    const page = valueOf(await app.batch['batch.rows']({ jobId, filter: 'all', from: 255, count: 10 }));
    expect(page.rows).toHaveLength(6);
    expectNothingIn(page, late.split(',').slice(1), 'rows');
  });

  it.each([
    ['ssn', ['219099990', 'unknown']],
    ['SSN', ['SSN078-05-1128']],
    ['Unmasked passport', ['X1234567']],
    ['passport_detokenized', ['X1234567']],
    ['Basingstoke passport', ['X1234567']],
    ['Tokyo e-mail', ['jane@bank.example']],
    ['email_token_cleartext', ['jane@bank.example']],
    ['detokenized_email', ['jane@bank.example']],
    ['custDOB', ['1980-02-29']],
    ['pass-port', ['X1234567']],
    ['Pass Port No', ['X1234567']],
    ['BirthDt', ['1980-02-29']],
    ['ID card no', ['X1234567']],
    ['iban', ['DE00 1234 5678']],
    ['Kunden-IBAN', ['GB00BARC1234']],
    ['tax id', ['12 345 678 901']],
    ['Tax_ID', ['86095742719']],
    ['TIN', ['912-70-1234']],
    ['Steuernummer', ['93/815/08152']],
    ['maskedPan', ['jane@bank.example']],
    ['Hash', ['jane@bank.example']],
  ])('%s', async (name, values) => {
    const lines = Array.from({ length: 12 }, (_, i) => `n${i},${values[i % values.length] ?? ''}`);
    const opened = await app.open(await app.write('named.csv', `ref,${name}\n${lines.join('\n')}\n`));
    const preview = valueOf(await app.batch['batch.preview']({ sourceId: opened, reading: {}, masked: [] }));
    expectNothingIn(preview, values, name);
  });

  it.each(['token', 'card_token', 'cardtoken', 'emailTokens', 'tokenized email'])(
    'and one of tokens is not: %s',
    async (name) => {
      const lines = Array.from({ length: 12 }, (_, i) => `n${i},tok-${i}@x.example`);
      const opened = await app.open(await app.write('tokens.csv', `ref,${name}\n${lines.join('\n')}\n`));
      const preview = valueOf(
        await app.batch['batch.preview']({ sourceId: opened, reading: {}, masked: null }),
      );
      expect(preview.rows[3]?.[1]).toBe('tok-3@x.example');
    },
  );
});

describe('the values that were sent first', () => {
  it('are as hidden as in the table, whatever the plan', async () => {
    const values = Array.from({ length: 400 }, (_, i) => `X${1_000_000 + i}`);
    app.service.answer = (_, elements) =>
      done({
        requestId: 'r-1',
        elements: elements.map(({ ref, value }) => ({
          ref,
          ok: false,
          code: 'service.element-refused',
          reason: `${value} is no token`,
        })),
      });
    const opened = await app.open(await app.write('passports.csv', `passport\n${values.join('\n')}\n`));
    const { jobId } = await app.run(opened, planOf([detokenize(0, { definition: 'text' })]));
    const shown = valueOf(await app.batch['batch.canary']({ jobId }));
    expect(shown).toHaveLength(200);
    expectNothingIn(shown, values, 'values and reasons');
  });
});

describe('a cell says itself what to hide', () => {
  it.each([
    ['late in a column of words', 'note', (i: number) => `ok ${i}`],
    ['late in a column of order numbers', 'reference', (i: number) => String(700_000_000_000 + i)],
  ])('%s', async (_, name, ordinary) => {
    const late = [...cards, ...cards.map((card) => `paid with ${card} by phone`)];
    const lines = [...Array.from({ length: 260 }, (_, i) => ordinary(i)), ...late];
    const content = `token,${name}\n${lines.map((line, i) => `t${i},${line}\n`).join('')}`;
    const opened = await app.open(await app.write('late.csv', content));
    const { jobId } = await app.run(opened, planOf([detokenize(0)]));
    const pages = [];
    for (let from = 0; from < lines.length; from += 100)
      pages.push(valueOf(await app.batch['batch.rows']({ jobId, filter: 'all', from, count: 100 })));
    expectNothingIn(pages, cards, name);
    const all = pages.flatMap(({ rows }) => rows);
    expect(all[0]?.cells[1]?.text).toBe(ordinary(0));
    expect(all[264]?.cells[1]?.text).toBe('paid with 411111••••••1111 by phone');
  });

  it.each([
    ['as the whole cell', (card: string) => card],
    ['inside a text', (card: string) => `paid with ${card} by phone`],
  ])('and no find, filter, order, profile or copy tells more of it, %s', async (_, within) => {
    // One mask, and the hidden digits of the first are the greater ones.
    const alike = ['4111119990091114', '4111110000061114', '4111115000051114'];
    const lines = [...Array.from({ length: 260 }, (_line, i) => `ok ${i}`), ...alike.map(within)];
    const content = `token,note\n${lines.map((line, i) => `t${i},${line}\n`).join('')}`;
    const opened = await app.open(await app.write('late.csv', content));
    const { jobId } = await app.run(opened, planOf([detokenize(0)]));
    const rowsOf = async (view: Partial<RowsView>) => {
      const query = { jobId, filter: 'all', view: { where: [], sort: null, ...view }, from: 0, count: 500 };
      return valueOf(await app.batch['batch.rows'](query as never)).rows.map(({ row }) => row);
    };
    const where = (test: RowCondition['test'], text: string) => ({ where: [{ column: 1, test, text }] });
    const find = async (text: string) =>
      valueOf(await app.batch['batch.find']({ jobId, filter: 'all', text, after: -1, backwards: false }))
        ?.count ?? 0;
    for (const card of alike) {
      for (const part of [card, card.slice(0, 8), card.slice(5, 11), card.slice(6, 10), card.slice(9)])
        expect([part, await find(part), await rowsOf(where('contains', part))]).toEqual([part, 0, []]);
      expect(await rowsOf(where('equals', within(card)))).toEqual([]);
      expect(await rowsOf(where('begins', within(card)))).toEqual([]);
      expect(await rowsOf(where('ends', within(card)))).toEqual([]);
    }
    // What the mask shows finds all three alike.
    expect(await find('411111')).toBe(3);
    expect(await rowsOf(where('contains', '1114'))).toEqual([261, 262, 263]);
    for (const descending of [false, true]) {
      const order = await rowsOf({ sort: { column: 1, descending } });
      expect(order.filter((row) => row > 260)).toEqual([261, 262, 263]);
    }
    const profile = valueOf(await app.batch['batch.profile']({ jobId, column: 1 }));
    expectNothingIn(profile, alike, 'profile');
    valueOf(await app.batch['batch.copy']({ jobId, filter: 'all', from: 258, count: 5, columns: [0, 1] }));
    expect(app.copied).toHaveLength(1);
    expectNothingIn(app.copied, alike, 'copy');
    expect(app.copied[0]).toContain(within('411111••••••1114'));
  });

  it('in a preview whose column is mixed', async () => {
    const lines = Array.from({ length: 20 }, (_, i) =>
      i % 5 < 2 ? `memo ${cards[i % 4] ?? ''}` : `memo ${i}`,
    );
    const opened = await app.open(await app.write('mixed.csv', `memo\n${lines.join('\n')}\n`));
    const preview = valueOf(
      await app.batch['batch.preview']({ sourceId: opened, reading: {}, masked: null }),
    );
    expectNothingIn(preview, cards, 'memo');
    expect(preview.rows[3]).toEqual(['memo 3']);
  });

  it('and can be revealed', async () => {
    const opened = await app.open(await app.write('one.csv', `token,note\nt1,paid with ${cards[0] ?? ''}\n`));
    const { jobId } = await app.run(opened, planOf([detokenize(0)]));
    const xorKey = Buffer.alloc(1_024, 7).toString('base64');
    const grounds = { reason: 'Refund', caseReference: 'D-1' };
    const revealed = await app.batch['batch.reveal']({ jobId, row: 1, column: 1, xorKey, ...grounds });
    expect(revealed.ok).toBe(true);
  });
});
