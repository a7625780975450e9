import { createHash } from 'node:crypto';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Connection } from '../../contract/models/connection.ts';
import { openFile, sameIdentity, sha256Of } from '../../storage/byte-source.ts';
import type { OpenSource } from '../reading/sources.ts';

/** What a batch is known by that a command began, so that the same command goes on with it and with no other. */
export interface RunIdentity {
  /** SHA-256 over what makes the run: path, rows, mapping and connection. The plan stands beside it. */
  readonly identity: string;
  /** The file's size and its SHA-256, hex: the workbook's where the rows are those of a sheet. */
  readonly file: { readonly bytes: number; readonly sha256: string };
  readonly mapping: string;
}

/**
 * Made in main, of what main read itself. A path alone names whatever lies there today, and bytes alone may lie in two
 * folders that are not one job. Failures: file.*.
 */
export async function identifyRun(
  { path, bytes, copy, file }: Pick<OpenSource, 'path' | 'bytes' | 'copy' | 'file'>,
  mapping: string,
  { id, environment }: Pick<Connection, 'id' | 'environment'>,
): Promise<Outcome<RunIdentity>> {
  const rows = await sha256Of(bytes);
  if (!rows.ok) return rows;
  let found = { bytes: bytes.identity.size, sha256: rows.value };
  if (copy !== null && path !== null) {
    const original = await openFile(path);
    if (!original.ok) return original;
    // The sheet was read from the file as it was when it was opened.
    const isSame = file !== null && sameIdentity(original.value.identity, file);
    const hashed = isSame ? await sha256Of(original.value) : failed('file.changed');
    await original.value.close();
    if (!hashed.ok) return hashed;
    found = { bytes: original.value.identity.size, sha256: hashed.value };
  }
  const parts = [1, path, bytes.identity.size, rows.value, mapping, id, environment];
  const identity = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
  return done({ identity, file: found, mapping });
}
