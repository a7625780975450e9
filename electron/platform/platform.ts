import type { EventName, EventPayload } from '../contract/calls.ts';
import type { Sender } from '../ipc/router.ts';

/** Why cleartext must leave the screen or the app must lock, as the host saw it. */
export type AwaySignal = 'blur' | 'screen-locked' | 'suspend' | 'resume' | 'quit';

/** Answers one call of the window. `sender` is null when the host can't tell who asked. */
export type Router = (sender: Sender | null, call: string, payload: unknown) => Promise<unknown>;

/** What a file that is asked for may be: delimited text, or a PKCS #12 file. */
export type FileKind = 'table' | 'certificate';

export interface PlatformClipboard {
  /**
   * Puts text on the clipboard, kept out of the history and the cloud where the host can (Windows, macOS, KDE).
   * Never the primary selection. Rejects where there is no clipboard.
   */
  write(text: string): Promise<void>;
  read(): Promise<string>;
  clear(): Promise<void>;
}

/**
 * Everything a host gives, and all that differs between hosts. `electron-shell.ts` is the product;
 * `chromium-platform.ts` shows the same app in the system's Chromium.
 */
export interface Platform {
  readonly host: 'electron' | 'chromium';
  readonly version: string;
  /** Per-user folder for settings, audit and jobs; exists, 0700. */
  readonly home: string;
  /** Folder of the read-only files shipped with the app. */
  readonly resources: string;
  /** Folder beside the installed app where an administrator may put files of their own; need not exist. */
  readonly site: string;
  readonly clipboard: PlatformClipboard;

  /** Connects the window's calls to the app. Called once, before `openWindow`. */
  serve(router: Router): void;
  openWindow(): Promise<void>;
  send<E extends EventName>(event: E, payload: EventPayload<E>): void;

  /** Asks for a file to read. Absolute path, or null when the person changed their mind. */
  chooseFile(kind: FileKind): Promise<string | null>;
  /** Asks where to write. `beside` is the file the result belongs to. Null when the person changed their mind. */
  chooseTarget(suggestion: { name: string; beside: string | null }): Promise<string | null>;
  /** The absolute path behind the reference the preload made of a dropped File; null if there is none. */
  droppedFile(reference: string): Promise<string | null>;

  /** Best effort: keeps the window out of screenshots and screen sharing while cleartext shows. */
  protectContent(on: boolean): void;
  /** Returns the function that stops listening. */
  onAway(listener: (signal: AwaySignal) => void): () => void;

  /** Proxy for an address as the host's settings say, for instance `http://proxy:3128`; null for a direct connection. */
  proxyFor(url: string): Promise<string | null>;
  /** PEM certificates the operating system trusts beyond Node's own list. */
  trustedCertificates(): Promise<readonly string[]>;
}

export interface AwaySignals {
  readonly emit: (signal: AwaySignal) => void;
  /** Returns the function that stops listening. */
  readonly on: (listener: (signal: AwaySignal) => void) => () => void;
}

export function awaySignals(): AwaySignals {
  const listeners = new Set<(signal: AwaySignal) => void>();
  return {
    emit(signal) {
      for (const listener of listeners) listener(signal);
    },
    on(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
