import type { App } from 'electron';

/** Each of these lets whoever starts the desk look into it or take down a wall around it. */
const refused = [
  'remote-debugging-port',
  'remote-debugging-pipe',
  'no-sandbox',
  'disable-web-security',
  'disable-site-isolation-trials',
  'load-extension',
] as const;

/** The switch for which a packaged desk does not start; null if there is none. In development all are allowed. */
export function refusedSwitch(app: Pick<App, 'isPackaged' | 'commandLine'>): string | null {
  if (!app.isPackaged) return null;
  return refused.find((name) => app.commandLine.hasSwitch(name)) ?? null;
}
