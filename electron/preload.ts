import { contextBridge, ipcRenderer, webUtils } from 'electron';
import { callChannel, eventChannel, firstCall, type Bridge } from './contract/bridge.ts';
import type { CallName, EventName } from './contract/calls.ts';

/** Inserted by the build from the contract's literals, so that no schema (and no zod) is bundled into the preload. */
declare const BRIDGE_CALLS: readonly {
  readonly name: CallName;
  readonly files: 'none' | 'one' | 'several';
}[];
declare const BRIDGE_EVENTS: readonly EventName[];

/** Of a moment ago, for whoever asks first. */
let firstAnswer: Promise<unknown> | null = ipcRenderer.invoke(callChannel(firstCall), {});
firstAnswer.catch(() => undefined);

function askFirst(input: unknown): Promise<unknown> {
  const answer = firstAnswer ?? ipcRenderer.invoke(callChannel(firstCall), input);
  firstAnswer = null;
  return answer;
}

function toCall(name: CallName, files: (typeof BRIDGE_CALLS)[number]['files']): object {
  if (name === firstCall) return askFirst;
  const channel = callChannel(name);
  if (files === 'none') return (input: unknown): Promise<unknown> => ipcRenderer.invoke(channel, input);
  // Only main gets a path: the window has the File and gets a handle back.
  if (files === 'several')
    return (several: File[]): Promise<unknown> =>
      ipcRenderer.invoke(channel, { references: several.map((file) => webUtils.getPathForFile(file)) });
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

const functions = BRIDGE_CALLS.map(({ name, files }) => [name, Object.freeze(toCall(name, files))]);
const bridge = Object.freeze({ ...Object.fromEntries(functions), on: Object.freeze(on) }) as Bridge;
contextBridge.exposeInMainWorld('tokendesk', bridge);
