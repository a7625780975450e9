import { randomBytes } from 'node:crypto';
import type { Page } from '@playwright/test';
import { startBuiltInService, type RunningBuiltInService } from '../../electron/built-in-service/start.ts';
import { expect, test as base } from '../support/app-fixture.ts';
import { go, hasFocus, map, paste, readSum, run } from '../support/page-actions.ts';
import { connect } from '../support/service-client.ts';
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

const passwordOf = (service: RunningBuiltInService, policy: string): string =>
  service.policies.find(({ name }) => name === policy)?.password ?? '';

/** What the service makes of card numbers, for somebody else than this app. */
async function tokensOf(service: RunningBuiltInService, cards: readonly string[]): Promise<string[]> {
  const client = connect(service);
  const sessionToken = await client.signIn('analyst');
  const elements = cards.map((card, index) => ({ RefId: String(index), Value: card }));
  const { body } = await client.call('BatchTokenize', { sessionToken, tokenName: 'card-number', elements });
  await client.close();
  return (body.elements as { Value: string }[]).map(({ Value }) => Value);
}

async function addDefinition(page: Page, index: number, name: string, label: string): Promise<void> {
  await page.getByRole('button', { name: 'Add definition' }).click();
  const definition = page.getByRole('group', { name: `Definition ${index}` });
  await definition.getByLabel('Service name').fill(name);
  await definition.getByLabel('Shown as').fill(label);
}

test('a connection in three steps, from an empty form to menus that know what each policy may do', async ({
  page,
  service,
}) => {
  test.setTimeout(120_000);
  await go(page, 'Connections');
  await page.getByRole('button', { name: 'Add a connection' }).first().click();

  // What is missing is said by the window itself, at the field, which gets the focus.
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByLabel('Name', { exact: true })).toBeFocused();
  await expect(page.getByText('Enter a name.')).toBeVisible();
  await page.getByLabel('Name', { exact: true }).fill('Acme test');
  await page.getByLabel('Base URL').fill(service.baseUrl.replace('https', 'http'));
  await expect(page.getByText('Start the URL with https://', { exact: true })).toBeVisible();
  await page.getByLabel('Base URL').fill(service.baseUrl);
  await page.getByText('Also trust our own certificate authority').click();
  await page.getByLabel('CA certificate (PEM)').fill(service.caPem);
  const transfers = page.getByLabel('Transfers per day');
  await expect(transfers).toHaveValue('10,000,000');
  await transfers.fill('2000000');
  await transfers.blur();
  await expect(transfers).toHaveValue('2,000,000');

  // What comes next is the step, and what is saved is whole.
  await expect(page.getByRole('button', { name: 'Next: Access' })).toHaveClass(/primary/);
  await expect(page.getByRole('button', { name: 'Save', exact: true })).not.toHaveClass(/primary/);
  // A profile of the service is for few: nothing of it stands in the way before the address is saved.
  await expect(page.getByRole('button', { name: 'Import profile' })).toHaveCount(0);

  // All secrets are in the form, before anything was saved.
  await page.getByRole('button', { name: 'Next: Access' }).click();
  await page.getByLabel('API key', { exact: true }).fill(service.apiKey.value);
  for (const policy of ['dispute-desk', 'analyst']) {
    await page.getByLabel('Policy name').fill(policy);
    await page.keyboard.press('Enter');
  }
  await addDefinition(page, 1, 'card-number', 'Card number');
  await addDefinition(page, 2, 'card number', 'Misspelled');

  // The date is typed part by part, or chosen with the keys of a date grid.
  await page.getByRole('button', { name: 'Choose The API key expires on' }).press('Enter');
  const grid = page.getByRole('grid');
  await expect(grid).toBeVisible();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await expect(grid).toHaveCount(0);

  // Without a password it can't work, so it can't be used.
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByText('Saved.', { exact: true })).toBeVisible();
  await expect(page.getByText('No policy has a password yet.')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Use this connection' })).toBeDisabled();

  for (const policy of ['dispute-desk', 'analyst'])
    await page.getByLabel(`Password for ${policy}`, { exact: true }).fill(passwordOf(service, policy));
  await expect(page.getByText('A test sends 2 sign-ins and 32 requests.')).toBeVisible();
  await page.getByRole('button', { name: 'Save and test' }).click();
  await expect(page.getByText('Tested 2 policies')).toBeVisible({ timeout: 60_000 });
  await expect.poll(() => hasFocus(page)).toBe(true);
  await expect(page.locator('[aria-current=true]').getByText('in use')).toBeVisible();

  // The grid, and the name that the service does not have.
  await expect(page.getByText(/no definition named “card number” \(Misspelled\)/)).toBeVisible();
  const table = page.getByRole('region', { name: 'What each policy may do' });
  const row = table.getByRole('row', { name: /^Card number/ });
  const cells = async (index: number): Promise<string[]> =>
    (await row.nth(index).getByRole('cell').allInnerTexts()).map((text) => text.trim());
  expect(await cells(0)).toEqual([...Array<string>(4).fill('Allowed'), ...Array<string>(4).fill('Refused')]);
  expect(await cells(1)).not.toContain('Refused');

  // It feeds the menus: dispute-desk may not do batches.
  await go(page, 'Batch');
  await page.getByRole('button', { name: 'Paste lines' }).click();
  // Nothing to type into: what is pasted never stands there as text.
  const place = page.getByRole('region', { name: 'Paste lines' });
  await expect(place.getByText('to paste one value per line')).toBeFocused();
  await expect(place.getByRole('textbox')).toHaveCount(0);
  await paste(page, 'card\n4111111111111111\n4012888888881881');
  await expect(page.getByText('411111••••••1111').first()).toBeVisible();
  await expect(page.getByText('4111111111111111')).toHaveCount(0);
  await map(page, 'card', 'Tokenize', 'Card number');
  const policy = page.getByRole('combobox', { name: /^Policy: analyst/ });
  await expect(policy.last()).toBeVisible();
  await policy.last().click();
  await expect(page.getByRole('option', { name: /^dispute-desk not granted/ })).toHaveAttribute(
    'aria-disabled',
    'true',
  );
});

