import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { done, type Outcome, failed } from '../../contract/errors.ts';
import type { Plan } from '../../contract/models/batch.ts';
import type { DefinitionKind } from '../../contract/models/connection.ts';
import { createRecordCipher } from '../../storage/encryption.ts';
import type { BatchParts } from '../batch.ts';
import { type Draft, yieldsCleartext } from '../planning/plan.ts';
import { openFile, sameIdentity, type ByteSource } from '../../storage/byte-source.ts';
import { firstColumns } from '../reading/preview.ts';
import { openSpool } from '../storing/encrypted-file.ts';
import { createJobFolder, freshCondition, type Description, keyAccount } from '../storing/job-files.ts';
import { own, type Ownership } from '../storing/owner.ts';
import { openResultStore, type ResultStore } from '../storing/result-store.ts';
import { BatchJob } from './job.ts';

/** Writes down what the job is; nothing of it runs yet. Failures: keychain.*, file.*. */
export async function createJob(parts: BatchParts, draft: Draft, plan: Plan): Promise<Outcome<BatchJob>> {
  const { opened, format, work, connection, total } = draft;
  const key = await parts.keychain.key(keyAccount);
  if (!key.ok) return key;
  const jobId = parts.newId();
  const folder = join(parts.folder, jobId);
  const columns = await firstColumns(opened.bytes, format);
  const what: Description = {
    version: 1,
    jobId,
    sourceName: opened.source.name,
    sourcePath: opened.path,
    spool: opened.spool?.subject ?? null,
    identity: opened.bytes.identity,
    format: { ...format, names: format.names === null ? null : [...format.names] },
    connectionId: connection.id,
    connectionName: connection.name,
    environment: connection.environment,
    plan,
    kinds: work.map(({ kind }) => kind),
    maskedColumns: columns.flatMap(
      ({ index, masked, looksLike }): { column: number; kind: DefinitionKind }[] =>
        masked ? [{ column: index, kind: looksLike ?? 'text' }] : [],
    ),
    columns: [
      ...columns.map(({ name }) => name),
      ...plan.columns.flatMap((column) => {
        const name = columns[column.column]?.name ?? '';
        return column.into === 'replace'
          ? []
          : [`${name}_${yieldsCleartext(column.operation) ? 'masked' : 'token'}`];
      }),
    ],
    startedAt: new Date(parts.clock.now()).toISOString(),
  };
  const made = await createJobFolder(folder, what);
  if (!made.ok) return made;
  if (opened.spool !== null) {
    const saved = await opened.spool.keep(join(folder, spoolName));
    if (!saved.ok) {
      await rm(folder, { recursive: true, force: true }).catch(() => undefined);
      return saved;
    }
  }
  return done(new BatchJob(parts, folder, what, { ...freshCondition, total }));
}

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
  const store = await openResultStore(folder, createRecordCipher(key.value, jobId));
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
    return key.ok ? openSpool(join(folder, spoolName), createRecordCipher(key.value, spool)) : key;
  }
  if (sourcePath === null) return failed('job.damaged');
  const source = await openFile(sourcePath);
  if (!source.ok || sameIdentity(source.value.identity, identity)) return source;
  await source.value.close();
  return failed('file.changed', { subject: sourceName });
}
