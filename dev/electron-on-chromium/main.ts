import fs from 'node:fs';
import inspector from 'node:inspector';
import { createRequire, registerHooks } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { start } from './start.ts';

/*
 * Runs an app as Electron does: modules of `-r`, then main's script with its top-level awaits, then Electron's own
 * signal handlers, then `ready`.
 */

const { argv, executable, isPackaged, appPath, main, modules } = start;
process.argv = [...argv];
process.execPath = executable;
process.execArgv = [];
Object.assign(process, {
  type: 'browser',
  resourcesPath: path.join(path.dirname(executable), 'resources'),
  ...(!isPackaged && { defaultApp: true }),
});

const electron = new URL('./electron.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron' ? { url: electron, shortCircuit: true } : next(specifier, context),
});
const { app, dialog, program } = await import('./electron.ts');
process.exit = ((code?: number) => {
  if (code !== undefined) process.exitCode = code;
  app.exit?.(Number(process.exitCode ?? 0));
}) as typeof process.exit;
process.on('uncaughtException', (error) => {
  if (process.listenerCount('uncaughtException') > 1) return;
  const text = `Uncaught Exception:\n${error.stack ?? `${error.name}: ${error.message}`}`;
  dialog.showErrorBox('A JavaScript error occurred in the main process', text);
});

// A packaged Electron refuses these by fuse.
if (!isPackaged && argv.some((argument) => argument.startsWith('--inspect'))) inspector.open(0);
const require = createRequire(path.join(appPath, 'package.json'));
if (!isPackaged) for (const file of modules) require(path.resolve(file));
// A test tool waits for its port, and it takes longer to start than main's script to load. Without one, an app that ends
// before it is ready starts none.
if (!isPackaged && argv.some((argument) => argument.startsWith('--remote-debugging-port')))
  try {
    program.startBrowser();
  } catch {
    // Said where it is needed.
  }
try {
  await import(pathToFileURL(fs.realpathSync(main)).href);
} catch (error) {
  // It goes on all the same.
  process.emit('uncaughtException', error as Error);
}
program.signals.installElectrons();
if (!program.isEnding()) {
  program.writeSessionData();
  try {
    program.startBrowser();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    app.exit?.(1);
  }
  // Node loads it at its first use, for 40 ms: better while the browser starts than under the page's first request.
  Reflect.get(globalThis, 'Response');
}
program.becomeReady();
