import { randomUUID } from 'node:crypto';
import type { EventPayload, Handlers } from '../../contract/calls.ts';
import { done, failed, type Failure, type Outcome } from '../../contract/errors.ts';
import type { Plan, Preflight } from '../../contract/models/batch.ts';
import type { Connection } from '../../contract/models/connection.ts';
import { restoreText } from '../../contract/obscured.ts';
import type { Cleartext } from '../../util/cleartext.ts';
import type { BatchOptions } from '../options.ts';
import type { OwnTokens } from '../output/own-tokens.ts';
import { firstRows, tryRows } from '../output/try-rows.ts';
import { sha256Of } from '../../storage/byte-source.ts';
import { disclosedRows } from '../planning/disclosed.ts';
import { disclosingActs, reasonOf } from '../planning/disclosing-acts.ts';
import { fittingValues } from '../planning/inside-cells.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { caseOfCell } from '../planning/row-case.ts';
import {
  accountsOf,
  checkPlan,
  type Counted,
  type Draft,
  isMove,
  patternsOf,
  targetsOf,
} from '../planning/plan.ts';
import {
  countedOf,
  type ForeseenGuesses,
  type PreflightOptions,
  runPreflight,
  uncounted,
} from '../planning/preflight.ts';
import { firstColumns } from '../reading/columns.ts';
import { noticedRows, preview } from '../reading/preview.ts';
import { checkRecordEnd, type Format } from '../reading/read-rows.ts';
import { createSources, type OpenSource, type Sources } from '../reading/sources.ts';
import { createSpread } from '../running/brake.ts';
import { type BatchClient, clientFor } from '../running/moving-client.ts';
import { identifyRun, type RunIdentity } from '../running/run-identity.ts';

export type DraftCalls = Pick<
  Handlers<'batch'>,
  | 'batch.choose'
  | 'batch.drop'
  | 'batch.paste'
  | 'batch.sample'
  | 'batch.sheet'
  | 'batch.openEncrypted'
  | 'batch.stopOpening'
  | 'batch.preview'
  | 'batch.hash'
  | 'batch.noticedRows'
  | 'batch.preflight'
  | 'batch.testPattern'
  | 'batch.try'
>;

export interface Drafts {
  readonly calls: DraftCalls;
  /** A plan that may run. Failures: connection.none, file.*, plan.*, pattern.*. */
  check(sourceId: string, plan: Plan): Promise<Outcome<Draft>>;
  /** What a draft's batch is known by, where a command begins it with this mapping. Failures: file.*. */
  identify(draft: Draft, mapping: string): Promise<Outcome<RunIdentity>>;
  /** Refuses tokens that the app exported itself and that are to be tokenized. Failures: plan.tokens-again, file.*. */
  checkTokens(draft: Draft, mayBeTokens: boolean | undefined): Promise<Outcome<null>>;
  /** As preflight counted the source, or counted now. Failures: file.*, row.field-too-long. */
  count(draft: Draft): Promise<Outcome<Counted>>;
  /** A preflight to its end. Failures: those of `check` and `count`; service.cancelled once `signal` is aborted. */
  preflight(sourceId: string, plan: Plan, signal: AbortSignal): Promise<Outcome<Preflight>>;
  readonly sources: Omit<Sources, 'closeAll' | 'removeStale'>;
  /** Removes what processes that have ended left behind. */
  removeStale(): Promise<void>;
  close(): Promise<void>;
}

