import { expect, it } from 'vitest';
import { openApi } from '../../../src/lib/api.ts';
import { createFakeBridge } from '../support/fake-bridge.ts';

it('answers a failure when the bridge throws', async () => {
  const fake = createFakeBridge();
  const api = openApi({
    ...fake.bridge,
    'lookup.recent': () => Promise.reject(new Error('gone')),
  });
  expect(await api.call('lookup.recent', {})).toEqual({
    ok: false,
    failure: { code: 'call.failed', operation: 'lookup.recent' },
  });
});
