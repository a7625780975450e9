import { shownName } from '../privacy/file-names.ts';
import type { Audit } from '../audit/audit.ts';
import type { CallInput, EventPayload, Handlers } from '../contract/calls.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { AuditEntry } from '../contract/models/activity.ts';
import type { Job } from '../contract/models/batch.ts';
import type { Story, StoryEntry } from '../contract/models/story.ts';
import type { Platform } from '../platform/platform.ts';
import { hashToken, type TokenHashes } from '../privacy/token-hashes.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { createRowWriter } from '../storage/csv.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import { createTurn } from '../util/turns.ts';
import { createBatchRecords, type BatchRecords, type FoundBatch } from './batch-records.ts';

type How = { readonly signal: AbortSignal; readonly report: (share: number) => void };

export interface StoryOptions {
  readonly audit: Pick<Audit, 'record' | 'story'>;
  readonly hashes: TokenHashes;
  /** Of the lookups of this run. */
  readonly tokenOf: (lookupId: string) => Promise<Outcome<string>>;
  readonly batches: {
    kept(): Promise<Outcome<Job[]>>;
    find(jobId: string): Promise<Outcome<Job>>;
    look(
      jobId: string,
      visit: (token: string, row: number, column: number) => void,
      how: How,
    ): Promise<Outcome<null>>;
    ofCell(cell: { jobId: string; row: number; column: number }): Promise<Outcome<string>>;
  };
  readonly platform: Pick<Platform, 'chooseTarget' | 'send'>;
  readonly folder: string;
  readonly actor: string;
  readonly now: () => Date;
  readonly records?: BatchRecords;
}

const maxLines = 2_000;
const maxBatches = 100;
const reportEveryMs = 200;
/** What looking through the batches that have no record yet is of the whole. */
const lookingShare = 0.8;

/**
 * Who touched a token on this workstation: the lines of the log that have its keyed hash, the batches that had it in a row,
 * and what became of their results. Looking at it is an act of the log too.
 */
export interface Stories {
  readonly calls: Handlers<'story'>;
  start(): Promise<void>;
  /** A batch has come to an end: its tokens are recorded in the background, while its source is there. */
  ended(jobId: string): void;
  /** A batch is about to be removed. Answers once its tokens are recorded, as far as they can be. */
  removing(jobId: string): Promise<void>;
  /** Rows of a batch are about to be replaced. Answers once its tokens are recorded for good, as far as they can be. */
  mending(jobId: string): Promise<void>;
  close(): Promise<void>;
}

