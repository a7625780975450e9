import { randomBytes } from 'node:crypto';
import type { Page } from '@playwright/test';
import { startBuiltInService, type RunningBuiltInService } from '../../electron/built-in-service/start.ts';
import { connect as connectPlain } from '../support/service-client.ts';
import { expect, test as base } from '../support/app-fixture.ts';
import { connect, giveReason, go, type ServiceAccess } from '../support/page-actions.ts';
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

function accessTo(service: RunningBuiltInService, policy: string): ServiceAccess {
  return {
    name: 'Acme test',
    baseUrl: service.baseUrl,
    caPem: service.caPem,
    policy,
    apiKey: service.apiKey.value,
    policyPassword: service.policies.find(({ name }) => name === policy)?.password ?? '',
    definition: { name: 'card-number', label: 'Card number' },
  };
}

/** A token as a colleague's program would have made it. */
async function makeToken(service: RunningBuiltInService): Promise<string> {
  const client = connectPlain(service);
  try {
    const sessionToken = await client.signIn('dispute-desk');
    const answer = await client.call('Tokenize', {
      sessionToken,
      tokenName: 'card-number',
      value: '4111111111111111',
    });
    return answer.body['token'] as string;
  } finally {
    await client.close();
  }
}

async function lookUp(page: Page, token = '4111111173092111'): Promise<void> {
  await go(page, 'Lookup');
  await page.getByRole('textbox', { name: 'Token' }).fill(token);
  await page.keyboard.press('Enter');
}

async function problem(page: Page, sentence: RegExp, withRequest = true): Promise<void> {
  const alert = page.getByRole('alert');
  await expect(alert).toContainText(sentence);
  // What a person reads is no code, no stack, no blame.
  expect(await alert.innerText()).not.toMatch(/service\.|undefined|null|Error:|oops|!/i);
  if (withRequest) await expect(alert.getByRole('button', { name: /copy/i })).toBeVisible();
}

test('a wrong policy password', async ({ page, service }) => {
  await connect(page, { ...accessTo(service, 'dispute-desk'), policyPassword: 'not the password' });
  await lookUp(page);
  await problem(page, /dispute-desk could not sign in.*API key, the policy name or its password is wrong/s);
});

test('an expired API key', async ({ page, service }) => {
  const expired = service.apiKeys.find(({ expires }) => Date.parse(expires) < Date.now());
  await connect(page, { ...accessTo(service, 'dispute-desk'), apiKey: expired?.value ?? '' });
  await lookUp(page);
  await problem(page, /API key has expired/);
});

test('a policy that may mask and not reveal', async ({ page, service }) => {
  await connect(page, accessTo(service, 'mask-only'));
  await lookUp(page, await makeToken(service));
  await expect(page.getByRole('region', { name: 'Result' })).toContainText('•');
  await page.getByRole('button', { name: 'Reveal' }).click();
  await giveReason(page.getByRole('region', { name: 'Reveal', exact: true }), 'D-1');
  await problem(page, /policy mask-only may not detokenize Card number/);
  await expect(page.getByRole('group', { name: 'In clear' })).toHaveCount(0);
});

test('a service that is down', async ({ page, service }) => {
  await connect(page, accessTo(service, 'dispute-desk'));
  await service.stop();
  await lookUp(page);
  // Nothing answered, so there is no request to name.
  await problem(page, /127\.0\.0\.1:\d+ refused the connection/, false);
  // Asking once more in vain says that it was done, and why it failed stays.
  await page.getByRole('alert').getByRole('button', { name: 'Try again' }).click();
  await problem(page, /refused the connection.*Tried again at \d/s, false);
});

test('a certificate that nobody vouched for', async ({ page, service }) => {
  const other = await startBuiltInService({
    secret: randomBytes(32),
    worker: builtInServiceWorker,
  });
  try {
    await connect(page, { ...accessTo(service, 'dispute-desk'), caPem: other.caPem });
    await lookUp(page);
    await problem(page, /certificate of .* is not trusted here, so nothing was sent/, false);
  } finally {
    await other.stop();
  }
});
