import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job } from '../../../../electron/contract/models/batch.ts';
import {
  codeOf,
  detokenize,
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

const rows = 600;
const source = `card,n\n${Array.from({ length: rows }, (_, row) => `card${row},${row}\n`).join('')}`;
const tokenize = (column: number, delimiter = ',') =>
  planOf([detokenize(column, { operation: 'tokenize', definition: 'text' })], { delimiter });

async function exported(): Promise<string> {
  const job: Job = await app.run(await app.open(await app.write('in.csv', source)), tokenize(0));
  return valueOf(await app.export(job.jobId, { content: 'tokens' }));
}

async function start(
  content: string,
  { column = 0, delimiter = ',', mayBeTokens = false } = {},
): Promise<string> {
  const sourceId = await app.open(await app.write('again.csv', content));
  const asked = { sourceId, plan: tokenize(column, delimiter), grounds: null };
  const sent = app.service.sent.length;
  const begun = await app.batch['batch.start']({ ...asked, ...(mayBeTokens && { mayBeTokens }) });
  if (begun.ok) await app.until(begun.value.jobId, 'finished');
  else expect(app.service.sent).toHaveLength(sent);
  return codeOf(begun);
}

describe('tokens that the app exported itself', () => {
  it('are not tokenized again without a question, also in a test of twenty rows', async () => {
    const file = await exported();
    expect(file).toContain(tokenOf('card0'));
    expect(await start(file)).toBe('plan.tokens-again');
    const sourceId = await app.open(await app.write('again.csv', file));
    const tried = await app.batch['batch.try']({ sourceId, plan: tokenize(0), grounds: null });
    expect(tried).toMatchObject({ ok: false, failure: { code: 'plan.tokens-again', column: '1' } });
    expect(await start(file, { mayBeTokens: true })).toBe('ok');
  });

  it('are known in another program’s form, at another place, after a start, and beside new rows', async () => {
    const lines = (await exported()).trimEnd().split('\r\n').slice(1);
    app = await app.again();
    const other = ['n;other', ...lines.map((line) => `${line.split(',')[1]};"${line.split(',')[0]}"`)];
    expect(await start(other.join('\r\n'), { column: 1, delimiter: ';' })).toBe('plan.tokens-again');
    const mixed = ['card,n', ...lines.slice(0, 30), ...lines.slice(0, 20).map((_, row) => `new${row},1`)];
    expect(await start(mixed.join('\n'))).toBe('plan.tokens-again');
  });

  it('hinder no other file and no other column, and are kept as hashes', async () => {
    const file = await exported();
    expect(await start(source)).toBe('ok');
    expect(await start(file, { column: 1 })).toBe('ok');
    const kept = await readFile(join(app.options.folder, 'exported-tokens.json'), 'utf8');
    expect(kept).not.toContain('card0');
    expect(kept).not.toContain(tokenOf('card0'));
  });
});
