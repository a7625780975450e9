import type { BrowserWindow, RenderProcessGoneDetails } from 'electron';

/** A page that ends its process so often, within this time, would do it again. */
const mostTimes = 3;
const withinMs = 60_000;

export interface Revival {
  /** Loads the window's page again. */
  readonly load: () => Promise<void>;
  /** The page is gone, and with it whatever it showed. */
  readonly onGone: () => void;
  readonly giveUp: () => void;
  readonly now: () => number;
}

/** Loads the page again when its process ended by itself. Jobs run in main: nothing of them is lost meanwhile. */
export function reviveWindow(window: BrowserWindow, { load, onGone, giveUp, now }: Revival): void {
  let times: number[] = [];
  window.webContents.on('render-process-gone', (_event, { reason }: RenderProcessGoneDetails) => {
    if (reason === 'clean-exit') return;
    onGone();
    times = [...times.filter((at) => now() - at < withinMs), now()];
    if (times.length > mostTimes) giveUp();
    // Not within the event: the process it tells of is still being taken down.
    else setImmediate(() => void load().catch(giveUp));
  });
}
