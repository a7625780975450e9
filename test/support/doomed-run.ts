import path from 'node:path';
import { parseCommand } from '../../electron/commands/arguments.ts';
import { createCommandPlatform } from '../../electron/commands/command-platform.ts';
import { runFiles } from '../../electron/commands/run.ts';
import { sentenceFor } from '../../src/messages/messages.ts';
import { formatNotice } from '../../src/messages/notices.ts';
import { fileKeyring } from './file-keyring.ts';
import { faultyDisk, type DiskFault } from './faulty-disk.ts';
import { saveMapping } from './saved-mapping.ts';
import { openWholeApp } from './whole-app.ts';

/**
 * The life of one `tokendesk run`, which may end at any change to the disk. Prints the lines of `--json`, then how many
 * changes it made and how many batches there are.
 */
interface Options {
  readonly home: string;
  /** Saves the mapping first, that later lives run too. */
  readonly prepares: boolean;
  readonly args: readonly string[];
  readonly fault: DiskFault | null;
}
const { home, prepares, args, fault } = JSON.parse(process.argv[2] ?? '{}') as Options;

const keyring = fileKeyring(path.join(home, '..', 'keyring.json'));
const origin = 'app://tokendesk';
const changes = await faultyDisk(fault);
const { platform, app } = createCommandPlatform({
  origin,
  env: {},
  version: '1',
  home: '',
  resources: path.resolve('resources'),
  site: '',
});
const { home: _home, site: _site, ...rest } = platform;
const whole = await openWholeApp({ home, keyring, platform: rest });
if (prepares) await saveMapping(app, path.join(home, '..', 'october.csv'));
let begun: number | undefined;
const parsed = parseCommand('run', args);
if (typeof parsed === 'string' || parsed.name !== 'run') throw new Error('Wrong use');
await runFiles(parsed.given, {
  app,
  canMake: whole.canMake,
  words: { failure: sentenceFor, notice: formatNotice },
  print(line) {
    begun ??= changes();
    process.stdout.write(`${JSON.stringify(line)}\n`);
  },
  signal: new AbortController().signal,
  passphrase: null,
});
const jobs = await app.ask('batch.jobs', {});
const count = jobs.ok ? jobs.value.length : -1;
process.stdout.write(`${JSON.stringify({ kind: 'life', begun, changes: changes(), jobs: count })}\n`);
await whole.close();
process.exit(0);
