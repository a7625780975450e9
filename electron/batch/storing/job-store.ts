import { isDeepStrictEqual } from 'node:util';
import { done, failed, type FailureCode, type Outcome } from '../../contract/errors.ts';
import type { Tally } from '../../contract/models/batch.ts';
import { createRecordCipher, type RecordCipher } from '../../storage/encryption.ts';
import type { Keychain } from '../../storage/keychain.ts';
import type { ChunkRange } from './journal.ts';
import { keyAccount, type JobSpec, type StoredState } from './job-files.ts';
import { readMendedRows, writeMendedRows, type MendedRows, type StoredMendedRows } from './mended-rows.ts';
import { indexOfRow, openResultStore, type ResultStore } from './result-store.ts';

/** The result store of a job, open at most once, and what a person corrected in its rows. */
export interface JobStore {
  /** Null while it is closed. */
  readonly store: ResultStore | null;
  /** Of all files of the job. Failures: keychain.*; none once it was had. */
  cipher(): Promise<Outcome<RecordCipher>>;
  /** Failures: job.elsewhere, job.damaged, keychain.*, file.unwritable; what `refuse` was told. */
  openStore(): Promise<Outcome<ResultStore>>;
  /** What a person corrected so far. Failures: job.damaged, keychain.*; what `refuse` was told. */
  readMended(): Promise<Outcome<MendedRows>>;
  /** Whole or not at all. The store must be open. Failures: file.disk-full, file.unwritable, keychain.*. */
  writeMended(mended: MendedRows): Promise<Outcome<null>>;
  /** The results of these rows are stored: of those that were corrected none is pending any more. */
  markSent(range: ChunkRange): void;
  /** From now on nothing is opened; a store that is being opened is waited for. Whoever reads gets this failure after `release`. */
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
  let mended: (MendedRows & { readonly pending: Set<number> }) | null = null;

  let known: RecordCipher | null = null;

  async function cipher(): Promise<Outcome<RecordCipher>> {
    if (known !== null) return done(known);
    const key = await keychain.key(keyAccount);
    if (!key.ok) return key;
    known = createRecordCipher(key.value, jobId);
    return done(known);
  }

  async function open(): Promise<Outcome<ResultStore>> {
    if (refused !== null) return failed(refused);
    const ciphering = await cipher();
    if (!ciphering.ok) return ciphering;
    const opened = await openResultStore(folder, ciphering.value);
    if (!opened.ok) return opened;
    if (!hasExpectedRows(opened.value.tally, stored())) {
      await opened.value.close('job.damaged');
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

  async function writeMended(next: MendedRows): Promise<Outcome<null>> {
    const ciphering = await cipher();
    if (!ciphering.ok) return ciphering;
    if (store === null) throw new Error('the store is closed');
    const written = await writeMendedRows(folder, ciphering.value, { ...next, sentFrom: endOf(store) });
    if (written.ok) mended = { ...next, pending: new Set(next.pending) };
    return written;
  }

  /** Without those that were sent since: another process may have been killed then. */
  async function stillPending({ pending, sentFrom }: StoredMendedRows): Promise<Set<number>> {
    const opened = pending.size > 0 ? await openStore() : null;
    if (opened?.ok !== true) return new Set(pending);
    const { entries } = opened.value;
    return new Set(
      [...pending].filter((row) => (entries[indexOfRow({ entries }, row)]?.offset ?? 0) < sentFrom),
    );
  }

  return {
    get store() {
      return store;
    },
    cipher,
    openStore,
    async readMended() {
      if (refused !== null) return failed(refused);
      if (mended !== null) return done(mended);
      const ciphering = await cipher();
      if (!ciphering.ok) return ciphering;
      const read = await readMendedRows(folder, ciphering.value);
      if (!read.ok) return read;
      const { rows, typed } = read.value;
      mended = { rows, typed, pending: await stillPending(read.value) };
      return done(mended);
    },
    writeMended,
    markSent({ start, end }) {
      for (let row = start.row; mended !== null && row < end.row; row++) mended.pending.delete(row);
    },
    async refuse(code) {
      refused = code;
      await opening;
    },
    async release() {
      const open = store;
      store = null;
      await open?.close(refused ?? 'job.busy');
    },
  };
}

/** Everything counted when a run ended was synced: only a run that was cut off may have lost some. */
function hasExpectedRows(found: Tally, { state, tally }: StoredState): boolean {
  if (state === 'running' || state === 'interrupted') return true;
  // A lost retry would leave as many rows, with the failures from before it.
  return state === 'finished' ? isDeepStrictEqual(found, tally) : found.rows >= tally.rows;
}

/** Results that are stored from now on lie behind this. */
const endOf = ({ entries }: Pick<ResultStore, 'entries'>): number =>
  entries.reduce((end, { offset, length }) => Math.max(end, offset + length), 0);
