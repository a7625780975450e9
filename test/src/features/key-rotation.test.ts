import { expect, it } from 'vitest';
import { openApi } from '../../../src/lib/api.ts';
import { KeyRotation } from '../../../src/features/connections/key-rotation.svelte.ts';
import { obscuredOf } from '../../support/obscured-text.ts';
import { createFakeBridge } from '../support/fake-bridge.ts';
import * as data from '../support/fake-data.ts';

function open() {
  const fake = createFakeBridge({ state: data.appState() });
  const rotation = new KeyRotation(openApi(fake.bridge), data.production.id);
  const view = () => fake.state.connections.find(({ id }) => id === data.production.id);
  return { fake, rotation, view };
}

it('a key that works takes over with its date, and the field for the date is empty again', async () => {
  const { rotation, view } = open();
  rotation.expires = '2027-06-30';
  expect(await rotation.rotate(obscuredOf('works'))).toBeNull();
  expect(view()).toMatchObject({ apiKeyExpires: '2027-06-30', nextApiKey: 'missing' });
  expect([rotation.expires, rotation.notice]).toEqual([
    '',
    'The new key works and is in use. Revoke the old one in the portal.',
  ]);
});

it('one that does not work waits: the date stays typed, the failure is shown, and it can be removed', async () => {
  const { rotation, view } = open();
  rotation.expires = '2027-06-30';
  expect((await rotation.rotate(obscuredOf('wrong')))?.code).toBe('service.credentials');
  expect(view()).toMatchObject({ apiKeyExpires: '2026-12-31', nextApiKey: 'stored' });
  expect([rotation.expires, rotation.failure?.code]).toEqual(['2027-06-30', 'service.credentials']);
  await rotation.retry();
  expect(rotation.failure?.code).toBe('service.credentials');
  await rotation.forget();
  expect([view()?.nextApiKey, rotation.failure]).toEqual(['missing', null]);
});

it('a date that is left empty is none', async () => {
  const { fake, rotation } = open();
  await rotation.rotate(obscuredOf('works'));
  expect(fake.seen.at(-1)).toMatchObject({ name: 'connections.rotateKey', input: { expires: null } });
});
