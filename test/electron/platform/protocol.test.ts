import type { CustomScheme, Session } from 'electron';
import { describe, expect, test } from 'vitest';
import {
  openBundle,
  contentSecurityPolicy,
  electronOrigin,
  registerScheme,
  serveBundle,
} from '../../../electron/platform/protocol.ts';
import { tinyBundle } from '../../support/temp-folder.ts';

async function served() {
  const handlers = new Map<string, Parameters<Session['protocol']['handle']>[1]>();
  const protocol = { handle: (scheme, handler) => void handlers.set(scheme, handler) } as Session['protocol'];
  serveBundle({ protocol }, await openBundle(tinyBundle(), electronOrigin));
  const handler = handlers.get('app');
  if (handler === undefined) throw new Error('app:// is not served');
  return async (url: string, method = 'GET') => handler(new Request(url, { method }));
}

test('the scheme is a secure origin that can not get around the policy', () => {
  const schemes: CustomScheme[] = [];
  registerScheme({ registerSchemesAsPrivileged: (given) => schemes.push(...given) });
  expect(schemes).toEqual([
    { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
});

test('a file of the bundle comes with its type and the policy', async () => {
  const get = await served();
  const page = await get('app://tokendesk/index.html');
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toBe(contentSecurityPolicy);
  expect(page.headers.get('x-content-type-options')).toBe('nosniff');
  expect(page.headers.get('cache-control')).toBe('no-store');
  const script = await get('app://tokendesk/assets/probe.js');
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(await script.text()).toContain('probed');
});

test('the policy starts from nothing', () => {
  const directives = contentSecurityPolicy.split('; ');
  expect(directives).toContain("default-src 'none'");
  expect(directives).toContain("script-src 'self'");
  expect(directives).toContain("connect-src 'none'");
  expect(directives).toContain("require-trusted-types-for 'script'");
  expect(contentSecurityPolicy).not.toMatch(/unsafe|\*|https:|data:|blob:/);
});

describe('anything else is not there', () => {
  const hostile = [
    'app://tokendesk/',
    'app://tokendesk',
    'app://tokendesk/missing.js',
    'app://tokendesk/notes.bin',
    'app://tokendesk/../secret.json',
    'app://tokendesk/%2e%2e/secret.json',
    'app://tokendesk/%2e%2e%2fsecret.json',
    'app://tokendesk/assets/..%2f..%2fsecret.json',
    'app://tokendesk/..%5csecret.json',
    'app://tokendesk/..\\secret.json',
    'app://tokendesk/assets/%5c..%5c..%5csecret.json',
    'app://tokendesk/index.html%00',
    'app://tokendesk/index.html%00.js',
    'app://tokendesk//index.html',
    'app://tokendesk//etc/passwd',
    'app://tokendesk/C:/Windows/win.ini',
    'app://tokendesk/index.html?x=1',
    'app://tokendesk:8080/index.html',
    'app://tokendesk.example/index.html',
    'app://DESK.example/index.html',
    'app://other/index.html',
    'app://user@other/index.html',
    'app:///index.html',
    'file:///etc/passwd',
  ];

  test.each(hostile)('%s', async (url) => {
    const bundle = await openBundle(tinyBundle(), electronOrigin);
    const answer = await bundle(url, 'GET');
    expect(answer.status).toBe(404);
    expect(answer.body).toHaveLength(0);
    expect(answer.headers['content-security-policy']).toBe(contentSecurityPolicy);
  });

  test('through the handler too, spelt as Chromium would', async () => {
    const get = await served();
    for (const url of hostile.filter(
      (url) => url.startsWith('app://') && URL.canParse(url) && !url.includes('@'),
    ))
      expect([url, (await get(url)).status]).toEqual([url, 404]);
  });

  test.each(['POST', 'PUT', 'DELETE', 'HEAD'])('%s', async (method) => {
    const get = await served();
    expect((await get('app://tokendesk/index.html', method)).status).toBe(405);
  });
});
