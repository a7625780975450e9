import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type AppState, defaultSettings } from '../../electron/contract/models/app.ts';
import { folderEntry, keychainEntry } from '../../electron/settings/home-id.ts';
import { entryName } from '../../electron/storage/keychain-accounts.ts';
import { loadKeytar } from '../../electron/storage/keytar.ts';
import { systemClock } from '../../electron/util/clock.ts';
import { wipe } from '../../electron/support/wipe.ts';
import { withKeyring } from '../support/app-keychain.ts';
import { valueOf } from '../support/batch-app.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { obscured, openWholeApp, type WholeApp } from '../support/whole-app.ts';

const root = path.resolve(import.meta.dirname, '../..');
const passphrase = 'correct horse';
const idOf = (home: string) => fs.readFileSync(path.join(home, 'home-id'), 'utf8').split('\n')[0] ?? '';
const indexOf = (home: string) =>
  (JSON.parse(fs.readFileSync(path.join(home, 'desk.json'), 'utf8')) as { keychainIndex: string[] })
    .keychainIndex;

async function opened(home: string, usualHome: string): Promise<WholeApp> {
  const app = await openWholeApp({ home, options: { usualHome, loadKeytar } });
  onTestFinished(() => app.close());
  return app;
}

/** How the log was found: an act that is recorded waits until it is open. Unlocks the app where it is locked. */
async function auditOf(app: WholeApp): Promise<AppState['audit']> {
  const { lock } = valueOf(await app.ask('app.state', {}));
  if (lock.locked) valueOf(await app.ask('lock.unlock', { passphrase: obscured(passphrase) }));
  valueOf(await app.ask('settings.save', defaultSettings));
  return (valueOf(await app.ask('app.state', {})) as AppState).audit;
}

/** Runs the verifier that auditors have on a folder's log, with the key in the keyring. */
function verify(home: string): { readonly status: number | null; readonly stdout: string } {
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      path.join(root, 'scripts/verify-audit.ts'),
      path.join(home, 'audit'),
      `--checkpoint=${path.join(home, 'checkpoints', 'audit')}`,
      `--keychain=${keychainEntry(home, 'audit:key')}`,
    ],
    { encoding: 'utf8', cwd: root, timeout: 60_000 },
  );
  return { status, stdout };
}

/** Wipes a folder that was named; the exit code. */
const wiped = (home: string, usualHome: string): Promise<number> =>
  wipe({
    home,
    isOwnFolder: false,
    usualHome,
    loadKeytar,
    clock: systemClock,
    confirm: () => Promise.resolve(true),
    print: () => Promise.resolve(),
  });

/** A folder as a version without identities left it, with its entries in the keyring. */
async function before(): Promise<{ home: string; names: string[] }> {
  const home = tempFolder();
  const app = await opened(home, home);
  valueOf(await app.ask('lock.setPassphrase', { current: obscured(''), next: obscured(passphrase) }));
  await app.close();
  const keytar = await loadKeytar();
  const names = indexOf(home);
  for (const name of [...names, 'probe']) {
    const secret = await keytar.getPassword('Tokendesk', entryName(idOf(home), name));
    if (secret !== null) await keytar.setPassword('Tokendesk', name, secret);
    await keytar.deletePassword('Tokendesk', entryName(idOf(home), name));
  }
  await keytar.deletePassword('Tokendesk', folderEntry(home));
  fs.rmSync(path.join(home, 'home-id'));
  return { home, names };
}

withKeyring('two folders with one keyring', () => {
  test('neither sees the other’s entries, the log of each verifies, and one that is wiped takes nothing along', async () => {
    const keytar = await loadKeytar();
    const [first, second] = [tempFolder(), tempFolder()];
    for (let start = 0; start < 2; start++)
      for (const home of [first, second]) {
        const app = await opened(home, first);
        expect([start, home, await auditOf(app)]).toEqual([start, home, 'ready']);
        if (start === 0 && home === first)
          valueOf(await app.ask('lock.setPassphrase', { current: obscured(''), next: obscured(passphrase) }));
        await app.close();
      }
    for (const home of [first, second])
      expect(verify(home)).toEqual({ status: 0, stdout: expect.stringContaining('VALID: ') as string });

    const names = indexOf(second).map((name) => entryName(idOf(second), name));
    expect(names.length).toBeGreaterThan(0);
    expect([await wiped(second, first), fs.existsSync(second)]).toEqual([0, false]);
    for (const name of names)
      expect([name, await keytar.getPassword('Tokendesk', name)]).toEqual([name, null]);
    expect(verify(first).status).toBe(0);
    expect(await auditOf(await opened(first, first))).toBe('ready');
  });

  test('a copy has entries and a log of its own, and takes nothing along when it is wiped', async () => {
    const [first, copy] = [tempFolder(), path.join(tempFolder(), 'copy')];
    const app = await opened(first, first);
    valueOf(await app.ask('lock.setPassphrase', { current: obscured(''), next: obscured(passphrase) }));
    await app.close();
    fs.cpSync(first, copy, { recursive: true });
    for (const home of [copy, first, copy]) {
      const again = await opened(home, first);
      expect([home, await auditOf(again)]).toEqual([home, 'ready']);
      await again.close();
    }
    expect(idOf(copy)).not.toBe(idOf(first));
    for (const home of [first, copy])
      expect(verify(home)).toEqual({ status: 0, stdout: expect.stringContaining('VALID: ') as string });
    expect([await wiped(copy, first), fs.existsSync(copy)]).toEqual([0, false]);
    expect(verify(first).status).toBe(0);
    expect(await auditOf(await opened(first, first))).toBe('ready');
  });

  test('entries of before are taken over once, also where the app is killed between two of them', async () => {
    const keytar = await loadKeytar();
    const { home, names } = await before();
    expect(verify(home).status).toBe(0);
    const script = path.join(root, 'test/support/killed-take-over.ts');
    const { signal } = spawnSync(process.execPath, [script, home, '4'], { cwd: root, timeout: 60_000 });
    expect(signal).toBe('SIGKILL');
    const under = async (prefix: string) => {
      const found = await Promise.all(names.map((name) => keytar.getPassword('Tokendesk', prefix + name)));
      return names.filter((_, at) => found[at] !== null);
    };
    expect((await under(entryName(idOf(home), ''))).length).toBe(2);

    // A second folder comes in between.
    const second = tempFolder();
    expect(await auditOf(await opened(second, home))).toBe('ready');
    const app = await opened(home, home);
    expect(await auditOf(app)).toBe('ready');
    await app.close();
    expect([await under(''), await under(entryName(idOf(home), ''))]).toEqual([[], names]);
    expect(verify(home)).toEqual({ status: 0, stdout: expect.stringContaining('VALID: ') as string });
  });
});
