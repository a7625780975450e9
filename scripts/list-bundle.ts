import fs from 'node:fs';
import path from 'node:path';
import { sha256 } from '../electron/platform/package-integrity.ts';

/** What of the built tree is packed and never changed on the way, as `files` of electron-builder.yml has it. */
const packed = [
  /^dist\/main\/(main|built-in-service-worker|parser-worker|shared-[\w-]+)\.js$/,
  /^dist\/main\/(preload\.cjs|licences\.json)$/,
  /^dist\/renderer\//,
  /^dist\/verify\//,
  /^resources\/(?!(icons|policy)\/)/,
];

/** Every packed file under `root` with its SHA-256: what `--self-check` compares with. */
export function listBundle(root: string): Record<string, string> {
  const names = ['dist', 'resources'].flatMap((folder) =>
    fs
      .readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/')),
  );
  const listed = names.filter((name) => packed.some((pattern) => pattern.test(name))).sort();
  return Object.fromEntries(listed.map((name) => [name, sha256(path.join(root, name))]));
}
