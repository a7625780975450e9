import fs from 'node:fs/promises';
import path from 'node:path';
import { bundleHeaders } from './content-security-policy.ts';

export interface BundleAnswer {
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
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(place);
    return entry.isFile() ? [place] : [];
  });
  return (await Promise.all(nested)).flat();
}
