import type { FileHandle } from 'node:fs/promises';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Seal } from '../../privacy/seal.ts';
import { readAhead } from '../bytes/read-ahead.ts';
import type { Entry } from './journal.ts';
import { contextOf } from './records.ts';
import { decodeResults, type ChunkResults } from './results.ts';

/** Failure: job.damaged. */
export type ReadRecord = (entry: Entry) => Promise<Outcome<ChunkResults>>;

/** `end`: where the last record ends that will be asked for, by someone who reads many; absent reads each alone. */
export function recordReader(records: FileHandle, seal: Seal, end?: number): ReadRecord {
  async function readBytes(offset: number, length: number): Promise<Outcome<Buffer>> {
    const bytes = Buffer.allocUnsafe(length);
    try {
      const { bytesRead } = await records.read(bytes, 0, length, offset);
      return bytesRead < length ? failed('job.damaged') : done(bytes);
    } catch {
      return failed('job.damaged');
    }
  }
  const read = end === undefined ? readBytes : readAhead(readBytes, end);
  return async (entry) => {
    const record = await read(entry.offset, entry.length);
    if (!record.ok) return record;
    const clear = seal.open(record.value, contextOf(entry));
    return clear === null ? failed('job.damaged') : done(decodeResults(clear));
  };
}
