import path from 'node:path';
import { app, BrowserWindow, nativeTheme, protocol, session } from 'electron';
import { denyEverything } from '../../electron/platform/denials.ts';
import { deadProxy } from '../../electron/platform/electron-platform.ts';
import { electronOrigin, openBundle, registerScheme } from '../../electron/platform/protocol.ts';
import { createWindow } from '../../electron/platform/window.ts';

/*
 * Main of the gallery's app: the product's window, origin, headers and denials over a bundle whose bridge is a fake one, and
 * nothing of the product behind it. The query of an address names the scene.
 */

registerScheme(protocol);
denyEverything(app);
void app.whenReady().then(async () => {
  const own = session.fromPartition('gallery', { cache: false });
  await own.setProxy(deadProxy);
  const bundle = await openBundle(path.join(import.meta.dirname, 'renderer'), electronOrigin);
  own.protocol.handle(new URL(electronOrigin).protocol.slice(0, -1), async ({ url, method }) => {
    const { status, headers, body } = await bundle(url.replace(/\?.*$/, ''), method);
    return new Response(body, { status, headers: { ...headers } });
  });
  const window = createWindow(
    { BrowserWindow, nativeTheme },
    {
      // The fake bridge is part of the page.
      preload: path.join(import.meta.dirname, 'preload.cjs'),
      session: own,
      place: { bounds: { width: 1_440, height: 900 }, maximized: false, zoom: 0 },
    },
  );
  await window.loadURL(`${electronOrigin}/index.html`);
});
