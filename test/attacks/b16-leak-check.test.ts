import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { beginEntry, detailsOf, endEntry } from '../../electron/audit/entries.ts';
import { auditEntry } from '../../electron/contract/models/activity.ts';
import { cleartext } from '../../electron/util/cleartext.ts';
import { done, failed, type Outcome } from '../../electron/contract/errors.ts';
import type { ColumnPlan, ExportChoice, Exported, Job, Plan } from '../../electron/contract/models/batch.ts';
import {
  codeOf,
  detokenize,
  fakeService,
  openApp,
  plainExport,
  takeIn,
  planOf,
  type TestApp,
  type TestOptions,
  valueOf,
} from '../support/batch-app.ts';
import { obscuredOf } from '../support/obscured-text.ts';

/* Card numbers and values that a file of tokens keeps in clear, in cells that are copied from the source. */

function cardOf(number: number): string {
  const digits = `411111${String(number).padStart(9, '0')}`;
  let sum = 0;
  for (let index = 0; index < digits.length; index++) {
    const digit = Number(digits.charAt(digits.length - 1 - index)) * (index % 2 === 0 ? 2 : 1);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return `${digits}${(10 - (sum % 10)) % 10}`;
}

const tokenize = (column: number, definition = 'card'): ColumnPlan =>
  detokenize(column, { operation: 'tokenize', definition });

async function open(options: TestOptions = {}): Promise<TestApp> {
  const app = await openApp(options);
  onTestFinished(() => app.close());
  return app;
}

interface Run {
  readonly columns?: ColumnPlan[];
  readonly reading?: Partial<Plan['reading']>;
}

async function run(app: TestApp, source: string | Buffer, { columns = [tokenize(1)], reading }: Run = {}) {
  const path = await app.write('cards.csv', source);
  return app.run(await app.open(path), planOf(columns, { delimiter: '|', ...reading }));
}

const tokens: Omit<ExportChoice, 'jobId'> = {
  ...plainExport,
  content: 'tokens',
  safety: 'source',
  grounds: null,
};

const exportTo = (
  app: TestApp,
  { jobId }: Job,
  choice: Partial<ExportChoice> = {},
): Promise<Outcome<Exported | null>> => app.batch['batch.export']({ ...tokens, jobId, ...choice });

const remainingIn = (outcome: Outcome<Exported | null>) => valueOf(outcome)?.remaining;

/** What is said before, and then of the file: the same. */
async function lookAndExport(app: TestApp, job: Job, choice: Partial<ExportChoice> = {}) {
  const { content, rows } = { ...tokens, ...choice };
  // Not after the look, which is remembered.
  const counted = remainingIn(await exportTo(app, job, choice));
  const looked = valueOf(await app.batch['batch.checkExport']({ jobId: job.jobId, content, rows }));
  expect(looked).toEqual(counted);
  const exported = remainingIn(await exportTo(app, job, choice));
  expect(exported).toEqual(counted);
  const { cards, values } = counted ?? { cards: 0, values: 0 };
  expect(app.audit.ends.at(-1)).toMatchObject({ ok: true, remaining: { cards, values } });
  return counted;
}

const rowsOf = (count: number, line: (row: number) => string): string =>
  Array.from({ length: count }, (_, index) => `${line(index + 1)}\n`).join('');

const none = { cards: 0, values: 0, places: [] };
const only = (column: number, cards: number, firstRow: number, lastRow = firstRow) => ({
  cards,
  values: 0,
  places: [{ column, cards, values: 0, firstRow, lastRow }],
});

describe('card numbers', () => {
  it('are counted in rows that a quote has swallowed', async () => {
    const app = await open();
    const names: Record<number, string> = { 71: '"Zum Hirschen', 91: 'Rohr 5"' };
    const rows = rowsOf(200, (row) => `${names[row] ?? 'Anna'}|${cardOf(row)}|Ulm`);
    const job = await run(app, `name|card|city\n${rows}`);
    expect(job.tally).toMatchObject({ rows: 180, ok: 180 });
    expect(await lookAndExport(app, job)).toEqual(only(0, 20, 71));
  });

  it('are counted in rows between ditto marks', async () => {
    const app = await open();
    const rows = rowsOf(200, (row) => `${[20, 21].includes(row % 40) ? '"' : 'Anna'}|${cardOf(row)}|Ulm`);
    const job = await run(app, `name|card|city\n${rows}`);
    expect(job.tally.rows).toBe(195);
    expect(await lookAndExport(app, job)).toMatchObject({ cards: 5, places: [{ column: 0, cards: 5 }] });
  });

  const inAllForms: [string, Partial<ExportChoice>][] = [
    ['as the source', {}],
    ['safe for Excel', { safety: 'spreadsheet' }],
    ['exact', { safety: 'exact', encoding: 'utf-16le' }],
    ['exact, in few characters', { safety: 'exact', encoding: 'windows-1252' }],
    ['as a workbook', { format: 'workbook' }],
    ['encrypted', { passphrase: obscuredOf('a passphrase of some length') }],
  ];
  it.each(inAllForms.slice(0, 4))('are counted in cells and rows of any length, %s', async (_, choice) => {
    const app = await open();
    const note = (row: number): string =>
      Array.from({ length: 3_000 }, (_, n) => `then she named ${cardOf(row * 3_000 + n)} "once"`).join('; ');
    const rows = rowsOf(3, (row) => `${cardOf(row)}|${note(row)}`);
    const job = await run(app, `card|${note(0)}\n${rows}`, { columns: [tokenize(0)] });
    expect(await lookAndExport(app, job, choice)).toEqual(only(1, 12_000, 0, 3));
  });

  it.each(inAllForms)('are counted in a column that nobody mapped, %s', async (_, choice) => {
    const app = await open();
    const job = await run(
      app,
      `card|old\n${rowsOf(10, (row) => `${cardOf(row)}|${row < 4 ? '' : cardOf(row + 50)}`)}`,
      {
        columns: [tokenize(0)],
      },
    );
    expect(await lookAndExport(app, job, choice)).toEqual(only(1, 7, 4, 10));
  });

  it.each([
    ['4111 1111 1111 1111', 1],
    ['called about 4111-1111-1111-1111, and 5555.5555.5555.4444.', 2],
    ['PAN:4111111111111111;', 1],
    ['4111 1111 1111 1111 12/27', 1],
    ['3782 822463 10005', 1],
    ['37 82 82 24 63 10 00 5', 1],
    ['30569309025904', 1],
    ['4222222222222', 1],
    ['6011000990139424 3530111333300000 6200000000000005', 3],
    ['4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1', 1],
    ['4111 - - 1111 - - 1111 - - 1111', 1],
    ['4111      1111      1111      1111', 1],
    ['٤١١١١١١١١١١١١١١١', 1],
    ['bezahlt: ٤١١١ ١١١١ ١١١١ ١١١١, danke', 1],
    ['４１１１１１１１１１１１１１１１', 1],
    ['6759649826438453', 1],
    ['9792020000000001', 1],
    ['2200000000000053', 1],
    ['6521111111111110', 1],
    ['5060990000000008', 1],
    // As the masks read it: other groups, a security code or zeros joined to it, spelled as a page would, other signs between.
    ['4111 111 1111 1111 1', 1],
    ['4111 1111 1111 1111123', 1],
    ['4111111111111111123', 1],
    ['41111111111111110000000', 1],
    ['JANE0004111111111111111000042', 1],
    ['&#52;111&nbsp;1111&#32;1111 1111', 1],
    ['&#x34;&#x31;11 1111 1111 1111', 1],
    ['\\u00341\\u003111111111111111', 1],
    ['%34%31%31%31%31%31%31%31%31%31%31%31%31%31%31%31', 1],
    ['④①①①①①①①①①①①①①①①', 1],
    ['411①1111 1111 111①', 1],
    ['4111—–—1111—–—1111—–—1111', 1],
    ['4•1•1•1•1•1•1•1•1•1•1•1•1•1•1•1', 1],
    ['A&B C&D 50% \\new, 4111 1111 1111 1111', 1],
    // The check digit is wrong; no issuer; a date and time; and with a right check digit a telephone's
    // number, an article's, one within an IBAN and a part of a list.
    ['4111111111111112', 0],
    ['2000000000000006', 0],
    ['&#52;111111111111112 50% A&B', 0],
    ['2026-01-15 12:30:00.000', 0],
    ['+49 411 1111111 1117', 0],
    ['4006381334013', 0],
    ['DE84 4306 0967 4111 1117 00', 0],
    ['4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 2', 0],
  ])('in a note: %s', async (note, cards) => {
    const app = await open();
    const job = await run(app, `id|card|note\n7|${cardOf(1)}|${note}\n`);
    expect(await lookAndExport(app, job)).toEqual(cards === 0 ? none : only(2, cards, 1));
  });

  it.each(['utf-16le', 'utf-16be', 'windows-1252', 'shift_jis'] as const)(
    'in a source in %s',
    async (encoding) => {
      const app = await open();
      const text = `name|card|note\nJürgen|${cardOf(1)}|x ${cardOf(2)} x\n`;
      const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
      const bytes = {
        'utf-16le': utf16,
        'utf-16be': Buffer.from(utf16).swap16(),
        'windows-1252': Buffer.from(text, 'latin1'),
        shift_jis: Buffer.from(text.replace('ü', '\u0083\u0041'), 'latin1'),
      }[encoding];
      const job = await run(app, bytes, { reading: { encoding } });
      expect(await lookAndExport(app, job)).toEqual(only(2, 1, 1));
    },
  );

  it('that may be tokens are none: the service found no match in them, or was not asked', async () => {
    const service = fakeService();
    const app = await open({ service });
    const source = `name|card\n${rowsOf(4, (row) => `Anna|${cardOf(row)}`)}`;
    const match = detokenize(1, { operation: 'match', pattern: 'never' });
    const unmatched = await run(app, source, { columns: [match] });
    expect(unmatched.tally.unmatched).toBe(4);
    expect(await lookAndExport(app, unmatched, { content: 'masked' })).toEqual(none);
    service.answer = () =>
      done({
        requestId: 'r',
        elements: ['0', '1', '2', '3'].map((ref) => ({ ref, ok: false, code: 'service.mismatched-answer' })),
      });
    const failing = await run(app, source, { columns: [detokenize(1)] });
    expect(failing.tally.failed).toBe(4);
    expect(await lookAndExport(app, failing, { content: 'masked' })).toEqual(none);
  });

  it('in a cell that the file’s encoding can’t hold are not in the file', async () => {
    const app = await open();
    const job = await run(app, `name|card|note\nAnn|${cardOf(1)}|Łódź ${cardOf(2)}\n`);
    const { jobId } = job;
    const looked = await app.batch['batch.checkExport']({ jobId, content: 'tokens', rows: 'all' });
    expect(valueOf(looked)).toEqual(only(2, 1, 1));
    const choice = { safety: 'exact', encoding: 'windows-1252', leavesEmpty: true } as const;
    expect(valueOf(await app.export(jobId, { ...tokens, ...choice }))).not.toContain(cardOf(2));
    expect(remainingIn(await exportTo(app, job, choice))).toEqual(none);
  });

  it('letters of UTF-16 that have a digit for a byte are no number', async () => {
    const app = await open();
    const letters = `\u0134${'\u0131'.repeat(15)}`;
    const bytes = Buffer.from(`\ufeffname|card|note\nAnn|${cardOf(1)}|${letters}\n`, 'utf16le');
    const job = await run(app, bytes, { reading: { encoding: 'utf-16le' } });
    expect(await lookAndExport(app, job)).toEqual(none);
  });

  it('are counted for the rows that are written, whatever was looked at before', async () => {
    const app = await open();
    const job = await run(
      app,
      `note|card\n${rowsOf(4, (row) => `${cardOf(row)}|${row < 3 ? 'no card' : cardOf(row + 9)}`)}`,
    );
    const { jobId } = job;
    expect(job.tally).toMatchObject({ ok: 2, failed: 2 });
    await app.batch['batch.checkExport']({ jobId, content: 'tokens', rows: 'all' });
    expect(remainingIn(await exportTo(app, job, { rows: 'failed' }))).toEqual(only(0, 2, 1, 2));
    const shown = (filter: 'ok' | 'failed') => ({ rows: 'shown' as const, shown: { filter, where: [] } });
    await app.batch['batch.checkExport']({ jobId, content: 'tokens', ...shown('failed') });
    expect(remainingIn(await exportTo(app, job, shown('ok')))).toEqual(only(0, 2, 3, 4));
    expect(remainingIn(await exportTo(app, job))).toEqual(only(0, 4, 1, 4));
  });

  it('in a malformed row that is copied, and not in one whose fields are masked', async () => {
    const rows = `a|${cardOf(1)}|x\nb|${cardOf(2)}\nc|t3|4111.1111.1111.1111|y\nd|t4|z\n`;
    const app = await open();
    const masked = await run(app, `name|card|note\n${rows}`);
    const text = valueOf(await app.export(masked.jobId, tokens));
    expect(text).not.toContain(cardOf(2));
    expect(text).not.toContain('4111.1111.1111.1111');
    expect(await lookAndExport(app, masked)).toEqual(none);
    const copied = await run(app, `name|card|note\n${rows}`, { columns: [detokenize(1)] });
    expect(await lookAndExport(app, copied, { content: 'masked' })).toMatchObject({
      cards: 2,
      places: [
        { column: 1, cards: 1, firstRow: 2 },
        { column: 2, cards: 1, firstRow: 3 },
      ],
    });
  });

  it('in a first row that is taken for the header', async () => {
    const app = await open();
    const job = await run(app, `${cardOf(1)}|card\nx|${cardOf(2)}\n`);
    expect(await lookAndExport(app, job)).toEqual(only(0, 1, 0));
  });

  it('that were to be detokenized and are none of the service’s tokens', async () => {
    const service = fakeService();
    service.refuses = (value) => value === cardOf(2);
    const app = await open({ service });
    const job = await run(app, `name|card\n${rowsOf(4, (row) => `Anna|${cardOf(row)}`)}`, {
      columns: [detokenize(1)],
    });
    expect(job.tally).toMatchObject({ ok: 3, failed: 1 });
    expect(await lookAndExport(app, job, { content: 'masked' })).toEqual(only(1, 1, 2));
    expect(await lookAndExport(app, job, { rows: 'failed' })).toEqual(only(1, 1, 2));
  });
});

it('tokens that the service gave are no cards, wherever they stand', async () => {
  const service = fakeService();
  const tokenFor = (value: string) => cardOf(Number(value.slice(-9, -1)) + 500);
  service.answer = (_, elements) =>
    done({
      requestId: 'r',
      elements: elements.map(({ ref, value }) => ({ ref, ok: true, value: cleartext(tokenFor(value)) })),
    });
  const app = await open({ service });
  const source = `old|card\n${rowsOf(9, (row) => `${row === 5 ? cardOf(77_000) : tokenFor(cardOf(10 - row))}|${cardOf(row)}`)}`;
  const job = await run(app, source);
  expect(await lookAndExport(app, job)).toEqual(only(0, 1, 5));
});

it('order numbers, dates and amounts are none', async () => {
  const app = await open();
  const rows = rowsOf(3_000, (row) => {
    const order = String(1_000_000_000_000_000 + row * 7_919);
    return `${order}|${cardOf(row)}|2026-02-${10 + (row % 18)} 12:00:01|${row}.50|49 170 ${2_000_000 + row}`;
  });
  const job = await run(app, `order|card|at|amount|phone\n${rows}`);
  expect(await lookAndExport(app, job)).toEqual(none);
});

describe('values that were sent', () => {
  it.each([
    ['ssn', '123-45-6789', 'SSN 123456789 given', 1],
    ['ssn', '123456789', '123-45-6789', 1],
    ['email', 'Ann.Lee@Example.com', 'write to <ann.lee@example.com>.', 1],
    ['text', 'Zum Goldenen Hirschen', 'ZUM GOLDENEN HIRSCHEN', 1],
    ['text', 'DE89370400440532013000', 'from DE89370400440532013000, please', 1],
    ['text', 'X123456', 'passport x123456.', 1],
    ['text', 'AB 123', 'ab 123', 1],
    // Too short, and something else.
    ['text', 'Berlin', 'Berlin', 0],
    ['text', 'X1', 'X1', 0],
    ['text', 'Ulm', 'Ulm', 0],
    ['text', '12345678', 'no 12345678', 0],
    ['ssn', '123-45-6789', '1234567890', 0],
    ['email', 'ann.lee@example.com', 'joann.lee@example.com', 0],
  ])('are found where they stand once more: %s %s in "%s"', async (definition, value, note, values) => {
    const app = await open();
    // The note comes before its value is sent.
    const job = await run(app, `note|value\n${note}|other value\nx|${value}\n`, {
      columns: [tokenize(1, definition)],
    });
    const place = { column: 0, cards: 0, values, firstRow: 1, lastRow: 1 };
    expect(await lookAndExport(app, job)).toEqual(
      values === 0 ? none : { cards: 0, values, places: [place] },
    );
  });

  it('are looked for anew when a row was corrected', async () => {
    const service = fakeService();
    service.refuses = (value) => value === 'wrong value';
    const app = await open({ service });
    const job = await run(app, 'note|value\nright value|wrong value\n', { columns: [tokenize(1, 'text')] });
    expect(await lookAndExport(app, job)).toEqual(none);
    const list = 'source_row|column|reason|code|note|value\n1||||right value|right value\n';
    const sourceId = await app.open(await app.write('list.csv', list));
    valueOf(await takeIn(app, { jobId: job.jobId, sourceId }));
    const again = await app.until(job.jobId, 'finished');
    expect(again.tally.ok).toBe(1);
    expect(await lookAndExport(app, again)).toMatchObject({ values: 1 });
  });
});

it('are as before where corrected rows could not be sent, since nothing was merged', async () => {
  const service = fakeService();
  service.refuses = (value) => value === 'wrong value';
  let isDown = false;
  const clients = {
    for: () => Promise.resolve(isDown ? failed('connection.unknown') : done(service.client)),
  };
  const app = await open({ service, clients });
  const job = await run(app, 'note|value\nright value|wrong value\n', { columns: [tokenize(1, 'text')] });
  expect(await lookAndExport(app, job)).toEqual(none);
  const list = 'source_row|column|reason|code|note|value\n1||||right value|right value\n';
  const sourceId = await app.open(await app.write('list.csv', list));
  isDown = true;
  const mended = await takeIn(app, { jobId: job.jobId, sourceId });
  expect(codeOf(mended)).toBe('connection.unknown');
  expect(await lookAndExport(app, job)).toEqual(none);
});

describe('the window and the log', () => {
  const source = `name|card|note\nAnn|${cardOf(1)}|${cardOf(2)}\n`;

  it('get counts, columns and rows, and no value', async () => {
    const app = await open();
    const job = await run(app, source);
    await lookAndExport(app, job);
    const looked = await app.batch['batch.checkExport']({ jobId: job.jobId, content: 'tokens', rows: 'all' });
    const said = JSON.stringify([looked, await exportTo(app, job), app.audit]);
    expect(said).not.toMatch(/411111/);
  });

  it('the log has the count in a member of its own, and the page of it says so', () => {
    const at = new Date(0);
    const begun = beginEntry({ action: 'Export' }, at, 'ada');
    const end = { ok: true, remaining: { cards: 20, values: 3 } };
    const entry = auditEntry.parse({ ...endEntry({ begun, sequence: 1, end, at }), sequence: 2 });
    expect(entry.remaining).toEqual(end.remaining);
    expect(detailsOf(entry)).toEqual(['card numbers in clear: 20', 'values in clear that were sent: 3']);
  });

  it('a file in clear is not looked at', async () => {
    const app = await open();
    const job = await run(app, source);
    const { jobId } = job;
    expect(
      valueOf(await app.batch['batch.checkExport']({ jobId, content: 'cleartext', rows: 'all' })),
    ).toBeNull();
    expect(remainingIn(await app.batch['batch.export']({ ...plainExport, jobId }))).toBeNull();
    expect(app.audit.ends.at(-1)).not.toHaveProperty('remaining');
  });
});

describe('an administrator', () => {
  const source = `name|card|note\nAnn|${cardOf(1)}|${cardOf(2)}\n`;
  const clean = `name|card|note\nAnn|${cardOf(1)}|none\n`;

  it('forbids such files: nothing is written, before a look and after it', async () => {
    const app = await open({ managed: { remainingCleartext: 'forbidden' } });
    const job = await run(app, source);
    const before = readdirSync(app.folder);
    for (const isLooked of [false, true]) {
      if (isLooked)
        await app.batch['batch.checkExport']({ jobId: job.jobId, content: 'tokens', rows: 'all' });
      expect(codeOf(await exportTo(app, job, { grounds: plainExport.grounds }))).toBe(
        'export.remaining-forbidden',
      );
      expect(readdirSync(app.folder)).toEqual(before);
      const end = { ok: false, code: 'export.remaining-forbidden', remaining: { cards: 1, values: 0 } };
      expect(app.audit.ends.at(-1)).toEqual(end);
    }
    expect(codeOf(await exportTo(app, await run(app, clean)))).toBe('ok');
  });

  it('does not let a file be replaced by one that is forbidden', async () => {
    const app = await open({ managed: { remainingCleartext: 'forbidden' } });
    const job = await run(app, source);
    app.target = await app.write('earlier.csv', 'earlier');
    expect(codeOf(await exportTo(app, job))).toBe('export.remaining-forbidden');
    expect(readFileSync(app.target, 'utf8')).toBe('earlier');
  });

  it('wants a reason for them, which is in the log; one of the list, where there is one', async () => {
    const app = await open({ managed: { remainingCleartext: 'reason', reasons: ['Refund'] } });
    const job = await run(app, source);
    const grounds = (reason: string) => ({ grounds: { reason, caseReference: 'C-7' } });
    expect(codeOf(await exportTo(app, job))).toBe('export.remaining-reason');
    expect(codeOf(await exportTo(app, job, grounds('')))).toBe('reveal.reason-required');
    expect(codeOf(await exportTo(app, job, grounds('Curious')))).toBe('reveal.reason-refused');
    expect(readdirSync(app.folder).filter((name) => name.includes('tokens'))).toEqual([]);
    expect(codeOf(await exportTo(app, job, grounds('Refund')))).toBe('ok');
    expect(app.audit.intents.at(-1)).toMatchObject({
      action: 'Export',
      reason: 'Refund',
      caseReference: 'C-7',
    });
    expect(codeOf(await exportTo(app, await run(app, clean)))).toBe('ok');
  });
});
