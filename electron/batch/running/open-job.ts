import { join } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import { sealFor } from '../../privacy/seal.ts';
import type { BatchParts } from '../parts.ts';
import { openFile, sameIdentity, type ByteSource } from '../bytes/byte-source.ts';
import type { Description } from '../storing/job-files.ts';
import { keyAccount } from '../storing/job-key.ts';
import { own, type Ownership } from '../storing/owner.ts';
import { openResultStore, type ResultStore } from '../storing/result-store.ts';
import { openSpool } from '../storing/spool.ts';

/** A job's own spool, in its folder. */
export const spoolName = 'source';

/** What a job needs while it is open: nobody else has it open meanwhile. */
export interface Opened {
  readonly owner: Ownership;
  readonly store: ResultStore;
}

/** Opens the result store, as its one owner. Failures: job.elsewhere, job.damaged, keychain.*, file.unwritable. */
export async function openJob(
  parts: Pick<BatchParts, 'keychain'>,
  folder: string,
  { jobId }: Description,
): Promise<Outcome<Opened>> {
  const key = await parts.keychain.key(keyAccount);
  if (!key.ok) return key;
  const owner = await own(folder);
  if (!owner.ok) return owner;
  const store = await openResultStore(folder, sealFor(key.value, jobId));
  if (!store.ok) {
    await owner.value.release();
    return store;
  }
  return done({ owner: owner.value, store: store.value });
}

/** The source as it was when the job began. Failures: file.gone, file.changed, file.unreadable, job.damaged. */
export async function openJobSource(
  parts: Pick<BatchParts, 'keychain'>,
  folder: string,
  { sourcePath, sourceName, identity, spool }: Description,
): Promise<Outcome<ByteSource>> {
  if (spool !== null) {
    const key = await parts.keychain.key(keyAccount);
    return key.ok ? openSpool(join(folder, spoolName), sealFor(key.value, spool)) : key;
  }
  if (sourcePath === null) return failed('job.damaged');
  const source = await openFile(sourcePath);
  if (!source.ok || sameIdentity(source.value.identity, identity)) return source;
  await source.value.close();
  return failed('file.changed', { subject: sourceName });
}
