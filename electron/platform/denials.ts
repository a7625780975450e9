import type { App, Session, WebContents } from 'electron';
import { electronOrigin } from './protocol.ts';

/**
 * Denies what a page could ask of Electron or Chromium, for every session and every web contents there will ever be,
 * also those that are not planned. Called once, before Electron is ready.
 */
export function denyEverything(app: Pick<App, 'on'>): void {
  app.on('session-created', denyInSession);
  app.on('web-contents-created', (_event, contents) => {
    denyInContents(contents);
  });
  // Chromium would use these to sign in to a server; the window contacts none.
  app.on('select-client-certificate', (event, ...[, , , choose]) => {
    event.preventDefault();
    choose();
  });
  app.on('login', (event, ...[, , , answer]) => {
    event.preventDefault();
    answer();
  });
}

function denyInSession(session: Session): void {
  session.setPermissionRequestHandler((_contents, _permission, answer) => {
    answer(false);
  });
  session.setPermissionCheckHandler(() => false);
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler((_request, answer) => {
    answer(null);
  });
  session.setSpellCheckerEnabled(false);
  session.webRequest.onBeforeRequest(({ url }, answer) => {
    answer({ cancel: !url.startsWith(`${electronOrigin}/`) });
  });
  session.on('will-download', (event) => {
    event.preventDefault();
  });
}

function denyInContents(contents: WebContents): void {
  contents.setWindowOpenHandler(() => ({ action: 'deny' }));
  // Covers will-navigate, and frames inside the window as well. The app's own loadURL does not pass here.
  contents.on('will-frame-navigate', (event) => {
    event.preventDefault();
  });
  contents.on('will-redirect', (event) => {
    event.preventDefault();
  });
  contents.on('will-attach-webview', (event) => {
    event.preventDefault();
  });
  // WebRTC is not bound by connect-src and would tell the machine's addresses.
  contents.setWebRTCIPHandlingPolicy('disable_non_proxied_udp');
}
