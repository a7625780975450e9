import { describe, expect, test } from 'vitest';
import { systemProxy } from '../../../dev/electron-on-chromium/sessions.ts';

describe('the proxy from the environment', () => {
  const service = 'https://api.service.example/x';
  test.each<[Record<string, string>, string, string]>([
    [{}, service, 'DIRECT'],
    [{ HTTPS_PROXY: 'http://proxy:3128' }, service, 'PROXY proxy:3128'],
    [{ https_proxy: 'http://lower:1', HTTPS_PROXY: 'http://upper:1' }, service, 'PROXY lower:1'],
    [{ HTTPS_PROXY: 'proxy:3128' }, service, 'PROXY proxy:3128'],
    [{ ALL_PROXY: 'socks5://proxy:1080' }, service, 'SOCKS5 proxy:1080'],
    [{ HTTP_PROXY: 'http://proxy:3128' }, service, 'DIRECT'],
    [{ HTTPS_PROXY: 'http://proxy:1' }, 'https://127.0.0.1:8443/', 'DIRECT'],
    [{ HTTPS_PROXY: 'http://proxy:1' }, 'https://[::1]:8443/', 'DIRECT'],
    [{ HTTPS_PROXY: 'http://proxy:1' }, 'https://localhost/', 'DIRECT'],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'service.example' }, service, 'DIRECT'],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: '.service.example' }, service, 'DIRECT'],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: '*.service.example' }, service, 'DIRECT'],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'other.example, service.example' }, service, 'DIRECT'],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: '*' }, service, 'DIRECT'],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'service.example:443' }, service, 'DIRECT'],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'service.example:8443' }, service, 'PROXY proxy:1'],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'vice.example' }, service, 'PROXY proxy:1'],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: '' }, service, 'PROXY proxy:1'],
  ])('%j for %s is %s', (env, url, proxy) => {
    expect(systemProxy(url, env)).toBe(proxy);
  });
});
