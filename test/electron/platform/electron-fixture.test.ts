import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { findChromium } from '../../../dev/chromium-platform/launch.ts';
import { electronBinary } from '../../../scripts/electron-binary.ts';
import { playwrightSum, skippedProjects } from '../../../scripts/test.ts';
import { tapMain } from '../../support/electron-tap.ts';
import { openElectron } from '../../support/open-electron.ts';
import { createFakeElectron } from '../../support/fake-electron.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/* How the end-to-end specs open Electron, on a machine that has no Electron. */

const root = fileURLToPath(new URL('../../..', import.meta.url));
const run = promisify(execFile);

/** A folder that Electron's own package takes for its distribution. */
function standInDistribution(): { folder: string; given: string } {
  const folder = tempFolder();
  const script = fileURLToPath(new URL('../../support/electron-executable.ts', import.meta.url));
  const given = path.join(folder, 'arguments.json');
  const command = `#!/bin/sh\nexec "${process.execPath}" --inspect=0 "${script}" "$@"\n`;
  fs.writeFileSync(path.join(folder, 'electron'), command, { mode: 0o755 });
  return { folder, given };
}

/** As it would be asked for on a command line, each with its outcome. */
async function runSpecs(pattern: string, env: NodeJS.ProcessEnv) {
  const report = path.join(tempFolder(), 'report.json');
  await run(
    path.join(root, 'node_modules/.bin/playwright'),
    ['test', '--project=electron', '--reporter=json', '-g', pattern],
    { cwd: root, env: { ...process.env, ...env, PLAYWRIGHT_JSON_OUTPUT_NAME: report } },
  ).catch(() => null);
  const text = fs.readFileSync(report, 'utf8');
  return { text, sum: playwrightSum(JSON.parse(text)) };
}

describe.skipIf(process.platform === 'win32')('the project "electron"', () => {
  test('is there when its executable is, and named as skipped when it is not', () => {
    const { folder } = standInDistribution();
    vi.stubEnv('ELECTRON_OVERRIDE_DIST_PATH', path.join(folder, 'none'));
    expect(electronBinary()).toBeNull();
    expect(skippedProjects(electronBinary())).toEqual([expect.stringContaining('"electron"')]);
    vi.stubEnv('ELECTRON_OVERRIDE_DIST_PATH', folder);
    expect(skippedProjects(electronBinary())).toEqual([]);
    vi.unstubAllEnvs();
  });

  test('opens Electron, and not another platform where it does not start', async () => {
    const { folder, given } = standInDistribution();
    const { sum, text } = await runSpecs('the About section', {
      ELECTRON_OVERRIDE_DIST_PATH: folder,
      STAND_IN_ARGUMENTS: given,
      STAND_IN_DIES: '1',
    });
    expect(sum).toMatchObject({ passed: 0, failed: 1, skipped: [] });
    expect(text).toContain('electron.launch');
    const passed = JSON.parse(fs.readFileSync(given, 'utf8')) as string[];
    expect(passed.at(-1)).toBe(root);
    expect(passed).toContainEqual(expect.stringMatching(/^--user-data-dir=.*desk-/));
    expect(passed.filter((_, at) => passed[at - 1] === '-r').at(-1)).toMatch(/tap\.cjs$/);
  }, 60_000);

  test('skips what is for the other platform only, and says why, before anything is started', async () => {
    const { folder, given } = standInDistribution();
    const { sum, text } = await runSpecs('a frame inside the window', {
      ELECTRON_OVERRIDE_DIST_PATH: folder,
      STAND_IN_ARGUMENTS: given,
    });
    expect(sum).toMatchObject({ passed: 0, failed: 0 });
    expect(sum.skipped.join()).toContain('a frame inside the window');
    expect(text).toContain('speaks past the preload');
    expect(fs.existsSync(given)).toBe(false);
  }, 60_000);
});

