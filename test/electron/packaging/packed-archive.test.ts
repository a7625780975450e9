import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { createPackage, extractAll } from '@electron/asar';
import { chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { findChromium } from '../../../dev/electron-on-chromium/browser.ts';
import { makeRunnable, packageApp, type PackagedApp } from '../../support/package-app.ts';
import { go, lookUp, startBuiltIn, tokenize } from '../../support/page-actions.ts';
import { missingTools, startKeyring, type PrivateKeyring } from '../../support/private-keyring.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/*
 * The packed app, with its archive and nothing else in reach, as a person or an administrator starts it. Electron itself is
 * stood for by the program over the system's Chromium, which unpacks the archive into a folder of its own.
 */

const browser = findChromium(process.env);

interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Whether Chromium was started. */
  readonly hadBrowser: boolean;
}

describe.skipIf(process.platform !== 'linux' || browser === null)('the packed app, over Chromium', () => {
  let app: PackagedApp;
  let keyring: PrivateKeyring | null = null;
  /** Where it is started: nothing of the project is found from here. */
  let folder = '';
  let home = '';
  /** Where the archive is unpacked, and Chromium's profile made. */
  let temporary = '';

  beforeAll(async () => {
    app = await packageApp('linux', 'dir');
    makeRunnable(app);
    folder = path.join(app.folder, 'elsewhere');
    home = path.join(app.folder, 'home');
    temporary = path.join(app.folder, 'tmp');
    for (const made of [folder, temporary]) fs.mkdirSync(made);
    // Names each start of Chromium.
    fs.writeFileSync(
      path.join(app.folder, 'chromium'),
      `#!/bin/sh\necho $$ >> '${path.join(app.folder, 'browsers')}'\nexec '${browser ?? ''}' "$@"\n`,
      { mode: 0o755 },
    );
    keyring = missingTools().length === 0 ? await startKeyring() : null;
  }, 180_000);
  afterAll(async () => {
    await keyring?.stop();
    fs.rmSync(app.folder, { recursive: true, force: true });
  });

  const browsers = (): string[] => {
    const list = path.join(app.folder, 'browsers');
    return fs.existsSync(list) ? fs.readFileSync(list, 'utf8').trim().split('\n') : [];
  };

  /** In a process group of its own, which is gone with the test. */
  function start(args: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const { DISPLAY: _x11, WAYLAND_DISPLAY: _wayland, ...rest } = process.env;
    const child = spawn(app.program, [...args], {
      cwd: folder,
      env: {
        ...rest,
        ...keyring?.env,
        TMPDIR: temporary,
        TOKENDESK_CHROMIUM: path.join(app.folder, 'chromium'),
        ...env,
      },
      detached: true,
    });
    onTestFinished(() => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    });
    return child;
  }

  async function run(args: readonly string[], input = ''): Promise<Run> {
    const before = browsers().length;
    const child = start(args);
    let [stdout, stderr] = ['', ''];
    child.stdout?.on('data', (part: Buffer) => (stdout += part.toString('utf8')));
    child.stderr?.on('data', (part: Buffer) => (stderr += part.toString('utf8')));
    child.stdin?.on('error', () => undefined).end(input);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, stdout, stderr, hadBrowser: browsers().length > before };
  }

  /** The window of an app that was started with a port for it. */
  async function findWindow(child: ChildProcess): Promise<Page> {
    const address = await new Promise<string>((resolve, reject) => {
      let text = '';
      child.stderr?.on('data', (part: Buffer) => {
        text += part.toString('utf8');
        const [, found] = /^DevTools listening on (\S+)$/m.exec(text) ?? [];
        if (found !== undefined) resolve(found);
      });
      child.once('close', () => {
        reject(new Error(`The app ended: ${text}`));
      });
    });
    const connected = await chromium.connectOverCDP(address);
    onTestFinished(() => connected.close());
    const [context] = connected.contexts();
    const page = context?.pages()[0] ?? (await context?.waitForEvent('page'));
    if (page === undefined) throw new Error('There is no window.');
    page.setDefaultTimeout(20_000);
    await page.waitForURL(/\/index\.html$/);
    return page;
  }

  test('opens its window, looks a token up through the built-in service and reads its sample', async () => {
    const child = start([`--user-data-dir=${home}`], { ELECTRON_ON_CHROMIUM_PORT: '0' });
    const closed = once(child, 'close');
    const page = await findWindow(child);
    await startBuiltIn(page);
    const token = await tokenize(page, '4111111111111111');
    await lookUp(page, token);
    const result = page.getByRole('region', { name: 'Result' });
    expect(await result.innerText()).toContain('411111••••••1111');

    await go(page, 'Batch');
    await page.getByRole('button', { name: 'Try the sample file' }).click();
    await page.getByRole('button', { name: /^Run on/ }).waitFor();

    child.kill('SIGTERM');
    expect(await closed).toEqual([0, null]);
    expect(fs.existsSync(`/proc/${browsers().at(-1) ?? ''}`)).toBe(false);
    expect(fs.readdirSync(temporary).filter((name) => name.startsWith('electron-'))).toEqual([]);
  });

  test('--self-check says ok in every line, without a display and without a browser', async () => {
    const untouched = path.join(tempFolder(), 'home');
    const { code, stdout, stderr, hadBrowser } = await run(['--self-check', `--user-data-dir=${untouched}`]);
    const lines = stdout.trim().split('\n');
    expect(lines.filter((line) => !line.startsWith('ok '))).toEqual([]);
    expect(lines.map((line) => /^ok {6}([a-z ]+):/.exec(line)?.[1])).toEqual([
      'fuses',
      'archive',
      'files',
      'preload',
      'node options',
      'keychain module',
      'keyring',
      'system certificates',
      'client certificates',
      'service profile',
      'managed settings',
      'provided connections',
    ]);
    expect({ code, stderr, hadBrowser }).toEqual({ code: 0, stderr: '', hadBrowser: false });
    expect(fs.existsSync(untouched)).toBe(false);
  });

  test('--self-check finds a native module that was changed, and an archive that was packed anew', async () => {
    const files = async (): Promise<string | undefined> =>
      (await run(['--self-check'])).stdout.split('\n').find((line) => line.includes('  files: '));
    const module = app.files.find((file) => file.endsWith('.node'))?.slice(1) ?? '';
    for (const name of [`app.asar.unpacked/${module}`, 'app.asar']) {
      const file = path.join(app.resources, name);
      const bytes = fs.readFileSync(file);
      if (name === 'app.asar') {
        const unpacked = path.join(tempFolder(), 'app');
        extractAll(app.archive, unpacked);
        fs.appendFileSync(path.join(unpacked, 'package.json'), ' ');
        await createPackage(unpacked, app.archive);
      } else fs.appendFileSync(file, ' ');
      expect(await files()).toBe(`not ok  files: 1 missing, changed or added, first ${name}`);
      fs.writeFileSync(file, bytes);
    }
    expect(await files()).toBe('ok      files: 2, all as they were packed');
  });

  test.each(['--no-sandbox', '--remote-debugging-port=0', '--inspect', '-r=module.cjs'])(
    'does not start with %s',
    async (given) => {
      const untouched = path.join(tempFolder(), 'home');
      const refused = await run([given, `--user-data-dir=${untouched}`]);
      const name = given.replace(/^-+/, '').replace(/=.*/, '');
      expect(refused).toEqual({
        code: 2,
        stdout: '',
        stderr: `Tokendesk does not start with --${name}. tokendesk --help lists what it starts with.\n`,
        hadBrowser: false,
      });
      expect(fs.existsSync(untouched)).toBe(false);
    },
  );

  test.skipIf(missingTools().length > 0)('--verify-audit reads the log it has written', async () => {
    const { code, stdout, hadBrowser } = await run([`--user-data-dir=${home}`, '--verify-audit']);
    expect(stdout).toMatch(/^VALID: /m);
    expect({ code, hadBrowser }).toEqual({ code: 0, hadBrowser: false });
  });

  test('--wipe asks on the terminal, and removes what was kept', async () => {
    const kept = await run(['--wipe', `--user-data-dir=${home}`], 'no\n');
    expect(kept).toMatchObject({ code: 1, hadBrowser: false });
    expect(fs.existsSync(path.join(home, 'audit'))).toBe(true);
    const wiped = await run(['--wipe', `--user-data-dir=${home}`], 'remove everything\n');
    expect(wiped).toMatchObject({ code: 0, hadBrowser: false });
    expect(fs.existsSync(path.join(home, 'audit'))).toBe(false);
  });
});
