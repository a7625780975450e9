import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import seed from '../../../resources/built-in-service-seed.json' with { type: 'json' };
import { cleartext, openCleartext } from '../../../electron/util/cleartext.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import type { ColumnPlan } from '../../../electron/contract/models/batch.ts';
import type { Seed } from '../../../electron/built-in-service/seed.ts';
import { runService } from '../../../electron/built-in-service/service.ts';
import { systemClock } from '../../../electron/util/clock.ts';
import { createTransport } from '../../../electron/service/http/transport.ts';
import { createClientSide } from '../../faults/client-side.ts';
import {
  codeOf,
  connection,
  connectionsOf,
  detokenize,
  maskOf,
  openApp,
  planOf,
  valueOf,
  type TestApp,
} from '../../support/batch-app.ts';

let app: TestApp;
beforeEach(async () => {
  app = await openApp();
});
afterEach(() => app.close());

const mask = (column: number, over: Partial<ColumnPlan> = {}): ColumnPlan =>
  detokenize(column, { operation: 'mask', ...over });

async function begin(content: string, columns: ColumnPlan[]): Promise<string> {
  const sourceId = await app.open(await app.write('in.csv', content));
  return valueOf(await app.batch['batch.start']({ sourceId, plan: planOf(columns), grounds: null })).jobId;
}

describe('a batch of masks', () => {
  it('asks for each different value once, alone, and nothing but GetMasked', async () => {
    const values = Array.from({ length: 900 }, (_, i) => `tok${i % 300}`);
    const jobId = await begin(`token\n${values.join('\n')}\n`, [mask(0)]);
    const job = await app.until(jobId, 'finished', 'paused', 'failed');
    expect(job).toMatchObject({ state: 'finished', tally: { rows: 900, ok: 900 } });
    expect(app.service.sent.toSorted()).toEqual([...new Set(values)].toSorted());
    expect(new Set(app.service.sizes)).toEqual(new Set([1]));
    expect(new Set(app.service.calls.map(({ operation }) => operation))).toEqual(new Set(['GetMasked']));
    expect(app.service.contexts.every((context) => context.job === jobId && context.rows === 1)).toBe(true);
    expect(app.service.mostBusy).toBeLessThanOrEqual(8);
  });

  it('says before it runs that each value is a request', async () => {
    const tokens = Array.from({ length: 250 }, (_, i) => `tok${i}`);
    const content = `a,b\n${tokens.map((token) => `${token},x${token}`).join('\n')}\n`;
    const sourceId = await app.open(await app.write('in.csv', content));
    const plan = planOf([mask(0), detokenize(1)]);
    valueOf(await app.batch['batch.preflight']({ sourceId, plan }));
    await expect
      .poll(() => app.preflights.at(-1))
      .toMatchObject({ done: true, distinct: 500, requests: 253 });
  });

  it('exports the service’s masks as they are, the tokens where those are wanted, and no cleartext', async () => {
    const content = 'token,other\ntok1,a\ntok2,b\n';
    const beside = await begin(content, [mask(0, { into: 'beside' })]);
    await app.until(beside, 'finished');
    const masked = `token,token_masked,other\ntok1,${maskOf('tok1')},a\ntok2,${maskOf('tok2')},b\n`;
    const source = { safety: 'source' } as const;
    expect(valueOf(await app.export(beside, { ...source, content: 'masked' }))).toBe(masked);
    // Asked for by the bridge alone: a file of masks must not be called cleartext.
    const asCleartext = await app.export(beside, { ...source, content: 'cleartext' });
    expect(codeOf(asCleartext)).toBe('export.no-cleartext');
    expect(valueOf(await app.export(beside, { ...source, content: 'tokens' }))).toBe(content);
    const latin = { content: 'masked', safety: 'exact', encoding: 'iso-8859-1', newline: '\n' } as const;
    expect(valueOf(await app.export(beside, latin))).toBe(masked.replaceAll('•', '*'));

    const replaced = await begin(content, [mask(0)]);
    await app.until(replaced, 'finished');
    expect(valueOf(await app.export(replaced, { ...source, content: 'tokens' }))).toBe(content);
    const page = await app.batch['batch.rows']({ jobId: replaced, filter: 'all', from: 0, count: 5 });
    expect(valueOf(page).rows[0]?.cells[0]).toEqual({ text: maskOf('tok1'), state: 'ok' });
    const reveal = { reason: 'Fraud review', caseReference: 'C-1', xorKey: 'a'.repeat(64) };
    expect(codeOf(await app.batch['batch.reveal']({ jobId: replaced, row: 1, column: 0, ...reveal }))).toBe(
      'reveal.gone',
    );
  });

  it('goes on after a restart without asking again for more than a chunk, to the same bytes', async () => {
    const rows = 1_500;
    const content = `token,n\n${Array.from({ length: rows }, (_, i) => `tok${i},${i}\n`).join('')}`;
    let jobId = '';
    let asked = false;
    app.service.answer = () => {
      if (app.service.sent.length >= 700 && !asked) {
        asked = true;
        void app.batch['batch.cancel']({ jobId });
      }
      return null;
    };
    jobId = await begin(content, [mask(0)]);
    const cancelled = await app.until(jobId, 'cancelled', 'finished');
    expect(cancelled.state).toBe('cancelled');
    expect(cancelled.committed).toBeGreaterThan(300);
    app = await app.again();
    valueOf(await app.batch['batch.resume']({ jobId }));
    await app.until(jobId, 'finished');
    // The first values of all are asked for before the rest, and are not stored until their rows are.
    expect(app.service.sent.length - rows).toBeLessThan(400);
    expect(valueOf(await app.export(jobId, { safety: 'source', content: 'masked' }))).toBe(
      content.replace(/^tok\d+/gm, maskOf),
    );
  });

  it('7.8 fails the values that are refused, with the service’s reason, and tries none of them twice', async () => {
    app.service.answer = (_call, elements) => {
      const [only] = elements;
      if (only?.value === 'bad') {
        const refused = { ref: only.ref, ok: false as const, code: 'service.token-invalid' as const };
        return done({ requestId: 'r', elements: [refused] });
      }
      return only?.value === 'odd' ? failed('service.invalid-input', { codes: ['TokenRetired'] }) : null;
    };
    const jobId = await begin('token\ngood\nbad\nodd\n', [mask(0)]);
    const job = await app.until(jobId, 'finished');
    expect(job.tally).toMatchObject({ ok: 1, failed: 2 });
    expect(job.failures.map(({ code, retriable }) => [code, retriable])).toEqual([
      ['service.token-invalid', false],
      ['service.invalid-input', false],
    ]);
    const list = { rows: 'failed', content: 'tokens', safety: 'source' } as const;
    expect(valueOf(await app.export(jobId, list))).toBe(
      'source_row,column,reason,code,token\n' +
        '2,token,Not a token of the definition,service.token-invalid,bad\n' +
        '3,token,Not accepted by the service: TokenRetired,service.invalid-input,odd\n',
    );
    expect(app.service.sent).toHaveLength(3);
  });
});

