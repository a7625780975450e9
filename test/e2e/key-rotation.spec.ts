import { randomBytes } from 'node:crypto';
import { startBuiltInService, type RunningBuiltInService } from '../../electron/built-in-service/start.ts';
import { expect, test as base } from '../support/app-fixture.ts';
import { connect, go, tokenize, typeDate } from '../support/page-actions.ts';
import { connect as connectPlain } from '../support/service-client.ts';
import { builtInServiceWorker } from '../support/workers.ts';

/** A service outside the app, reached as a company's own would be. */
const test = base.extend<{ service: RunningBuiltInService }>({
  // eslint-disable-next-line no-empty-pattern -- Playwright reads the fixtures a fixture needs from this pattern
  service: async ({}, use) => {
    const service = await startBuiltInService({ secret: randomBytes(32), worker: builtInServiceWorker });
    await use(service);
    await service.stop();
  },
});

const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** Posts to the service's portal as its administrator. */
async function portal(service: RunningBuiltInService, operation: string, body: object): Promise<string> {
  const client = connectPlain(service);
  const post = (path: string, sent: object, headers = {}) =>
    client.send('POST', `/api/services/portal/${path}`, JSON.stringify(sent), {
      'content-type': 'application/json',
      ...headers,
    });
  try {
    const password = service.portalUsers.find(({ name }) => name === 'admin')?.password;
    const { token } = (await post('authenticate', { userName: 'admin', password })).body;
    const answer = await post(operation, body, { authorization: `Bearer ${String(token)}` });
    expect(answer.status).toBe(200);
    return String(answer.body['apiKey']);
  } finally {
    await client.close();
  }
}

test('a new API key is tried beside the old one, takes over, and the old one can be revoked', async ({
  page,
  service,
  app,
}) => {
  test.setTimeout(180_000);
  await connect(page, {
    name: 'Acme test',
    baseUrl: service.baseUrl,
    caPem: service.caPem,
    policy: 'dispute-desk',
    apiKey: service.apiKey.value,
    policyPassword: service.policies.find(({ name }) => name === 'dispute-desk')?.password ?? '',
    definition: { name: 'card-number', label: 'Card number' },
  });
  const section = page.getByRole('region', { name: 'Key rotation' });
  const enter = async (key: string): Promise<void> => {
    await typeDate(page, 'The new key expires on', inDays(5));
    await section.getByLabel('New API key', { exact: true }).fill(key);
    await section.getByRole('button', { name: 'Try and use New API key' }).click();
  };
  // One field at a time: what is typed is tried first, or replaces the key in use, and nobody confuses the two.
  await expect(page.getByRole('textbox', { name: 'API key', exact: true })).toHaveCount(0);
  await page.getByRole('button', { name: 'Rotate…' }).click();
  await enter('tdk_not-a-key-at-all');
  await expect(section.getByText('A new key is stored and has not opened a session yet.')).toBeVisible();
  await expect(section.getByRole('alert')).toContainText('dispute-desk could not sign in');
  await go(page, 'Lookup');
  expect(await tokenize(page, '4111111111111111')).toMatch(/^411111\d{6}1111$/);

  await go(page, 'Connections');
  const key = await portal(service, 'createapikey', { title: 'next', expirationDate: inDays(5) });
  await enter(key);
  await expect(section.getByText('The new key works and is in use.')).toBeVisible();
  await portal(service, 'revokeapikey', { title: 'desk' });

  // Five days are within the reminder of seven, on every page.
  const reminder = page.getByRole('list', { name: 'API keys that expire' });
  await expect(reminder).toContainText(/The API key of Acme test expires in 5 days, on /);
  await go(page, 'Lookup');
  expect(await tokenize(page, '4111111111111111')).toMatch(/^411111\d{6}1111$/);
  await page.getByRole('button', { name: 'Dismiss the reminder of Acme test' }).click();
  await expect(reminder).toHaveCount(0);
  expect((await app.outward()).filter((message) => message.includes(key))).toEqual([]);
});

test('another service is administered by a portal user who is typed in', async ({ page, service }) => {
  test.setTimeout(180_000);
  await connect(page, {
    name: 'Acme test',
    baseUrl: service.baseUrl,
    caPem: service.caPem,
    policy: 'dispute-desk',
    apiKey: service.apiKey.value,
    policyPassword: service.policies.find(({ name }) => name === 'dispute-desk')?.password ?? '',
    definition: { name: 'card-number', label: 'Card number' },
  });
  await go(page, 'Administration');
  const signInAs = async (user: string): Promise<void> => {
    const password = service.portalUsers.find(({ name }) => name === user)?.password ?? '';
    await page.getByLabel('Portal user').fill(user);
    await page.getByLabel('Portal password', { exact: true }).fill(password);
    await page.getByRole('button', { name: 'Sign in Portal password' }).click();
  };
  await signInAs('reporter');
  await expect(page.getByRole('alert')).toContainText('This portal user is not an administrator');
  await signInAs('admin');
  await expect(page.getByText(/signed in as admin \(AccountAdmin\)/)).toBeVisible();
  await expect(page.getByRole('region', { name: 'Token definitions' })).toContainText('Free text');
});
