import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { shownName } from '../../electron/privacy/file-names.ts';
import { createGuardedDialogs } from '../../electron/privacy/dialogs.ts';
import { noHashes } from './token-hashes.ts';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleartext } from '../../electron/util/cleartext.ts';
import type { AuditEnd, AuditIntent } from '../../electron/audit/entries.ts';
import { createBatch, type Batch } from '../../electron/batch/batch.ts';
import type { BatchOptions } from '../../electron/batch/options.ts';
import type { CallInput, EventPayload } from '../../electron/contract/calls.ts';
import { done, failed, type Failure, type Outcome } from '../../electron/contract/errors.ts';
import {
  defaultSettings,
  type LockState,
  type ManagedSettings,
  type ServiceStatus,
  type Settings,
} from '../../electron/contract/models/app.ts';
import type {
  ColumnPlan,
  ExportChoice,
  Job,
  MendResult,
  Plan,
  Preflight,
} from '../../electron/contract/models/batch.ts';
import type { Queue } from '../../electron/contract/models/queue.ts';
import type { Connection } from '../../electron/contract/models/connection.ts';
import type { Grounds } from '../../electron/contract/models/lookup.ts';
import { nothingLogged, noGuesses, sharedCounts } from './disclosures.ts';
import type { Reveals } from '../../electron/privacy/reveals.ts';
import {
  createDisclosures,
  disclosureLimitsOf,
  type Disclosures,
} from '../../electron/privacy/disclosures.ts';
import type {
  BatchAnswer,
  BatchCall,
  CallContext,
  Element,
  ElementAnswer,
  ServiceClient,
} from '../../electron/service/service-client.ts';
import type { Audit } from '../../electron/audit/audit.ts';
import { createCleartextGate } from '../../electron/privacy/cleartext-act.ts';
import type { Dialogs } from '../../electron/platform/platform.ts';
import { testParser } from './parser.ts';
import { nobodyElse } from './cleartext-gate.ts';
import { auditWith } from './fake-audit.ts';

/** What the fake service makes of a value: reversible, so that a test can tell right from wrong. */
export const cleartextOf = (token: string): string => `<${token}>`;
export const tokenOf = (cleartext: string): string => `tok:${Array.from(cleartext).reverse().join('')}`;

/** A mask that the service makes: here it tells the whole, so that none can be taken for another. */
export const maskOf = (token: string): string => `••${token}`;

export interface FakeService {
  readonly client: ServiceClient;
  /** Every element that was sent, in order. */
  readonly sent: string[];
  readonly sizes: number[];
  readonly calls: BatchCall[];
  readonly contexts: CallContext[];
  /** Answers a request before the fake does; null lets the fake answer. */
  answer: (
    call: BatchCall,
    elements: readonly Element[],
  ) => Outcome<BatchAnswer> | null | Promise<Outcome<BatchAnswer> | null>;
  /** Values the service refuses. */
  refuses: (value: string) => boolean;
  busy: number;
  mostBusy: number;
  /** What its requests wait for. */
  waiting: Partial<Pick<ServiceStatus, 'pausedUntil' | 'pauseReason'>>;
  readonly onStatus: Set<() => void>;
}

export function fakeService(batchSize = 100): FakeService {
  const none = (): never => {
    throw new Error('not used by batches');
  };
  const fake: FakeService = {
    sent: [],
    sizes: [],
    calls: [],
    contexts: [],
    answer: () => null,
    refuses: () => false,
    busy: 0,
    mostBusy: 0,
    waiting: {},
    onStatus: new Set(),
    client: {
      get connection() {
        return none();
      },
      wake: none,
      tokenize: none,
      detokenize: none,
      getMasked: none,
      translate: none,
      openSession: none,
      status: (policy) => ({
        connectionId: 'c1',
        policy,
        sessionSince: null,
        offlineSince: null,
        remainingUntil: null,
        remaining: null,
        limit: null,
        limitPeriodSeconds: null,
        pausedUntil: null,
        pauseReason: null,
        transfersToday: 0,
        ...fake.waiting,
      }),
      onStatus: (listener) => (fake.onStatus.add(listener), () => fake.onStatus.delete(listener)),
      close: () => Promise.resolve(),
      batchSize,
      rules: { valueLength: 8_192, expressions: 'RE2', randomTokens: false },
      dropSessions: none,
      announce: () => ({ sent: false, drop: () => undefined }),
      async batch(call, elements, context) {
        fake.busy += 1;
        fake.mostBusy = Math.max(fake.mostBusy, fake.busy);
        fake.calls.push(call);
        fake.contexts.push(context);
        fake.sizes.push(elements.length);
        for (const { value } of elements) fake.sent.push(value);
        await new Promise((resolve) => setImmediate(resolve));
        try {
          if (context.signal?.aborted === true) return failed('service.cancelled');
          const own = await fake.answer(call, elements);
          if (own !== null) return own;
          return done({ requestId: `req-${fake.sizes.length}`, elements: answerAll(fake, call, elements) });
        } finally {
          fake.busy -= 1;
        }
      },
    },
  };
  return fake;
}

