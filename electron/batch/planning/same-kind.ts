import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Plan, Preview, Reading, Source } from '../../contract/models/batch.ts';
import type { FileDoubt } from '../../contract/models/queue.ts';
import { doubtOf, planFor, savedReading, sheetFor } from '../../contract/saved-mapping.ts';
import { placeOf } from '../../contract/table-place.ts';
import { layoutOf } from '../reading/layout.ts';
import type { Sources } from '../reading/sources.ts';
import type { KnownFile } from '../storing/queue-file.ts';

export interface KindOptions {
  readonly sources: Pick<Sources, 'openPath' | 'openSheet' | 'close'>;
  readonly preview: (sourceId: string, reading: Partial<Reading>) => Promise<Outcome<Preview>>;
}

/** A file of the kind, open and with its plan. Whoever gets it closes the source. */
interface FileOfKind {
  readonly sourceId: string;
  readonly plan: Plan;
  readonly doubt: FileDoubt | null;
}

/** What is to be known of an open file, read as a person reads it. Failures: those of a preview. */
export async function knowFile(
  { preview }: Pick<KindOptions, 'preview'>,
  sourceId: string,
  {
    reading,
    columns = [],
    caseColumn,
    accepted = [],
  }: Pick<Plan, 'reading'> & Partial<Plan> & { readonly accepted?: KnownFile['notices'] },
): Promise<Outcome<KnownFile>> {
  const detected = await preview(sourceId, {});
  if (!detected.ok) return detected;
  const read = await preview(sourceId, reading);
  if (!read.ok) return read;
  const header = read.value.columns.map(({ name }) => name);
  const { sheet } = read.value.source;
  return done({
    header,
    reading,
    detected: detected.value.reading,
    columns: columns.map(({ column, ...rest }) => ({ ...rest, header: header[column] ?? '' })),
    ...(caseColumn !== undefined && { caseColumn: header[caseColumn] ?? '' }),
    // What a person saw of its first rows, and of all of them where they were counted.
    notices: [...accepted, ...read.value.notices].map(({ kind, column, count }) => ({ kind, column, count })),
    // Of several the others have to have one of its name.
    ...(sheet !== null && sheet.all.length > 1 && { sheet: sheet.name }),
  });
}

/**
 * Opens a file as one of the kind. Nothing stays open where it is none. Failures: queue.columns, queue.sheet, those of
 * opening and reading; service.cancelled once `signal` is aborted.
 */
export async function openOfKind(
  options: KindOptions,
  path: string,
  known: KnownFile,
  signal: AbortSignal,
): Promise<Outcome<FileOfKind>> {
  const { sources, preview } = options;
  const opened = await openSheetOfKind(options, path, known, signal);
  if (!opened.ok) return opened;
  const { sourceId } = opened.value;
  const found = await readAs(known, (reading) => preview(sourceId, reading));
  const planned = found.ok ? planFor(known, found.value.preview) : null;
  if (found.ok && planned !== null && 'plan' in planned && !signal.aborted)
    return done({
      sourceId,
      plan: planned.plan,
      doubt: doubtOf(found.value.preview, planned.plan) ?? found.value.doubt,
    });
  sources.close(sourceId);
  if (signal.aborted) return failed('service.cancelled');
  if (!found.ok) return found;
  return planned === null || 'plan' in planned
    ? failed('call.failed')
    : failed('queue.columns', { subject: differenceOf(planned) });
}

async function openSheetOfKind(
  { sources }: Pick<KindOptions, 'sources'>,
  path: string,
  known: KnownFile,
  signal: AbortSignal,
): Promise<Outcome<Pick<Source, 'sourceId'>>> {
  const opened = await sources.openPath(path, { signal });
  if (!opened.ok) return opened;
  const { sheet, sourceId } = opened.value;
  const found = sheetFor(known.sheet ?? null, opened.value);
  if ('lacks' in found || (sheet !== null && sheet.all.length > 1 && known.sheet === undefined)) {
    sources.close(sourceId);
    return failed('queue.sheet', 'lacks' in found ? { subject: found.lacks } : {});
  }
  if (found.sheet === null) return opened;
  const other = await sources.openSheet(sourceId, found.sheet, { signal });
  sources.close(sourceId);
  return other;
}

/**
 * Read as the known one is: what a person decided against what was found there holds where just the same is found here, and
 * what is a guess here is taken to be as it was there.
 */
async function readAs(
  known: KnownFile,
  look: (reading: Partial<Reading>) => Promise<Outcome<Preview>>,
): Promise<Outcome<{ readonly preview: Preview; readonly doubt: FileDoubt | null }>> {
  const own = await look({});
  if (!own.ok) return own;
  const decided = { ...decidedFor(known, own.value.reading), ...savedReading(known, own.value) };
  const read = Object.keys(decided).length === 0 ? own : await look(decided);
  if (!read.ok) return read;
  // How many rows stand below its table nobody has looked at.
  const doubt = (decided.rowsBelow ?? 0) > 0 ? ('place' as const) : null;
  return done({ preview: read.value, doubt });
}

function decidedFor({ reading, detected }: KnownFile, own: Reading): Partial<Reading> {
  const parts: ((of: Reading) => Partial<Reading>)[] = [({ encoding }) => ({ encoding }), layoutOf, placeOf];
  const isSame = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);
  return Object.assign(
    {},
    ...parts.flatMap((part) =>
      isSame(part(own), part(detected)) && !isSame(part(reading), part(detected)) ? [part(reading)] : [],
    ),
  ) as Partial<Reading>;
}

/** Names of columns that the window sees too; of those that came in addition only how many: they may be values. */
function differenceOf({
  missing,
  added,
}: {
  readonly missing: readonly string[];
  readonly added: number;
}): string {
  const parts = [
    ...(missing.length > 0 ? [`missing: ${missing.slice(0, 3).join(', ')}`] : []),
    ...(added > 0 ? [`${added} others`] : []),
  ];
  return (parts.length === 0 ? 'their order is another' : parts.join('; ')).slice(0, 300).toWellFormed();
}
