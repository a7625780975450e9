import type {
  CallInput,
  CallName,
  CallOutput,
  FileCall,
  FilesCall,
  EventName,
  EventPayload,
} from './calls.ts';
import type { Outcome } from './errors.ts';

/** What the preload puts on `window.tokendesk`: a function for each call, and one to listen. The window's only way out. */
export type Bridge = {
  readonly [N in CallName]: N extends FileCall
    ? (file: object) => Promise<Outcome<CallOutput<N>>>
    : N extends FilesCall
      ? (files: readonly object[]) => Promise<Outcome<CallOutput<N>>>
      : (input: CallInput<N>) => Promise<Outcome<CallOutput<N>>>;
} & {
  /** Returns the function that stops listening. */
  readonly on: <E extends EventName>(event: E, listener: (payload: EventPayload<E>) => void) => () => void;
};

/** The call that the window makes first: the preload asks it while the window's script is still loaded. */
export const firstCall = 'app.state' satisfies CallName;

/** Channel names of Electron's IPC. */
export const callChannel = (name: CallName): string => `call:${name}`;
export const eventChannel = (name: EventName): string => `event:${name}`;
