import fs from 'node:fs';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Page } from '@playwright/test';
import { Agent, fetch as undiciFetch } from 'undici';
import { deriveKey } from '../../electron/built-in-service/account.ts';
import { keychainEntry } from '../../electron/settings/home-id.ts';
import { loadKeytar } from '../../electron/storage/keytar.ts';
import { expect, jsonWebToken, test, type OpenApp } from '../support/app-fixture.ts';
import {
  choose,
  chooseFile,
  go,
  map,
  readSum,
  run,
  startBuiltIn,
  tokenize,
} from '../support/page-actions.ts';

const pan = '4111111111111111';
const policyPassword = 'refunds need a long one';

async function administer(page: Page): Promise<void> {
  await startBuiltIn(page);
  await go(page, 'Administration');
  await page.getByRole('button', { name: 'Sign in as administrator' }).click();
  await expect(page.getByText(/signed in as admin \(AccountAdmin\)/)).toBeVisible();
}

const tab = (page: Page, name: string): Promise<void> => page.getByRole('tab', { name }).click();

/** A definition with its defaults, and a policy that may tokenize and mask with it. */
async function createBoth(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'New definition' }).click();
  await expect(page.getByRole('region', { name: 'Example' })).toContainText('4111 11** **** 1111');
  await page.getByLabel('Name in API calls').fill('gift-card');
  await page.getByLabel('Label for people').fill('Gift card');
  await page.getByRole('button', { name: 'Create definition' }).click();
  await expect(page.getByText('Gift card created.')).toBeVisible();

  await tab(page, 'Security policies');
  await page.getByRole('button', { name: 'New policy' }).click();
  await page.getByLabel('Policy name').fill('refunds');
  await page.getByLabel('Policy password').pressSequentially(policyPassword);
  const granted = (operation: string) => page.getByLabel(`${operation} on Gift card`, { exact: true });
  // A whole row, and a whole column.
  const row = page.getByLabel('All operations on Gift card');
  const column = page.getByLabel('Mask on all definitions');
  await row.check();
  await expect(granted('Detokenize')).toBeChecked();
  await expect(column).not.toBeChecked();
  await row.uncheck();
  await column.check();
  await expect(granted('Mask')).toBeChecked();
  await expect(granted('Detokenize')).not.toBeChecked();
  await column.uncheck();
  for (const operation of ['Tokenize', 'Mask', 'Batch tokenize']) await granted(operation).check();
  await page.getByRole('button', { name: 'Create policy' }).click();
  await expect(page.getByText('Policy refunds created.')).toBeVisible();
}

/** Whatever crossed the bridge outward and must not: the password, an API key, a portal JWT. */
const leaked = async (app: OpenApp): Promise<readonly string[]> =>
  (await app.outward()).filter(
    (message) => message.includes(policyPassword) || message.includes('tdk_') || jsonWebToken.test(message),
  );

test('a definition and a policy are created, used in Lookup and in a batch, and the policy is revoked', async ({
  page,
  app,
  home,
}) => {
  test.setTimeout(240_000);
  await administer(page);
  await createBoth(page);

  await choose(page, 'Policy', 'refunds');
  await go(page, 'Lookup');
  await choose(page, 'Definition', 'Gift card');
  const token = await tokenize(page, pan);
  expect(token).toMatch(/^411111\d{6}1111$/);

  const source = path.join(home, 'gift-cards.csv');
  fs.writeFileSync(source, 'case,card\nD-1,4111111111111111\nD-2,5555555555554444\n');
  await go(page, 'Batch');
  await chooseFile(page, source);
  await map(page, 'card', 'Tokenize', 'Gift card');
  await run(page);
  expect(await readSum(page)).toMatchObject({ rows: 2, ok: 2, failed: 0 });

  await go(page, 'Administration');
  await tab(page, 'Security policies');
  await page.getByRole('button', { name: 'Revoke refunds' }).click();
  await page.getByRole('button', { name: 'Revoke refunds for good' }).click();
  await expect(page.getByText('Policy refunds revoked. Its sessions have ended.')).toBeVisible();

  await go(page, 'Lookup');
  await page.getByText('Look up a token').click();
  await page.getByRole('textbox', { name: 'Token' }).fill(token);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toContainText('Policy refunds was revoked in the portal');
  await expect(page.getByRole('combobox', { name: /^Policy: refunds/ })).toBeVisible();

  await go(page, 'Activity');
  await page.getByRole('radio', { name: 'Changes' }).check({ force: true });
  for (const act of ['Token definition created', 'Security policy created', 'Security policy revoked'])
    await expect(page.getByText(act).first()).toBeVisible();
  expect(await leaked(app)).toEqual([]);
});