export function createStories(options: StoryOptions): Stories {
  const { audit, hashes, batches, platform } = options;
  const records = options.records ?? createBatchRecords(options);
  /** One batch is recorded at a time. */
  const inTurn = createSerialQueue();
  const closing = new AbortController();
  let running: AbortController | null = null;
  let last: Story | null = null;

  /** Nothing is done where the record is of the batch as it is now. */
  function record(job: Job, how: How, staysAsItIs = false): Promise<Outcome<null>> {
    return inTurn(async () => {
      if (how.signal.aborted) return failed('service.cancelled');
      const isThere = await records.isThere(job);
      if (!isThere.ok) return isThere;
      if (isThere.value) return done(null);
      return records.write(job, (visit) => batches.look(job.jobId, visit, how), staysAsItIs);
    });
  }

  async function recordInBackground(jobId: string): Promise<void> {
    if (!hashes.isOn || closing.signal.aborted) return;
    const job = await batches.find(jobId);
    if (job.ok) await record(job.value, { signal: closing.signal, report: () => undefined });
  }

  function createReport(): (share: number) => void {
    let reportedAt = performance.now();
    return (share) => {
      const at = performance.now();
      if (at - reportedAt < reportEveryMs) return;
      reportedAt = at;
      const progress: EventPayload<'story.progress'> = { share: Math.min(1, share) };
      platform.send('story.progress', progress);
    };
  }

  async function find(token: string, signal: AbortSignal): Promise<Outcome<Story>> {
    const report = createReport();
    const keys = await hashes.all();
    if (!keys.ok) return keys;
    const kept = await batches.kept();
    if (!kept.ok) return kept;
    const turn = createTurn();
    for (const [at, job] of kept.value.entries()) {
      const shareOf = (share: number) => (lookingShare * (at + share)) / kept.value.length;
      if (turn.isOver()) await turn.next();
      const recorded = await record(job, { signal, report: (share) => report(shareOf(share)) }, true);
      if (!recorded.ok) return recorded;
    }
    const found = await records.find(token, {
      signal,
      report: (share) => report(lookingShare + (share * (1 - lookingShare)) / 2),
    });
    if (!found.ok) return found;
    const having = found.value.filter((batch) => batch.found.length > 0);
    const lines = await audit.story(
      {
        tokens: keys.value.map((key) => hashToken(key, token)),
        jobs: having.map(({ head }) => head.jobId),
        limit: maxLines,
      },
      { signal, report: (share) => report((1 + lookingShare + share * (1 - lookingShare)) / 2) },
    );
    if (!lines.ok) return lines;
    if (signal.aborted) return failed('service.cancelled');
    const isKept = new Set(kept.value.map(({ jobId }) => jobId));
    const entries: StoryEntry[] = [
      ...actsOf(lines.value).map((entry): StoryEntry => ({ kind: 'act', at: entry.at, entry })),
      ...having.map((batch) => entryOf(batch, isKept)),
    ];
    return done({
      entries: entries.sort((a, b) => (a.at < b.at ? 1 : -1)),
      isCut: lines.value.length >= maxLines || having.length > maxBatches,
      since: await records.since(),
      uncovered: found.value
        .flatMap(({ head: { jobId, name, startedAt, failure } }) =>
          failure === null ? [] : [{ jobId, name, startedAt, code: failure }],
        )
        .slice(0, maxBatches),
    });
  }

  function tokenOf({ of }: CallInput<'story.look'>): Promise<Outcome<string>> {
    return of.in === 'lookup' ? options.tokenOf(of.lookupId) : batches.ofCell(of);
  }

  const calls: Handlers<'story'> = {
    async 'story.look'(query) {
      if (!hashes.isOn) return failed('settings.managed', { subject: 'tokenStory' });
      const token = await tokenOf(query);
      if (!token.ok) return token;
      const tokens = await hashes.of(token.value);
      if (!tokens.ok) return tokens;
      running?.abort();
      const abort = new AbortController();
      running = abort;
      const { caseReference } = query;
      try {
        const act = { action: 'TokenStory', cleartext: false, tokens: tokens.value, caseReference };
        return await audit.record(act, async (add) => {
          const found = await find(token.value, abort.signal);
          if (found.ok) add({ note: `${found.value.entries.length} acts` });
          last = found.ok ? found.value : null;
          return found;
        });
      } finally {
        if (running === abort) running = null;
      }
    },
    async 'story.save'() {
      const saved = last;
      if (saved === null) return failed('call.refused');
      const target = await platform.chooseTarget({ name: 'story.csv', beside: null });
      if (target === null) return done(null);
      const name = shownName(target);
      return audit.record({ action: 'SaveStory', cleartext: false, note: name }, async (add) => {
        add({ rows: saved.entries.length });
        const written = await writeFileAtomically(target, storyCsv(saved));
        return written.ok ? done({ name }) : written;
      });
    },
    'story.stop'() {
      running?.abort();
      return Promise.resolve(done({}));
    },
  };

  return {
    calls,
    async start() {
      if (!hashes.isOn) await hashes.forget();
      await records.start();
    },
    ended: (jobId) => void recordInBackground(jobId).catch(() => undefined),
    removing: (jobId) => recordInBackground(jobId).catch(() => undefined),
    async mending(jobId) {
      await recordInBackground(jobId).catch(() => undefined);
      if (hashes.isOn) await inTurn(() => records.keep(jobId)).catch(() => undefined);
    },
    async close() {
      closing.abort();
      running?.abort();
      await inTurn(() => Promise.resolve());
    },
  };
}

/** Each act once; the look that asks is not over yet. */
function actsOf(lines: readonly AuditEntry[]): AuditEntry[] {
  const ended = new Set(lines.map(({ of }) => of));
  return lines.filter(
    ({ phase, sequence, action }) => phase !== 'begun' || (!ended.has(sequence) && action !== 'TokenStory'),
  );
}

function entryOf({ head, found }: FoundBatch, isKept: ReadonlySet<string>): StoryEntry {
  const { jobId, name, actor, connection, environment, startedAt, columns } = head;
  return {
    kind: 'batch',
    at: startedAt,
    jobId,
    name: name.slice(0, 300),
    actor,
    connection,
    environment,
    isKept: isKept.has(jobId),
    columns: found.flatMap(({ column, rows, first }) => {
      const planned = columns[column];
      return planned === undefined ? [] : [{ ...planned, rows, first }];
    }),
  };
}

const csvHead = [
  ...['time', 'person', 'act', 'outcome', 'connection', 'environment', 'policy', 'definition'],
  ...['reason', 'case', 'batch', 'file', 'column', 'rows', 'first_rows', 'request', 'code', 'note'],
];

/** A line an act, and one for each column of a batch. It holds no token and no value. */
function storyCsv({ entries }: Pick<Story, 'entries'>): string {
  const writer = createRowWriter({ delimiter: ',', newline: '\r\n', spreadsheet: true });
  const lines = entries.flatMap((one) => {
    if (one.kind === 'act') {
      const { at, entry: act } = one;
      return [
        [
          ...[
            at,
            act.actor,
            act.action,
            act.phase,
            act.connection,
            act.environment,
            act.policy,
            act.definition,
          ],
          ...[
            act.reason,
            act.caseReference,
            act.job,
            '',
            '',
            act.rows,
            '',
            act.requestId,
            act.code,
            act.note,
          ],
        ],
      ];
    }
    const { at, actor, connection, environment, jobId, name } = one;
    return one.columns.map(({ name: column, operation, policy, definition, rows, first }) => [
      ...[at, actor, `batch: ${operation}`, 'ok', connection, environment, policy, definition],
      ...['', '', jobId, name, column, rows, first.join(' '), '', '', ''],
    ]);
  });
  return [csvHead, ...lines].map((line) => writer.line(line.map((cell) => String(cell ?? '')))).join('');
}
