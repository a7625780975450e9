import type { AppCommand, Settings } from '../contract/models/app.ts';
import type { EventName, EventPayload } from '../contract/calls.ts';
import type { Sender } from '../ipc/router.ts';

/** Why cleartext must leave the screen or the app must lock. */
export type AwaySignal =
  | 'blur'
  | 'renderer-gone'
  | 'screen-locked'
  | 'suspend'
  | 'resume'
  | 'quit'
  /** Windows ends the person's session: the process may be gone once the listeners have returned. */
  | 'session-end';

/** Answers one call of the window. `sender` is null when the platform can't tell who asked. */
export type Router = (sender: Sender | null, call: string, payload: unknown) => Promise<unknown>;

/**
 * What the system asks the app to open. A file is one for `droppedFile`; `others` counts those that were named with it. A
 * batch is that of a notification.
 */
export type Opening =
  | { readonly kind: 'file'; readonly reference: string; readonly others: number }
  | { readonly kind: 'link'; readonly address: string }
  | { readonly kind: 'batch'; readonly jobId: string }
  | { readonly kind: 'new-batch' };

/**
 * What a file that is asked for may be: delimited text or a workbook, a PKCS #12 file, one of our own in JSON, a request for approval or its answer, or examples of
 * a service's calls.
 */
export type FileKind = 'table' | 'certificate' | 'profile' | 'connections' | 'examples' | 'approval';

/** Whether the app's window has the focus, and when it comes. */
export interface WindowFocus {
  isFocused(): boolean;
  /** Returns the function that stops listening. */
  onFocus(listener: () => void): () => void;
}

export interface PlatformClipboard {
  /**
   * Puts text on the clipboard, kept out of the history and the cloud where the system allows (Windows, macOS, KDE).
   * Never the primary selection. `html` is the same as a table, for programs that take one. Rejects where there is no
   * clipboard.
   */
  write(text: string, html?: string): Promise<void>;
  read(): Promise<string>;
  /** Where it can be done, it is when this returns. */
  clear(): Promise<void>;
  /**
   * Under Wayland, and missing elsewhere. While the window has no focus the system drops a write or a clear there, without
   * an error, and `read` answers the app's own copy.
   */
  readonly focus?: WindowFocus | undefined;
}

/** What a person is asked to agree to. `action` is the button that agrees. */
export interface Question {
  readonly message: string;
  readonly detail: string;
  readonly action: string;
}

/** Dialogs of the system that ask a person for a file, or whether to go on. */
export interface Dialogs {
  /** Asks in a dialog of the system, which the window neither draws nor answers. Null unless the person agreed. */
  confirm(question: Question): Promise<true | null>;
  /** Asks for a file to read. Absolute path, or null when the person changed their mind. */
  chooseFile(kind: FileKind): Promise<string | null>;
  /** The same, where several may be chosen at once. */
  chooseFiles(kind: FileKind): Promise<string[] | null>;
  /** Asks for a folder to write into; `near` is where the person is likely to look for it. */
  chooseFolder(near: string | null): Promise<string | null>;
  /** Asks where to write. `beside` is the file the result belongs to. Null when the person changed their mind. */
  chooseTarget(suggestion: { name: string; beside: string | null }): Promise<string | null>;
}

/** Everything the operating system gives. */
export interface Platform extends Dialogs {
  readonly version: string;
  /** Per-user folder for settings, audit and jobs; exists, 0700. */
  readonly home: string;
  /** Folder of the read-only files shipped with the app. */
  readonly resources: string;
  /** Folder where an administrator may put files for the installed app; need not exist. */
  readonly site: string;
  readonly clipboard: PlatformClipboard;

  /** Connects the window's calls to the app. Called once. */
  serve(router: Router): void;
  openWindow(): Promise<void>;
  send<E extends EventName>(event: E, payload: EventPayload<E>): void;

  /**
   * The absolute path behind the reference the preload made of a dropped File; null if there is none, or not one that
   * may be opened so.
   */
  droppedFile(reference: string): Promise<string | null>;
  /** The same of a folder; null for what is none. Nobody was asked yet whether it may be read. */
  droppedFolder(reference: string): Promise<string | null>;
  /** Opens one of the app's own folders in the system's file manager. False where that can't be done. */
  openFolder(folder: string): Promise<boolean>;
  /** Shows a file that was written where the person said in the system's file manager. False where that can't be done. */
  showInFolder(file: string): boolean;

  /**
   * Ends the app and starts it again for `--wipe`, which asks before it removes anything. False where that can't be done.
   */
  restartToWipe(): boolean;

  /** Of the title bar, menus and dialogs; the page has its own. */
  setTheme(theme: Settings['theme']): void;
  /** Something was chosen in the application's menu. Returns the function that stops listening. */
  onCommand(listener: (command: AppCommand) => void): () => void;
  /** Hears of what the system asks to open, what came before included. Returns the function that stops listening. */
  onOpen(listener: (opening: Opening) => void): () => void;
  /**
   * How far the batches are, 0 to 1, in the taskbar or dock; null while none runs. While one does, the computer does not
   * sleep by itself; its screen may.
   */
  showProgress(share: number | 'unknown' | null): void;
  /** The person's own, such as `de-DE`, once the app is ready: counts outside of the window are written with it. */
  locale(): string;
  /** Shown by the system while the window is not in front; a click brings it there and opens the batch. */
  notify(notification: { readonly title: string; readonly body: string; readonly jobId: string }): void;
  /** Best effort: keeps the window out of screenshots and screen sharing while cleartext shows. */
  protectContent(on: boolean): void;
  /** Ends the process of the window's page, whatever that does; `renderer-gone` follows, then the page is loaded again. */
  endRenderer(): void;
  /** Returns the function that stops listening. */
  onAway(listener: (signal: AwaySignal) => void): () => void;

  /** Proxy for an address as the system's settings say, such as `http://proxy:3128`; null for a direct connection. */
  proxyFor(url: string): Promise<string | null>;
}
