import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { defaultSettings } from '../../../electron/contract/models/app.ts';
import { obscuredOf } from '../../support/obscured-text.ts';
import { answerOf, lookUpSample, revealLookup } from '../../support/ask-bridge.ts';
import { detokenize, planOf } from '../../support/batch-app.ts';
import { launchApp, type LaunchedApp } from '../../support/launch-app.ts';
import { systemDialogs } from '../../support/page-actions.ts';

/* The built app in Electron, or the program that stands for it: one, looked at from main and from its window. */

const origin = 'app://tokendesk/';
let folder = '';
let app: LaunchedApp;

beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-in-electron-'));
  app = await launchApp({
    home: path.join(folder, 'home'),
    downloads: path.join(folder, 'downloads'),
    env: {
      ...process.env,
      ...{ https_proxy: undefined, no_proxy: undefined, NO_PROXY: undefined },
      HTTPS_PROXY: 'http://proxy.example:3128',
    },
  });
});
afterAll(async () => {
  await app.close();
  fs.rmSync(folder, { recursive: true, force: true });
});

const addressOf = (): Promise<string> =>
  app.application.evaluate(
    ({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.webContents.getURL() ?? '',
  );

describe('the window', () => {
  test('is shown, with the bundle, from a session that is not on the disk', async () => {
    const look = () =>
      app.application.evaluate(({ BrowserWindow, session }) => ({
        windows: BrowserWindow.getAllWindows().map((window) => window.isVisible()),
        isPersistent: session.fromPartition('tokendesk', { cache: false }).isPersistent(),
      }));
    // Not before there is something to show.
    await expect.poll(look).toEqual({ windows: [true], isPersistent: false });
    expect(await addressOf()).toBe(`${origin}index.html`);
    await expect.poll(() => app.page.title()).toBe('Lookup – Tokendesk');
  });

  test('has nothing of Node, and one thing of the app', async () => {
    const found = await app.page.evaluate(() =>
      ['require', 'process', 'module', 'Buffer', 'global', 'tokendesk'].filter((name) => name in globalThis),
    );
    expect(found).toEqual(['tokendesk']);
  });

  test('stays where it is, whatever its page does', async () => {
    for (const url of [
      'https://example.com/',
      `${origin}missing.html`,
      'http://127.0.0.1:1/',
      'data:text/html,x',
    ]) {
      await app.page.evaluate((to) => {
        const { location } = globalThis as unknown as { location: { href: string } };
        location.href = to;
      }, url);
      expect([url, await addressOf()]).toEqual([url, `${origin}index.html`]);
    }
    expect(await app.page.evaluate(() => 'tokendesk' in globalThis)).toBe(true);
  });

  test('opens no second one, and nothing in its place', async () => {
    const opened = await app.page.evaluate(() => {
      const { open } = globalThis as unknown as { open: (url?: string) => unknown };
      return ['https://example.com/', 'app://tokendesk/index.html', undefined].map(
        (url) => open(url) === null,
      );
    });
    expect(opened).toEqual([true, true, true]);
    const windows = () =>
      app.application.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows().length);
    expect([await windows(), app.application.windows().length]).toEqual([1, 1]);
    expect(await addressOf()).toBe(`${origin}index.html`);
  });

  test('is granted nothing', async () => {
    const states = await app.page.evaluate(async () => {
      const { permissions } = navigator as unknown as {
        permissions: { query(of: { name: string }): Promise<{ state: string }> };
      };
      const names = ['geolocation', 'notifications', 'camera', 'microphone', 'clipboard-read', 'midi'];
      return Promise.all(names.map(async (name) => `${name} ${(await permissions.query({ name })).state}`));
    });
    expect(states.filter((state) => !state.endsWith(' denied'))).toEqual([]);
  });

  test('follows the theme with its title bar and dialogs', async () => {
    for (const theme of ['dark', 'light', 'system'] as const) {
      await answerOf(app.page, 'settings.save', { ...defaultSettings, theme });
      expect(await app.application.evaluate(({ nativeTheme }) => nativeTheme.themeSource)).toBe(theme);
    }
  });

  test('is asked by the menu', async () => {
    await app.application.evaluate(({ Menu }) => {
      const file = Menu.getApplicationMenu()?.items.find(({ label }) => label === 'File');
      file?.submenu?.items.find(({ label }) => label === 'Commands…')?.click();
    });
    await app.page.getByRole('dialog').waitFor();
    await app.page.keyboard.press('Escape');
    expect((await app.outward()).join()).toContain('"command":"palette"');
  });
});

describe('while a value shows in clear', () => {
  let lookupId = '';
  beforeAll(async () => {
    lookupId = await lookUpSample(app.page);
  });

  const isProtected = (): Promise<unknown> =>
    app.application.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.isContentProtected());

  test('the window is kept out of screenshots', async () => {
    expect(await isProtected()).toBe(false);
    const revealId = await revealLookup(app.page, lookupId);
    expect(await isProtected()).toBe(true);
    await answerOf(app.page, 'lookup.hide', { revealId });
    await expect.poll(isProtected).toBe(false);
  });

  const endsWith = async (revealId: string, cause: string): Promise<void> => {
    const ended = `{"revealId":"${revealId}","cause":"${cause}"}`;
    await expect.poll(async () => (await app.outward()).join('\n')).toContain(ended);
    await expect.poll(isProtected).toBe(false);
  };

  test.each(['blur', 'hide', 'minimize'] as const)('it is hidden at the window’s %s', async (event) => {
    const revealId = await revealLookup(app.page, lookupId);
    await app.application.evaluate(
      ({ BrowserWindow }, event) => BrowserWindow.getAllWindows()[0]?.emit(event),
      event,
    );
    await endsWith(revealId, 'blur');
  });

  test.each(['screen-locked', 'suspend', 'resume'] as const)(
    'it is hidden, and the app locked, at %s',
    async (signal) => {
      const revealId = await revealLookup(app.page, lookupId);
      await app.away(signal);
      await endsWith(revealId, 'locked');
      expect(await answerOf(app.page, 'app.state', {})).toMatchObject({ lock: { locked: true } });
      await answerOf(app.page, 'lock.unlock', { passphrase: { xorKey: '0000', obscured: '' } });
    },
  );

  test('a copy is written at once with what keeps it to itself', async () => {
    await app.application.evaluate(({ clipboard }) => {
      const written = ((globalThis as { written?: unknown[] }).written = [] as unknown[]);
      const write = clipboard.write.bind(clipboard);
      clipboard.write = (items) => {
        written.push(items.map(({ types }) => [...types]));
        return write(items);
      };
    });
    const { masked } = (await answerOf(app.page, 'lookup.recent', {}))[0] ?? { masked: '' };
    await answerOf(app.page, 'lookup.copy', { what: 'masked', lookupId });
    const seen = await app.application.evaluate(async ({ clipboard }) => ({
      text: await clipboard.readText(),
      written: (globalThis as { written?: unknown[] }).written,
    }));
    const hint = 'electron application/osclipboard;format="x-kde-passwordManagerHint"';
    expect(seen.text).toBe(masked);
    if (process.platform === 'linux') expect(seen.written).toEqual([[['text/plain', hint]]]);
    await answerOf(app.page, 'lookup.clearClipboard', {});
    expect(await app.application.evaluate(({ clipboard }) => clipboard.readText())).toBe('');
  });
});

