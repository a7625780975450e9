import fs from 'node:fs/promises';
import path from 'node:path';
import type { Protocol, Session } from 'electron';

const scheme = 'app';
/** The window's origin under Electron. Never `file://`, which has more rights than a page needs. */
export const electronOrigin = `${scheme}://tokendesk`;

/** Called once, before Electron is ready. No `bypassCSP`, no service workers, no code cache: nothing is kept. */
export function registerScheme(protocol: Pick<Protocol, 'registerSchemesAsPrivileged'>): void {
  protocol.registerSchemesAsPrivileged([
    { scheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
}

/** Answers `app://tokendesk/…` in this session from the built window. */
export function serveBundle(session: Pick<Session, 'protocol'>, bundle: Bundle): void {
  session.protocol.handle(scheme, async ({ url, method }) => {
    const { status, headers, body } = await bundle(url, method);
    return new Response(body, { status, headers: { ...headers } });
  });
}

interface BundleAnswer {
  readonly status: 200 | 404 | 405;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer<ArrayBuffer>;
}

/** Answers a request of the window from its bundle. Never anything but a file that was listed at start. */
export type Bundle = (url: string, method: string) => Promise<BundleAnswer>;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};
const nothing = Buffer.alloc(0);

/**
 * The window's bundle under `origin`. A request is looked up, as it was spelt, in the list of files found at start:
 * no path is ever put together from it, so `..`, `%2e`, `%5c` and NUL have nothing to work on.
 */
export async function openBundle(folder: string, origin: string): Promise<Bundle> {
  const files = new Map<string, string>();
  for (const file of await listFiles(folder))
    if (types[path.extname(file)] !== undefined)
      files.set(`${origin}/${path.relative(folder, file).split(path.sep).join('/')}`, file);

  return async (url, method) => {
    if (method !== 'GET') return { status: 405, headers: bundleHeaders, body: nothing };
    const file = files.get(url);
    if (file === undefined) return { status: 404, headers: bundleHeaders, body: nothing };
    const type = types[path.extname(file)] ?? 'application/octet-stream';
    return {
      status: 200,
      headers: { ...bundleHeaders, 'content-type': type },
      body: await fs.readFile(file),
    };
  };
}

/** A folder at a time: inside Electron's archive, a recursive listing is not the same as on a disk. */
async function listFiles(folder: string): Promise<string[]> {
  const entries = await fs.readdir(folder, { withFileTypes: true });
  const nested = entries.map(async (entry) => {
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(file);
    return entry.isFile() ? [file] : [];
  });
  return (await Promise.all(nested)).flat();
}

/**
 * What the window may do, the same on both platforms: its own bundle and nothing else. `connect-src 'none'` is why a
 * script injected through a file could send nothing out, and Trusted Types is why it could not start: the only policy
 * allowed is the one that Svelte makes for its compiled templates.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types svelte-trusted-html',
].join('; ');

/** Sent with every file of the bundle. */
const bundleHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': contentSecurityPolicy,
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy':
    'camera=(), microphone=(), geolocation=(), display-capture=(), clipboard-read=(), clipboard-write=(), usb=(), serial=(), hid=()',
  'cache-control': 'no-store',
};
