import fs from 'node:fs/promises';
import path from 'node:path';
import { done, type Failure, type Outcome } from '../../contract/errors.ts';
import { receiptFile } from '../../evidence/receipt.ts';
import { readFailure } from '../../storage/file-failures.ts';

const receiptEnding = receiptFile('');

export interface NamedFile {
  readonly path: string;
  /** As a person sees it: below the folder that was chosen. */
  readonly name: string;
  /** Of a folder that can't be read. */
  readonly failure?: Failure;
}

/**
 * A file itself, or the files of a folder and of those in it, by their names. Links are not followed: they may lead out of it,
 * or in a circle; the app's own receipts, which are no tables, are left out. Failures: file.*.
 */
export async function filesBelow(root: string): Promise<Outcome<NamedFile[]>> {
  const found: NamedFile[] = [];
  const walk = async (folder: string, name: string): Promise<void> => {
    const entries = await fs.readdir(folder, { withFileTypes: true });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const own = { path: path.join(folder, entry.name), name: path.posix.join(name, entry.name) };
      if (entry.isFile() && !entry.name.endsWith(receiptEnding)) found.push(own);
      if (!entry.isDirectory()) continue;
      await walk(own.path, own.name).catch((error: unknown) => {
        found.push({ ...own, failure: readFailure(error).failure });
      });
    }
  };
  try {
    const { isDirectory } = await fs.stat(root).then((stat) => ({ isDirectory: stat.isDirectory() }));
    if (!isDirectory) return done([{ path: root, name: path.basename(root) }]);
    await walk(root, path.basename(root));
    return done(found);
  } catch (error) {
    return readFailure(error);
  }
}