test('a policy that can’t be tested says why; one that may only mask makes a batch of masks of pasted lines', async ({
  page,
  service,
}) => {
  test.setTimeout(120_000);
  await go(page, 'Connections');
  await page.getByRole('button', { name: 'Add a connection' }).first().click();
  await page.getByLabel('Name', { exact: true }).fill('Acme test');
  await page.getByLabel('Base URL').fill(service.baseUrl);
  await page.getByText('Also trust our own certificate authority').click();
  await page.getByLabel('CA certificate (PEM)').fill(service.caPem);
  await page.getByRole('button', { name: 'Access', exact: true }).click();
  await page.getByLabel('API key', { exact: true }).fill(service.apiKey.value);
  for (const policy of ['mask-only', 'analyst']) {
    await page.getByLabel('Policy name').fill(policy);
    await page.keyboard.press('Enter');
  }
  await page.getByLabel('Password for mask-only').fill(passwordOf(service, 'mask-only'));
  await page.getByLabel('Password for analyst').fill('not the password');
  await addDefinition(page, 1, 'card-number', 'Card number');
  await page.getByRole('button', { name: 'Save and test' }).click();
  await expect(page.getByText('1 policy could not be tested')).toBeVisible({ timeout: 60_000 });
  await expect(page.getByRole('alert')).toContainText(/analyst could not sign in/);

  // What was found for the other one holds, and each request of the test has a line in the log.
  const table = page.getByRole('region', { name: 'What each policy may do' });
  await expect(table.getByRole('row', { name: /^Card number/ })).toHaveCount(1);
  await go(page, 'Activity');
  await page.getByText('Requests', { exact: true }).first().click();
  await expect(page.getByRole('row', { name: /Permission test failed Card number/ }).first()).toBeVisible();

  const tokens = await tokensOf(service, ['4111111111111111', '4012888888881881']);
  await go(page, 'Lookup');
  await page.getByRole('textbox', { name: 'Token' }).focus();
  await paste(page, tokens.join('\n'));
  await page.getByRole('button', { name: 'Create a batch' }).click();
  await expect(page.getByText('Policy mask-only may only mask, so Mask is filled in.')).toBeVisible();
  await run(page);
  expect(await readSum(page)).toMatchObject({ rows: 2, ok: 2, failed: 0 });
  await expect(page.getByText(/^411111\D{6}1111$/).first()).toBeVisible();
  await go(page, 'Activity');
  await page.getByText('Requests', { exact: true }).first().click();
  await expect(page.getByText('Masked in a batch').first()).toBeVisible();
});
