import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { TLSSocket } from 'node:tls';
import type { Page } from '@playwright/test';
import { startBuiltInService } from '../../electron/built-in-service/start.ts';
import { createAuthority, type Authority } from '../faults/certificates.ts';
import { createPfx } from '../faults/pfx.ts';
import { expect, test as base } from '../support/app-fixture.ts';
import { chooseFile, connect, go, type ServiceAccess } from '../support/page-actions.ts';
import { builtInServiceWorker } from '../support/workers.ts';

interface Guarded {
  readonly access: ServiceAccess;
  /** Signs what the service lets in. */
  readonly clients: Authority;
  /** Serial numbers of the certificates that were presented, one for each request. */
  readonly presented: string[];
}

/** A service behind a router that wants to see a certificate of its own authority before it says anything. */
const test = base.extend<{ guarded: Guarded }>({
  // eslint-disable-next-line no-empty-pattern -- Playwright reads the fixtures a fixture needs from this pattern
  guarded: async ({}, use) => {
    const service = await startBuiltInService({ secret: randomBytes(32), worker: builtInServiceWorker });
    const [authority, clients] = await Promise.all([createAuthority(), createAuthority()]);
    const { cert, key } = await authority.sign();
    const presented: string[] = [];
    // As of TLS 1.3 Node's own server hangs up without a word where a certificate is missing.
    const tls = { cert, key, ca: clients.pem, requestCert: true, maxVersion: 'TLSv1.2' } as const;
    const router = https.createServer(tls, (asked, answered) => {
      if (asked.socket instanceof TLSSocket) presented.push(asked.socket.getPeerCertificate().serialNumber);
      const { method, headers, url = '/' } = asked;
      const onward = https.request(
        new URL(url, service.baseUrl),
        { method, headers, ca: service.caPem },
        (got) => {
          answered.writeHead(got.statusCode ?? 502, got.headers);
          got.pipe(answered);
        },
      );
      asked.pipe(onward);
    });
    router.listen(0, '127.0.0.1');
    await once(router, 'listening');
    await use({
      clients,
      presented,
      access: {
        name: 'Acme behind a router',
        baseUrl: `https://127.0.0.1:${(router.address() as AddressInfo).port}`,
        caPem: authority.pem,
        policy: 'dispute-desk',
        apiKey: service.apiKey.value,
        policyPassword: service.policies.find(({ name }) => name === 'dispute-desk')?.password ?? '',
        definition: { name: 'card-number', label: 'Card number' },
      },
    });
    router.closeAllConnections();
    router.close();
    await service.stop();
  },
});

/** Types the passphrase, and picks the file in the dialog that follows. */
async function present(page: Page, file: string, passphrase: string): Promise<void> {
  await go(page, 'Connections');
  await page.getByRole('button', { name: 'Access', exact: true }).click();
  await page.getByLabel('Passphrase of the certificate', { exact: true }).fill(passphrase);
  await chooseFile(page, file, 'Choose… Passphrase of the certificate');
}

async function tokenize(page: Page): Promise<void> {
  await go(page, 'Lookup');
  await page.getByText('Tokenize a value').click();
  await page.getByLabel('Value in clear').fill('4111111111111111');
  await page.keyboard.press('Enter');
}

test('a client certificate, from its file to a lookup', async ({ page, guarded, home }) => {
  test.setTimeout(120_000);
  const { access, clients, presented } = guarded;
  const passphrase = randomBytes(12).toString('hex');
  const file = path.join(home, 'till-4.p12');
  fs.writeFileSync(file, createPfx(await clients.sign({ use: 'client' }), passphrase));

  await connect(page, access);
  await tokenize(page);
  const alert = page.getByRole('alert');
  await expect(alert).toContainText(/did not accept the secure connection.*asks for a client certificate/s);
  expect(await alert.innerText()).not.toMatch(/service\.|SSL|ERR_|undefined|Error:|!/);
  expect(presented).toEqual([]);

  await present(page, file, 'another passphrase');
  await expect(alert).toContainText(
    /The client certificate \(PKCS #12\) does not open\..*give the passphrase it was made with/s,
  );
  await expect(page.getByText('No certificate', { exact: true })).toBeVisible();

  await present(page, file, passphrase);
  const section = page.getByRole('region', { name: 'Client certificate' });
  await expect(section.getByText('CN=Fault server')).toBeVisible();
  await expect(section.getByText(/^In (the keychain|memory until the app closes)/)).toBeVisible();
  await expect(alert).toHaveCount(0);

  await tokenize(page);
  await page.getByText('New token, tokenized').waitFor();
  await expect(page.getByRole('region', { name: 'Result' })).toContainText('1111');
  expect(presented.length).toBeGreaterThan(1);
  expect(new Set(presented).size).toBe(1);

  // Taken away, it is presented no more.
  await go(page, 'Connections');
  await page.getByRole('button', { name: 'Access', exact: true }).click();
  await page.getByRole('button', { name: 'Remove client certificate' }).click();
  await expect(page.getByText('No certificate', { exact: true })).toBeVisible();
  const before = presented.length;
  await tokenize(page);
  await expect(alert).toContainText(/did not accept the secure connection.*asks for a client certificate/s);
  expect(presented).toHaveLength(before);
});
