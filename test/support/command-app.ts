import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createCommandPlatform } from '../../electron/commands/command-platform.ts';
import { writeLines } from './saved-mapping.ts';
import { openWholeApp, type WholeAppOptions } from './whole-app.ts';

/** The app without a window, as the commands ask it, and a folder for their files. */
export async function openCommand(given: WholeAppOptions = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-command-'));
  const { platform, app } = createCommandPlatform({
    origin: 'app://tokendesk',
    env: {},
    version: '1',
    home: '',
    resources: path.resolve('resources'),
    site: '',
  });
  const { home: _home, site: _site, ...rest } = platform;
  const whole = await openWholeApp({ ...given, platform: { ...rest, ...given.platform } });
  return {
    whole,
    app,
    folder,
    write: (name: string, lines: readonly string[]) => writeLines(path.join(folder, name), lines),
    async close() {
      await whole.close();
      fs.rmSync(folder, { recursive: true, force: true });
    },
    audit,
    /** Requests that the audit log has of an operation. */
    sent: (operation: string): number =>
      audit().filter(({ action, phase }) => action === operation && phase === 'begun').length,
  };

  /** Its lines. */
  function audit(): Record<string, unknown>[] {
    const folder = path.join(whole.home, 'audit');
    return fs
      .readdirSync(folder)
      .filter((name) => name.endsWith('.jsonl'))
      .sort()
      .flatMap((name) => fs.readFileSync(path.join(folder, name), 'utf8').trim().split('\n'))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }
}
export type Command = Awaited<ReturnType<typeof openCommand>>;
