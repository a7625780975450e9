import fs from 'node:fs/promises';
import { type DisclosureRecord, disclosureRecord } from '../contract/models/app.ts';
import type { Log } from '../log/log.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { errorCode } from '../storage/file-failures.ts';
import type { DisclosureStore } from './disclosures.ts';

/**
 * The latest day's count in a file of its own, 0600, in a folder that exists. Not in the settings file: the whole
 * process waits for the disk while that is written, and a request that has just begun would not leave. `earlier` is
 * taken where there is no file yet. A file that can't be used is logged, and the count begins anew: what was done is in
 * the audit log all the same.
 */
export async function openDisclosureFile(
  file: string,
  { earlier, log }: { readonly earlier: DisclosureRecord | null; readonly log: Pick<Log, 'bug'> },
): Promise<DisclosureStore> {
  let latest = await readRecord();

  async function readRecord(): Promise<DisclosureRecord | null> {
    try {
      return disclosureRecord.parse(JSON.parse(await fs.readFile(file, 'utf8')));
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return earlier;
      log.bug('disclosures', error);
      return null;
    }
  }

  return {
    read: () => latest,
    async write(record) {
      const written = await writeFileAtomically(file, JSON.stringify(record));
      if (written.ok) latest = record;
      return written;
    },
  };
}
