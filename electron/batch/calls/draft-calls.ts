import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Plan, Source } from '../../contract/models/batch.ts';
import { restoreText } from '../../contract/obscured.ts';
import type { Batch, BatchParts } from '../batch.ts';
import { tryRows } from '../output/try-rows.ts';
import { checkPlan, type Draft, tryPattern } from '../planning/plan.ts';
import { runPreflight, uncounted } from '../planning/preflight.ts';
import { firstColumns, preview } from '../reading/preview.ts';
import { createSources } from '../reading/sources.ts';

export interface Drafts {
  /** Failures: connection.none, file.*, plan.*, pattern.*. */
  ready(sourceId: string, plan: Plan): Promise<Outcome<Draft>>;
  /** Removes what processes that ended left of theirs. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

type Calls = Pick<
  Batch,
  | 'batch.choose'
  | 'batch.drop'
  | 'batch.paste'
  | 'batch.sample'
  | 'batch.sheet'
  | 'batch.stopOpening'
  | 'batch.preview'
  | 'batch.preflight'
  | 'batch.testPattern'
  | 'batch.try'
>;

const totalKey = (sourceId: string, { reading }: Plan): string => `${sourceId} ${JSON.stringify(reading)}`;

/** From a file or pasted rows to a plan that may run. */
export function createDraftCalls(parts: BatchParts): { drafts: Drafts; calls: Calls } {
  const sources = createSources(parts);
  const preflights = new Map<string, AbortController>();
  const totals = new Map<string, number>();

  async function ready(sourceId: string, plan: Plan): Promise<Outcome<Draft>> {
    const active = parts.active();
    if (active === null) return failed('connection.none');
    const opened = sources.find(sourceId);
    if (!opened.ok) return opened;
    const format = await sources.format(sourceId, plan.reading);
    if (!format.ok) return format;
    const work = checkPlan(plan, format.value.width, active.connection);
    if (!work.ok) return work;
    return done({
      opened: opened.value,
      format: format.value,
      work: work.value,
      connection: active.connection,
      total: totals.get(totalKey(sourceId, plan)) ?? null,
    });
  }

  const calls: Calls = {
    async 'batch.choose'() {
      const path = await parts.platform.chooseFile('table');
      return path === null ? done(null) : sources.openPath(path);
    },
    async 'batch.drop'({ reference }) {
      const path = await parts.platform.droppedFile(reference);
      return path === null ? failed('file.unknown') : sources.openPath(path);
    },
    'batch.paste': ({ text }): Promise<Outcome<Source>> => sources.openText(text),
    async 'batch.sample'() {
      const file = await parts.sampleFile();
      return file.ok ? sources.openPath(file.value) : file;
    },
    'batch.sheet': ({ sourceId, sheet }) => sources.openSheet(sourceId, sheet),
    'batch.stopOpening'() {
      sources.stopOpening();
      return Promise.resolve(done({}));
    },
    async 'batch.preview'({ sourceId, reading, masked }) {
      const opened = sources.find(sourceId);
      if (!opened.ok) return opened;
      const format = await sources.format(sourceId, reading);
      if (!format.ok) return format;
      return preview(opened.value, format.value, masked);
    },
    async 'batch.preflight'({ sourceId, plan }) {
      const at = await ready(sourceId, plan);
      if (!at.ok) return at;
      const { opened, format, work, connection } = at.value;
      const client = await parts.clientFor(connection.id);
      if (!client.ok) return client;
      const rates = {
        batchSize: client.value.batchSize,
        requestsPerSecond: connection.requestsPerSecond,
        transfersPerDay: connection.transfersPerDay,
      };
      preflights.get(sourceId)?.abort();
      const abort = new AbortController();
      preflights.set(sourceId, abort);
      const report = (counts: Parameters<typeof parts.emit<'batch.preflight'>>[1]): void => {
        if (!abort.signal.aborted) parts.emit('batch.preflight', counts);
      };
      const counting = runPreflight(opened, format, work, rates, report, abort.signal);
      void counting.then(
        (outcome) => {
          if (!outcome.ok) return;
          if (outcome.value.done) totals.set(totalKey(sourceId, plan), outcome.value.rows);
          report(outcome.value);
        },
        () => undefined,
      );
      return done(uncounted(sourceId));
    },
    'batch.testPattern'({ pattern, samples, own }) {
      const tried = tryPattern(pattern, own === null ? samples : [...samples, restoreText(own)]);
      if (!tried.ok) return Promise.resolve(tried);
      const matches = tried.value.slice(0, samples.length);
      return Promise.resolve(done({ matches, own: own === null ? null : (tried.value.at(-1) ?? false) }));
    },
    async 'batch.try'({ sourceId, plan }) {
      const at = await ready(sourceId, plan);
      if (!at.ok) return at;
      const { opened, format, work, connection } = at.value;
      const client = await parts.clientFor(connection.id);
      if (!client.ok) return client;
      const columns = await firstColumns(opened.bytes, format);
      const masked = new Map(
        columns.flatMap((one) => (one.masked ? [[one.index, one.looksLike ?? 'text']] : [])),
      );
      const view = { width: format.width, work, masked };
      return tryRows(opened.bytes, format, work, client.value, parts.newId(), view);
    },
  };

  const drafts: Drafts = {
    ready,
    sweep: () => sources.sweep(),
    async close() {
      for (const preflight of preflights.values()) preflight.abort();
      await sources.close();
    },
  };
  return { drafts, calls };
}

type MappingCalls = Pick<Batch, 'batch.mappings' | 'batch.saveMapping' | 'batch.removeMapping'>;

/** Mappings kept by name. */
export function createMappingCalls({
  mappings,
  newId,
}: Pick<BatchParts, 'mappings' | 'newId'>): MappingCalls {
  return {
    'batch.mappings': () => Promise.resolve(done([...mappings.load()])),
    async 'batch.saveMapping'({ name, columns }) {
      const id = newId();
      // A mapping saved under a name that is there takes its place.
      const others = mappings.load().filter((one) => one.name !== name);
      await mappings.save([...others, { id, name, columns }]);
      return done({ id });
    },
    async 'batch.removeMapping'({ id }) {
      await mappings.save(mappings.load().filter((one) => one.id !== id));
      return done({});
    },
  };
}
