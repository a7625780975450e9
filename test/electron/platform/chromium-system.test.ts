import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { commandClipboard } from '../../../dev/chromium-platform/clipboard.ts';
import { proxyFromEnvironment, watchSleep } from '../../../dev/chromium-platform/system.ts';
import { tempFolder } from '../../support/temp-folder.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('the proxy from the environment', () => {
  const service = 'https://api.service.example/x';
  test.each<[Record<string, string>, string, string | null]>([
    [{}, service, null],
    [{ HTTPS_PROXY: 'http://proxy:3128' }, service, 'http://proxy:3128'],
    [{ https_proxy: 'http://lower:1', HTTPS_PROXY: 'http://upper:1' }, service, 'http://lower:1'],
    [{ HTTPS_PROXY: 'proxy:3128' }, service, 'http://proxy:3128'],
    [{ ALL_PROXY: 'socks5://proxy:1080' }, service, 'socks5://proxy:1080'],
    [{ HTTP_PROXY: 'http://proxy:3128' }, service, null],
    [{ HTTPS_PROXY: 'http://proxy:1' }, 'https://127.0.0.1:8443/', null],
    [{ HTTPS_PROXY: 'http://proxy:1' }, 'https://[::1]:8443/', null],
    [{ HTTPS_PROXY: 'http://proxy:1' }, 'https://localhost/', null],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'service.example' }, service, null],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: '.service.example' }, service, null],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: '*.service.example' }, service, null],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'other.example, service.example' }, service, null],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: '*' }, service, null],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'service.example:443' }, service, null],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'service.example:8443' }, service, 'http://proxy:1'],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: 'vice.example' }, service, 'http://proxy:1'],
    [{ HTTPS_PROXY: 'http://proxy:1', NO_PROXY: '' }, service, 'http://proxy:1'],
  ])('%j for %s is %s', (env, url, proxy) => {
    expect(proxyFromEnvironment(url, env)).toBe(proxy);
  });
});

describe('the clipboard', () => {
  /** A stand-in for xclip that keeps what it is given, and the arguments it was started with. */
  function desktop() {
    const folder = tempFolder();
    const script = `#!/bin/sh
echo "$@" >> ${folder}/arguments
case "$*" in *-in*) cat > ${folder}/held ;; *) cat ${folder}/held ;; esac
`;
    fs.writeFileSync(path.join(folder, 'xclip'), script, { mode: 0o755 });
    return { folder, env: { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ':99' } };
  }

  test('goes through the pipe of a command, not its arguments, and never to the primary selection', async () => {
    const { folder, env } = desktop();
    const clipboard = commandClipboard(env, false);
    await clipboard.write('4111 é ✓');
    expect(await clipboard.read()).toBe('4111 é ✓');
    await clipboard.clear();
    expect(await clipboard.read()).toBe('');
    const given = fs.readFileSync(path.join(folder, 'arguments'), 'utf8');
    expect(given).not.toContain('4111');
    expect(given.match(/-selection clipboard/g)).toHaveLength(4);
    expect(given).not.toContain('primary');
  });

  test('without a window is a variable, each app its own', async () => {
    const [one, other] = [commandClipboard({}, true), commandClipboard({}, true)];
    await one.write('tok_1');
    expect(await one.read()).toBe('tok_1');
    expect(await other.read()).toBe('');
    await one.clear();
    expect(await one.read()).toBe('');
  });

  test.runIf(process.platform === 'linux')('is missing where there is no command for it', async () => {
    const clipboard = commandClipboard({ PATH: '/nowhere', DISPLAY: ':99' }, false);
    await expect(clipboard.write('x')).rejects.toThrow('There is no clipboard.');
  });

  test('says so when the command fails, without the value', async () => {
    const { folder, env } = desktop();
    fs.writeFileSync(path.join(folder, 'xclip'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    await expect(commandClipboard(env, false).write('4111')).rejects.toThrow('The clipboard command failed.');
  });
});

describe('sleep', () => {
  test('is seen when the wall clock ran on alone, and not otherwise', () => {
    vi.useFakeTimers();
    let [wall, running] = [0, 0];
    const onWake = vi.fn();
    const stop = watchSleep(onWake, { wall: () => wall, running: () => running });
    const pass = (wallMs: number, runningMs: number): void => {
      wall += wallMs;
      running += runningMs;
      vi.advanceTimersByTime(5_000);
    };
    pass(5_000, 5_000);
    pass(60_000, 60_000); // a process that had no time is not asleep
    expect(onWake).not.toHaveBeenCalled();
    pass(605_000, 5_000);
    expect(onWake).toHaveBeenCalledOnce();
    pass(5_000, 5_000);
    expect(onWake).toHaveBeenCalledOnce();
    stop();
    pass(605_000, 5_000);
    expect(onWake).toHaveBeenCalledOnce();
  });
});