function answerAll(fake: FakeService, call: BatchCall, elements: readonly Element[]): ElementAnswer[] {
  const pattern = call.operation === 'PatternMatch' ? new RegExp(call.pattern) : null;
  return elements.flatMap(({ ref, value }): ElementAnswer[] => {
    if (fake.refuses(value)) return [{ ref, ok: false, code: 'service.element-refused' }];
    if (pattern !== null) {
      return pattern.test(cleartextOf(value))
        ? [{ ref, ok: true, value: cleartext(cleartextOf(value)) }]
        : [];
    }
    return [{ ref, ok: true, value: cleartext(resultOf(call.operation, value)) }];
  });
}

function resultOf(operation: BatchCall['operation'], value: string): string {
  if (operation === 'GetMasked') return maskOf(value);
  return operation === 'BatchDetokenize' ? cleartextOf(value) : tokenOf(value);
}

export const connection: Connection = {
  id: 'c1',
  name: 'Test service',
  environment: 'test',
  baseUrl: 'https://127.0.0.1',
  builtIn: false,
  extraCa: null,
  clientCertificate: null,
  proxyUser: '',
  policies: ['Disputes', 'Other'],
  definitions: [
    { name: 'card', label: 'Card', kind: 'card' },
    { name: 'ssn', label: 'SSN', kind: 'ssn' },
    { name: 'email', label: 'E-mail', kind: 'email' },
    { name: 'text', label: 'Text', kind: 'text' },
  ],
  accountId: '',
  tenantId: '',
  apiKeyExpires: null,
  requestsPerSecond: 600,
  transfersPerDay: 10_000_000,
};

/** Real files, a fake service, and everything else that batches need. */
export interface TestApp {
  readonly folder: string;
  readonly batch: Batch;
  readonly service: FakeService;
  readonly options: BatchOptions;
  readonly disclosures: Disclosures;
  readonly jobs: Job[];
  readonly preflights: Preflight[];
  readonly audit: { intents: AuditIntent[]; ends: AuditEnd[]; refuse: Failure | null };
  readonly timers: { ms: number; run: () => void }[];
  /** What was put on the clipboard. */
  readonly copied: string[];
  /** Files that were shown in the file manager. */
  readonly shownFiles: string[];
  /** How far a view of a job's rows is. */
  onViewing: (progress: EventPayload<'batch.viewing'>) => void;
  /** How far a corrected list is compared. */
  onComparing: (progress: EventPayload<'batch.comparing'>) => void;
  /** How far an export is written. */
  onExporting: (progress: EventPayload<'batch.exporting'>) => void;
  /** Where the next export goes. */
  target: string | null;
  /** What of what is dropped is a folder. */
  folders: string[];
  /** What is chosen in the next dialog for several files. */
  chosen: string[] | null;
  /** Where the results of a queue go. */
  exportFolder: string | null;
  readonly queues: Queue[];
  /** What the save dialogs proposed. */
  readonly suggested: { name: string; beside: string | null }[];
  write(name: string, content: string | Buffer): Promise<string>;
  open(path: string): Promise<string>;
  /** Starts a job and waits until it stops by itself. */
  run(sourceId: string, plan: Plan, grounds?: Grounds): Promise<Job>;
  /** Waits until a job is in one of these states. */
  until(jobId: string, ...states: Job['state'][]): Promise<Job>;
  export(jobId: string, choice?: Partial<ExportChoice>): Promise<Outcome<string>>;
  /** A second app on the same folder, as after a restart. */
  again(over?: TestOptions): Promise<TestApp>;
  close(): Promise<void>;
}

/** What a test hands in in place of the usual. */
export interface TestOptions extends Partial<Omit<BatchOptions, 'audit' | 'managed' | 'reveals'>> {
  readonly service?: FakeService;
  readonly home?: string;
  readonly audit?: Pick<Audit, 'record' | 'anchor'>;
  readonly managed?: ManagedSettings;
  readonly reveals?: Partial<Pick<Reveals, 'allow' | 'open'>>;
}

/** A folder's counts outlive the app that is open in it. */
const countsByFolder = new Map<string, ReturnType<typeof sharedCounts>>();

function countsOf(folder: string): ReturnType<typeof sharedCounts> {
  const known = countsByFolder.get(folder) ?? sharedCounts();
  countsByFolder.set(folder, known);
  return known;
}

