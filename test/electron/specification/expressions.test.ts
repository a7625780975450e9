import { expect, test } from 'vitest';
import { cleartext } from '../../../electron/util/cleartext.ts';
import type { ColumnPlan } from '../../../electron/contract/models/batch.ts';
import type { ServiceProfile } from '../../../electron/service/profile.ts';
import { codeOf, fakeService, someGrounds, openApp, planOf, valueOf } from '../../support/batch-app.ts';

const lookahead = '^4(?=1)';
const rows = ['tok', ...Array.from({ length: 3 }, (_, row) => `4${row}`)].join('\n');

const match = (pattern: string): ColumnPlan => ({
  column: 0,
  operation: 'match',
  policy: 'Disputes',
  definition: 'text',
  target: null,
  parts: null,
  pattern,
  into: 'beside',
});

async function openWith(expressions: ServiceProfile['expressions']) {
  const service = fakeService();
  Object.defineProperty(service.client, 'rules', {
    value: { valueLength: 8_192, expressions, randomTokens: false },
  });
  const app = await openApp({ service });
  const sourceId = await app.open(await app.write('tokens.csv', rows));
  return { app, service, sourceId };
}

test('4.15 an expression that RE2 has not is refused before anything is sent, as the shipped profile wants it', async () => {
  const { app, service, sourceId } = await openWith('RE2');
  const plan = planOf([match(lookahead)]);
  const started = await app.batch['batch.start']({ sourceId, plan, grounds: someGrounds });
  expect(codeOf(started)).toBe('pattern.unsupported');
  const tried = await app.batch['batch.testPattern']({ pattern: lookahead, samples: ['41'], own: null });
  expect(codeOf(tried)).toBe('pattern.unsupported');
  expect(service.calls).toEqual([]);
  await app.close();
});

test('4.15 one that is left to the service is sent as it was typed, with a reason, and is not tried here', async () => {
  const { app, service, sourceId } = await openWith('service');
  const plan = planOf([match(lookahead)]);
  const without = await app.batch['batch.start']({ sourceId, plan, grounds: null });
  expect(codeOf(without)).toBe('reveal.reason-required');
  service.answer = (_, elements) => ({
    ok: true,
    value: {
      requestId: 'r',
      elements: elements.slice(1, 2).map(({ ref }) => ({ ref, ok: true, value: cleartext('41') })),
    },
  });
  const job = await app.run(sourceId, plan);
  expect(job.state).toBe('finished');
  expect(service.calls[0]).toMatchObject({ operation: 'PatternMatch', pattern: lookahead });
  const tried = await app.batch['batch.testPattern']({ pattern: lookahead, samples: ['41'], own: null });
  expect(valueOf(tried)).toEqual({ matches: null, own: null });
  // What RE2 can try is tried all the same.
  const plain = await app.batch['batch.testPattern']({ pattern: '^41', samples: ['41', '42'], own: null });
  expect(valueOf(plain)).toEqual({ matches: [true, false], own: null });
  await app.close();
});
