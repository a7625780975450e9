import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openFile } from '../../electron/storage/byte-source.ts';

it.skipIf(process.platform === 'win32')('named pipes do not stop the reading of other files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tokendesk-pipes-'));
  const pipes = Array.from({ length: 8 }, (_, i) => join(folder, `pipe${i}`));
  const answered: string[] = [];
  try {
    execFileSync('mkfifo', pipes);
    const opening = pipes.map(async (pipe) => {
      const opened = await openFile(pipe);
      answered.push(opened.ok ? 'ok' : opened.failure.code);
    });
    await Promise.race([Promise.all(opening), new Promise((resolve) => setTimeout(resolve, 3_000))]);
    expect(answered).toEqual(pipes.map(() => 'file.unreadable'));
    const other = await openFile(import.meta.filename);
    expect(other.ok).toBe(true);
    if (other.ok) await other.value.close();
  } finally {
    // Lets whoever waits for a writer go on.
    if (answered.length < pipes.length)
      execFileSync('sh', ['-c', 'for pipe; do : <> "$pipe"; done', 'sh', ...pipes]);
    await rm(folder, { recursive: true, force: true });
  }
});
