import fs from 'node:fs/promises';
import { z } from 'zod';
import {
  type ActivityKind,
  type ActivityQuery,
  type AuditEntry,
  type AuditPage,
  auditEntry,
  type BatchRequests,
} from '../contract/models/activity.ts';
import { maskCaseReference, maskNumbers } from '../masking/masking.ts';
import { linesBackward, listSegments, readLine, segmentFile, type EntryLine } from './lines.ts';
import type { SegmentReport } from './verify.ts';

/** What is about to be done. Names and numbers; there is no member a value could go in. */
export interface AuditIntent {
  readonly action: string;
  readonly connection?: string;
  readonly environment?: string;
  readonly policy?: string;
  readonly definition?: string;
  readonly reason?: string;
  readonly caseReference?: string;
  readonly rows?: number;
  readonly values?: number;
  readonly job?: string;
  /** For a person. */
  readonly note?: string;
  /** Whether the act yields cleartext. It then begins only once the keychain knows that it is in the log. */
  readonly cleartext?: boolean;
  /** Who can hold the cleartext back awaits `anchor` itself, beside the request. Not written to the line. */
  readonly anchorsItself?: boolean;
  readonly operation?: string;
  readonly export?: AuditEntry['export'];
  readonly counted?: AuditEntry['counted'];
  readonly alike?: number;
  /** Position from 0. */
  readonly caseColumn?: number;
  readonly approval?: AuditEntry['approval'];
  /** See `TokenHashes`. */
  readonly tokens?: readonly string[] | undefined;
  /** The act comes later: its line may wait a little for others, until it is asked for by `hurry`. */
  readonly later?: boolean;
}

export interface AuditEnd {
  readonly ok: boolean;
  readonly code?: string;
  readonly requestId?: string;
  readonly rows?: number;
  readonly values?: number;
  readonly note?: string;
  readonly sent?: false;
  readonly refused?: AuditEntry['refused'];
  readonly counted?: AuditEntry['counted'];
  readonly remaining?: AuditEntry['remaining'];
  readonly cases?: AuditEntry['cases'];
  /** In place of those of its beginning: what came of it is known at its end. */
  readonly tokens?: readonly string[] | undefined;
}

/** An entry before it has its position in the chain. */
export type EntryContent = Omit<AuditEntry, 'sequence'>;

const maxTextLength = 500;

const text = (value: string | undefined, masked = maskNumbers) =>
  // Masked before it is cut: half a card number has no check digit.
  value === undefined ? null : masked(value).slice(0, maxTextLength);

export function beginEntry(intent: AuditIntent, at: Date, actor: string): EntryContent {
  return {
    at: at.toISOString(),
    actor,
    action: intent.action,
    phase: 'begun',
    of: null,
    connection: text(intent.connection),
    environment: text(intent.environment),
    policy: text(intent.policy),
    definition: text(intent.definition),
    reason: text(intent.reason),
    caseReference: text(intent.caseReference, maskCaseReference),
    rows: intent.rows ?? null,
    job: intent.job?.slice(0, maxTextLength) ?? null,
    requestId: null,
    code: null,
    note: text(intent.note),
    ...(intent.cleartext !== undefined && { cleartext: intent.cleartext }),
    ...(intent.values !== undefined && { values: intent.values }),
    ...(intent.operation !== undefined && { operation: intent.operation }),
    ...(intent.export !== undefined && { export: intent.export }),
    ...(intent.counted !== undefined && { counted: intent.counted }),
    ...(intent.alike !== undefined && { alike: intent.alike }),
    ...(intent.caseColumn !== undefined && { caseColumn: intent.caseColumn + 1 }),
    ...(intent.approval !== undefined && { approval: intent.approval }),
    ...(intent.tokens !== undefined && { tokens: [...intent.tokens] }),
  };
}

