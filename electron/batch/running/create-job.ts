import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { done, type Outcome } from '../../contract/errors.ts';
import type { Plan } from '../../contract/models/batch.ts';
import type { DefinitionKind } from '../../contract/models/connection.ts';
import type { BatchParts } from '../parts.ts';
import type { Draft } from '../planning/draft.ts';
import { yieldsCleartext } from '../planning/work.ts';
import { firstColumns } from '../reading/preview.ts';
import { createJobFolder, freshCondition, type Description } from '../storing/job-files.ts';
import { BatchJob } from './job.ts';
import { keyAccount } from '../storing/job-key.ts';
import { spoolName } from './open-job.ts';

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
