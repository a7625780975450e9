import { registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import type { FakeElectron } from './fake-electron.ts';

/*
 * Runs the built main bundle on the stand-in until it ends by itself; what it printed is its own, and a last line says
 * what it did to Electron. Arguments: the bundle. FAKE_ANSWER: the button that the person
 * will press. FAKE_REJECTS: a promise is rejected with this message, uncaught.
 */
const standIn = new URL('./electron-stand-in.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: standIn, shortCircuit: true } : next(specifier, context),
});
const { fake } = (await import(standIn)) as { fake: FakeElectron };
fake.said.messageAnswer = Number(process.env['FAKE_ANSWER'] ?? 0);
fake.app.on('exited', () => {
  const { windows, handlers, said } = fake;
  const home = fake.app.getPath('userData');
  console.log(
    JSON.stringify({
      windows: windows.length,
      handlers: handlers.size,
      dialogs: said.dialogs,
      messages: said.messages.map(({ message }) => message),
      home,
    }),
  );
  process.exit(said.exit ?? 70);
});
await import(pathToFileURL(process.argv[2] ?? '').href);
const message = process.env['FAKE_REJECTS'];
if (message !== undefined) void Promise.reject(new RangeError(message));
fake.becomeReady();