/** As the app's composition lays it over the platform; the person gives up where another name is wanted. */
function guardedTarget(
  chooseTarget: Dialogs['chooseTarget'],
  isSource: Batch['isSource'],
): Dialogs['chooseTarget'] {
  const raw: Partial<Dialogs> = { chooseTarget, confirm: () => Promise.resolve(null) };
  const dialogs = createGuardedDialogs(raw as Dialogs, {
    lock: () => ({ state: () => ({ locked: false }) as LockState, onChange: () => () => undefined }),
    isSource,
  });
  return (suggestion) => dialogs.chooseTarget(suggestion);
}

export async function openApp(given: TestOptions = {}): Promise<TestApp> {
  const { service = fakeService(), home, managed = {}, reveals: revealed, gate, ...over } = given;
  const folder = home ?? (await mkdtemp(join(tmpdir(), 'tokendesk-batch-')));
  let chosen: string | null = null;
  const waiting: { jobId: string; states: Job['state'][]; wake: (job: Job) => void }[] = [];
  const store = over.store ?? memoryStore();
  const disclosures = createDisclosures({
    logged: nothingLogged,
    shared: countsOf(folder),
    key: () => keychain.key(),
    clock: { now: () => Date.now() },
    limits: disclosureLimitsOf(managed),
  });
  const audit = given.audit ?? {
    ...auditWith((intent) => {
      if (app.audit.refuse !== null) return Promise.resolve({ ok: false, failure: app.audit.refuse });
      app.audit.intents.push(intent);
      return Promise.resolve(done((end) => void app.audit.ends.push(end)));
    }),
  };
  const reveals = {
    allow: () => done(null),
    shown: () => null,
    epoch: () => 0,
    open: () => ({ revealId: 'reveal-1', hideAfterMs: 20_000 }),
    ...revealed,
  };
  const options: BatchOptions = {
    folder: join(folder, 'jobs'),
    clock: {
      now: () => Date.now(),
      after(ms, act) {
        const timer = { ms, run: act };
        app.timers.push(timer);
        return () => {
          const at = app.timers.indexOf(timer);
          if (at >= 0) app.timers.splice(at, 1);
        };
      },
    },
    clients: { for: () => Promise.resolve(done(service.client)) },
    guesses: noGuesses,
    hashes: noHashes,
    connections: connectionsOf(connection),
    audit,
    gate:
      gate ??
      createCleartextGate({
        audit,
        disclosures,
        reveals,
        secondPerson: nobodyElse,
        managed,
        caseRequired: () => store.read('settings').caseRequired,
      }),
    keychain,
    parser: testParser,
    platform: {
      chooseFile: () => Promise.resolve(chosen),
      chooseFiles: () => Promise.resolve(app.chosen),
      chooseFolder: () => Promise.resolve(app.exportFolder),
      chooseTarget: guardedTarget(
        (suggestion) => {
          app.suggested.push(suggestion);
          return Promise.resolve(app.target === '' ? join(folder, suggestion.name) : app.target);
        },
        (file) => app.batch.isSource(file),
      ),
      droppedFolder: (reference) => Promise.resolve(app.folders.includes(reference) ? reference : null),
      droppedFile: (reference) => Promise.resolve(reference === '' ? null : reference),
      showInFolder: (file) => (app.shownFiles.push(file), true),
      send(event, payload) {
        if (event === 'batch.viewing') app.onViewing(payload as EventPayload<'batch.viewing'>);
        if (event === 'batch.comparing') app.onComparing(payload as EventPayload<'batch.comparing'>);
        if (event === 'batch.exporting') app.onExporting(payload as EventPayload<'batch.exporting'>);
        if (event === 'batch.preflight') app.preflights.push(payload as Preflight);
        if (event === 'batch.queue') app.queues.push(payload as Queue);
        if (event !== 'batch.job') return;
        const job = payload as Job;
        app.jobs.push(job);
        for (const one of [...waiting]) {
          if (one.jobId !== job.jobId || !one.states.includes(job.state)) continue;
          waiting.splice(waiting.indexOf(one), 1);
          one.wake(job);
        }
      },
    },
    store,
    clipboard: {
      epoch: () => 0,
      write: (text) => (app.copied.push(text), Promise.resolve(done({ clearAfterMs: 30_000 }))),
    },
    managed,
    reveals,
    sampleFile: () =>
      Promise.resolve(done(join(import.meta.dirname, '../../resources/samples/disputes.csv'))),
    receipt: () => Promise.resolve(done({ name: shownName('receipt.json'), signer: 'signer' })),
    scryptCost: 10,
    ...over,
  };
  const app: TestApp = {
    folder,
    service,
    options,
    disclosures,
    jobs: [],
    preflights: [],
    audit: { intents: [], ends: [], refuse: null },
    timers: [],
    copied: [],
    shownFiles: [],
    onViewing: () => undefined,
    onComparing: () => undefined,
    onExporting: () => undefined,
    target: '',
    folders: [],
    chosen: null,
    exportFolder: null,
    queues: [],
    suggested: [],
    batch: createBatch(options),
    async write(name, content) {
      const path = join(folder, name);
      await writeFile(path, content);
      return path;
    },
    async open(path) {
      chosen = path;
      const source = await app.batch['batch.choose']({});
      if (!source.ok || source.value === null) throw new Error(source.ok ? 'nothing' : source.failure.code);
      return source.value.sourceId;
    },
    async until(jobId, ...states) {
      // Waits before it asks, so that no change falls between the two.
      const reached = new Promise<Job>((wake) => waiting.push({ jobId, states, wake }));
      const all = await app.batch['batch.jobs']({});
      const now = all.ok ? all.value.find((job) => job.jobId === jobId) : undefined;
      return now !== undefined && states.includes(now.state) ? now : reached;
    },
    async run(sourceId, plan, grounds = someGrounds) {
      const started = await app.batch['batch.start']({ sourceId, plan, grounds });
      if (!started.ok) throw new Error(started.failure.code);
      return app.until(started.value.jobId, 'finished', 'paused', 'failed', 'cancelled');
    },
    async export(jobId, choice = {}) {
      const outcome = await app.batch['batch.export']({ ...plainExport, jobId, ...choice });
      if (!outcome.ok) return outcome;
      if (outcome.value === null) throw new Error('no target');
      return done(
        await readFile(
          app.target === '' || app.target === null ? join(folder, outcome.value.name) : app.target,
          'utf8',
        ),
      );
    },
    async again(changed = {}) {
      await app.batch.close();
      return openApp({ ...given, ...changed, service, home: folder });
    },
    async close() {
      await app.batch.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
  await app.batch.start();
  return app;
}

/** The connections of an app that has this one, in use. */
export const connectionsOf = (only: Connection): BatchOptions['connections'] => ({
  active: () => ({ connectionId: only.id, policy: 'Disputes' }),
  find: (id) => (id === only.id ? done(only) : failed('connection.unknown')),
});

/** Settings in memory. A case reference is required only where `settings` says so. */
export function memoryStore(
  settings: Partial<Settings> = {},
  writeOutcome: Outcome<null> = done(null),
): BatchOptions['store'] {
  const values = new Map<string, unknown>([
    ['mappings', []],
    ['layouts', []],
    ['settings', { ...defaultSettings, caseRequired: false, ...settings }],
  ]);
  return {
    read: (key) => values.get(key) as never,
    write(key, value) {
      if (writeOutcome.ok) values.set(key, value);
      return writeOutcome;
    },
  };
}

const keychain = { key: () => Promise.resolve(done(new Uint8Array(32).fill(7))) };

/** Where nothing is to be logged. */
export const noLog = {
  bug(place: string, error: unknown): never {
    throw new Error(`logged: ${place}`, { cause: error });
  },
};

/** Given with every run; only an expression that tells more than the mask needs it. */
export const someGrounds: Grounds = {
  reason: 'Fraud review',
  caseReference: 'C-1',
};

export const plainExport: Omit<ExportChoice, 'jobId'> = {
  content: 'cleartext',
  rows: 'all',
  format: 'csv',
  safety: 'exact',
  delimiter: ',',
  encoding: 'utf-8',
  byteOrderMark: false,
  newline: '\r\n',
  grounds: { reason: 'Chargeback response', caseReference: '' },
  passphrase: null,
};

export const detokenize = (column: number, over: Partial<ColumnPlan> = {}): ColumnPlan => ({
  column,
  operation: 'detokenize',
  policy: 'Disputes',
  definition: 'card',
  target: null,
  parts: null,
  pattern: null,
  into: 'replace',
  ...over,
});

export const planOf = (columns: ColumnPlan[], reading: Partial<Plan['reading']> = {}): Plan => ({
  reading: { encoding: 'utf-8', delimiter: ',', header: true, ...reading },
  columns,
});

/** Compares a list of failed rows and takes in what is no spreadsheet's doing, or what `taken` says. */
export async function takeIn(
  { batch }: Pick<TestApp, 'batch'>,
  { jobId, sourceId, ...over }: { jobId: string; sourceId: string } & Partial<CallInput<'batch.mend'>>,
): Promise<Outcome<MendResult>> {
  const compared = await batch['batch.compare']({ jobId, sourceId });
  if (!compared.ok) return compared;
  return batch['batch.mend']({ jobId, taken: { doubts: [], except: [] }, ...over });
}

/** The value of an outcome that must be one. */
export function valueOf<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(`failed: ${outcome.failure.code}`);
  return outcome.value;
}

export const codeOf = (outcome: Outcome<unknown>): string => (outcome.ok ? 'ok' : outcome.failure.code);
