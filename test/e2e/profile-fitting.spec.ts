import type { Page } from '@playwright/test';
import { expect, test as base } from '../support/app-fixture.ts';
import { type OtherService, startOtherService } from '../support/other-service.ts';
import { choose, connect, go } from '../support/page-actions.ts';

/** A service whose answers have members of other names. */
const test = base.extend<{ service: OtherService }>({
  // eslint-disable-next-line no-empty-pattern -- Playwright reads the fixtures a fixture needs from this pattern
  service: async ({}, use) => {
    const service = await startOtherService();
    await use(service);
    await service.close();
  },
});

const fitting = (page: Page, operation: string) =>
  page.getByRole('region', { name: `The profile doesn’t fit the answer to ${operation}` });

async function tokenize(page: Page): Promise<void> {
  await go(page, 'Lookup');
  await page.getByText('Tokenize a value').click();
  await page.getByLabel('Value in clear').fill('4111111111111111');
  await page.getByRole('button', { name: 'Tokenize', exact: true }).click();
}

test('4.17 answers that can’t be read are fitted in the connection, by names of members alone', async ({
  page,
  app,
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
  await page.getByRole('button', { name: 'Run test' }).click();
  const session = fitting(page, 'CreateSession');
  await expect(session.getByRole('listitem')).toContainText(['result', 'result.ticket text']);
  await choose(page, 'Which is the session token\\?', 'result.ticket');
  await session.getByRole('button', { name: 'Use and test' }).click();
  await expect(page.getByText('CreateSession is fitted, and the sign-in works.')).toBeVisible();

  await tokenize(page);
  await expect(page.getByRole('alert')).toContainText('surrogate');
  await go(page, 'Connections');
  await page.getByRole('button', { name: 'Service', exact: true }).click();
  // What the specification calls cleartext is never taken for a token.
  await choose(page, 'Which is the token\\?', 'result.value');
  await fitting(page, 'Tokenize').getByRole('button', { name: 'Use and test' }).click();
  await expect(page.getByRole('alert')).toContainText('cleartext');
  await choose(page, 'Which is the token\\?', 'result.surrogate');
  await fitting(page, 'Tokenize').getByRole('button', { name: 'Use and test' }).click();
  await expect(page.getByText('Tokenize is fitted, and the sign-in works.')).toBeVisible();
  await expect(page.getByText('fitted by hand for CreateSession, Tokenize')).toBeVisible();

  await tokenize(page);
  await expect(page.getByText('New token, tokenized')).toBeVisible();
  await expect(page.locator('.token')).toHaveText(/^4111.?11/);
  expect((await app.outward()).filter((message) => message.includes('cleartext of the caller'))).toEqual([]);
});
