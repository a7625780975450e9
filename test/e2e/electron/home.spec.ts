import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { electronBinary, realElectron } from '../../../scripts/electron-binary.ts';
import { expect, openApp, test } from '../../support/app-fixture.ts';
import { documentedNames } from '../../support/documented-names.ts';
import { go, startBuiltIn } from '../../support/page-actions.ts';

/* The app and a person's folder, in Electron: what docs/first-run.md leaves to a program. */

const project = path.resolve(import.meta.dirname, '../../..');
// Chromium's own sandbox does not start as root.
const sandbox = realElectron() !== null && process.getuid?.() === 0 ? ['--no-sandbox'] : [];

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Starts the app as on a terminal, and waits for its end. */
function runApp(args: readonly string[], { input = '', env = process.env } = {}): Promise<Ended> {
  return new Promise((resolve) => {
    const child = execFile(
      electronBinary(),
      [...sandbox, project, ...args],
      { env, timeout: 60_000 },
      (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr });
      },
    );
    child.stdin?.on('error', () => undefined).end(input);
  });
}

const settingsFile = (home: string): string =>
  path.join(home, fs.existsSync(path.join(home, 'desk.json')) ? 'desk.json' : 'config.json');

test('a setting is there at the next start, and the folder holds what the guide lists', async ({ home }) => {
  const first = await openApp(home);
  try {
    await startBuiltIn(first.page);
    await go(first.page, 'Settings');
    await first.page.getByRole('radiogroup', { name: 'Theme' }).getByText('Dark', { exact: true }).click();
    await expect
      .poll(() => first.application.evaluate(({ nativeTheme }) => nativeTheme.themeSource))
      .toBe('dark');
  } finally {
    await first.close();
  }
  const names = fs.readdirSync(first.home);
  expect(names).toContain('audit');
  const documented = documentedNames();
  expect(documented.length).toBeGreaterThan(8);
  expect(names.filter((name) => !documented.some((pattern) => pattern.test(name)))).toEqual([]);

  const second = await openApp(home);
  try {
    await expect
      .poll(() => second.application.evaluate(({ nativeTheme }) => nativeTheme.themeSource))
      .toBe('dark');
  } finally {
    await second.close();
  }
});

test('settings that are cut off, of a newer version or unfit stop no start, and are kept', async ({
  home,
}) => {
  const first = await openApp(home);
  await first.close();
  const file = settingsFile(first.home);
  const whole = JSON.parse(fs.readFileSync(file, 'utf8')) as Record<string, unknown>;
  for (const text of [
    '{"settings":',
    JSON.stringify({ ...whole, version: 99 }),
    JSON.stringify({ ...whole, settings: 'none' }),
  ]) {
    fs.writeFileSync(file, text);
    const app = await openApp(home);
    try {
      await expect(app.page.getByRole('status').filter({ hasText: /settings/ })).toBeVisible();
    } finally {
      await app.close();
    }
    const files = fs.readdirSync(first.home, { withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.map(({ name }) => fs.readFileSync(path.join(first.home, name), 'utf8'))).toContain(text);
  }
});

test('a second start hands its file to the first and ends, and another folder has an app of its own', async ({
  app,
  page,
  home,
}) => {
  await startBuiltIn(page);
  const file = path.join(home, 'disputes.csv');
  fs.writeFileSync(file, 'card\n4111111111111111\n');
  const second = await runApp([`--user-data-dir=${app.home}`, file]);
  expect(second.code).toBe(0);
  await expect(page.getByRole('combobox', { name: /^card:/ })).toBeVisible();

  const beside = path.join(home, 'beside');
  const other = await openApp(beside);
  try {
    await expect(other.page.getByRole('button', { name: 'Start the built-in service' })).toBeVisible();
  } finally {
    await other.close();
  }
});

test('--self-check prints a line each without a display, and writes nothing', async ({ home }) => {
  const untouched = path.join(home, 'untouched');
  const { DISPLAY: _x11, WAYLAND_DISPLAY: _wayland, ...env } = process.env;
  const { code, stdout } = await runApp(['--self-check', `--user-data-dir=${untouched}`], { env });
  const lines = new Map(
    [...stdout.matchAll(/^(ok|not ok) +([a-z ]+): /gm)].map(([, verdict, name = '']) => [
      name,
      verdict === 'ok',
    ]),
  );
  // It runs from a folder here, by a program whose fuses are as they came.
  for (const name of ['fuses', 'archive', 'files']) lines.delete(name);
  expect([...lines.keys()]).toEqual([
    'preload',
    'node options',
    'keychain module',
    'keyring',
    'system certificates',
    'client certificates',
    'service profile',
    'managed settings',
  ]);
  expect([...lines].filter(([, ok]) => !ok)).toEqual([]);
  expect(code).toBe(1);
  expect(fs.existsSync(untouched)).toBe(false);
});

test('--wipe leaves nothing of the folder, Chromium’s own files included', async ({ home }) => {
  test.skip(process.platform === 'win32', 'it asks in a dialog there');
  const app = await openApp(home);
  await startBuiltIn(app.page);
  await app.close();
  const asked = await runApp(['--wipe', `--user-data-dir=${app.home}`], { input: 'no\n' });
  expect([asked.code, fs.existsSync(path.join(app.home, 'audit'))]).toEqual([1, true]);
  const wiped = await runApp(['--wipe', `--user-data-dir=${app.home}`], { input: 'remove everything\n' });
  expect([wiped.code, wiped.stderr]).toEqual([0, '']);
  expect(fs.existsSync(app.home) ? fs.readdirSync(app.home) : []).toEqual([]);
});