/** Repeats what was begun, so that a line can be read, and found by its case, without the other. */
export function endEntry({
  begun,
  sequence,
  end,
  at,
}: {
  readonly begun: EntryContent;
  readonly sequence: number;
  readonly end: AuditEnd;
  readonly at: Date;
}): EntryContent {
  return {
    ...begun,
    at: at.toISOString(),
    phase: end.ok ? 'ok' : 'failed',
    of: sequence,
    rows: end.rows ?? begun.rows,
    requestId: end.requestId === '' ? null : text(end.requestId),
    code: text(end.code),
    note: text(end.note) ?? begun.note,
    ...(end.values !== undefined && { values: end.values }),
    ...(end.sent !== undefined && { sent: end.sent }),
    ...(end.refused !== undefined && { refused: end.refused }),
    ...(end.counted !== undefined && { counted: end.counted }),
    ...(end.remaining !== undefined && { remaining: end.remaining }),
    ...(end.cases !== undefined && { cases: end.cases }),
    ...(end.tokens !== undefined && { tokens: [...end.tokens] }),
  };
}

/** Without the chain's own members, and without hashes, which the window has no use for. */
const listedEntry = z.object(auditEntry.omit({ tokens: true }).shape);

/** What an entry's members and its note say beside its columns, in the log's own words. */
export function detailsOf({
  phase,
  cleartext,
  rows,
  values,
  operation,
  sent,
  refused = {},
  export: exported,
  remaining,
  caseColumn,
  cases,
  approval,
  note,
}: AuditEntry): string[] {
  return [
    ...(cleartext === true && phase !== 'failed' ? ['in clear'] : []),
    ...(values === undefined || values === rows || phase === 'failed' ? [] : [`${values} values`]),
    ...(operation === undefined ? [] : [operation]),
    ...(sent === false ? ['not sent'] : []),
    ...Object.entries(refused).map(([code, values]) => `${values} refused: ${code}`),
    ...(exported === undefined ? [] : [exported.content, exported.rows, exported.format]),
    ...(exported?.encrypted === true ? ['encrypted'] : []),
    ...(remaining === undefined || remaining.cards === 0
      ? []
      : [`card numbers in clear: ${remaining.cards}`]),
    ...(remaining === undefined || remaining.values === 0
      ? []
      : [`values in clear that were sent: ${remaining.values}`]),
    ...(caseColumn === undefined ? [] : [`cases in column ${caseColumn}`]),
    ...(cases === undefined
      ? []
      : [
          `${cases.atLeast === true ? 'at least ' : ''}${cases.count} cases`,
          `rows by case ${cases.sha256.slice(0, 16)}`,
        ]),
    ...(approval?.by === undefined ? [] : [`second person: ${approval.by}`]),
    ...(approval === undefined ? [] : [`request ${approval.request.slice(0, 16)}`]),
    ...(note === null ? [] : [note]),
  ];
}

/** Lines that are read for one page: about a second. */
const maxLinesRead = 100_000;
/** Entries are in the order of time, unless the computer's clock was moved. */
const clockTolerance = 86_400_000;

const cleartextActs = ['Reveal', 'Copy', 'Match', 'Guess', 'Move', 'Export', 'ExportReport', 'Evidence'];
const changes = new Set([
  ...['SaveConnection', 'RemoveConnection', 'UndoRemoveConnection', 'ChooseConnection', 'StartBuiltIn'],
  'ChangedOutside',
  'Receipt',
  ...['StoreSecret', 'StoreCertificate', 'ForgetCertificate', 'UsePortalToken', 'CopyToolToken'],
  ...['SaveSettings', 'SetPassphrase', 'RemovePassphrase', 'Lock', 'Unlock', 'ResetLock'],
  ...[
    'SaveDiagnostics',
    'CompareFiles',
    'SaveComparison',
    'TokenStory',
    'SaveStory',
    'LookThroughFiles',
    'SaveInventory',
    'SaveQueueReport',
    'Mend',
    'RemovePartial',
    'RemoveResults',
    'RemoveEverything',
    'ImportConnections',
    'ExportConnections',
    'ProvideConnections',
    'SignConnections',
    'Attest',
  ],
  ...['ImportProfile', 'RemoveProfile', 'FitProfile', 'TryProfile'],
  ...['CreateTokenDefinition', 'UpdateTokenDefinition', 'CreateSecurityPolicy', 'UpdateSecurityPolicy'],
  ...['RevokeSecurityPolicy', 'CreateApiKey', 'RotateApiKey', 'RevokeApiKey', 'EnableToolServer'],
  ...['CopySecret', 'RotateKey', 'ForgetNextKey'],
  ...['ChainBroken', 'TailSetAside', 'HoldBack', 'Webhook'],
  ...['AskApproval', 'OpenApproval', 'Approve', 'Decline', 'IntroduceApprover', 'RemoveApprover'],
  'AddDeskPerson',
]);

