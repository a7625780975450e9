import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { done, failed, type Outcome } from '../contract/errors.ts';

/** Of one run of the app; those written longest ago are forgotten. */
const maxFiles = 100;

/**
 * The files that were exported since the app started. The window knows them by a handle only: it can't have any other
 * file shown, and no program started for one.
 */
export interface ExportedFiles {
  /** The handle of a file that was written. */
  add(path: string): string;
  /** Failures: file.unknown for a handle that is none, file.gone where the file was moved or removed. */
  show(exportId: string): Promise<Outcome<{ shown: boolean }>>;
}

export function createExportedFiles(showInFolder: (file: string) => boolean): ExportedFiles {
  const paths = new Map<string, string>();
  return {
    add(path) {
      const exportId = randomUUID();
      paths.set(exportId, path);
      const [oldest] = paths.keys();
      if (paths.size > maxFiles && oldest !== undefined) paths.delete(oldest);
      return exportId;
    },
    show(exportId) {
      const path = paths.get(exportId);
      if (path === undefined) return Promise.resolve(failed('file.unknown'));
      if (!existsSync(path)) return Promise.resolve(failed('file.gone', { subject: basename(path) }));
      return Promise.resolve(done({ shown: showInFolder(path) }));
    },
  };
}
