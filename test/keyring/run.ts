/**
 * Runs the tests of this folder against a real gnome-keyring, each file on a bus of its own. Arguments go on to
 * vitest: `node test/keyring/run.ts --reporter=json --outputFile=keyring.json`.
 */
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { missingTools } from '../support/private-keyring.ts';

const house = path.resolve(import.meta.dirname, '../..');
const missing = missingTools();
if (missing.length > 0) console.log(`Keyring tests are skipped, not installed here: ${missing.join(', ')}`);

const vitest = path.join(house, 'node_modules/vitest/vitest.mjs');
const config = path.join(import.meta.dirname, 'vitest.config.ts');
const { status } = spawnSync(
  process.execPath,
  [vitest, 'run', '--config', config, ...process.argv.slice(2)],
  { cwd: house, stdio: 'inherit' },
);
process.exitCode = status ?? 1;
