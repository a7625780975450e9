import { closeSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type * as Sqlite from 'node:sqlite';
import type { CallMetadata } from './dispatch.ts';
import type { Code } from './failures.ts';

export interface LoggedCall extends CallMetadata {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly requestId: string;
  readonly status: number;
  readonly code: Code | null;
}

interface FailedCall {
  readonly at: number;
  readonly requestId: string;
  readonly operation: string;
  readonly tokenName: string | null;
  readonly policy: string | null;
  readonly status: number;
  readonly code: string | null;
}

type Grouping = 'Day' | 'TokenDefinition' | 'Operation' | 'All';

interface MetricsRow {
  readonly day?: string;
  readonly tokenName?: string;
  readonly operation?: string;
  readonly requests: number;
  readonly succeeded: number;
  readonly failed: number;
  readonly transfers: number;
}

/** The calls of one account and tenant, for the reporting operations. Days are in UTC. */
export interface RequestLog {
  record(call: LoggedCall): void;
  /** `from` and `to` are days written YYYY-MM-DD, both included. */
  metrics(from: string, to: string, grouping: Grouping): MetricsRow[];
  /** The transfers of the last 24 hours, by client and minute, the oldest first. */
  transfers(): { readonly at: number; readonly client: string; readonly transfers: number }[];
  /** The newest first. */
  lastFailed(max: number): FailedCall[];
  close(): void;
}

interface RequestLogOptions {
  /** Where the file lives, readable by its owner alone; memory if absent. */
  readonly folder?: string | undefined;
  readonly accountId: string;
  readonly tenantId: string;
  readonly now: () => number;
}

const metricsDays = 400;
const failureDays = 90;
const maxFailures = 10_000;
/** Stands for "no token definition". No name can be the same. */
const noDefinition = '(none)';

const fileName = 'requests.sqlite';
/** SQLITE_CORRUPT and SQLITE_NOTADB. Other errors, like a lock, may be temporary. */
const damagedCodes = [11, 26];
const minuteMs = 60_000;
const dayMs = 1440 * minuteMs;
const flushCount = 5000;
const flushMs = 500;

const schema = `
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS metrics (
    account TEXT, tenant TEXT, day TEXT, operation TEXT, token_name TEXT,
    requests INTEGER, succeeded INTEGER, failed INTEGER, transfers INTEGER,
    PRIMARY KEY (account, tenant, day, operation, token_name)
  ) WITHOUT ROWID, STRICT;
  CREATE TABLE IF NOT EXISTS failures (
    id INTEGER PRIMARY KEY, account TEXT, tenant TEXT, at INTEGER, request_id TEXT,
    operation TEXT, token_name TEXT, policy TEXT, status INTEGER, code TEXT
  ) STRICT;
  CREATE TABLE IF NOT EXISTS transfers (
    account TEXT, tenant TEXT, minute INTEGER, client TEXT, transfers INTEGER,
    PRIMARY KEY (account, tenant, minute, client)
  ) WITHOUT ROWID, STRICT;
  CREATE INDEX IF NOT EXISTS failures_by_account ON failures (account, tenant, id);
`;

const groupColumns: Readonly<Record<Grouping, string>> = {
  Day: 'day',
  TokenDefinition: 'token_name AS tokenName',
  Operation: 'operation',
  All: 'day, token_name AS tokenName, operation',
};

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

function openFile(sqlite: typeof Sqlite, file: string): Sqlite.DatabaseSync {
  const database = new sqlite.DatabaseSync(file, { timeout: 2000 });
  try {
    database.exec(schema);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function openIn(sqlite: typeof Sqlite, folder: string): Sqlite.DatabaseSync {
  const file = join(folder, fileName);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  // SQLite gives its journal the mode of the database file.
  const touch = () => {
    closeSync(openSync(file, 'a', 0o600));
  };
  touch();
  try {
    return openFile(sqlite, file);
  } catch (error) {
    if (!damagedCodes.includes((error as { errcode?: number }).errcode ?? 0)) throw error;
    // The damaged file is kept for inspection; the service starts with an empty one.
    renameSync(file, `${file}.damaged`);
    for (const side of ['-wal', '-shm']) rmSync(file + side, { force: true });
    touch();
    return openFile(sqlite, file);
  }
}

/**
 * Opens the log; null where Node was built without SQLite, then there are no reports. Sums are kept for 400 days,
 * failures for 90 days and 10,000 of them at most. Calls are written in batches, and before any report is read; a
 * crash loses those of half a second at most.
 */
export function openRequestLog({ folder, accountId, tenantId, now }: RequestLogOptions): RequestLog | null {
  const sqlite = process.getBuiltinModule('node:sqlite') as typeof Sqlite | undefined;
  if (!sqlite) return null;
  const database = folder === undefined ? openFile(sqlite, ':memory:') : openIn(sqlite, folder);
  const account = [accountId, tenantId] as const;

  const addMetrics = database.prepare(`
    INSERT INTO metrics VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?)
    ON CONFLICT DO UPDATE SET requests = requests + 1, succeeded = succeeded + excluded.succeeded,
      failed = failed + excluded.failed, transfers = transfers + excluded.transfers`);
  const addFailure = database.prepare(
    'INSERT INTO failures (account, tenant, at, request_id, operation, token_name, policy, status, code) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  );
  const addTransfers = database.prepare(`
    INSERT INTO transfers VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET transfers = transfers + excluded.transfers`);
  const readFailures = database.prepare(`
    SELECT at, request_id AS requestId, operation, token_name AS tokenName, policy, status, code
    FROM failures WHERE account = ? AND tenant = ? ORDER BY id DESC LIMIT ?`);

  const deleteOld = () => {
    database.prepare('DELETE FROM metrics WHERE day < ?').run(dayOf(now() - metricsDays * dayMs));
    database.prepare('DELETE FROM transfers WHERE minute < ?').run(now() - dayMs - minuteMs);
    database.prepare('DELETE FROM failures WHERE at < ?').run(now() - failureDays * dayMs);
    database.prepare('DELETE FROM failures WHERE id <= (SELECT max(id) FROM failures) - ?').run(maxFailures);
  };
  deleteOld();

  const write = (call: LoggedCall) => {
    const { at, operation, clientId, tokenName, policy, status, code, requestId, transfers } = call;
    const succeeded = status < 400 ? 1 : 0;
    const counts = [succeeded, 1 - succeeded, succeeded * transfers] as const;
    addMetrics.run(...account, dayOf(at), operation, tokenName ?? noDefinition, ...counts);
    if (clientId !== null && transfers > 0) {
      addTransfers.run(...account, Math.floor(at / minuteMs) * minuteMs, clientId, transfers);
    }
    if (!succeeded) addFailure.run(...account, at, requestId, operation, tokenName, policy, status, code);
  };

  let pending: LoggedCall[] = [];
  let timer: NodeJS.Timeout | undefined;
  let lastDeletedDay = dayOf(now());

  const flush = () => {
    clearTimeout(timer);
    timer = undefined;
    const calls = pending;
    pending = [];
    if (calls.length === 0) return;
    try {
      database.exec('BEGIN');
      for (const call of calls) write(call);
      if (lastDeletedDay !== dayOf(now())) deleteOld();
      lastDeletedDay = dayOf(now());
      database.exec('COMMIT');
    } catch {
      // A full disk must not stop the service: these calls are missing from the reports.
      if (database.isTransaction) database.exec('ROLLBACK');
    }
  };

  return {
    record(call) {
      pending.push({ ...call });
      if (pending.length >= flushCount) flush();
      else timer ??= setTimeout(flush, flushMs).unref();
    },
    metrics(from, to, grouping) {
      flush();
      const columns = groupColumns[grouping];
      const names = columns.replaceAll(/\w+ AS /g, '');
      const rows = database
        .prepare(
          `SELECT ${columns}, sum(requests) AS requests, sum(succeeded) AS succeeded, sum(failed) AS failed,
            sum(transfers) AS transfers
          FROM metrics WHERE account = ? AND tenant = ? AND day BETWEEN ? AND ?
          GROUP BY ${names} ORDER BY ${names}`,
        )
        .all(...account, from, to);
      return rows as unknown as MetricsRow[];
    },
    transfers() {
      flush();
      const rows = database
        .prepare(
          `SELECT minute AS at, client, transfers FROM transfers
          WHERE account = ? AND tenant = ? AND minute >= ? ORDER BY minute`,
        )
        .all(...account, now() - dayMs - minuteMs);
      return rows as unknown as ReturnType<RequestLog['transfers']>;
    },
    lastFailed(max) {
      flush();
      return readFailures.all(...account, max) as unknown as FailedCall[];
    },
    close() {
      flush();
      database.close();
    },
  };
}