function kindOf(action: string): ActivityKind {
  if (cleartextActs.includes(action)) return 'cleartext';
  return changes.has(action) ? 'changes' : 'requests';
}

function createFilter(query: ActivityQuery): (entry: AuditEntry) => boolean {
  const { kind, outcome, actor, from, to, job } = query;
  // The log holds masked numbers only.
  const searched = maskNumbers(query.text?.trim() ?? '').toLowerCase();
  return (entry) => {
    if (kind !== undefined && kindOf(entry.action) !== kind) return false;
    if (outcome !== undefined && entry.phase !== outcome) return false;
    if (actor !== undefined && entry.actor !== actor) return false;
    if (job !== undefined && entry.job !== job) return false;
    const at = Date.parse(entry.at);
    if (from !== undefined && at < Date.parse(from)) return false;
    if (to !== undefined && at >= Date.parse(to)) return false;
    if (searched === '') return true;
    const { action, connection, policy, definition, reason, caseReference, requestId, code } = entry;
    const columns = [
      entry.actor,
      action,
      connection,
      policy,
      definition,
      reason,
      caseReference,
      requestId,
      code,
    ];
    return [...columns, ...detailsOf(entry)].some((part) => part?.toLowerCase().includes(searched) === true);
  };
}

/** The entries of a page. With `foldBatches` one of them stands for the requests of a batch. */
function createPage({ foldBatches, limit }: ActivityQuery) {
  const entries: AuditEntry[] = [];
  const batches = new Map<string, BatchRequests>();

  return {
    entries,
    batches,
    isFull: () => entries.length >= limit,
    add(entry: AuditEntry): void {
      if (foldBatches !== true || entry.job === null || kindOf(entry.action) !== 'requests') {
        entries.push(entry);
        return;
      }
      const key = JSON.stringify([entry.job, entry.action, entry.definition]);
      const counted = batches.get(key) ?? { sequence: entry.sequence, requests: 0, failed: 0, rows: 0 };
      if (!batches.has(key)) entries.push(entry);
      batches.set(key, {
        ...counted,
        requests: counted.requests + (entry.phase === 'begun' ? 0 : 1),
        failed: counted.failed + (entry.phase === 'failed' ? 1 : 0),
        rows: counted.rows + (entry.phase === 'begun' ? 0 : (entry.rows ?? 0)),
      });
    },
  };
}

interface LogFiles {
  readonly folder: string;
  readonly key: Uint8Array;
}

/**
 * Entries newest first, read from the end a block at a time. A line that is not what was written is left out: its
 * sequence is then missing. With a case, `total` counts that case's entries, which takes a pass over the log.
 */
export async function listEntries({
  segments,
  query,
  ...log
}: LogFiles & {
  readonly segments: readonly SegmentReport[];
  readonly query: ActivityQuery;
}): Promise<Omit<AuditPage, 'chain'>> {
  const before = query.before ?? Number.POSITIVE_INFINITY;
  const caseReference = query.caseReference === null ? null : maskCaseReference(query.caseReference.trim());
  const earliest = query.from === undefined ? 0 : Date.parse(query.from) - clockTolerance;
  const isWanted = createFilter(query);
  const page = createPage(query);
  let next: number | null = null;
  let linesRead = 0;
  let ofCase = 0;

  const latest = query.to === undefined ? Number.POSITIVE_INFINITY : Date.parse(query.to) + clockTolerance;

  for (const report of segments.toReversed()) {
    if (caseReference === null && (next !== null || (report.head?.next ?? 0) >= before)) continue;
    // A file of which the first line is later already: without this, a day long ago takes reading all since.
    if (caseReference === null && report.head !== null && Date.parse(report.head.at) > latest) continue;
    for await (const line of entriesBackward(log, report, { caseReference, kind: query.kind })) {
      ofCase++;
      if (line.sequence >= before || next !== null) continue;
      linesRead++;
      if (page.isFull() || linesRead > maxLinesRead) {
        next = line.sequence + 1;
        if (caseReference === null) break;
      } else {
        if (isWanted(line)) page.add(listedEntry.parse(line));
        if (caseReference === null && Date.parse(line.at) < earliest) break;
      }
    }
  }
  const total = segments.reduce((sum, report) => sum + report.entries, 0);
  return {
    entries: page.entries,
    batches: [...page.batches.values()],
    total: caseReference === null ? total : ofCase,
    next,
  };
}