test('a test’s dialogs give the file that it named, once, and names that are free', async () => {
  const file = path.join(folder, 'cards.csv');
  fs.writeFileSync(file, 'card\n1\n');
  await systemDialogs.get(app.page)?.(file);
  expect(await answerOf(app.page, 'batch.choose', {})).toMatchObject({ name: 'cards.csv' });
  expect(await answerOf(app.page, 'batch.choose', {})).toBeNull();
  const save = async (): Promise<unknown> => (await answerOf(app.page, 'connections.export', {}))?.name;
  const first = String(await save());
  expect(await save()).toBe(first.replace('.', ' (2).'));
  expect(fs.readdirSync(path.join(folder, 'downloads'))).toHaveLength(2);
});

/** Starts a batch of one row, and answers its identity. Who is asked there never says a word: the batch waits. */
async function startWaitingBatch(
  { page }: Pick<LaunchedApp, 'page'>,
  atEnd: (close: () => void) => void,
): Promise<string> {
  const silent = net.createServer((socket) => socket.on('error', () => undefined).resume());
  atEnd(() => void silent.close());
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  const baseUrl = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  const { id } = await answerOf(page, 'connections.save', {
    ...{ id: null, name: 'Away', environment: 'test', baseUrl, extraCa: null },
    ...{ policies: ['analyst'], definitions: [{ name: 'card', label: 'Card', kind: 'card' }] },
    ...{ proxyUser: '', accountId: '', tenantId: '', apiKeyExpires: null },
    ...{ requestsPerSecond: 600, transfersPerDay: 1000 },
  });
  const value = obscuredOf('secret');
  await answerOf(page, 'connections.storeSecret', { id, secret: { kind: 'apiKey' }, value });
  const secret = { kind: 'policyPassword', policy: 'analyst' } as const;
  await answerOf(page, 'connections.storeSecret', { id, secret, value });
  await answerOf(page, 'connections.choose', { id, policy: 'analyst' });
  const { sourceId } = await answerOf(page, 'batch.paste', { text: 'card\n4111117309211111\n' });
  const plan = planOf([detokenize(0, { policy: 'analyst', definition: 'card' })]);
  const { jobId } = await answerOf(page, 'batch.start', { sourceId, plan, grounds: null });
  return jobId;
}

