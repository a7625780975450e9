import type * as Electron from 'electron';
import { strict, StrictEmitter } from './strict.ts';

type Handler = (event: Electron.IpcMainInvokeEvent, ...args: unknown[]) => unknown;

/** `ipcMain`: one handler a channel. */
export function createIpcMain() {
  const handlers = new Map<string, Handler>();
  const members = {
    handle(channel: string, handler: Handler) {
      if (handlers.has(channel)) throw new Error(`Attempted to register a second handler for '${channel}'`);
      if (typeof handler !== 'function')
        throw new TypeError(`Expected handler to be a function, but found type '${typeof handler}'`);
      handlers.set(channel, handler);
    },
    removeHandler(channel: string) {
      handlers.delete(channel);
    },
  } satisfies Partial<Electron.IpcMain>;
  // electron-store listens on this channel, and would answer any window.
  const module = strict(
    'ipcMain',
    Object.assign(new StrictEmitter('ipcMain', ['electron-store-get-data']), members),
  );
  return {
    module,
    async invoke(channel: string, event: object, args: unknown[]): Promise<unknown> {
      const handler = handlers.get(channel);
      if (handler === undefined) throw new Error(`No handler registered for '${channel}'`);
      return await handler(event as Electron.IpcMainInvokeEvent, ...args);
    },
    /** As Electron does it, with all that the error says. */
    report(channel: string, error: unknown): void {
      if (handlers.has(channel)) console.error(`Error occurred in handler for '${channel}':`, error);
    },
  };
}

export type IpcMain = ReturnType<typeof createIpcMain>;