it('a mask of the service that shows a whole number is masked again, in the table and in a file', async () => {
  const masks: Record<string, string> = {
    t1: '4111111111111111',
    t2: '411111******1111',
    t3: '4111111111111112',
  };
  app.service.answer = (_call, elements) =>
    done({
      requestId: 'r',
      elements: elements.map(({ ref, value }) => ({ ref, ok: true, value: cleartext(masks[value] ?? '') })),
    });
  const jobId = await begin('token\nt1\nt2\nt3\n', [mask(0)]);
  await app.until(jobId, 'finished');
  const { rows } = valueOf(await app.batch['batch.rows']({ jobId, filter: 'all', from: 0, count: 5 }));
  expect(rows.map(({ cells }) => cells[0])).toEqual([
    { text: '411111••••••1111', state: 'ok', maskedAgain: true },
    { text: '411111******1111', state: 'ok' },
    { text: '411111••••••1112', state: 'ok', maskedAgain: true },
  ]);
  expect(valueOf(await app.export(jobId, { content: 'masked', newline: '\n' }))).toBe(
    'token\n411111••••••1111\n411111******1111\n411111••••••1112\n',
  );
});

it('who may only mask gets the masks of a list from the built-in service, and no cleartext is anywhere', async () => {
  const service = await runService({ secret: randomBytes(32), seed: seed as Seed });
  const { facts } = service;
  const side = createClientSide({
    transport: createTransport({ baseUrl: facts.baseUrl, ca: [facts.caPem], clock: systemClock }),
    secrets: {
      apiKey: () => Promise.resolve(done(facts.apiKey.value)),
      policyPassword: (policy) =>
        Promise.resolve(done(facts.policies.find(({ name }) => name === policy)?.password ?? '')),
    },
  });
  const own = await openApp({
    clients: { for: () => Promise.resolve(done(side.client)) },
    connections: connectionsOf({
      ...connection,
      policies: ['mask-only'],
      definitions: [{ name: 'free-text', label: 'Free text', kind: 'text' }],
    }),
  });
  try {
    const clears = Array.from({ length: 30 }, (_, i) => `canary-cleartext-${i}`);
    const tokens = valueOf(
      await side.client.batch(
        { operation: 'BatchTokenize', policy: 'analyst', definition: 'free-text' },
        clears.map((value, i) => ({ ref: String(i), value })),
        {},
      ),
    ).elements.map((one) => (one.ok ? openCleartext(one.value ?? '') : ''));
    side.audited.length = 0;
    const sourceId = await own.open(await own.write('in.csv', `token\n${tokens.join('\n')}\nno token\n`));
    const plan = planOf([mask(0, { policy: 'mask-only', definition: 'free-text' })]);
    const job = await own.run(sourceId, plan);
    expect(job).toMatchObject({ state: 'finished', tally: { rows: 31, ok: 30, failed: 1 } });
    expect(job.failures).toMatchObject([{ code: 'service.token-invalid', count: 1, retriable: false }]);

    const requests = side.audited.filter(({ intent }) => intent.operation !== 'CreateSession');
    expect(new Set(requests.map(({ intent }) => intent.operation))).toEqual(new Set(['GetMasked']));
    // A line in the audit log for each, begun before its turn.
    expect(requests.filter(({ intent }) => intent.context.act === undefined)).toHaveLength(31);
    expect(requests.every(({ intent }) => intent.context.job === job.jobId)).toBe(true);

    const exported = valueOf(await own.export(job.jobId, { content: 'masked' }));
    expect(exported.split('\r\n').filter((line) => /^[•*X]+,$/.test(line))).toHaveLength(30);
    for (const name of await readdir(own.folder, { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue;
      expect(await readFile(join(name.parentPath, name.name), 'latin1')).not.toContain('canary-cleartext');
    }
    // The same list in clear is refused.
    const refused = await own.run(
      sourceId,
      planOf([detokenize(0, { policy: 'mask-only', definition: 'free-text' })]),
    );
    expect(refused.state).not.toBe('finished');
  } finally {
    await own.close();
    await side.client.close();
    await service.stop();
  }
});
