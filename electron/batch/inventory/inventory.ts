import { shownName } from '../../privacy/file-names.ts';
import path from 'node:path';
import type { EventPayload, Handlers } from '../../contract/calls.ts';
import { done, failed, type Failure, type Outcome } from '../../contract/errors.ts';
import type { Plan, Source } from '../../contract/models/batch.ts';
import { valueKinds } from '../../contract/value-kinds.ts';
import type { Inventory, InventoryFile, inventorySource } from '../../contract/models/inventory.ts';
import { maskNumbers } from '../../masking/masking.ts';
import { writeFileAtomically } from '../../storage/atomic-file.ts';
import type { BatchOptions } from '../options.ts';
import type { OwnTokens } from '../output/own-tokens.ts';
import type { ColumnWork } from '../planning/column-work.ts';
import { readingOf } from '../reading/layout.ts';
import type { Sources } from '../reading/sources.ts';
import type { z } from 'zod';
import { filesBelow, type NamedFile } from './files-below.ts';
import { lookThrough, noneFound } from './look-through.ts';
import { inventoryCsv, inventoryPage } from './saved-inventory.ts';

interface Planned {
  readonly work: readonly ColumnWork[];
  readonly maxLength: number;
}

export interface InventoryOptions extends Pick<BatchOptions, 'audit' | 'clock'> {
  readonly platform: Pick<
    BatchOptions['platform'],
    'chooseFiles' | 'chooseFolder' | 'chooseTarget' | 'droppedFile' | 'droppedFolder' | 'send'
  >;
  readonly sources: Pick<Sources, 'find' | 'format' | 'openPath' | 'openSheet' | 'close'>;
  readonly own: Pick<OwnTokens, 'columnsOf'>;
  /** The files of a queue. Failure: queue.unknown. */
  readonly queued: (queueId: string) => Outcome<NamedFile[]>;
  /** Failures: those of a plan that can't be run. */
  readonly check: (sourceId: string, plan: Plan) => Promise<Outcome<Planned>>;
}

const reportEveryMs = 200;
const maxFiles = 1_000;
const nothingPlanned: Planned = { work: [], maxLength: Infinity };

/**
 * What is in files, before anything is sent: by column, how many cells are and contain what the masks hide, and where the first
 * ones stand. The window learns counts and numbers of rows; nothing is sent, and no value is in any answer, log or file.
 */
