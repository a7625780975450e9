import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test as base } from 'vitest';
import { electronBinary } from '../../scripts/electron-binary.ts';

/*
 * A small app of its own, started in what `electronBinary` answers. What it finds out it notes in a file, line by line,
 * since a program with a window has no terminal everywhere and may end at any moment.
 */

/** What a probe's main has: `note`, `caught`, and `openWindow` with all the preferences that the product sets. */
const tools = `
import fs from 'node:fs';
import path from 'node:path';
import electron from 'electron';

const here = import.meta.dirname;
export function note(name, value = null) {
  fs.appendFileSync(path.join(here, 'notes'), JSON.stringify([name, value]) + '\\n');
}
/** What a call answers, or how it fails. */
export async function caught(call) {
  try {
    return await call();
  } catch (error) {
    return error.name + ': ' + error.message;
  }
}
/** Notes these events of an emitter as they come. */
export function watch(emitter, ...names) {
  for (const name of names) emitter.on(name, () => note(name));
}
export const policy = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; frame-src 'self'; "
  + "require-trusted-types-for 'script'; trusted-types probe";
export function registerScheme() {
  electron.protocol.registerSchemesAsPrivileged([
    { scheme: 'probe', privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
}
/** Answers the app's folder under probe://host/, and reaches nothing else. */
export async function openSession() {
  const session = electron.session.fromPartition('probe', { cache: false });
  await session.setProxy({ mode: 'fixed_servers', proxyRules: 'http://127.0.0.1:9', proxyBypassRules: '<-loopback>' });
  session.protocol.handle('probe', ({ url }) => {
    const name = new URL(url).pathname.slice(1);
    const file = path.join(here, name);
    if (!fs.existsSync(file)) return new Response('not here', { status: 404 });
    const type = name.endsWith('.js') ? 'text/javascript' : 'text/html';
    return new Response(fs.readFileSync(file), {
      headers: {
        'content-type': name === 'file.bin' ? 'application/octet-stream' : type,
        'content-security-policy': policy,
        ...(name === 'file.bin' && { 'content-disposition': 'attachment' }),
      },
    });
  });
  return session;
}
export function createWindow(session, options = {}) {
  return new electron.BrowserWindow({
    show: false,
    ...options,
    webPreferences: {
      preload: path.join(here, 'preload.cjs'),
      session,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webSecurity: true,
      allowRunningInsecureContent: false,
      experimentalFeatures: false,
      plugins: false,
      webviewTag: false,
      navigateOnDragDrop: false,
      safeDialogs: true,
      spellcheck: false,
      devTools: false,
    },
  });
}
export const pageUrl = 'probe://host/page.html';
`;

export interface ProbeFiles {
  /** A module; it may import what `tools.mjs` exports. */
  readonly main: string;
  readonly preload?: string;
  /** The page's script. */
  readonly page?: string;
}

export type Note = readonly [name: string, value: unknown];

export interface ProbeRun {
  readonly child: ChildProcess;
  readonly notes: () => readonly Note[];
  /** Its code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  readonly printed: () => string;
}

export class ProbeApp {
  private readonly binary: string;
  readonly folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-probe-'));
  private readonly running = new Set<ChildProcess>();

  constructor({ main, preload = '', page = '' }: ProbeFiles, binary = electronBinary()) {
    this.binary = binary;
    const files = {
      'package.json': JSON.stringify({
        name: 'probe',
        productName: 'Probe',
        version: '1.2.3',
        type: 'module',
        main: 'main.mjs',
      }),
      'tools.mjs': tools,
      'main.mjs': main,
      'preload.cjs': preload,
      'page.html': '<!doctype html><title>Probe</title><p>A page</p><script src="page.js"></script>',
      'page.js': page,
      'other.html': '<!doctype html><title>Other</title>',
      'file.bin': 'bytes',
    };
    for (const [name, text] of Object.entries(files)) this.write(name, text);
  }

  write(name: string, text: string): void {
    fs.writeFileSync(path.join(this.folder, name), text);
  }

  /** Of the command line that starts it; Chromium's own sandbox does not start as root. */
  get args(): readonly string[] {
    return [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      `--user-data-dir=${path.join(this.folder, 'home')}`,
      this.folder,
    ];
  }

  notes(): readonly Note[] {
    const file = path.join(this.folder, 'notes');
    if (!fs.existsSync(file)) return [];
    const lines = fs.readFileSync(file, 'utf8').split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Note);
  }

  start(...more: readonly string[]): ProbeRun {
    const child = spawn(this.binary, [...this.args, ...more], {
      cwd: this.folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.running.add(child);
    let printed = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (part: string) => (printed += part));
    const ended = once(child, 'close').then(([code, signal]: (number | string | null)[]) => {
      this.running.delete(child);
      return code ?? signal ?? 'unknown';
    });
    return { child, ended, notes: () => this.notes(), printed: () => printed };
  }

  /** Its names in the order in which they were noted, and its code. */
  async run(...more: readonly string[]): Promise<readonly (number | string)[]> {
    const code = await this.start(...more).ended;
    return [...this.notes().map(([name]) => name), code];
  }

  remove(): void {
    for (const child of this.running) child.kill('SIGKILL');
    fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

/** A test that makes such apps; they are gone after it, whatever it found. */
export const test = base.extend<{ readonly probe: (files: ProbeFiles) => ProbeApp }>({
  // eslint-disable-next-line no-empty-pattern -- Vitest reads the names of the fixtures that it needs
  probe: async ({}, use) => {
    const made: ProbeApp[] = [];
    await use((files) => {
      const app = new ProbeApp(files);
      made.push(app);
      return app;
    });
    for (const app of made) app.remove();
  },
});
