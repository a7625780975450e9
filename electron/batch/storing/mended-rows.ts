import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import { writeFileAtomically } from '../../storage/atomic-file.ts';
import type { RecordCipher } from '../../storage/encryption.ts';
import { errorCode } from '../../storage/file-failures.ts';
import { piecesOf } from '../../util/text-pieces.ts';
import { madeInTurns } from '../../util/turns.ts';

/** Rows of a job that a person corrected. The source stays as it is: these stand in place of its rows. */
export interface MendedRows {
  /** By their number in the source: the whole row in the source's encoding and dialect, its line end included. */
  readonly rows: ReadonlyMap<number, Buffer>;
  /** Those whose values were not sent yet. */
  readonly pending: ReadonlySet<number>;
  /** Those that the window wrote itself, in rows that were pasted. */
  readonly typed: ReadonlySet<number>;
}

export interface StoredMendedRows extends MendedRows {
  /** Results that lie behind this in the result store are of the rows as they were corrected. */
  readonly sentFrom: number;
}

const nothingMended: StoredMendedRows = {
  rows: new Map(),
  pending: new Set(),
  typed: new Set(),
  sentFrom: 0,
};

/** In the job's folder, encrypted. Written whole or not at all. */
const fileName = 'mended';

/** Its first line: the rows in this order, each with its number and length. Their bytes follow. */
const stored = z.object({
  version: z.literal(2),
  rows: z.array(z.int()),
  lengths: z.array(z.int()),
  pending: z.array(z.int()),
  /** Absent where an earlier version wrote it: then any may be. */
  typed: z.array(z.int()).optional(),
  sentFrom: z.int(),
});
/** Of an earlier version: all in one line. */
const storedBefore = z.object({
  rows: z.array(z.tuple([z.int(), z.base64()])),
  pending: z.array(z.int()),
});

/** Failures: job.damaged. */
export async function readMendedRows(
  folder: string,
  cipher: RecordCipher,
): Promise<Outcome<StoredMendedRows>> {
  try {
    const cleartext = cipher.decrypt(await readFile(join(folder, fileName)), fileName);
    return cleartext === null ? failed('job.damaged') : done(decode(cleartext));
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? done(nothingMended) : failed('job.damaged');
  }
}

function decode(bytes: Buffer): StoredMendedRows {
  const end = bytes.indexOf('\n');
  if (end < 0) {
    const { rows, pending } = storedBefore.parse(JSON.parse(bytes.toString()));
    return {
      rows: new Map(rows.map(([row, encoded]) => [row, Buffer.from(encoded, 'base64')])),
      pending: new Set(pending),
      typed: new Set(rows.map(([row]) => row)),
      // Where they were sent, that version wrote none of them.
      sentFrom: Infinity,
    };
  }
  const {
    rows: numbers,
    lengths,
    pending,
    typed = numbers,
    sentFrom,
  } = stored.parse(JSON.parse(bytes.toString('utf8', 0, end)));
  const rows = new Map<number, Buffer>();
  let from = end + 1;
  for (const [position, row] of numbers.entries()) {
    const length = lengths[position] ?? 0;
    rows.set(row, bytes.subarray(from, from + length));
    from += length;
  }
  if (from !== bytes.length) throw new RangeError('its rows are not all there');
  return { rows, pending: new Set(pending), typed: new Set(typed), sentFrom };
}

/** Failures: file.disk-full, file.unwritable. */
export async function writeMendedRows(
  folder: string,
  cipher: RecordCipher,
  { rows, pending, typed, sentFrom }: StoredMendedRows,
): Promise<Outcome<null>> {
  const head: z.infer<typeof stored> = {
    version: 2,
    rows: [...rows.keys()],
    lengths: Array.from(rows.values(), ({ length }) => length),
    pending: [...pending],
    typed: [...typed],
    sentFrom,
  };
  // As they are now: they may be some megabytes, and others mend rows meanwhile.
  const cleartext = piecesOf([`${JSON.stringify(head)}\n`, ...rows.values()]);
  const record = () => madeInTurns(piecesOf(cipher.encryptParts(cleartext, fileName)));
  const written = await writeFileAtomically(join(folder, fileName), record);
  return written.ok ? written : failed(written.failure.code);
}
