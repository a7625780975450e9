import { isDeepStrictEqual } from 'node:util';
import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { Tally } from '../../contract/models/batch.ts';
import { sameIdentity, type ByteSource, type Identity } from '../../storage/byte-source.ts';
import { createRecordCipher, type RecordCipher } from '../../storage/encryption.ts';
import type { BatchOptions } from '../options.ts';
import { keyAccount, type JobSpec, type StoredState } from '../storing/job-files.ts';
import { openResultStore, type ResultStore } from '../storing/result-store.ts';
import { readMendedRows, writeMendedRows, type MendedRows } from '../storing/mended-rows.ts';
import { hasBytesOf, openJobSource, type JobSource } from './job-source.ts';

/** The result store of a job, open at most once, and the source its results are for. */
export interface JobStore {
  /** Null while it is closed. */
  readonly store: ResultStore | null;
  /** Failures: job.elsewhere, job.damaged, keychain.*, file.unwritable; what `refuse` was told. */
  openStore(): Promise<Outcome<ResultStore>>;
  /**
   * The source as it was when the job began. A file that was written since counts as that source where its bytes are the
   * same. Failures: job.source-gone, file.changed, file.unreadable, job.damaged.
   */
  openSource(): Promise<Outcome<JobSource>>;
  /** What a person corrected so far. Failures: job.damaged, keychain.*. */
  readMended(): Promise<Outcome<MendedRows>>;
  /** Failures: file.disk-full, file.unwritable, keychain.*. */
  writeMended(mended: MendedRows): Promise<Outcome<null>>;
  /** From now on the store is not opened; one that is being opened is waited for. */
  refuse(code: FailureCode): Promise<void>;
  /** Closes the store. */
  release(): Promise<void>;
}

export interface JobStoreOptions {
  readonly keychain: BatchOptions['keychain'];
  readonly folder: string;
  readonly spec: () => JobSpec;
  readonly stored: () => StoredState;
}

export function createJobStore({ keychain, folder, spec, stored }: JobStoreOptions): JobStore {
  let store: ResultStore | null = null;
  let opening: Promise<Outcome<ResultStore>> | null = null;
  let refused: FailureCode | null = null;
  /** The file that was last found to have the source's bytes, though it was written since. */
  let sameSource: Identity | null = null;
  /** Null until read. */
  let mended: MendedRows | null = null;

  async function cipher(): Promise<Outcome<RecordCipher>> {
    const key = await keychain.key(keyAccount);
    return key.ok ? done(createRecordCipher(key.value, spec().jobId)) : key;
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

  async function isSame(source: ByteSource): Promise<boolean> {
    if (sameSource !== null && sameIdentity(source.identity, sameSource)) return true;
    const opened = await openStore();
    if (!opened.ok || !(await hasBytesOf(source, spec(), opened.value))) return false;
    sameSource = source.identity;
    return true;
  }

  async function readMended(): Promise<Outcome<MendedRows>> {
    if (mended !== null) return done(mended);
    const ciphering = await cipher();
    if (!ciphering.ok) return ciphering;
    const read = await readMendedRows(folder, ciphering.value);
    if (read.ok) mended = read.value;
    return read;
  }

  return {
    get store() {
      return store;
    },
    openStore,
    async openSource() {
      const corrected = await readMended();
      if (!corrected.ok) return corrected;
      const opened = await openJobSource(keychain, folder, spec(), isSame);
      return opened.ok ? done({ ...opened.value, mended: corrected.value.rows }) : opened;
    },
    readMended,
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