export function createInventory(options: InventoryOptions) {
  const { audit, clock, platform, sources } = options;
  let running: AbortController | null = null;
  let last: Inventory | null = null;
  /** Of what was looked through last. */
  let paths: readonly string[] = [];

  async function lookAtSource(
    sourceId: string,
    asked: {
      readonly reading: AskedOpen['reading'];
      readonly plan: Plan['columns'];
    },
    { signal, report }: { readonly signal: AbortSignal; readonly report: Report },
  ): Promise<Outcome<Omit<InventoryFile, 'name' | 'sheet'>>> {
    const found = sources.find(sourceId);
    if (!found.ok) return found;
    const chosen = await sources.format(sourceId, asked.reading);
    if (!chosen.ok) return chosen;
    // By counts under a reading that divides hidden values they could be guessed: then main's own one is counted.
    const isHidden = chosen.value.hidesAll === true;
    const format = isHidden ? await sources.format(sourceId, {}) : chosen;
    if (!format.ok) return format;
    const isPlanned = asked.plan.length > 0 && !isHidden;
    const planned = isPlanned
      ? await options.check(sourceId, { reading: readingOf(format.value), columns: asked.plan })
      : done(nothingPlanned);
    if (!planned.ok) return planned;
    const { bytes } = found.value;
    const all = Array.from({ length: format.value.width }, (_, column) => column);
    const ownTokens = await options.own.columnsOf(bytes, format.value, all);
    if (!ownTokens.ok) return ownTokens;
    const given = { bytes, format: format.value, ownTokens: ownTokens.value, signal, report };
    const counted = await lookThrough({ ...given, ...planned.value });
    return counted.ok ? done({ ...counted.value, ownReading: isHidden }) : counted;
  }

  /** The file and, of a workbook, each of its sheets. */
  async function lookAtFile(
    { path: file, name, failure }: NamedFile,
    { signal, report }: { readonly signal: AbortSignal; readonly report: Report },
  ): Promise<InventoryFile[]> {
    const shown = maskNumbers(name.slice(0, 1_000).toWellFormed()).slice(0, 1_000);
    if (failure !== undefined) return [unread(shown, null, failure)];
    const opened = await sources.openPath(file, { signal });
    if (!opened.ok) return [unread(shown, null, opened.failure)];
    const looked: InventoryFile[] = [];
    const { sheet } = opened.value;
    const others = (sheet?.all ?? []).filter((one) => one.name !== sheet?.name && one.rows !== 0);
    const look = async ({ sourceId, sheet: own }: Source, close: boolean): Promise<void> => {
      const counted = await lookAtSource(sourceId, { reading: {}, plan: [] }, { signal, report });
      if (close) sources.close(sourceId);
      const title = own?.name ?? null;
      looked.push(
        counted.ok ? { name: shown, sheet: title, ...counted.value } : unread(shown, title, counted.failure),
      );
    };
    await look(opened.value, false);
    for (const other of others) {
      if (signal.aborted) break;
      const next = await sources.openSheet(opened.value.sourceId, other.name, { signal });
      if (next.ok) await look(next.value, true);
      else looked.push(unread(shown, other.name, next.failure));
    }
    sources.close(opened.value.sourceId);
    return looked;
  }

  /** Null where the person changed their mind. */
  async function rootsOf(asked: Exclude<AskedFiles, { of: 'queue' }>): Promise<Outcome<string[] | null>> {
    if (asked.of === 'files') return done(await platform.chooseFiles('table'));
    if (asked.of === 'folder') {
      const folder = await platform.chooseFolder(null);
      return done(folder === null ? null : [folder]);
    }
    const roots: string[] = [];
    for (const reference of asked.references) {
      const folder = await platform.droppedFolder(reference);
      // A window that is not the app's could name any folder, and would learn what its files are called.
      const root =
        folder === null ? await platform.droppedFile(reference) : await platform.chooseFolder(folder);
      if (root === null) return folder === null ? failed('file.refused') : done(null);
      roots.push(root);
    }
    return done(roots);
  }

  async function filesOf(asked: AskedFiles): Promise<Outcome<NamedFile[] | null>> {
    if (asked.of === 'queue') return options.queued(asked.queueId);
    const chosen = await rootsOf(asked);
    if (!chosen.ok) return chosen;
    const roots = chosen.value;
    if (roots === null) return done(null);
    const files: NamedFile[] = [];
    for (const root of roots) {
      const below = await filesBelow(root);
      // It is named among the others when it is opened.
      files.push(...(below.ok ? below.value : [{ path: root, name: path.basename(root) }]));
    }
    const subject = maskNumbers(path.basename(roots[0] ?? '')).slice(0, 300);
    return files.length === 0 ? failed('file.empty', { subject }) : done(files);
  }

  /** Sends how far all of them are, now and then. */
  function createReport(count: number) {
    let reportedAt = performance.now();
    let before = 0;
    return {
      of:
        (at: number, file: string): Report =>
        (share, rows) => {
          const now = performance.now();
          if (now - reportedAt < reportEveryMs) return;
          reportedAt = now;
          const progress: EventPayload<'inventory.progress'> = {
            share: Math.min(1, (at + share) / count),
            rows: before + rows,
            file: maskNumbers(file).slice(0, 1_000),
          };
          platform.send('inventory.progress', progress);
        },
      add(rows: number): void {
        before += rows;
      },
    };
  }

  async function lookAtFiles(files: readonly NamedFile[], signal: AbortSignal): Promise<Outcome<Inventory>> {
    const looked: InventoryFile[] = [];
    const some = files.slice(0, maxFiles);
    const report = createReport(some.length);
    for (const [at, file] of some.entries()) {
      const own = await lookAtFile(file, { signal, report: report.of(at, file.name) });
      if (signal.aborted) return failed('service.cancelled');
      for (const { rows } of own) report.add(rows);
      looked.push(...own);
    }
    return done({ files: looked, more: files.length - some.length });
  }

  async function lookAtOpen(
    { sourceId, reading, plan }: AskedOpen,
    signal: AbortSignal,
  ): Promise<Outcome<Inventory>> {
    const found = sources.find(sourceId);
    if (!found.ok) return found;
    const { name, sheet } = found.value.source;
    const report = createReport(1).of(0, name);
    const counted = await lookAtSource(sourceId, { reading, plan }, { signal, report });
    if (!counted.ok) return counted;
    return done({ files: [{ name, sheet: sheet?.name ?? null, ...counted.value }], more: 0 });
  }

  async function look(asked: AskedOpen | AskedFiles): Promise<Outcome<Inventory | null>> {
    running?.abort();
    const abort = new AbortController();
    running = abort;
    try {
      const files = asked.of === 'source' ? null : await filesOf(asked);
      if (files !== null && !files.ok) return files;
      if (files?.value === null) return done(null);
      const names =
        asked.of === 'source'
          ? [nameOf(sources.find(asked.sourceId))]
          : (files?.value ?? []).map(({ name }) => name);
      const note = noteOf(names);
      paths = (files?.value ?? []).map((file) => file.path);
      return await audit.record({ action: 'LookThroughFiles', cleartext: false, note }, async (add) => {
        const looked =
          asked.of === 'source'
            ? await lookAtOpen(asked, abort.signal)
            : await lookAtFiles(files?.value ?? [], abort.signal);
        if (!looked.ok) return looked;
        if (!addsUp(looked.value)) return failed('job.sum');
        last = looked.value;
        add({ rows: looked.value.files.reduce((sum, { rows }) => sum + rows, 0) });
        return looked;
      });
    } finally {
      if (running === abort) running = null;
    }
  }

  const calls: Handlers<'inventory'> = {
    'inventory.look': ({ source }) => look(source),
    'inventory.drop': ({ references }) => look({ of: 'dropped', references }),
    async 'inventory.save'({ form }) {
      const saved = last;
      if (saved === null) return failed('inventory.none');
      const target = await platform.chooseTarget({ name: `inventory.${form}`, beside: null });
      if (target === null) return done(null);
      const text = form === 'csv' ? inventoryCsv(saved) : inventoryPage(saved, new Date(clock.now()));
      const name = shownName(target);
      return audit.record({ action: 'SaveInventory', cleartext: false, note: name }, async () => {
        const written = await writeFileAtomically(target, text);
        return written.ok ? done({ name }) : written;
      });
    },
    'inventory.stop'() {
      running?.abort();
      return Promise.resolve(done({}));
    },
  };
  return {
    calls,
    paths: (): readonly string[] => paths,
    close(): void {
      running?.abort();
    },
  };
}