test('while a batch runs its progress is in the taskbar, the computer stays awake, and closing asks first', async () => {
  await app.application.evaluate(({ BrowserWindow, dialog, powerSaveBlocker }) => {
    const seen = { progress: [] as number[], awake: new Set<number>(), questions: [] as object[] };
    Object.assign(globalThis, { seen });
    const [window] = BrowserWindow.getAllWindows();
    if (window !== undefined) window.setProgressBar = (progress) => seen.progress.push(progress);
    const [start, stop] = [
      powerSaveBlocker.start.bind(powerSaveBlocker),
      powerSaveBlocker.stop.bind(powerSaveBlocker),
    ];
    powerSaveBlocker.start = (type) => {
      const id = start(type);
      seen.awake.add(id);
      return id;
    };
    powerSaveBlocker.stop = (id) => seen.awake.delete(id) && stop(id);
    // The person keeps it running.
    dialog.showMessageBox = (...args: unknown[]) => {
      seen.questions.push(args.at(-1) as object);
      return Promise.resolve({ response: 1, checkboxChecked: false });
    };
  });
  // Else it could not be closed where this test fails.
  onTestFinished(() =>
    app.application.evaluate(({ dialog }) => {
      dialog.showMessageBox = () => Promise.resolve({ response: 0, checkboxChecked: false });
    }),
  );
  const look = () =>
    app.application.evaluate(({ BrowserWindow }) => {
      const { seen } = globalThis as unknown as {
        seen: { progress: number[]; awake: Set<number>; questions: object[] };
      };
      const windows = BrowserWindow.getAllWindows().length;
      return { windows, last: seen.progress.at(-1), awake: seen.awake.size, questions: seen.questions };
    });

  const jobId = await startWaitingBatch(app, onTestFinished);
  await expect.poll(look).toMatchObject({ last: 2, awake: 1 });

  await app.application.evaluate(({ BrowserWindow }) => BrowserWindow.getAllWindows()[0]?.close());
  expect(await look()).toMatchObject({
    windows: 1,
    questions: [{ message: 'A batch is running.', buttons: ['Quit', 'Keep running'], cancelId: 1 }],
  });
  await answerOf(app.page, 'batch.cancel', { jobId });
  await expect.poll(look).toMatchObject({ last: -1, awake: 0 });
});

// At once: each app gives its request a few seconds to end.
test.skipIf(process.platform === 'win32').concurrent.for(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
  'at %s a running batch is paused and the app ends, without a question',
  async (signal, { expect, onTestFinished }) => {
    const own = fs.mkdtempSync(path.join(folder, 'signal-'));
    const asked = path.join(own, 'asked');
    const other = await launchApp({ home: path.join(own, 'home'), downloads: own });
    onTestFinished(() => other.close());
    const jobId = await startWaitingBatch(other, onTestFinished);
    await other.application.evaluate(({ dialog }, asked) => {
      dialog.showMessageBox = () => {
        process.getBuiltinModule('node:fs').writeFileSync(asked, '');
        return Promise.resolve({ response: 1, checkboxChecked: false });
      };
    }, asked);
    const ended = once(other.application.process(), 'exit');
    other.application.process().kill(signal);
    expect(await ended).toEqual([0, null]);
    expect(fs.existsSync(asked)).toBe(false);
    // It was closed, and not cut off.
    expect(fs.readFileSync(path.join(own, 'home', 'logs', 'tokendesk.log'), 'utf8')).toContain('app closed');
    expect(fs.readdirSync(path.join(own, 'home', 'jobs'))).toContain(jobId);
  },
);

test('a page that crashed is loaded again and answered; one that crashes again and again ends the app', async () => {
  const before = (await app.outward()).length;
  const crash = (): Promise<unknown> =>
    app.application.evaluate(async ({ BrowserWindow }) => {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents;
      const loaded = new Promise((resolve) =>
        contents?.once('did-finish-load', () => resolve(contents.getURL())),
      );
      contents?.forcefullyCrashRenderer();
      return loaded;
    });
  expect(await crash()).toBe(`${origin}index.html`);
  await expect.poll(async () => (await app.outward()).slice(before).join()).toContain('"ok":true');
  await crash();
  await crash();

  const sentence = path.join(folder, 'sentence');
  const ended = once(app.application.process(), 'exit');
  await app.application
    .evaluate(({ BrowserWindow, dialog }, file) => {
      dialog.showErrorBox = (title) => process.getBuiltinModule('node:fs').writeFileSync(file, title);
      BrowserWindow.getAllWindows()[0]?.webContents.forcefullyCrashRenderer();
    }, sentence)
    .catch(() => undefined);
  expect(await ended).toEqual([0, null]);
  expect(fs.readFileSync(sentence, 'utf8')).toBe('Tokendesk has to close');
});
