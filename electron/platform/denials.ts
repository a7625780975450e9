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

/**
 * What may be given at start: our own, and how and where the window is drawn. Chromium has hundreds of others; many
 * switch off a protection, open a port, write a log or start another program in the place of one of its processes.
 */
const allowedSwitches: readonly string[] = [
  'self-check',
  'verify-audit',
  'verify-evidence',
  'wipe',
  'user-data-dir',
  'lang',
  'ozone-platform',
  'ozone-platform-hint',
  'force-device-scale-factor',
  'force-color-profile',
  'high-dpi-support',
  'disable-gpu',
  'disable-gpu-compositing',
  'use-gl',
  'use-angle',
];

/** Options of the two verifiers, and of nothing else; `-` is standard input. */
const verifierOptions: readonly string[] = [
  'checkpoint',
  'key',
  'keychain',
  'signer',
  'known-signers',
  'log',
  '',
];

/** Name of the switch that an argument is for Chromium: with one dash as well, on Windows with a slash and in any case. */
function switchName(argument: string, os: NodeJS.Platform): string | null {
  const [, name] = (os === 'win32' ? /^(?:--?|\/)([^=]*)/ : /^--?([^=]*)/).exec(argument.trim()) ?? [];
  if (name === undefined) return null;
  return os === 'win32' ? name.toLowerCase() : name;
}

/** What follows `--verify-audit` or `--verify-evidence` and is the verifier's: the app's own switches are not. */
export function verifierArguments(argv: readonly string[], os: NodeJS.Platform): string[] {
  const names = argv.map((argument) => switchName(argument, os));
  const at = names.findIndex((name) => name === 'verify-audit' || name === 'verify-evidence');
  return argv.slice(at + 1).filter((_argument, index) => {
    const name = names[at + 1 + index] ?? null;
    return name === null || !allowedSwitches.includes(name);
  });
}

/**
 * The switch for which a packaged app does not start; null if there is none. In development all are allowed.
 */
export function refusedSwitch(
  { isPackaged }: Pick<App, 'isPackaged'>,
  argv: readonly string[],
  os: NodeJS.Platform,
): string | null {
  if (!isPackaged) return null;
  const switches = argv.slice(1).flatMap((argument) => {
    const name = switchName(argument, os);
    return name === null ? [] : [name];
  });
  const verifies = switches.some((name) => name === 'verify-audit' || name === 'verify-evidence');
  const isOwn = (name: string): boolean =>
    allowedSwitches.includes(name) ||
    (verifies && verifierOptions.includes(name)) ||
    // With it Windows starts a program whose notification is clicked, were it no longer there.
    (os === 'win32' && name === 'embedding') ||
    // macOS gives a program that is started from the Finder its process serial number.
    (os === 'darwin' && /^psn_\d+_\d+$/.test(name));
  return switches.find((name) => !isOwn(name)) ?? null;
}
