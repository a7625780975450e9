/** Runs a command with a keyring of its own: `node test/support/under-keyring.ts COMMAND ARGUMENTS…`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { missingTools, startKeyring } from './private-keyring.ts';

const [command, ...args] = process.argv.slice(2);
const missing = missingTools();
if (command === undefined) {
  console.error('Which command?');
  process.exitCode = 2;
} else if (missing.length > 0) {
  console.error(`Not installed here: ${missing.join(', ')}`);
  process.exitCode = 2;
} else {
  const keyring = await startKeyring();
  try {
    const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...keyring.env } });
    // The child has the terminal's signals too; this one stays to clean up after it.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
    const [code] = (await once(child, 'exit')) as [number | null];
    process.exitCode = code ?? 1;
  } finally {
    await keyring.stop();
  }
}