test('an API key is made, used in the connection, and the old one revoked', async ({ page, app }) => {
  await administer(page);
  await tab(page, 'API keys');
  await page.getByRole('button', { name: 'New API key' }).click();
  await page.getByLabel('Title').fill('Schlüssel 2');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'Use in this connection' }).click();
  await expect(page.getByText('This connection signs in with Schlüssel 2 from now on.')).toBeVisible();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('button', { name: 'Revoke desk' }).click();
  await page.getByRole('button', { name: 'Revoke desk for good' }).click();
  await expect(page.getByText('API key desk revoked. Its sessions have ended.')).toBeVisible();
  await go(page, 'Lookup');
  expect(await tokenize(page, pan)).toMatch(/^411111\d{6}1111$/);
  expect(await leaked(app)).toEqual([]);
});

test('with a passphrase set, the built-in administrator’s sign-in asks for it', async ({ page }) => {
  await startBuiltIn(page);
  await go(page, 'Settings');
  for (const label of ['New passphrase', 'Repeat new passphrase'])
    await page.getByLabel(label, { exact: true }).pressSequentially('correct horse');
  await page.getByRole('button', { name: 'Set passphrase' }).click();
  await expect(page.getByText('Unlocking asks for the passphrase.')).toBeVisible();
  await go(page, 'Administration');
  const field = page.getByLabel('Passphrase of this app', { exact: true });
  await field.pressSequentially('wrong');
  await field.press('Enter');
  await expect(page.getByRole('alert')).toContainText('Wrong passphrase.');
  const signedIn = page.getByText(/signed in as admin/);
  // For a moment after a wrong try the right one is refused too. Its refusal looks like the one of the try before it.
  await expect(async () => {
    if (await field.isVisible()) {
      await field.pressSequentially('correct horse');
      await field.press('Enter');
    }
    await expect(signedIn).toBeVisible({ timeout: 2_000 });
  }).toPass();
  // The lock ends the sign-in.
  await page.keyboard.press('Control+l');
  const passphrase = page.getByLabel('Passphrase', { exact: true });
  // Not before a wait after wrong tries, if there is one, has passed: what is typed meanwhile goes nowhere.
  await expect(passphrase).toBeEnabled();
  await passphrase.pressSequentially('correct horse');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'Sign in as administrator' })).toBeVisible();
});

/** A client of the tool server that is not the app's, signed in as the built-in service's reporter. */
async function listTools(home: string): Promise<string[]> {
  const { connections } = JSON.parse(fs.readFileSync(path.join(home, 'desk.json'), 'utf8')) as {
    connections: { baseUrl: string; extraCa: string }[];
  };
  const { baseUrl = '', extraCa = '' } = connections[0] ?? {};
  const secret = await (await loadKeytar()).getPassword('Tokendesk', keychainEntry(home, 'built-in.service'));
  const password = deriveKey(
    Buffer.from(secret ?? '', 'base64'),
    'password/portal-user/reporter',
    15,
  ).toString('base64url');
  const dispatcher = new Agent({ connect: { ca: extraCa } });
  const http = ((url: string, init: object) =>
    undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch;
  try {
    const signedIn = await http(`${baseUrl}/api/services/portal/authenticate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ userName: 'reporter', password }),
    });
    const { token } = (await signedIn.json()) as { token: string };
    const client = new Client({ name: 'stock', version: '1' });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp`), {
        fetch: http,
        requestInit: { headers: { Authorization: `Bearer ${token}` } },
      }),
    );
    const { tools } = await client.listTools();
    await client.close();
    return tools.map(({ name }) => name);
  } finally {
    await dispatcher.close();
  }
}

test('4.22, 6.1 the tool server is enabled, lists its tools to a stock client, and is disabled', async ({
  page,
  app,
}) => {
  await administer(page);
  await expect(listTools(app.home)).rejects.toThrow(/404/);
  await tab(page, 'Tool server');
  await page.getByRole('button', { name: 'Enable tool server' }).click();
  await expect(page.getByText('Tool server enabled.')).toBeVisible();
  expect(await listTools(app.home)).toHaveLength(11);
  await page.getByRole('button', { name: 'Disable tool server' }).click();
  await expect(page.getByText('Tool server disabled.')).toBeVisible();
  await expect(listTools(app.home)).rejects.toThrow(/404/);
  await expect(page.getByText('set up in the service’s own portal')).toBeVisible();
});
