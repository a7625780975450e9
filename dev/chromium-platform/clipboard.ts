import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import type { PlatformClipboard } from '../../electron/platform/platform.ts';

interface Commands {
  readonly write: readonly [string, ...string[]];
  readonly read: readonly [string, ...string[]];
  readonly clear: readonly [string, ...string[]];
}

/** `wl-copy` and `xclip` stay behind to serve the selection; only their start is waited for. */
const wayland: Commands = {
  write: ['wl-copy', '--type', 'text/plain'],
  read: ['wl-paste', '--no-newline'],
  clear: ['wl-copy', '--clear'],
};
const x11: Commands = {
  write: ['xclip', '-selection', 'clipboard', '-in'],
  read: ['xclip', '-selection', 'clipboard', '-out'],
  clear: ['xclip', '-selection', 'clipboard', '-in'],
};
const macOs: Commands = { write: ['pbcopy'], read: ['pbpaste'], clear: ['pbcopy'] };

/**
 * The clipboard without Electron: the system's own commands where there is a display, a variable where
 * there is none. The commands have no option to exclude a value from history or cloud.
 */
export function commandClipboard(env: NodeJS.ProcessEnv, headless: boolean): PlatformClipboard {
  const commands = headless ? null : findCommands(env);
  if (commands === null) return headless ? memoryClipboard() : missingClipboard;
  return {
    async write(text) {
      await run(commands.write, text, env);
    },
    read: () => run(commands.read, null, env),
    async clear() {
      await run(commands.clear, '', env);
    },
  };
}

function memoryClipboard(): PlatformClipboard {
  let text = '';
  const write = (next: string): Promise<void> => {
    text = next;
    return Promise.resolve();
  };
  return { write, read: () => Promise.resolve(text), clear: () => write('') };
}

const none = (): Promise<never> => Promise.reject(new Error('There is no clipboard.'));
const missingClipboard: PlatformClipboard = { write: none, read: none, clear: none };

function findCommands(env: NodeJS.ProcessEnv): Commands | null {
  if (process.platform === 'darwin') return macOs;
  const folders = (env['PATH'] ?? '').split(path.delimiter);
  const has = (command: string): boolean =>
    folders.some((folder) => fs.existsSync(path.join(folder, command)));
  if (env['WAYLAND_DISPLAY'] && has('wl-copy')) return wayland;
  if (env['DISPLAY'] && has('xclip')) return x11;
  return null;
}

/** The text goes through the pipe, never the command line, where other users could read it. */
function run(
  [command, ...rest]: Commands['write'],
  input: string | null,
  env: NodeJS.ProcessEnv,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const reads = input === null;
    const child = spawn(command, rest, { env, stdio: ['pipe', reads ? 'pipe' : 'ignore', 'ignore'] });
    let text = '';
    child.stdout?.setEncoding('utf8').on('data', (part: string) => (text += part));
    child.once('error', () => reject(new Error('The clipboard command did not start.')));
    child.once('close', (code) => {
      // Reading an empty clipboard is an error to these commands.
      if (code === 0 || reads) resolve(code === 0 ? text : '');
      else reject(new Error('The clipboard command failed.'));
    });
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input ?? '');
  });
}
