import fs from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { createDesktop } from '../../../dev/electron-on-chromium/desktop.ts';
import type { State } from '../../../dev/electron-on-chromium/state.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const desktopIn = (env: NodeJS.ProcessEnv, isHeadless: boolean) =>
  createDesktop({ env, isHeadless, afterReady: () => undefined } as unknown as State, {
    contentsOf: () => undefined,
    setTheme: () => undefined,
  });

function clipboardIn(env: NodeJS.ProcessEnv, isHeadless: boolean) {
  const { clipboard, ClipboardItem } = desktopIn(env, isHeadless);
  return {
    write: (text: string) => clipboard.write([new ClipboardItem({ 'text/plain': text }) as never]),
    read: () => clipboard.readText(),
    clear: () => clipboard.clear(),
  };
}

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
    const clipboard = clipboardIn(env, false);
    await clipboard.write('4111 é ✓');
    expect(await clipboard.read()).toBe('4111 é ✓');
    clipboard.clear();
    await expect.poll(() => clipboard.read()).toBe('');
    const given = fs.readFileSync(path.join(folder, 'arguments'), 'utf8');
    expect(given).not.toContain('4111');
    expect(given.match(/-selection clipboard -in/g)).toHaveLength(2);
    expect(given).not.toContain('primary');
  });

  test.each([
    ['without a display', {}, true],
    ['without a command for it', { PATH: '/nowhere', DISPLAY: ':99' }, false],
  ] as const)('%s is a variable, each app its own', async (_what, env, isHeadless) => {
    const [one, other] = [clipboardIn(env, isHeadless), clipboardIn(env, isHeadless)];
    await one.write('tok_1');
    expect(await one.read()).toBe('tok_1');
    expect(await other.read()).toBe('');
    one.clear();
    expect(await one.read()).toBe('');
  });

  test('says so when the command fails, without the value', async () => {
    const { folder, env } = desktop();
    fs.writeFileSync(path.join(folder, 'xclip'), '#!/bin/sh\nexit 1\n', { mode: 0o755 });
    await expect(clipboardIn(env, false).write('4111')).rejects.toThrow('xclip failed.');
  });
});

describe('sleep', () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test('is seen when the wall clock ran on alone, and not otherwise', () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'Date', 'performance'] });
    const onWake = vi.fn();
    desktopIn({}, true).powerMonitor.on('resume', onWake);
    /** The process ran that long, and slept before. */
    const pass = (ranMs: number, sleptMs = 0): void => {
      vi.setSystemTime(Date.now() + sleptMs);
      vi.advanceTimersByTime(ranMs);
    };
    pass(5_000);
    pass(60_000);
    expect(onWake).not.toHaveBeenCalled();
    pass(5_000, 600_000);
    expect(onWake).toHaveBeenCalledOnce();
    pass(5_000);
    expect(onWake).toHaveBeenCalledOnce();
  });
});