/** From a file or pasted rows to a plan that may run: sources and plans. */
export function createDrafts(options: BatchOptions & { readonly own: Pick<OwnTokens, 'columnsOf'> }): Drafts {
  const { clients, connections, parser, platform } = options;
  const sources = createSources(options);
  /** By source. */
  const preflights = new Map<string, AbortController>();
  /** What preflight counted. A source has one format for each reading. */
  const counted = new WeakMap<Format, Counted>();
  /** Where rows begin, as far as preflight came. */
  const spreads = new WeakMap<Format, ReturnType<typeof createSpread>>();

  async function check(sourceId: string, plan: Plan): Promise<Outcome<Draft>> {
    const connection = activeConnection();
    if (connection === null) return failed('connection.none');
    const opened = sources.find(sourceId);
    if (!opened.ok) return opened;
    const format = await sources.format(sourceId, plan.reading);
    if (!format.ok) return format;
    const work = checkPlan(plan, format.value.width, {
      connection,
      find: (id) => connections.find(id),
    });
    if (!work.ok) return work;
    const cases = await checkCases(opened.value, format.value, plan);
    if (!cases.ok) return cases;
    const whole = await checkRecordEnd(opened.value.bytes, format.value);
    if (!whole.ok) return whole;
    const patterns = patternsOf(work.value);
    if (patterns.length > 0 && options.managed.bulkMatch === false) return failed('pattern.forbidden');
    const checked = patterns.length === 0 ? done(null) : await parser.matchPatterns(patterns, []);
    if (!checked.ok && !(await isLeftToService(checked.failure, connection.id))) return checked;
    return done({
      opened: opened.value,
      format: format.value,
      work: work.value,
      connection,
      counted: counted.get(format.value) ?? null,
      starts: spreads.get(format.value)?.positions ?? [],
    });
  }

  /**
   * A case is in the log, and the list of a case tells whether a row has it: of a hidden column that would tell its values.
   * Failure: plan.case-column.
   */
  async function checkCases(
    { bytes }: Pick<OpenSource, 'bytes'>,
    format: Format,
    { caseColumn }: Pick<Plan, 'caseColumn'>,
  ): Promise<Outcome<null>> {
    if (caseColumn === undefined) return done(null);
    const columns = await firstColumns(bytes, format);
    return columns[caseColumn]?.masked === false
      ? done(null)
      : failed('plan.case-column', { column: String(caseColumn + 1) });
  }

  /** Whether the service checks expressions itself: its dialect may have what RE2 has not. */
  async function isLeftToService({ code }: Failure, connectionId: string): Promise<boolean> {
    if (code !== 'pattern.invalid' && code !== 'pattern.unsupported') return false;
    const client = await clients.for(connectionId);
    return client.ok && client.value.rules.expressions === 'service';
  }

  function activeConnection(): Connection | null {
    const active = connections.active();
    const found = active === null ? null : connections.find(active.connectionId);
    return found?.ok === true ? found.value : null;
  }

  async function checkWithClient(
    sourceId: string,
    plan: Plan,
  ): Promise<Outcome<{ draft: Draft; client: BatchClient }>> {
    const draft = await check(sourceId, plan);
    if (!draft.ok) return draft;
    const client = await clientFor(clients, draft.value.connection.id, draft.value.work);
    return client.ok ? done({ draft: draft.value, client: client.value }) : client;
  }

  /** Counts the whole source; the window gets the counts as events. A second count of a source replaces the first. */
  async function runWholePreflight(
    sourceId: string,
    { opened, format, work, connection }: Draft,
    { batchSize, rules }: Pick<BatchClient, 'batchSize' | 'rules'>,
    abort = new AbortController(),
  ): Promise<Outcome<Preflight>> {
    preflights.get(sourceId)?.abort();
    preflights.set(sourceId, abort);
    const report = (counts: EventPayload<'batch.preflight'>): void => {
      if (!abort.signal.aborted) platform.send('batch.preflight', counts);
    };
    const { requestsPerSecond, transfersPerDay } = connection;
    const rates = { batchSize, requestsPerSecond, transfersPerDay };
    const maxLength = rules.valueLength;
    const spread = createSpread();
    spreads.set(format, spread);
    const onChunk = spread.add;
    const { signal } = abort;
    const guesses = foreseeGuesses(work, connection);
    const targets = targetRates(work);
    const reading = { opened, format, work, rates, targets, maxLength, report, signal, onChunk, guesses };
    const found = await runPreflight(reading);
    if (preflights.get(sourceId) === abort) preflights.delete(sourceId);
    if (!found.ok) {
      report({ ...uncounted(sourceId), failure: found.failure });
      return found;
    }
    const { counts, crc } = found.value;
    if (counts.done) counted.set(format, countedOf(counts, crc));
    report(counts);
    return counts.done ? done(counts) : failed('service.cancelled');
  }

  async function preflight(sourceId: string, plan: Plan, signal: AbortSignal): Promise<Outcome<Preflight>> {
    const checked = await checkWithClient(sourceId, plan);
    if (!checked.ok) return checked;
    if (signal.aborted) return failed('service.cancelled');
    const abort = new AbortController();
    const end = (): void => {
      abort.abort();
    };
    signal.addEventListener('abort', end, { once: true });
    const { draft, client } = checked.value;
    const found = await runWholePreflight(sourceId, draft, client, abort);
    signal.removeEventListener('abort', end);
    return found;
  }

  const targetRates = (work: readonly ColumnWork[]): PreflightOptions['targets'] =>
    new Map(
      targetsOf(work).flatMap((id) => {
        const found = connections.find(id);
        return found.ok ? [[id, found.value] as const] : [];
      }),
    );

  /** By what is done with values that are tokenized. */
  const foreseeGuesses = async (
    work: readonly ColumnWork[],
    connection: Connection,
  ): Promise<ForeseenGuesses> =>
    new Map(
      await Promise.all(
        work
          .filter(({ plan }) => plan.operation === 'tokenize')
          .flatMap(({ values }) => values)
          .map(async (one) => {
            const { definition } = one.call;
            return [one, await options.guesses.foresee({ connection, definition })] as const;
          }),
      ),
    );

  async function count(draft: Draft): Promise<Outcome<Counted>> {
    if (draft.counted !== null) return done(draft.counted);
    const { opened, format, work, connection } = draft;
    const { requestsPerSecond, transfersPerDay } = connection;
    const read = await runPreflight({
      opened,
      format,
      work,
      rates: { batchSize: 1, requestsPerSecond, transfersPerDay },
      targets: new Map(),
      // Rows are counted, whatever their values.
      maxLength: Infinity,
      report: () => undefined,
      signal: new AbortController().signal,
      guesses: foreseeGuesses(work, connection),
    });
    if (!read.ok) return read;
    const { counts, crc } = read.value;
    const found = countedOf(counts, crc);
    counted.set(format, found);
    return done(found);
  }

  /** Of an open source the same answer again: a large file is read once for it. */
  const identified = new WeakMap<OpenSource, { readonly mapping: string; readonly run: RunIdentity }>();

  async function identify({ opened, connection }: Draft, mapping: string): Promise<Outcome<RunIdentity>> {
    const known = identified.get(opened);
    if (known?.mapping === mapping) {
      const unchanged = await opened.bytes.check();
      return unchanged.ok ? done(known.run) : unchanged;
    }
    const run = await identifyRun(opened, mapping, connection);
    if (run.ok) identified.set(opened, { mapping, run: run.value });
    return run;
  }

  async function checkTokens(
    { opened, format, work }: Draft,
    mayBeTokens: boolean | undefined,
  ): Promise<Outcome<null>> {
    if (mayBeTokens === true) return done(null);
    const tokenized = work.filter(({ plan }) => plan.operation === 'tokenize').map(({ plan }) => plan.column);
    const found = await options.own.columnsOf(opened.bytes, format, tokenized);
    if (!found.ok) return found;
    const [column] = found.value;
    return column === undefined ? done(null) : failed('plan.tokens-again', { column: String(column + 1) });
  }

  const calls: DraftCalls = {
    async 'batch.choose'() {
      const path = await platform.chooseFile('table');
      return path === null ? done(null) : sources.openPath(path);
    },
    async 'batch.drop'({ reference }) {
      const path = await platform.droppedFile(reference);
      return path === null ? failed('file.refused') : sources.openPath(path);
    },
    'batch.paste': ({ text }) => sources.openText(text),
    async 'batch.sample'() {
      const file = await options.sampleFile();
      return file.ok ? sources.openPath(file.value) : file;
    },
    'batch.openEncrypted': ({ passphrase }) => sources.openEncrypted(restoreText(passphrase)),
    'batch.sheet': ({ sourceId, sheet }) => sources.openSheet(sourceId, sheet),
    'batch.stopOpening'() {
      sources.stopOpening();
      return Promise.resolve(done({}));
    },
    async 'batch.preview'({ sourceId, reading, masked }) {
      const opened = sources.find(sourceId);
      if (!opened.ok) return opened;
      const format = await sources.format(sourceId, reading);
      return format.ok ? preview(opened.value, format.value, { masked, overrides: reading }) : format;
    },
    async 'batch.hash'({ sourceId }) {
      const opened = sources.find(sourceId);
      if (!opened.ok) return opened;
      const { bytes } = opened.value;
      const hash = await sha256Of(bytes);
      return hash.ok ? done({ bytes: bytes.identity.size, sha256: hash.value }) : hash;
    },
    async 'batch.noticedRows'({ sourceId, reading, masked, plan, notice: asked }) {
      const opened = sources.find(sourceId);
      if (!opened.ok) return opened;
      const format = await sources.format(sourceId, reading);
      if (!format.ok) return format;
      const checked = plan === null ? null : await checkWithClient(sourceId, plan);
      const { draft, client } = checked?.ok === true ? checked.value : { draft: null, client: null };
      const maxLength = client?.rules.valueLength ?? Infinity;
      const isUnfit = (cell: Cleartext, column: number): boolean => {
        const one = draft?.work.find(({ plan: planned }) => planned.column === column);
        return (
          one !== undefined && fittingValues(one, cell, { operation: one.plan.operation, maxLength }) === null
        );
      };
      const notice = { ...asked, column: asked.column === '' ? null : asked.column };
      const hasNoCase = (cell: Cleartext): boolean => !caseOfCell(cell).ok;
      return noticedRows(opened.value, format.value, { notice, masked, isUnfit, hasNoCase });
    },
    async 'batch.preflight'({ sourceId, plan }) {
      const checked = await checkWithClient(sourceId, plan);
      if (!checked.ok) return checked;
      const { draft, client } = checked.value;
      void runWholePreflight(sourceId, draft, client).catch(() => undefined);
      return done(uncounted(sourceId));
    },
    async 'batch.testPattern'({ pattern, samples, own }) {
      const texts = own === null ? samples : [...samples, restoreText(own)];
      const tried = await parser.matchPatterns([pattern], texts);
      if (!tried.ok) {
        const connection = activeConnection();
        const isLeft = connection !== null && (await isLeftToService(tried.failure, connection.id));
        return isLeft ? done({ matches: null, own: null }) : tried;
      }
      const matches = tried.value[0] ?? [];
      return done({
        matches: matches.slice(0, samples.length),
        own: own === null ? null : (matches.at(-1) ?? false),
      });
    },
    async 'batch.try'({ sourceId, plan, grounds, mayBeTokens }) {
      const checked = await checkWithClient(sourceId, plan);
      if (!checked.ok) return checked;
      const { draft, client } = checked.value;
      const meant = await checkTokens(draft, mayBeTokens);
      if (!meant.ok) return meant;
      const { opened, format, work } = draft;
      const columns = await firstColumns(opened.bytes, format);
      const masked = new Map(
        columns.flatMap((column) => (column.masked ? [[column.index, column.looksLike ?? 'text']] : [])),
      );
      const view = { width: format.width, work, masked };
      const jobId = randomUUID();
      const first = await firstRows(opened.bytes, format);
      if (!first.ok) return first;
      const chunk = first.value;
      if (chunk === null) return done({ total: 0, from: 0, rows: [] });
      const rows = chunk.table.count;
      const { name: connection, environment } = draft.connection;
      const guesses = Math.min(draft.counted?.guesses ?? 0, rows);
      const where = { jobId, connection, environment };
      const acts = disclosingActs({
        ...{ work, ...where, grounds, rows, guesses, confirmsRows: false },
        accounts: accountsOf(draft.connection.id, work, connections),
        columns: columns.map(({ name }) => name),
        caseColumn: plan.caseColumn,
        disclosed: (of) =>
          disclosedRows({
            ...{ ...of, words: [...of.words, 'the first rows, as a trial'] },
            ...{ name: opened.source.name, isFile: opened.copy === null },
            // It stays open for the window.
            open: () => Promise.resolve(done({ ...opened.bytes, close: () => Promise.resolve() })),
            exact: ['trial', draft.connection.id, plan],
          }),
      });
      return options.gate.openAll(acts, () => {
        const moves = work.filter(isMove).length;
        if (guesses > 0 || moves > 0) options.guesses.allow(jobId, guesses + rows * moves);
        return tryRows({ chunk, view, client, jobId, ...(acts.length > 0 && { reason: reasonOf(acts) }) });
      });
    },
  };

  return {
    calls,
    check,
    identify,
    checkTokens,
    count,
    preflight,
    sources,
    removeStale: () => sources.removeStale(),
    async close() {
      for (const preflight of preflights.values()) preflight.abort();
      await sources.closeAll();
    },
  };
}
