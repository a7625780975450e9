import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import { fromMemory, type ByteSource } from './bytes.ts';
import { writeFailure } from '../failing.ts';
import { replaceFile } from '../storing/job-files.ts';
import type { Seal } from '../../privacy/seal.ts';

const name = 'pasted';

/** A pasted block has no file of its own to be read again from; it is kept with the job, sealed like the results. */
export async function saveSealedBlock(
  folder: string,
  seal: Seal,
  source: ByteSource,
): Promise<Outcome<null>> {
  const bytes = await source.read(0, source.identity.size);
  if (!bytes.ok) return bytes;
  try {
    await replaceFile(folder, name, seal.seal(bytes.value, name));
    return done(null);
  } catch (error) {
    return writeFailure(error);
  }
}

export async function openSealedBlock(folder: string, seal: Seal): Promise<Outcome<ByteSource>> {
  const record = await readFile(join(folder, name)).catch(() => null);
  const clear = record === null ? null : seal.open(record, name);
  return clear === null ? failed('job.damaged') : done(fromMemory(clear));
}
