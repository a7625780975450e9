import { realpath, stat } from 'node:fs/promises';

/** What tells a file whatever path leads to it; null where there is none. */
async function fileOf(path: string): Promise<string | null> {
  const found = await stat(path, { bigint: true }).catch(() => null);
  return found === null ? null : `${found.dev} ${found.ino}`;
}

/** Whether a path leads to one of these files: under another name, through a link, or by what the link itself is called. */
export async function isOneOf(path: string, files: Iterable<string>): Promise<boolean> {
  const known = [...files];
  if (known.includes(path)) return true;
  const own = await fileOf(path);
  if (own === null) return false;
  const real = await realpath(path).catch(() => path);
  for (const file of known) if (file === real || (await fileOf(file)) === own) return true;
  return false;
}
