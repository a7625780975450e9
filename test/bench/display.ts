import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** A display of our own, where the machine has none and Xvfb can make one; null otherwise. */
export async function openDisplay(): Promise<{ name: string; close(): Promise<void> } | null> {
  if (process.env['DISPLAY'] !== undefined) return null;
  const server = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1400x1000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise<null>((resolve) => {
    server.once('error', () => resolve(null));
    server.once('exit', () => resolve(null));
  });
  const number = once(server.stdio[3] as Readable, 'data').then(([said]) => String(said).trim());
  const display = await Promise.race([number, ended]);
  if (display === null) return null;
  return {
    name: `:${display}`,
    async close() {
      server.kill();
      await ended;
    },
  };
}
