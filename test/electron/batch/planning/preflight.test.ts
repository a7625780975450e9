import { cleartext as inClear } from '../../../../electron/util/cleartext.ts';
import { obscureText, newXorKey } from '../../../../electron/contract/obscured.ts';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { calls, events } from '../../../../electron/contract/calls.ts';
import { done, failed } from '../../../../electron/contract/errors.ts';
import { createDistinctCounter } from '../../../../electron/batch/planning/preflight.ts';
import {
  codeOf,
  detokenize,
  memoryStore,
  openApp,
  planOf,
  tokenOf,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

async function preflight(content: string, plan = planOf([detokenize(0)])) {
  app.preflights.length = 0;
  const sourceId = await app.open(await app.write('in.csv', content));
  valueOf(await app.batch['batch.preflight']({ sourceId, plan }));
  await expect.poll(() => app.preflights.at(-1)?.done).toBe(true);
  const counts = app.preflights.at(-1);
  events['batch.preflight'].parse(counts);
  return counts;
}

describe('preflight', () => {
  it('counts the whole file without sending anything', async () => {
    const lines = Array.from({ length: 1_000 }, (_, i) => `tok${i % 250},${i}`);
    const content = ['token,n', ...lines, ',blank', '4.11E+15,x', 'a,b,c', 'token,n'].join('\n');
    expect(await preflight(content)).toMatchObject({
      rows: 1_004,
      blank: 1,
      malformed: 2,
      unfit: 1,
      guesses: 0,
      distinct: 250,
      distinctExact: true,
      requests: 3,
      columns: [{ column: 0, unfit: 1, requests: 3 }],
      dayShare: 250 / 10_000_000,
    });
    expect(app.preflights.at(-1)?.notices).toEqual([
      { kind: 'excel-rounded', row: 1_002, column: 'token', count: 1 },
      { kind: 'row-malformed', row: 1_003, column: null, count: 1 },
      { kind: 'header-repeated', row: 1_004, column: null, count: 1 },
      { kind: 'value-unfit', row: 1_002, column: 'token', count: 1 },
    ]);
    expect(app.service.sent).toEqual([]);
  });

  it('says before a run that cards to be tokenized look like tokens, not that some are mistyped', async () => {
    const plan = planOf([{ ...detokenize(0), operation: 'tokenize' }]);
    const card = '4111111111111111';
    const token = '4111-1130-2246-2111';
    const of = (cards: number, tokens: number) =>
      preflight(
        ['card', '', ...Array<string>(cards).fill(card), ...Array<string>(tokens).fill(token)].join('\n'),
        plan,
      );
    expect((await of(5, 45))?.notices).toEqual([
      { kind: 'looks-tokenized', row: 7, column: 'card', count: 45 },
    ]);
    expect((await of(45, 5))?.notices).toEqual([]);
    // To be detokenized they are what they should be.
    expect((await preflight(`card\n${token}\n`))?.notices).toEqual([]);
    expect(app.service.sent).toEqual([]);
  });

  it('agrees with what the run then sends', async () => {
    const content = 'a,b\n' + Array.from({ length: 3_000 }, (_, i) => `t${i % 700},u${i % 900}`).join('\n');
    const columns = [detokenize(0), detokenize(1)];
    const counts = await preflight(content, planOf(columns));
    const job = await app.run(counts?.sourceId ?? '', planOf(columns));
    expect(app.jobs[0]).toMatchObject({ state: 'running', total: 3_000 });
    expect(job.tally.ok).toBe(3_000);
    expect(app.service.sent).toHaveLength(counts?.distinct ?? -1);
    expect(new Set(app.service.sent).size).toBe(1_600);
  });

  it.each([
    ['plan.column-unknown', planOf([detokenize(5)])],
    ['plan.column-unknown', planOf([detokenize(0), detokenize(0)])],
    ['plan.definition-unknown', planOf([detokenize(0, { definition: 'iban' })])],
    ['plan.policy-unknown', planOf([detokenize(0, { policy: 'Nobody' })])],
    ['plan.definition-unknown', planOf([detokenize(0, { operation: 'translate' })])],
    ['pattern.invalid', planOf([detokenize(0, { operation: 'match', pattern: '(' })])],
    ['pattern.unsupported', planOf([detokenize(0, { operation: 'match', pattern: '(?=4).*' })])],
    ['pattern.unsupported', planOf([detokenize(0, { operation: 'match', pattern: '(4)\\1' })])],
  ])('refuses with %s', async (code, plan) => {
    const sourceId = await app.open(await app.write('in.csv', 'a,b\n1,2\n'));
    const grounds = null;
    for (const call of ['batch.preflight', 'batch.try', 'batch.start'] as const) {
      expect(codeOf(await app.batch[call]({ sourceId, plan, grounds })), call).toBe(code);
    }
  });
});

describe('the trial', () => {
  it('runs the first 20 rows for real and keeps nothing', async () => {
    const content = 'token\n' + Array.from({ length: 500 }, (_, i) => `tok${i}`).join('\n');
    const sourceId = await app.open(await app.write('in.csv', content));
    const page = valueOf(
      await app.batch['batch.try']({ sourceId, plan: planOf([detokenize(0)]), grounds: null }),
    );
    expect(calls['batch.try'].output.parse(page).rows).toHaveLength(20);
    expect(page.rows[19]?.cells).toEqual([{ text: '•••••••', state: 'ok' }]);
    expect(app.service.sent).toHaveLength(20);
    expect(valueOf(await app.batch['batch.jobs']({}))).toEqual([]);
  });

  it('shows masks of each kind, in place and beside', async () => {
    app.service.answer = (_, elements) =>
      done({
        requestId: 'r-1',
        elements: elements.map(({ ref, value }) => ({
          ref,
          ok: true,
          value: inClear(value === 'c1' ? '4111111111111111' : '917-22-0001'),
        })),
      });
    const sourceId = await app.open(await app.write('in.csv', 'card_token,ssn_token\nc1,s1\n'));
    const plan = planOf([detokenize(0, { into: 'beside' }), detokenize(1, { definition: 'ssn' })]);
    const page = valueOf(await app.batch['batch.try']({ sourceId, plan, grounds: null }));
    expect(page.rows[0]?.cells).toEqual([
      { text: 'c1', state: 'kept' },
      { text: '•••-••-0001', state: 'ok' },
      { text: '411111••••••1111', state: 'ok' },
    ]);
  });

  it('says why when the service refuses', async () => {
    const sourceId = await app.open(await app.write('in.csv', 'token\na\n'));
    app.service.answer = () => ({ ok: false, failure: { code: 'service.credentials', requestId: 'r-1' } });
    const outcome = await app.batch['batch.try']({
      sourceId,
      plan: planOf([detokenize(0)]),
      grounds: null,
    });
    expect(outcome).toEqual({ ok: false, failure: { code: 'service.credentials', requestId: 'r-1' } });
  });
});

describe('several columns', () => {
  it('match nothing where the column to match is blank', async () => {
    const plan = planOf([
      detokenize(0),
      detokenize(1, { operation: 'match', definition: 'email', pattern: '4' }),
    ]);
    const sourceId = await app.open(await app.write('in.csv', 'card,mail\nt1,t4\nt2,\n,\nt3,t5\n'));
    const job = await app.run(sourceId, plan);
    expect(job.tally).toEqual({ rows: 4, ok: 1, failed: 0, unmatched: 2, blank: 1 });
    expect(valueOf(await app.export(job.jobId, { rows: 'matches' }))).toBe('card,mail\r\n<t1>,<t4>\r\n');
  });

  it('each have their own operation, and one row its one state', async () => {
    const content = 'card,ssn,mail\nt1,900-11-2222,t4\n,,\nt2,,t5\nbad,900-11-2223,t6\nt3,12,t7\n';
    app.service.refuses = (value) => value === 'bad';
    const plan = planOf([
      detokenize(0),
      detokenize(1, { operation: 'tokenize', definition: 'ssn', into: 'beside' }),
      detokenize(2, { operation: 'match', definition: 'email', pattern: '[4567]' }),
    ]);
    const job = await app.run(await app.open(await app.write('in.csv', content)), plan);
    expect(job.columns).toEqual(['card', 'ssn', 'mail', 'ssn_token']);
    expect(job.tally).toEqual({ rows: 5, ok: 2, failed: 2, unmatched: 0, blank: 1 });
    expect(valueOf(await app.export(job.jobId)).split('\r\n')).toEqual([
      'card,ssn,ssn_token,mail,mail_match,error',
      `<t1>,900-11-2222,${tokenOf('900-11-2222')},<t4>,yes,`,
      ',,,,,',
      '<t2>,,,<t5>,yes,',
      `bad,900-11-2223,${tokenOf('900-11-2223')},<t6>,yes,service.element-refused`,
      '<t3>,12,,<t7>,yes,value.unfit',
      '',
    ]);
    const masked = valueOf(await app.export(job.jobId, { content: 'masked' }));
    expect(masked).not.toContain('900-11');
    expect(masked).not.toContain('<t');
    const failed = valueOf(await app.export(job.jobId, { rows: 'failed', content: 'masked' }));
    expect(failed).toBe(
      'source_row,column,reason,code,card,ssn,mail\r\n' +
        '4,card,Refused by the service,service.element-refused,bad,•••-••-2223,t6\r\n' +
        '5,ssn,"Does not fit the definition, not sent",value.unfit,t3,••,t7\r\n',
    );
    const { rows } = valueOf(
      await app.batch['batch.rows']({ jobId: job.jobId, filter: 'all', from: 0, count: 10 }),
    );
    expect(
      calls['batch.rows'].output.parse({ total: 5, from: 0, rows }).rows[0]?.cells.map(({ text }) => text),
    ).toEqual(['••••', '•••-••-2222', '••••', tokenOf('900-11-2222')]);
    expect(JSON.stringify(rows)).not.toContain('900-11');
  });

  it('share requests and equal values when they are sent alike', async () => {
    const content = 'a,b\n' + Array.from({ length: 1_000 }, (_, i) => `t${i % 10},t${i % 20}`).join('\n');
    const job = await app.run(
      await app.open(await app.write('in.csv', content)),
      planOf([detokenize(0), detokenize(1)]),
    );
    expect(job.tally.ok).toBe(1_000);
    expect(app.service.sent).toHaveLength(20);
  });

  it('of a paste come from the clipboard alone, and lie encrypted', async () => {
    const text = 'card\tname\n4111111111111111\tAnn\n5555555555554444\tBo\n';
    const source = valueOf(await app.batch['batch.paste']({ text }));
    const { sourceId } = source;
    const found = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
    expect(found.reading).toEqual({ encoding: 'utf-8', delimiter: '\t', header: true });
    expect(found.columns[0]).toMatchObject({ name: 'card', looksLike: 'card' });
    const plan = { reading: found.reading, columns: [detokenize(0, { operation: 'tokenize' as const })] };
    const job = await app.run(sourceId, plan);
    app = await app.again();
    expect(valueOf(await app.export(job.jobId, { content: 'tokens' }))).toBe(
      `card,name\r\n${tokenOf('4111111111111111')},Ann\r\n${tokenOf('5555555555554444')},Bo\r\n`,
    );
    for (const name of await readdir(join(app.options.folder, job.jobId))) {
      const bytes = await readFile(join(app.options.folder, job.jobId, name));
      expect(bytes.includes('4111111111111111'), name).toBe(false);
    }
    expect(codeOf(await app.batch['batch.paste']({ text: ' \n ' }))).toBe('file.paste-empty');
  });
});

describe('an expression', () => {
  it('is tried on samples, the person’s own obscured, and found anywhere in them', async () => {
    const xorKey = newXorKey();
    const ask = { pattern: '(?i)@EXAMPLE\\.com$', samples: ['a@example.com', 'a@example.org', 'x'] };
    const tried = await app.batch['batch.testPattern']({ ...ask, own: null });
    expect(valueOf(tried)).toEqual({ matches: [true, false, false], own: null });
    for (const [text, matches] of [
      ['b@example.com', true],
      ['b@example.com.invalid', false],
    ] as const) {
      const own = { xorKey, obscured: obscureText(text, xorKey) };
      expect(valueOf(await app.batch['batch.testPattern']({ ...ask, own })).own).toBe(matches);
    }
    expect(app.service.sent).toEqual([]);
  });

  it.each([
    ['(?=4)', 'pattern.unsupported'],
    ['(4)\\1', 'pattern.unsupported'],
    ['[4', 'pattern.invalid'],
  ])('%s is refused as it is typed', async (pattern, code) => {
    expect(codeOf(await app.batch['batch.testPattern']({ pattern, samples: ['4'], own: null }))).toBe(code);
  });

  it('leaves failed and blank rows out of the matches', async () => {
    app.service.refuses = (value) => value === 'c7';
    const plan = planOf([detokenize(0, { operation: 'match', pattern: '7>$', into: 'beside' })]);
    const job = await app.run(
      await app.open(await app.write('in.csv', 'a,n\na7,1\n,2\nb8,3\nc7,4\nd7,5,6\ne7,7\n')),
      plan,
    );
    expect(job.tally).toEqual({ rows: 6, ok: 2, failed: 2, unmatched: 1, blank: 1 });
    expect(valueOf(await app.export(job.jobId, { rows: 'matches', content: 'tokens' }))).toBe(
      'a,n\r\na7,1\r\ne7,7\r\n',
    );
  });
});

describe('mappings', () => {
  it('are not said to be saved when they could not be written', async () => {
    await app.close();
    app = await openApp({ store: memoryStore({}, failed('file.disk-full')) });
    const saved = await app.batch['batch.saveMapping']({ name: 'Disputes', columns: [] });
    expect(codeOf(saved)).toBe('file.disk-full');
    expect(codeOf(await app.batch['batch.removeMapping']({ id: 'm1' }))).toBe('file.disk-full');
  });

  it('are stored by name and removed', async () => {
    const { column, ...rest } = detokenize(0);
    expect(column).toBe(0);
    const mapping = { name: 'Disputes', columns: [{ ...rest, header: 'token' }] };
    valueOf(await app.batch['batch.saveMapping'](mapping));
    const { id } = valueOf(await app.batch['batch.saveMapping'](mapping));
    expect(valueOf(await app.batch['batch.mappings']({}))).toEqual([{ id, ...mapping }]);
    valueOf(await app.batch['batch.removeMapping']({ id }));
    expect(valueOf(await app.batch['batch.mappings']({}))).toEqual([]);
  });
});

it('counts distinct strings exactly until it is full', () => {
  const counter = createDistinctCounter(1_000);
  for (let i = 0; i < 5_000; i++) counter.add(`value ${i % 900}`, 1);
  expect([counter.count, counter.exact]).toEqual([900, true]);
  for (let i = 0; i < 5_000; i++) counter.add(`other ${i}`, 2);
  expect([counter.count, counter.exact]).toEqual([1_000, false]);
});

it('finds its way through the sample', async () => {
  const { sourceId } = valueOf(await app.batch['batch.sample']({}));
  const found = valueOf(await app.batch['batch.preview']({ sourceId, reading: {}, masked: null }));
  expect(calls['batch.preview'].output.parse(found)).toMatchObject({
    reading: { encoding: 'utf-8', delimiter: ',', header: true },
    newline: '\r\n',
  });
  expect(found.columns.map(({ name, looksLike, masked }) => [name, looksLike, masked])).toEqual([
    ['dispute', 'text', false],
    ['name', 'text', false],
    ['card_number', 'card', true],
    ['ssn', 'ssn', true],
    ['email', 'email', true],
    ['amount', 'text', false],
    ['note', 'text', false],
  ]);
  expect(JSON.stringify(found.rows)).not.toMatch(/\d{15}|[a-z]@/);
  const plan = { reading: found.reading, columns: [detokenize(2, { operation: 'tokenize' as const })] };
  const job = await app.run(sourceId, plan);
  expect(job.tally).toEqual({ rows: 200, ok: 198, failed: 1, unmatched: 0, blank: 1 });
});