interface Prefilter {
  readonly caseReference: string | null;
  readonly kind: ActivityKind | undefined;
}

/** Bytes one of which stands in every line that is wanted. A line without any is not worth its check. */
function needlesOf({ caseReference, kind }: Prefilter): Buffer[] | null {
  if (caseReference !== null) return [Buffer.from(JSON.stringify(caseReference))];
  if (kind !== 'cleartext') return null;
  return cleartextActs.map((action) => Buffer.from(`"action":${JSON.stringify(action)}`));
}

async function* entriesBackward(
  { folder, key }: LogFiles,
  report: SegmentReport,
  prefilter: Prefilter,
): AsyncGenerator<EntryLine> {
  const needles = needlesOf(prefilter);
  const { caseReference } = prefilter;
  const file = segmentFile(folder, report.segment);
  // Behind a break there may be lines that are still valid by themselves.
  const size = report.broken === null ? report.size : (await fs.stat(file)).size;
  for await (const bytes of linesBackward(file, size)) {
    if (needles?.every((needle) => !bytes.includes(needle)) === true) continue;
    const line = readLine(report.foreign ? null : key, bytes);
    if (line?.kind !== 'entry') continue;
    if (caseReference === null || line.caseReference === caseReference) yield line;
  }
}

/** A case has been looked for long enough. Most lines of a day of batches have none, and are passed over unparsed. */
const maxCaseLines = 20_000;

/** The newest entry of each case, the newest first. Lines that the key did not sign are left out. */
export async function listCases({
  folder,
  key,
  limit,
}: LogFiles & { readonly limit: number }): Promise<AuditEntry[]> {
  const cases = new Map<string, AuditEntry>();
  let read = 0;
  for (const segment of (await listSegments(folder)).reverse()) {
    const file = segmentFile(folder, segment);
    for await (const bytes of linesBackward(file, (await fs.stat(file)).size)) {
      if (cases.size >= limit || ++read > maxCaseLines) return [...cases.values()];
      const written = /"caseReference":("(?:[^"\\]|\\.)+")/.exec(bytes.toString('utf8'))?.[1];
      if (written === undefined || cases.has(written)) continue;
      const line = readLine(key, bytes);
      if (line?.kind === 'entry') cases.set(written, listedEntry.parse(line));
    }
  }
  return [...cases.values()];
}

/** Which lines of the log a story is of: acts on a token, and certain acts on the batches that have it. */
export interface StoryQuery {
  /** See `TokenHashes`. */
  readonly tokens: readonly string[];
  readonly jobs: readonly string[];
  /** At most so many, the newest. */
  readonly limit: number;
}

/** Of a batch: what its results went into, and that it was removed. */
const actsOfBatch = ['Export', 'RemoveResults'];

/**
 * The lines of a story, newest first. The whole log is looked through: lines without any of the hashes are not parsed, and
 * those that the key did not sign are left out. Ends early, with what was found so far, once `signal` is aborted.
 */
export async function listStory(
  { folder, key }: LogFiles,
  { tokens, jobs, limit }: StoryQuery,
  { signal, report }: { readonly signal: AbortSignal; readonly report: (share: number) => void },
): Promise<AuditEntry[]> {
  const needles = [...tokens, ...jobs].map((text) => Buffer.from(JSON.stringify(text)));
  const found: AuditEntry[] = [];
  const segments = (await listSegments(folder)).reverse();
  for (const [at, segment] of segments.entries()) {
    const file = segmentFile(folder, segment);
    for await (const bytes of linesBackward(file, (await fs.stat(file)).size)) {
      if (signal.aborted || found.length >= limit) return found;
      if (!needles.some((needle) => bytes.includes(needle))) continue;
      const line = readLine(key, bytes);
      if (line?.kind !== 'entry') continue;
      const isOfToken = line.tokens?.some((hash) => tokens.includes(hash)) === true;
      const isOfBatch = line.job !== null && jobs.includes(line.job) && actsOfBatch.includes(line.action);
      if (isOfToken || isOfBatch) found.push(listedEntry.parse(line));
    }
    report((at + 1) / segments.length);
  }
  return found;
}
