import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import { writeFileAtomically } from '../../storage/atomic-file.ts';
import type { RecordCipher } from '../../storage/encryption.ts';
import { errorCode } from '../../storage/file-failures.ts';

/** Rows of a job that a person corrected. The source stays as it is: these stand in place of its rows. */
export interface MendedRows {
  /** By their number in the source: the whole row in the source's encoding and dialect, its line end included. */
  readonly rows: ReadonlyMap<number, Buffer>;
  /** Those whose values were not sent yet. */
  readonly pending: ReadonlySet<number>;
}

const nothingMended: MendedRows = { rows: new Map(), pending: new Set() };

/** In the job's folder, encrypted. Written whole or not at all. */
const fileName = 'mended';

const stored = z.object({ rows: z.array(z.tuple([z.int(), z.base64()])), pending: z.array(z.int()) });

/** Failures: job.damaged. */
export async function readMendedRows(folder: string, cipher: RecordCipher): Promise<Outcome<MendedRows>> {
  try {
    const cleartext = cipher.decrypt(await readFile(join(folder, fileName)), fileName);
    if (cleartext === null) return failed('job.damaged');
    const { rows, pending } = stored.parse(JSON.parse(cleartext.toString()));
    return done({
      rows: new Map(rows.map(([row, bytes]) => [row, Buffer.from(bytes, 'base64')])),
      pending: new Set(pending),
    });
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? done(nothingMended) : failed('job.damaged');
  }
}

/** Failures: file.disk-full, file.unwritable. */
export async function writeMendedRows(
  folder: string,
  cipher: RecordCipher,
  { rows, pending }: MendedRows,
): Promise<Outcome<null>> {
  const content: z.infer<typeof stored> = {
    rows: [...rows].map(([row, bytes]) => [row, bytes.toString('base64')]),
    pending: [...pending],
  };
  const encrypted = cipher.encrypt(Buffer.from(JSON.stringify(content)), fileName);
  const written = await writeFileAtomically(join(folder, fileName), encrypted);
  return written.ok ? written : failed(written.failure.code);
}
