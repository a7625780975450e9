import type { EventName, EventPayload } from '../contract/events.ts';
import type { Sender } from '../ipc/handle.ts';

/** Why cleartext must leave the screen or the desk must lock, as the host saw it. */
export type AwaySignal = 'blur' | 'screen-locked' | 'suspend' | 'resume' | 'quit';

/** Answers one call of the window. `sender` is null when the host can't tell who asked. */
export type Door = (sender: Sender | null, call: string, payload: unknown) => Promise<unknown>;

/** What a file that is asked for may be: delimited text, or a PKCS #12 file. */
export type FileKind = 'table' | 'certificate';

export interface ShellClipboard {
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
 * `chromium-shell.ts` shows the same desk in the system's Chromium.
 */
export interface Shell {
  readonly host: 'electron' | 'chromium';
  readonly version: string;
  /** Per-user folder for settings, audit and jobs; exists, 0700. */
  readonly home: string;
  /** Folder of the read-only files shipped with the desk. */
  readonly resources: string;
  /** Folder beside the installed desk where an administrator may put files of their own; need not exist. */
  readonly site: string;
  readonly clipboard: ShellClipboard;

  /** Connects the window's calls to the desk. Called once, before `openWindow`. */
  serve(door: Door): void;
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
