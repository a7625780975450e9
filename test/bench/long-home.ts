import fs from 'node:fs';
import path from 'node:path';
import { auditKeyAccount } from '../../electron/audit/checkpoint.ts';
import { keyAccount } from '../../electron/batch/storing/job-files.ts';
import { done } from '../../electron/contract/errors.ts';
import { createKeychain } from '../../electron/storage/keychain.ts';
import type { KeyringBackend } from '../../electron/storage/keytar.ts';
import { createSecretsKey, withSecretsKey } from '../../electron/storage/secrets-key.ts';
import { systemClock } from '../../electron/util/clock.ts';
import { writeLongLog } from './long-log.ts';
import { writeJobs } from './many-jobs.ts';

export const longHome = { jobs: 10_000, entries: 1_000_000 };
const yearMs = 365 * 86_400_000;

interface HomeSettings {
  keychainIndex: string[];
}

/**
 * Puts many jobs and a year of the audit log into a home that an app made and that is closed: under its own keys, so that
 * the next start takes them for its own. Its short log is replaced.
 */
export async function fillHome(
  home: string,
  load: () => Promise<KeyringBackend>,
  { jobs, entries } = longHome,
): Promise<void> {
  const settings = path.join(home, 'desk.json');
  const read = (): HomeSettings => JSON.parse(fs.readFileSync(settings, 'utf8')) as HomeSettings;
  const [homeId = ''] = fs.readFileSync(path.join(home, 'home-id'), 'utf8').split('\n');
  const keychain = createKeychain({
    load,
    clock: systemClock,
    index: {
      read: () => read().keychainIndex,
      write(names) {
        fs.writeFileSync(settings, JSON.stringify({ ...read(), keychainIndex: [...names] }));
      },
    },
    homeId,
  });
  const secrets = withSecretsKey(keychain, createSecretsKey(keychain), {
    ready: () => Promise.resolve(done(null)),
    keyOf: () => Promise.reject(new Error('no connection is asked')),
    accountsOf: () => [],
    takenOver: () => Promise.resolve(),
  });
  const masterKey = await secrets.key(keyAccount);
  const chain = await keychain.read(auditKeyAccount);
  if (!masterKey.ok || !chain.ok) throw new Error('the home has no keys');
  const [key = ''] = chain.value.split(' ');
  writeJobs(path.join(home, 'jobs'), masterKey.value, jobs);
  const folder = path.join(home, 'audit');
  fs.rmSync(folder, { recursive: true });
  const end = writeLongLog({
    folder,
    key: new Uint8Array(Buffer.from(key, 'base64')),
    entries,
    firstAt: Date.now() - yearMs,
    stepMs: (2 * yearMs) / entries,
  });
  fs.writeFileSync(path.join(home, 'checkpoints/audit'), end.padEnd(8_192));
  const stored = await keychain.store(auditKeyAccount, `${key} ${end}`);
  if (!stored.ok) throw new Error(stored.failure.code);
}
