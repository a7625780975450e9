import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';

/*
 * The system's Chromium as a child process, spoken to over a pipe: NUL-ended JSON of the DevTools protocol.
 */

const places: Readonly<Partial<Record<NodeJS.Platform, readonly string[]>>> = {
  linux: [
    '/usr/bin/chromium',
    '/usr/bin/chromium-browser',
    '/usr/bin/google-chrome',
    '/usr/bin/google-chrome-stable',
    '/snap/bin/chromium',
  ],
  darwin: [
    '/Applications/Chromium.app/Contents/MacOS/Chromium',
    '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  ],
  win32: ['C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'],
};

/** Debian's Chromium without windows, tabs and profiles: it starts in a third of the processor time. */
const headlessShell = '/usr/bin/chromium-headless-shell';

/**
 * The system's Chromium or Chrome: `TOKENDESK_CHROMIUM` if set, else the usual places; null if there is none. Where no window
 * is shown, the one that can't show any is preferred.
 */
export function findChromium(
  env: NodeJS.ProcessEnv,
  { headless = false }: { readonly headless?: boolean } = {},
): string | null {
  const named = env['TOKENDESK_CHROMIUM'];
  const usual = [...(headless ? [headlessShell] : []), ...(places[process.platform] ?? [])];
  return (named === undefined ? usual : [named]).find((place) => fs.existsSync(place)) ?? null;
}

/**
 * What the window may never do by itself. The proxy is one that nobody answers (port 9 is the discard port), for every
 * address, the loopback's included: neither the page nor WebRTC nor Chromium itself reaches anything.
 */
export const flags: readonly string[] = [
  '--proxy-server=http://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  // The same for the one without windows, which has neither that switch nor settings for names.
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--no-first-run',
  '--no-default-browser-check',
  '--no-pings',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-sync',
  '--disable-quic',
  '--disable-back-forward-cache',
  '--disable-breakpad',
  '--disable-search-engine-choice-screen',
  '--disable-features=Translate,OptimizationHints,MediaRouter,AutofillServerCommunication',
  '--password-store=basic',
  '--use-mock-keychain',
  // Nothing of the app is kept: an entry is larger than a byte.
  '--disk-cache-size=1',
  // A debugger asks for the position of each error. Where it was not kept, the whole script is parsed again.
  '--js-flags=--no-enable-lazy-source-positions',
];

/**
 * The page that the browser opens with, as a window of its own. In a window with tabs, without a display too, Chromium
 * prepares its own panels in another process, which takes longer than to start all the rest.
 */
export const emptyPage = 'data:text/html,';

/**
 * A shell starts Chromium, waits for it and removes its profile: also where this process was killed, since Chromium ends
 * with the pipe. SIGTERM ends Chromium at once. Its other processes end a moment later, and may still write.
 */
const keeper = `
trap 'kill -9 $! || exit' TERM
"$@" &
wait $!; wait $! 2>/dev/null
for turn in 1 2 3 4 5 6 7 8 9; do rm -rf "$0" 2>/dev/null && break; sleep 0.1; done`;

/** WebRTC resolves the names of its servers and peers past the proxy: names are resolved over the dead HTTPS only. */
const localState = { dns_over_https: { mode: 'secure', templates: 'https://127.0.0.1:9/dns-query' } };

/** The profile remembers nothing a person types. */
const preferences = {
  autofill: { enabled: false, profile_enabled: false, credit_card_enabled: false },
  browser: { enable_spellchecking: false },
  credentials_enable_service: false,
  search: { suggest_enabled: false },
};

export type Params = Readonly<Record<string, unknown>>;
type ProtocolListener = (params: never) => void;

export interface Session {
  /** Rejects with Chromium's own message, and where the browser is gone. */
  send<T = unknown>(method: string, params?: Params): Promise<T>;
  on(event: string, listener: ProtocolListener): void;
}

export interface Browser extends Session {
  /** A session of its own for a target that is attached. */
  session(id: string): Session;
  /** Settles when the process has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Ends it at once and removes its profile. */
  kill(): Promise<void>;
}

export interface BrowserOptions {
  readonly headless: boolean;
  readonly env: NodeJS.ProcessEnv;
  /** Switches of the command line that are Chromium's own. */
  readonly switches: readonly string[];
}

/** Starts Chromium in a temporary profile, private to the user. Throws where there is none. */
export function startBrowser({ headless, env, switches }: BrowserOptions): Browser {
  const program = findChromium(env, { headless });
  if (program === null)
    throw new Error(
      'There is no Chromium to show the app in. Install one, or name it in TOKENDESK_CHROMIUM.',
    );
  const profile = createProfile();
  // Chromium's own sandbox does not start as root, and only a container or CI runs as root.
  const isRoot = process.getuid?.() === 0;
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      keeper,
      profile,
      program,
      ...flags,
      `--user-data-dir=${profile}`,
      '--remote-debugging-pipe',
      // No banner about the missing sandbox: ChromeDriver's own flag.
      ...(isRoot ? ['--no-sandbox', '--test-type=webdriver'] : []),
      ...switches,
      ...(headless ? ['--headless', '--hide-scrollbars'] : []),
      path.basename(program) === path.basename(headlessShell) ? emptyPage : `--app=${emptyPage}`,
    ],
    {
      // Crash reports, which hold stacks of memory, go where the settings would; its lock leaves a folder in the temporary one.
      env: { ...env, XDG_CONFIG_HOME: path.join(profile, 'config'), TMPDIR: profile },
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
      // Ctrl+C on the terminal is for this process alone.
      detached: true,
    },
  );
  passOnAddress(child);
  const input = child.stdio[3] as Writable;
  const output = child.stdio[4] as Readable;
  const waiting = new Map<number, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  const listeners = new Map<string, ProtocolListener[]>();
  let last = 0;

  const ended = new Promise<void>((resolve) => {
    child.once('error', () => {
      resolve();
    });
    child.once('exit', () => {
      resolve();
    });
  }).then(() => {
    for (const { reject } of waiting.values()) reject(new Error('The browser has ended.'));
    waiting.clear();
  });
  input.on('error', () => undefined);
  output.on('error', () => undefined);
  readMessages(output, ({ id, sessionId = '', method, params, result, error }) => {
    if (method !== undefined) {
      for (const listener of listeners.get(`${sessionId} ${method}`) ?? []) listener(params as never);
      return;
    }
    const call = waiting.get(id ?? 0);
    waiting.delete(id ?? 0);
    if (error === undefined) call?.resolve(result as never);
    else call?.reject(new Error(error.message));
  });

  const session = (sessionId: string): Session => ({
    send: <T>(method: string, params: Params = {}) =>
      new Promise<T>((resolve, reject) => {
        if (child.exitCode !== null) {
          reject(new Error('The browser has ended.'));
          return;
        }
        const id = ++last;
        waiting.set(id, { resolve, reject });
        const to = sessionId === '' ? {} : { sessionId };
        input.write(`${JSON.stringify({ id, method, params, ...to })}\0`);
      }),
    on(event, listener) {
      const key = `${sessionId} ${event}`;
      listeners.set(key, [...(listeners.get(key) ?? []), listener]);
    },
  });

  return {
    ...session(''),
    session,
    ended,
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGTERM');
      await exit;
      try {
        // Its other processes end a moment later, and would make the profile again.
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // All of them have ended.
      }
      // The shell may have been ended before it could listen.
      fs.rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
    },
  };
}

