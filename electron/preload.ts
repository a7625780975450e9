import { contextBridge, ipcRenderer, webUtils } from 'electron';
import { callChannel, eventChannel, type Bridge } from './contract/bridge.ts';
import type { CallName, EventName } from './contract/calls.ts';

/** Inserted by the build from the contract's literals, so that no schema (and no zod) is bundled into the preload. */
declare const BRIDGE_CALLS: readonly { readonly name: CallName; readonly takesFile: boolean }[];
declare const BRIDGE_EVENTS: readonly EventName[];

function toCall(name: CallName, takesFile: boolean): object {
  const channel = callChannel(name);
  if (!takesFile) return (input: unknown): Promise<unknown> => ipcRenderer.invoke(channel, input);
  // Only main gets the path: the window has the File and gets a handle back.
  return (file: File): Promise<unknown> =>
    ipcRenderer.invoke(channel, { reference: webUtils.getPathForFile(file) });
}

function on(event: EventName, listener: (payload: unknown) => void): () => void {
  if (!BRIDGE_EVENTS.includes(event)) throw new TypeError('There is no such event.');
  // Electron's event object has the sender, which could be used to send to any channel: it stays here.
  const pass = (_event: unknown, payload: unknown): void => {
    listener(payload);
  };
  const channel = eventChannel(event);
  ipcRenderer.on(channel, pass);
  return () => {
    ipcRenderer.removeListener(channel, pass);
  };
}

const functions = BRIDGE_CALLS.map(({ name, takesFile }) => [name, Object.freeze(toCall(name, takesFile))]);
const bridge = Object.freeze({ ...Object.fromEntries(functions), on: Object.freeze(on) }) as Bridge;
contextBridge.exposeInMainWorld('tokendesk', bridge);