type AskedSource = z.infer<typeof inventorySource>;
type AskedOpen = Extract<AskedSource, { of: 'source' }>;
type AskedFiles =
  Exclude<AskedSource, AskedOpen> | { readonly of: 'dropped'; readonly references: readonly string[] };
type Report = (share: number, rows: number) => void;

const nameOf = (found: ReturnType<Sources['find']>): string => (found.ok ? found.value.source.name : '');

/** The first of many names; the log has a limit. */
function noteOf(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => maskNumbers(name).slice(0, 60));
  return [...shown, ...(names.length > 5 ? [`${names.length - 5} more`] : [])].join(', ');
}

const unread = (name: string, sheet: string | null, failure: Failure): InventoryFile => ({
  name,
  sheet,
  failure,
  ownReading: false,
  rows: 0,
  leftOut: 0,
  columns: [],
  outside: { lines: 0, found: noneFound() },
});

/** No column has more of anything than it has cells. */
const addsUp = ({ files }: Inventory): boolean =>
  files.every(({ rows, leftOut, columns }) =>
    columns.every(({ blank, tokens, found, leaves }) => {
      const filled = rows - leftOut - blank;
      const counts = [
        tokens,
        leaves ?? 0,
        ...valueKinds.map((kind) => found[kind].are + found[kind].contain),
      ];
      return blank >= 0 && filled >= 0 && counts.every((count) => count <= filled);
    }),
  );