/** Where the port of a test tool listens, as Electron prints it; the rest is about the machine, not about the app. */
function passOnAddress(child: ChildProcess): void {
  let text = '';
  child.stderr?.setEncoding('utf8').on('data', (part: string) => {
    text += part;
    const lines = text.split('\n');
    text = lines.pop() ?? '';
    for (const line of lines)
      if (line.startsWith('DevTools listening on ')) process.stderr.write(`${line}\n`);
  });
}

interface Message {
  readonly id?: number;
  readonly sessionId?: string;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

function readMessages(output: Readable, receive: (message: Message) => void): void {
  let parts: Buffer[] = [];
  output.on('data', (chunk: Buffer) => {
    let from = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, from)) {
      parts.push(chunk.subarray(from, end));
      receive(JSON.parse(Buffer.concat(parts).toString('utf8')) as Message);
      parts = [];
      from = end + 1;
    }
    parts.push(chunk.subarray(from));
  });
}

/** A folder for Chromium's own files, private to the user; whoever made it removes it. */
export function createProfile(): string {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-'));
  const write = (name: string, value: object): void => {
    fs.writeFileSync(path.join(profile, name), JSON.stringify(value), { mode: 0o600 });
  };
  fs.mkdirSync(path.join(profile, 'Default'));
  write('Local State', localState);
  write(path.join('Default', 'Preferences'), preferences);
  return profile;
}
