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
    /** Requests that the audit log has of an operation. */
    sent(operation: string): number {
      const audit = path.join(whole.home, 'audit');
      return fs
        .readdirSync(audit)
        .filter((name) => name.endsWith('.jsonl'))
        .flatMap((name) => fs.readFileSync(path.join(audit, name), 'utf8').split('\n'))
        .filter((line) => line.includes(`"action":"${operation}"`) && line.includes('"phase":"begun"'))
        .length;
    },
  };
}
export type Command = Awaited<ReturnType<typeof openCommand>>;
