import type { Browser } from './browser.ts';
import type { StrictEmitter } from './strict.ts';

/** What the modules share. */
export interface State {
  readonly app: StrictEmitter;
  readonly env: NodeJS.ProcessEnv;
  readonly isHeadless: boolean;
  /** Whether main's module has run to its end, top-level awaits included. Not `app.isReady`, which a test tool replaces. */
  isReady: boolean;
  /** Throws as Electron does where something is asked for before it is ready. */
  afterReady(message: string): void;
  /** Folder of Chromium's own files, as the app set it. */
  sessionData(): string;
  /** Once it is ready. */
  browser(): Browser;
}
