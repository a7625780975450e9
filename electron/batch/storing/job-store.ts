import { isDeepStrictEqual } from 'node:util';
import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { Tally } from '../../contract/models/batch.ts';
import { createRecordCipher, type RecordCipher } from '../../storage/encryption.ts';
import type { Keychain } from '../../storage/keychain.ts';
import { keyAccount, type JobSpec, type StoredState } from './job-files.ts';
import { readMendedRows, writeMendedRows, type MendedRows } from './mended-rows.ts';
import { openResultStore, type ResultStore } from './result-store.ts';

/** The result store of a job, open at most once, and what a person corrected in its rows. */
export interface JobStore {
  /** Null while it is closed. */
  readonly store: ResultStore | null;
  /** Failures: job.elsewhere, job.damaged, keychain.*, file.unwritable; what `refuse` was told. */
  openStore(): Promise<Outcome<ResultStore>>;
  /** What a person corrected so far. Failures: job.damaged, keychain.*. */
  readMended(): Promise<Outcome<MendedRows>>;
  /** Failures: file.disk-full, file.unwritable, keychain.*. */
  writeMended(mended: MendedRows): Promise<Outcome<null>>;
  /** From now on the store is not opened; one that is being opened is waited for. */
  refuse(code: FailureCode): Promise<void>;
  /** Closes the store. */
  release(): Promise<void>;
}

interface JobStoreOptions {
  readonly keychain: Pick<Keychain, 'key'>;
  readonly folder: string;
  readonly jobId: JobSpec['jobId'];
  readonly stored: () => StoredState;
}

export function createJobStore({ keychain, folder, jobId, stored }: JobStoreOptions): JobStore {
  let store: ResultStore | null = null;
  let opening: Promise<Outcome<ResultStore>> | null = null;
  let refused: FailureCode | null = null;
  /** Null until read. */
  let mended: MendedRows | null = null;

  async function cipher(): Promise<Outcome<RecordCipher>> {
    const key = await keychain.key(keyAccount);
    return key.ok ? done(createRecordCipher(key.value, jobId)) : key;
  }

  async function open(): Promise<Outcome<ResultStore>> {
    if (refused !== null) return failed(refused);
    const ciphering = await cipher();
    if (!ciphering.ok) return ciphering;
    const opened = await openResultStore(folder, ciphering.value);
    if (!opened.ok) return opened;
    if (!hasExpectedRows(opened.value.tally, stored())) {
      await opened.value.close();
      return failed('job.damaged');
    }
    store = opened.value;
    return opened;
  }

  function openStore(): Promise<Outcome<ResultStore>> {
    if (store !== null) return Promise.resolve(done(store));
    opening ??= open().finally(() => (opening = null));
    return opening;
  }

  return {
    get store() {
      return store;
    },
    openStore,
    async readMended() {
      if (mended !== null) return done(mended);
      const ciphering = await cipher();
      if (!ciphering.ok) return ciphering;
      const read = await readMendedRows(folder, ciphering.value);
      if (read.ok) mended = read.value;
      return read;
    },
    async writeMended(next) {
      const ciphering = await cipher();
      if (!ciphering.ok) return ciphering;
      const written = await writeMendedRows(folder, ciphering.value, next);
      if (written.ok) mended = next;
      return written;
    },
    async refuse(code) {
      refused = code;
      await opening;
    },
    async release() {
      const open = store;
      store = null;
      await open?.close();
    },
  };
}

/** Everything counted when a run ended was synced: only a run that was cut off may have lost some. */
function hasExpectedRows(found: Tally, { state, tally }: StoredState): boolean {
  if (state === 'running' || state === 'interrupted') return true;
  // A lost retry would leave as many rows, with the failures from before it.
  return state === 'finished' ? isDeepStrictEqual(found, tally) : found.rows >= tally.rows;
}
