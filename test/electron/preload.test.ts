import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { calls } from '../../electron/contract/calls.ts';
import { launchApp, type LaunchedApp } from '../support/launch-app.ts';

/* The built preload, and what it gives the page of the built app. */

const built = path.resolve('dist/main/preload.cjs');

test('it is one small script that needs electron and nothing else', () => {
  const source = fs.readFileSync(built, 'utf8');
  const required = [...source.matchAll(/\brequire\s*\(([^)]*)\)/g)].map(([, name = '']) => name);
  expect(new Set(required.map((name) => name.slice(1, -1)))).toEqual(new Set(['electron']));
  expect(source).not.toMatch(/\bimport\b\s*[({'"]/);
  expect(source).not.toContain('ZodError');
  expect(source).not.toContain('sourceMappingURL');
  expect(source.length).toBeLessThan(11_500);
});

/** What main is asked, and is handed with dropped files. */
const recorder = `
  const { ipcMain } = require('electron');
  const dropped = (globalThis.dropped = []);
  const asked = (globalThis.asked = []);
  const handle = ipcMain.handle.bind(ipcMain);
  ipcMain.handle = (channel, handler) =>
    handle(channel, (event, payload) => {
      asked.push(channel);
      if (channel.startsWith('call:batch.drop')) dropped.push(payload);
      return handler(event, payload);
    });
`;

type Ended = { readonly revealId: string };
/** The page's globals. */
type Page = typeof globalThis & {
  readonly tokendesk: Record<string, (input: unknown) => Promise<{ ok: boolean; value: unknown }>> & {
    on: (event: string, hear: (...heard: unknown[]) => void) => () => void;
  };
  heard: unknown[][];
  dropped: Promise<unknown>;
  addEventListener: (type: string, listener: (event: DropEvent) => void, isCapture: boolean) => void;
};
interface DropEvent {
  readonly dataTransfer: { readonly files: readonly object[] };
  preventDefault(): void;
  stopImmediatePropagation(): void;
}

describe('in the page', () => {
  let folder = '';
  let file = '';
  let app: LaunchedApp;

  beforeAll(async () => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-preload-'));
    file = path.join(folder, 'cards.csv');
    const module = path.join(folder, 'recorder.cjs');
    fs.writeFileSync(module, recorder);
    fs.writeFileSync(file, 'card\n4111111111111111\n');
    const places = { home: path.join(folder, 'home'), downloads: path.join(folder, 'downloads') };
    app = await launchApp({ ...places, modules: [module] });
  });
  afterAll(async () => {
    await app.close();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  const dropped = (): Promise<unknown[]> =>
    app.application.evaluate(() => (globalThis as unknown as { dropped: unknown[] }).dropped.splice(0));

  test('is a function for each call, and one to listen; none can be replaced', async () => {
    const seen = await app.page.evaluate(() => {
      const { tokendesk } = globalThis as unknown as Page;
      return {
        names: Object.keys(tokendesk),
        kinds: [...new Set(Object.values(tokendesk).map((member) => typeof member))],
        open: [tokendesk, ...Object.values(tokendesk)].filter((member) => !Object.isFrozen(member)).length,
      };
    });
    expect(seen).toEqual({ names: [...Object.keys(calls), 'on'], kinds: ['function'], open: 0 });
  });

  test('the state is the first that is asked for; each question after the window’s first goes to main', async () => {
    const asked = (): Promise<string[]> =>
      app.application.evaluate(() => (globalThis as unknown as { asked: string[] }).asked.splice(0));
    await app.page.locator('main').waitFor();
    expect((await asked())[0]).toBe('call:app.state');
    const answers = await app.page.evaluate(() => {
      const { tokendesk } = globalThis as unknown as Page;
      return Promise.all([tokendesk['app.state']?.({}), tokendesk['app.state']?.({})]);
    });
    expect(answers).toMatchObject([{ ok: true }, { ok: true }]);
    expect((await asked()).filter((channel) => channel === 'call:app.state').length).toBeGreaterThanOrEqual(
      2,
    );
  });

  test('a call goes to main and its answer comes back', async () => {
    const answer = await app.page.evaluate(() =>
      (globalThis as unknown as Page).tokendesk['lookup.hide']?.({ revealId: 'r1' }),
    );
    expect(answer).toEqual({ ok: true, value: {} });
  });

  test('of a file that is dropped main gets the path, and the page nothing of it', async () => {
    await app.page.evaluate(() => {
      const page = globalThis as unknown as Page;
      page.dropped = new Promise((resolve) => {
        // Before the app's own listener.
        page.addEventListener(
          'drop',
          (event) => {
            event.preventDefault();
            event.stopImmediatePropagation();
            resolve(page.tokendesk['batch.drop']?.(event.dataTransfer.files[0]));
          },
          true,
        );
      });
    });
    const protocol = await app.page.context().newCDPSession(app.page);
    const data = { items: [], files: [file], dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
      await protocol.send('Input.dispatchDragEvent', { type, x: 50, y: 50, data });
    const answer = await app.page.evaluate(() => (globalThis as unknown as Page).dropped);
    expect(await dropped()).toEqual([{ reference: file }]);
    expect(answer).toMatchObject({ ok: true, value: { name: 'cards.csv' } });
    expect(JSON.stringify(answer)).not.toContain(folder);
  });

  test('of several files main gets each path', async () => {
    await app.page.evaluate(() =>
      (globalThis as unknown as Page).tokendesk['batch.dropFiles']?.([
        new File(['x'], 'a'),
        new File(['x'], 'b'),
      ]),
    );
    expect(await dropped()).toEqual([{ references: ['', ''] }]);
  });

  test('a file made by a script has no path', async () => {
    const answer = await app.page.evaluate(() =>
      (globalThis as unknown as Page).tokendesk['batch.drop']?.(new File(['x'], '/etc/passwd')),
    );
    expect(await dropped()).toEqual([{ reference: '' }]);
    expect(answer).toMatchObject({ ok: false });
  });

  test.each([{ name: 'passwd', path: '/etc/passwd', reference: '/etc/passwd' }, '/etc/passwd'])(
    '%j in the place of a File is an error, and main hears nothing',
    async (forged) => {
      const outcome = await app.page.evaluate(
        (given) =>
          // The bridge throws at once or rejects.
          Promise.resolve()
            .then(() => (globalThis as unknown as Page).tokendesk['batch.drop']?.(given))
            .then(
              () => 'answered',
              (error: unknown) => String(error),
            ),
        forged,
      );
      expect(outcome).toMatch(/File object/);
      expect(await dropped()).toEqual([]);
    },
  );

  test('events come in order, without the event of Electron, and stop for one listener of several', async () => {
    await app.page.evaluate(() => {
      const page = globalThis as unknown as Page;
      page.heard = [];
      const stop = page.tokendesk.on('reveal.ended', (ended) => {
        page.heard.push(['first', ended]);
        stop();
      });
      page.tokendesk.on('reveal.ended', (...heard) => page.heard.push(heard));
    });
    await app.application.evaluate(({ BrowserWindow }) => {
      const contents = BrowserWindow.getAllWindows()[0]?.webContents;
      for (const revealId of ['r1', 'r2', 'r3'])
        contents?.send('event:reveal.ended', { revealId, cause: 'time' }, 'more');
    });
    const ended = (revealId: string): Ended & { cause: string } => ({ revealId, cause: 'time' });
    await expect
      .poll(() => app.page.evaluate(() => (globalThis as unknown as Page).heard))
      .toEqual([['first', ended('r1')], [ended('r1')], [ended('r2')], [ended('r3')]]);
  });

  test.each(['call:app.state', 'electron-store-get-data', '__proto__', ''])(
    'events can not be %j',
    async (name) => {
      const outcome = await app.page.evaluate((event) => {
        try {
          (globalThis as unknown as Page).tokendesk.on(event, () => undefined);
          return 'listens';
        } catch (error) {
          return String(error);
        }
      }, name);
      expect(outcome).toContain('There is no such event.');
    },
  );
});
