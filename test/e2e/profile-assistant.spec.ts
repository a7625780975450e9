import { expect, test as base } from '../support/app-fixture.ts';
import { type OtherService, startOtherService } from '../support/other-service.ts';
import { connect } from '../support/page-actions.ts';
import { recordCalls, writtenAs } from '../support/recorded-calls.ts';

/** A service in which hardly a name is the shipped one's. */
const test = base.extend<{ service: OtherService }>({
  // eslint-disable-next-line no-empty-pattern -- Playwright reads the fixtures a fixture needs from this pattern
  service: async ({}, use) => {
    const service = await startOtherService({ sessionSeconds: 60 });
    await use(service);
    await service.close();
  },
});

const card = '4111118124045251';

test('4.17 a profile is made of what was pasted, tried with one value and written: five clicks', async ({
  page,
  app,
  service,
}) => {
  test.setTimeout(180_000);
  const { baseUrl, caPem, facts } = service;
  const apiKey = facts.apiKey.value;
  const policyPassword = facts.policies.find(({ name }) => name === 'analyst')?.password ?? '';
  const calls = await recordCalls({
    ...service,
    apiKey,
    policy: 'analyst',
    policyPassword,
    definition: 'card-number',
    value: card,
  });
  await connect(page, {
    name: 'Other',
    baseUrl,
    caPem,
    policy: 'analyst',
    apiKey,
    policyPassword,
    definition: { name: 'card-number', label: 'Card number' },
  });
  await page.evaluate(`
    globalThis.clicks = 0;
    addEventListener('click', ({ isTrusted }) => void (globalThis.clicks += isTrusted ? 1 : 0), true);
  `);
  await page.getByRole('button', { name: 'Service', exact: true }).click();
  await page.getByRole('button', { name: 'Set up from examples' }).click();
  await page.getByLabel('Examples', { exact: true }).focus();
  await page.evaluate(`{
    const data = new DataTransfer();
    data.setData('text', ${JSON.stringify(writtenAs['curl lines']?.(calls))});
    const paste = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(paste);
  }`);
  await expect(page.getByText('9 calls read, 9 of 12 recognised')).toBeVisible();
  // Nothing of what was pasted stays in the field.
  await expect(page.getByLabel('Examples', { exact: true })).toHaveValue('');
  await page.getByText('GetMasked', { exact: true }).click();
  await expect(page.getByLabel('path', { exact: true }).filter({ visible: true })).toHaveValue('/v2/redact');
  await page.getByLabel('A value to try').fill(card);
  await page.getByRole('button', { name: 'Test all operations' }).click();
  await expect(page.getByText('9 of 9 understood')).toBeVisible({
    timeout: 30_000,
  });
  const shown = JSON.stringify(await app.outward());
  for (const secret of [card, apiKey, policyPassword]) expect(shown).not.toContain(secret);
  // The connection has secrets: a dialog of the system asks first, and nobody agrees here.
  await page.getByRole('button', { name: 'Use this profile' }).click();
  // One of them is the look at what was recognised.
  expect(await page.evaluate('globalThis.clicks')).toBe(5);
  await expect(page.getByText('The usual one', { exact: true })).toBeVisible();
  await page.getByRole('button', { name: 'Export profile' }).click();
  await expect(page.getByText('Written to service-profile.json.')).toBeVisible();
});

test('4.17 a path that is changed by hand is tried, and where nothing lives the test says so', async ({
  page,
  service,
}) => {
  test.setTimeout(180_000);
  const { baseUrl, caPem, facts } = service;
  await connect(page, {
    name: 'Other',
    baseUrl,
    caPem,
    policy: 'analyst',
    apiKey: facts.apiKey.value,
    policyPassword: facts.policies.find(({ name }) => name === 'analyst')?.password ?? '',
    definition: { name: 'card-number', label: 'Card number' },
  });
  await page.getByRole('button', { name: 'Service', exact: true }).click();
  await page.getByRole('button', { name: 'Set up from examples' }).click();
  const set = async (operation: string, label: string, text: string) => {
    const group = page.locator('details').filter({ has: page.locator('summary', { hasText: operation }) });
    await group.first().locator('summary').click();
    await group.first().getByLabel(label, { exact: true }).fill(text);
    await group.first().getByLabel(label, { exact: true }).blur();
  };
  await set('CreateSession', 'answer', 'result.ticket');
  await set('Tokenize', 'answer', 'result.surrogate');
  await page.getByLabel('A value to try').fill(card);
  await page.getByRole('button', { name: 'Test all operations' }).click();
  await expect(page.getByText('Nothing lives at this address (404)').first()).toBeVisible({
    timeout: 30_000,
  });
});
