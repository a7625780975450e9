import { once } from 'node:events';
import fs from 'node:fs';
import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { FakeElectron } from './fake-electron.ts';

/*
 * Runs the built main bundle as Electron would, on the stand-in: loaded, ready, window, a call there and back, an
 * event, quit. Prints what was seen as JSON. Arguments: the bundle.
 */
const standIn = new URL('./electron-stand-in.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: standIn, shortCircuit: true } : next(specifier, context),
});

const { fake } = (await import(standIn)) as { fake: FakeElectron };
await import(pathToFileURL(process.argv[2] ?? '').href);
const beforeReady = {
  sandboxed: fake.said.sandboxed,
  schemes: fake.said.schemes.map(({ scheme }) => scheme),
  windows: fake.windows.length,
  handlers: fake.handlers.size,
};

fake.becomeReady();
const window = await new Promise<FakeElectron['windows'][number]>((resolve) => {
  const look = (): void => {
    const [made] = fake.windows;
    if (made?.isShown === true) resolve(made);
    else setImmediate(look);
  };
  look();
});

type Ask = (input: unknown) => Promise<unknown>;
const app = window.world['tokendesk'] as Record<string, Ask> & { on: (name: string, hear: Ask) => unknown };
const events: string[] = [];
app.on('app.state', () => Promise.resolve(events.push('app.state')));
const state = await app['app.state']?.({});
const invalid = await app['lookup.hide']?.({ revealId: 'r1', more: true });
const stranger = await window.webContents.invoke(
  'call:app.state',
  {},
  { origin: 'app://other', parent: null },
);
const missing = await fetchStatus('app://tokendesk/../main/main.js');

const limits =
  process.platform === 'linux' ? fs.readFileSync('/proc/self/limits', 'utf8') : 'Max core file size 1 1';
const report = process.report;
const exited = once(fake.app, 'exited');
window.close();
await exited;
console.log(
  JSON.stringify({
    beforeReady,
    url: window.url,
    body: window.body,
    preferences: window.options.webPreferences?.sandbox,
    state,
    invalid,
    stranger,
    missing,
    storeChannel: fake.ipcMain.listenerCount('electron-store-get-data'),
    handlers: fake.handlers.size,
    dialogs: fake.said.dialogs,
    exit: fake.said.exit,
    coreLimits: /^Max core file size +(\S+) +(\S+)/m.exec(limits)?.slice(1),
    reports: [report.reportOnFatalError, report.reportOnSignal, report.reportOnUncaughtException],
  }),
);

async function fetchStatus(url: string): Promise<number | undefined> {
  const handler = fake.sessions.get('tokendesk')?.asked.schemes.get('app');
  return (await handler?.(new Request(url)))?.status;
}
