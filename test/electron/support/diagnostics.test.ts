import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, test } from 'vitest';
import { createDiagnosticsHandlers, type DiagnosticsOptions } from '../../../electron/support/diagnostics.ts';
import { done, failed, type Failure } from '../../../electron/contract/errors.ts';
import type { Connection } from '../../../electron/contract/models/connection.ts';
import { createLog } from '../../../electron/log/log.ts';
import { auditWith } from '../../support/fake-audit.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const connection = {
  id: 'c1',
  name: 'Canary connection',
  environment: 'production',
  builtIn: false,
  baseUrl: 'https://canary-host.example',
  proxyUser: 'canary-user',
  extraCa: 'canary PEM',
  clientCertificate: { subject: 'CN=canary', expires: '2030-01-01' },
} as unknown as Connection;

/** What the handlers need, and the audit's actions in order. `session` is how opening one ends. */
function diagnostics(session: Failure | null, over: Partial<DiagnosticsOptions> = {}) {
  const folder = tempFolder();
  const acts: string[] = [];
  const log = createLog({
    folder: path.join(folder, 'canary-log'),
    codeFolder: folder,
    version: '1.2.3',
    now: () => new Date(0),
  });
  log.bug('ipc lookup.mask', new Error('canary message of an error'));
  const client = {
    openSession: () => Promise.resolve(session === null ? done({}) : { ok: false, failure: session }),
  };
  const target = path.join(folder, 'canary-target.txt');
  const options = {
    platform: {
      version: '1.2.3',
      home: folder,
      proxyFor: () => Promise.resolve('http://canary:canary@canary-proxy.example:3128'),
      chooseTarget: () => Promise.resolve(target),
    },
    connections: {
      active: () => ({ connectionId: 'c1', policy: 'Canary policy' }),
      find: () => done(connection),
      list: () => [connection],
    },
    clients: () => ({ for: () => Promise.resolve(done(client)) }),
    keychain: { state: () => 'locked' },
    audit: {
      state: () => 'ready',
      ...auditWith(({ action }) => {
        acts.push(action);
        return Promise.resolve(done(() => acts.push('done')));
      }),
    },
    settingsDamage: () => null,
    log,
    managed: () => [],
    now: () => new Date('2026-11-22T10:00:00Z'),
    ...over,
  } as unknown as DiagnosticsOptions;
  return { ...createDiagnosticsHandlers(options), acts, target };
}

async function text(handlers: ReturnType<typeof diagnostics>): Promise<string> {
  const outcome = await handlers['app.diagnostics']({});
  return outcome.ok ? outcome.value.text : '';
}

test('say what support asks for', async () => {
  const found = await text(diagnostics(null));
  for (const line of [
    'Tokendesk 1.2.3\n',
    `node ${process.versions.node}`,
    `${process.platform} ${os.release()}, ${process.arch}`,
    'keyring: locked',
    'audit log: ready',
    'managed settings: none',
    'in use: production',
    'proxy: http, with a sign-in',
    'certificate authority of its own: yes',
    'client certificate: yes',
    'TLS: verified',
    'session: opened',
    '"place":"ipc lookup.mask"',
  ])
    expect(found).toContain(line);
  expect(found).toMatch(/disk: \d+\.\d GB free of \d+\.\d GB/);
  expect(found).toMatch(/system's certificates: \d+/);
});

test('name no host, person, value, secret or file', async () => {
  const found = await text(
    diagnostics({ code: 'service.unreachable', subject: 'canary-host.example', policy: 'canary' }),
  );
  expect(found).toContain('session: service.unreachable');
  expect(found.toLowerCase()).not.toContain('canary');
  expect(found).not.toContain(os.tmpdir());
  expect(found).not.toContain(os.hostname());
});

test.each([
  [{ code: 'service.tls' }, 'not accepted'],
  [{ code: 'service.unreachable' }, 'not reached'],
  [{ code: 'service.proxy' }, 'not reached'],
  [{ code: 'service.credentials', status: 401 }, 'verified'],
] as const)('of %j, TLS is %s', async (failure, said) => {
  expect(await text(diagnostics(failure))).toContain(`TLS: ${said}`);
});

test('settings that an administrator fixed are named', async () => {
  expect(await text(diagnostics(null, { managed: () => ['caseRequired'] }))).toContain(
    'managed settings: caseRequired',
  );
});

test('what is saved is what was shown, after the audit line', async () => {
  const handlers = diagnostics(null);
  expect(await handlers['app.saveDiagnostics']({})).toMatchObject({ ok: false });
  const shown = await text(handlers);
  expect(await handlers['app.saveDiagnostics']({})).toEqual(done({ name: 'canary-target.txt' }));
  expect(fs.readFileSync(handlers.target, 'utf8')).toBe(shown);
  expect(handlers.acts).toEqual(['SaveDiagnostics', 'done']);
});

test('without an audit line nothing is saved', async () => {
  const begin = () => Promise.resolve(failed('audit.unwritable'));
  const audit = { state: () => 'unwritable', ...auditWith(begin) };
  const handlers = diagnostics(null, { audit: audit as unknown as DiagnosticsOptions['audit'] });
  await text(handlers);
  expect(await handlers['app.saveDiagnostics']({})).toEqual(failed('audit.unwritable'));
  expect(fs.existsSync(handlers.target)).toBe(false);
});