describe.skipIf(process.platform !== 'linux' || findChromium(process.env) === null)('an open app', () => {
  beforeAll(async () => {
    if (!fs.existsSync(path.join(root, 'dist/main/main.js')))
      await run(process.execPath, ['scripts/build.ts'], { cwd: root });
  }, 120_000);

  test('is heard, interrupted and closed through the main process', async () => {
    const { folder, given } = standInDistribution();
    vi.stubEnv('ELECTRON_OVERRIDE_DIST_PATH', folder);
    vi.stubEnv('STAND_IN_ARGUMENTS', given);
    onTestFinished(() => void vi.unstubAllEnvs());
    const home = tempFolder();
    const app = await openElectron(home);
    onTestFinished(() => app.close());
    expect(app).toMatchObject({ origin: 'app://tokendesk', home: path.join(home, 'desk') });
    const locked = (message: string): boolean => /"channel":"event:app.state".*"locked":true/.test(message);
    // The stand-in's empty page is there before the app's window.
    const heard = async (): Promise<boolean> => {
      await app.away('screen-locked');
      return (await app.outward()).some(locked);
    };
    await expect.poll(heard, { timeout: 20_000 }).toBe(true);
    expect(fs.existsSync(path.join(app.home, 'audit'))).toBe(true);
    await app.close();
    await app.close();
  }, 60_000);
});

describe('the tap in main', () => {
  const tapped = () => {
    const folder = tempFolder();
    const fake = createFakeElectron({ userData: '/elsewhere', appPath: '/the/app' });
    const downloads = path.join(folder, 'downloads');
    const tap = tapMain(fake.modules, { home: path.join(folder, 'desk'), downloads });
    const window = () => new fake.modules.BrowserWindow() as unknown as (typeof fake.windows)[number];
    return { ...fake, tap, folder, downloads, window, dialog: fake.modules.dialog };
  };

  test('moves the home', () => {
    const { app, folder } = tapped();
    expect(app.getPath('userData')).toBe(path.join(folder, 'desk'));
  });

  test('hears answers and events, and changes neither', async () => {
    const { modules, tap, window } = tapped();
    modules.ipcMain.handle('call:x', (_event, payload) =>
      Promise.resolve({ ok: true, payload: payload as number }),
    );
    const { webContents } = window();
    const heard: unknown[] = [];
    webContents.page.on('event:y', (_event, payload) => heard.push(payload));
    expect(await webContents.invoke('call:x', 7, null)).toEqual({ ok: true, payload: 7 });
    webContents.send('event:y', { z: 1 });
    expect(heard).toEqual([{ z: 1 }]);
    expect(tap.outward).toEqual(['{"ok":true,"payload":7}', '[{"channel":"event:y","payload":{"z":1}}]']);
  });

  test('answers the dialogs: the file that was named, once; a free name among the downloads', async () => {
    const { dialog, tap, downloads } = tapped();
    tap.choose('/there/cards.csv');
    expect(await dialog.showOpenDialog({})).toEqual({ canceled: false, filePaths: ['/there/cards.csv'] });
    expect(await dialog.showOpenDialog({})).toEqual({ canceled: true, filePaths: [] });
    const save = async () =>
      (await dialog.showSaveDialog({ defaultPath: '/there/cards_masked.csv' })).filePath;
    expect(await save()).toBe(path.join(downloads, 'cards_masked.csv'));
    fs.writeFileSync(path.join(downloads, 'cards_masked.csv'), '');
    expect(await save()).toBe(path.join(downloads, 'cards_masked (2).csv'));
  });

  test.each([
    ['screen-locked', 'lock-screen'],
    ['suspend', 'suspend'],
    ['resume', 'resume'],
  ] as const)('plays %s as the system would', (signal, event) => {
    const { powerMonitor, tap } = tapped();
    const hear = vi.fn();
    powerMonitor.on(event, hear);
    tap.interrupt(signal);
    expect(hear).toHaveBeenCalledOnce();
  });

  test('takes the focus from the window', () => {
    const { window, tap } = tapped();
    const hear = vi.fn();
    window().on('blur', hear);
    tap.interrupt('blur');
    expect(hear).toHaveBeenCalledOnce();
  });
});
