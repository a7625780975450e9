import { fileNamed } from './file-name.ts';
import type { Bridge } from '../../../electron/contract/bridge.ts';
import { obscureText, restoreText } from '../../../electron/contract/obscured.ts';
import {
  calls,
  type CallInput,
  type CallName,
  type CallOutput,
  events,
  type EventName,
  type EventPayload,
} from '../../../electron/contract/calls.ts';
import { done, failed, type Failure, type Outcome } from '../../../electron/contract/errors.ts';
import type { DamagedJob, Job, Source } from '../../../electron/contract/models/batch.ts';
import type { Comparison } from '../../../electron/contract/models/compared.ts';
import type { Inventory } from '../../../electron/contract/models/inventory.ts';
import type { Mapping } from '../../../electron/contract/models/mapping.ts';
import type { Queue } from '../../../electron/contract/models/queue.ts';
import type { ConnectionView, ProfileView } from '../../../electron/contract/models/connection.ts';
import type { AppState, LockedAppState } from '../../../electron/contract/models/app.ts';
import type { Lookup } from '../../../electron/contract/models/lookup.ts';
import * as data from './fake-data.ts';
import { assistantAnswers } from './fake-assistant.ts';
import { administrationAnswers } from './fake-administration.ts';
import { reportAnswers } from './fake-reports.ts';
import { comparedRowsOf, comparisonOf } from './fake-comparison.ts';
import { inventoryOf } from './fake-inventory.ts';

type Answer<N extends CallName> = (
  input: CallInput<N>,
) => Outcome<CallOutput<N>> | Promise<Outcome<CallOutput<N>>>;
export type Answers = { [N in CallName]: Answer<N> };

export interface FakeOptions {
  state?: AppState;
  jobs?: Job[];
  mappings?: Mapping[];
  damaged?: DamagedJob[];
  lookups?: Lookup[];
  queues?: Queue[];
  /** Calls that fail, with the failure. */
  fail?: Partial<Record<CallName, Failure>>;
  answers?: Partial<Answers>;
  /** The progress at which the reading of a workbook stops. */
  opening?: EventPayload<'batch.opening'>;
  /** The progress at which files are compared. */
  comparing?: EventPayload<'compare.progress'>;
  /** The progress at which files are looked through. */
  looking?: EventPayload<'inventory.progress'>;
  /** The progress at which the writing of an export stops. */
  exporting?: EventPayload<'batch.exporting'>;
  /** The progress at which a search stops. */
  viewing?: EventPayload<'batch.viewing'>;
  /** Calls whose answers are not parsed, for measuring the window's own speed. */
  unparsed?: CallName[];
}

export interface Fake {
  bridge: Bridge;
  /** Every call that passed its schema, in order. */
  seen: { name: CallName; input: unknown }[];
  jobs: Map<string, Job>;
  queues: Map<string, Queue>;
  mappings: Mapping[];
  state: AppState;
  emit<E extends EventName>(event: E, payload: EventPayload<E>): void;
  change(over: Partial<AppState>): void;
}

/** What main tells of its state: while locked next to nothing. */
function toldOf(state: AppState): AppState | LockedAppState {
  const { version, settings, connections, active } = state;
  const { locked, ...lock } = state.lock;
  if (!locked) return state;
  const connection = connections.find(({ id }) => id === active?.connectionId);
  return {
    version,
    theme: settings.theme,
    environment: connection?.environment ?? null,
    lock: { ...lock, locked },
  };
}

/**
 * A bridge in place of the preload's, made from the same contract: inputs and outputs are parsed by the same schemas,
 * a locked app refuses calls, and the answers are fixed data.
 */
export function createFakeBridge(options: FakeOptions = {}): Fake {
  const listeners = new Map<EventName, Set<(payload: never) => void>>();
  const fake: Fake = {
    bridge: undefined as unknown as Bridge,
    seen: [],
    jobs: new Map((options.jobs ?? []).map((job) => [job.jobId, job])),
    queues: new Map((options.queues ?? []).map((queue) => [queue.queueId, queue])),
    mappings: options.mappings ?? [],
    state: options.state ?? data.appState(),
    emit(event, payload) {
      const parsed = events[event].parse(payload);
      for (const listener of listeners.get(event) ?? []) listener(parsed as never);
    },
    change(over) {
      fake.state = { ...fake.state, ...over };
      fake.emit('app.state', toldOf(fake.state));
    },
  };
  const damaged = new Map((options.damaged ?? []).map((one) => [one.jobId, one]));
  const answers: Answers = {
    ...defaultAnswers(
      fake,
      (options.lookups ?? []).map((lookup) => ofActive(fake.state, lookup)),
      damaged,
      options,
    ),
    ...options.answers,
  };

  const call = async (name: CallName, payload: unknown): Promise<Outcome<unknown>> => {
    const contract = calls[name];
    if (fake.state.lock.locked && contract.whileLocked === null) return failed('app.locked');
    const input = contract.input.safeParse(
      contract.files === 'one'
        ? { reference: 'dropped' }
        : contract.files === 'several'
          ? { references: (payload as File[]).map(({ name: file }) => file) }
          : payload,
    );
    if (!input.success) return failed('call.invalid', { operation: name });
    fake.seen.push({ name, input: input.data });
    const failure = options.fail?.[name];
    if (failure !== undefined) return { ok: false, failure };
    const answer = answers[name] as (input: unknown) => Outcome<unknown> | Promise<Outcome<unknown>>;
    const outcome = await answer(input.data);
    if (!outcome.ok || options.unparsed?.includes(name) === true) return outcome;
    return done(contract.output.parse(outcome.value));
  };

  fake.bridge = {
    ...Object.fromEntries(
      Object.keys(calls).map((name) => [name, (payload: unknown) => call(name as CallName, payload)]),
    ),
    on: (event: EventName, listener: (payload: never) => void) => {
      const known = listeners.get(event) ?? new Set();
      listeners.set(event, known.add(listener));
      return () => known.delete(listener);
    },
  } as unknown as Bridge;
  return fake;
}

/** The file that a scene's own `batch.choose` gives. */
const chooseOne = (fake: Fake): Promise<Outcome<Source | null>> => fake.bridge['batch.choose']({});

/** A made-up number that its mask belongs to. */
function clearOf(masked: string): string {
  const hidden = '730921';
  let at = 0;
  return /^\d{6}\*+\d{4}$/.test(masked)
    ? masked.replace(/\*/g, () => hidden.charAt(at++ % hidden.length))
    : '4111117309211111';
}

/** As the connection in use would have made it. */
const ofActive = ({ active }: AppState, lookup: Lookup): Lookup => ({
  ...lookup,
  connectionId: active?.connectionId ?? lookup.connectionId,
});

/** As long as those of a service: a layout has to have room for it. */
const requestIdOf = (turn: number): string => `7f3a91c2-5d10-4b1e-9c33-${String(turn).padStart(12, '0')}`;

function defaultAnswers(
  fake: Fake,
  lookups: Lookup[],
  damaged: Map<string, DamagedJob>,
  {
    opening,
    exporting,
    looking,
    comparing,
    viewing,
  }: Pick<FakeOptions, 'opening' | 'exporting' | 'looking' | 'comparing' | 'viewing'>,
): Answers {
  let turn = 100;
  let removed: ConnectionView | null = null;
  const add = (over: Partial<Lookup>): Outcome<Lookup> => {
    turn += 1;
    const base = data.lookups[0];
    if (base === undefined) return failed('call.failed');
    const lookup: Lookup = {
      ...ofActive(fake.state, base),
      revealedAt: null,
      copiedAt: null,
      requestId: requestIdOf(turn),
      requestIds: [requestIdOf(turn)],
      id: `lookup-${turn}`,
      at: data.at(turn * 61),
      ...over,
    };
    lookups.unshift(lookup);
    return done(lookup);
  };
  const find = (id: string): Lookup | undefined => lookups.find((lookup) => lookup.id === id);
  const settle = (jobId: string, over: Partial<Job>): Outcome<Record<string, never>> => {
    const job = fake.jobs.get(jobId);
    if (job === undefined) return failed('job.unknown');
    fake.jobs.set(jobId, { ...job, ...over });
    fake.emit('batch.job', { ...job, ...over });
    return done({});
  };
  const nothing = (): Outcome<Record<string, never>> => done({});
  let compared: Comparison | null = null;
  let stopComparing: (() => void) | null = null;
  let stopLooking: (() => void) | null = null;
  const look = async (): Promise<Outcome<Inventory>> => {
    if (looking === undefined) return done({ files: [inventoryOf(data.preview.columns)], more: 0 });
    fake.emit('inventory.progress', looking);
    await new Promise<void>((stop) => (stopLooking = stop));
    return failed('service.cancelled');
  };
  const change = (queueId: string, over: Partial<Queue>): Outcome<Record<string, never>> => {
    const queue = fake.queues.get(queueId);
    if (queue === undefined) return failed('queue.unknown');
    fake.queues.set(queueId, { ...queue, ...over });
    fake.emit('batch.queue', { ...queue, ...over });
    return done({});
  };
  const preflight = (done_: boolean) => ({
    sourceId: data.preview.source.sourceId,
    done: done_,
    rows: done_ ? 500_000 : 131_072,
    blank: 48,
    malformed: 37,
    unfit: 1,
    guesses: 0,
    distinct: done_ ? 412_006 : 101_331,
    distinctExact: true,
    requests: 825,
    columns: [{ column: 1, unfit: 1, requests: 825 }],
    seconds: 360,
    dayShare: 0.05,
    targets: [],
    notices: data.preview.notices,
  });

  const profileOf = (id: string) =>
    fake.state.connections.find((connection) => connection.id === id)?.profile;
  const setProfile = (id: string, profile: ProfileView) => {
    fake.change({
      connections: fake.state.connections.map((connection) =>
        connection.id === id ? { ...connection, profile } : connection,
      ),
    });
    return done(profile);
  };

  return {
    'app.state': () => done(toldOf(fake.state)),
    'app.takeOpened': () => done(null),
    'connections.export': () => done({ name: fileNamed('tokendesk-connections.json'), leftOut: 0 }),
    'connections.chooseImport': () => done(data.importPlan),
    'connections.applyImport': () => done({ count: 3 }),
    'app.about': () =>
      done({
        version: fake.state.version,
        runtime: 'Electron 45.4.1',
        licences: [
          { name: 'svelte', version: '5.57.3', licence: 'MIT' },
          { name: 'zod', version: '4.6.7', licence: 'MIT' },
        ],
      }),
    'app.disclosures': () =>
      done({
        day: '2026-11-21',
        reveals: 4,
        copies: 1,
        exportedRows: 12_804,
        matchAnswers: 500_000,
        expressions: 1,
        guesses: 0,
        moved: 0,
        limits: {
          reveals: null,
          copies: null,
          exportedRows: null,
          matchAnswers: null,
          expressions: 3,
          guesses: 10_000,
          moved: null,
        },
      }),
    'app.diagnostics': () =>
      done({
        text: 'Tokendesk diagnostics, 2026-11-21T10:00:00.000Z\n\nState\n  keyring: ready\n  audit log: ready\n',
      }),
    'app.saveDiagnostics': () => done({ name: fileNamed('tokendesk-diagnostics-2026-11-21.txt') }),
    'app.wipe': () => failed('wipe.unavailable'),
    'app.openLogFolder': () => done({ place: '/home/kim/.config/Tokendesk/logs' }),
    'connections.save': ({ id, ...draft }) => {
      const saved = id ?? 'connection-new';
      const before = fake.state.connections.find((connection) => connection.id === saved);
      const next = {
        ...draft,
        id: saved,
        builtIn: before?.builtIn ?? false,
        clientCertificate: before?.clientCertificate ?? null,
        certificateKey: before?.certificateKey ?? ('missing' as const),
        webhookSecret: before?.webhookSecret ?? ('missing' as const),
        proxyPassword:
          draft.proxyUser === '' ? ('missing' as const) : (before?.proxyPassword ?? ('missing' as const)),
        profile: before?.profile ?? { name: null, fitted: [] },
        apiKey: before?.apiKey ?? ('missing' as const),
        policyPasswords: draft.policies.map(
          (policy) =>
            before?.policyPasswords.find((password) => password.policy === policy) ?? {
              policy,
              state: 'missing' as const,
            },
        ),
        grants: before?.grants ?? [],
        kindsGiven: before?.kindsGiven ?? [],
      };
      const others = fake.state.connections.filter((connection) => connection.id !== saved);
      fake.change({ connections: [...others, next] });
      return done({ id: saved });
    },
    'connections.remove': ({ id }) => {
      removed = fake.state.connections.find((connection) => connection.id === id) ?? null;
      fake.change({ connections: fake.state.connections.filter((connection) => connection.id !== id) });
      return done({});
    },
    'connections.undoRemove': () => {
      if (removed === null) return failed('connection.unknown');
      fake.change({ connections: [...fake.state.connections, removed] });
      removed = null;
      return done({});
    },
    'connections.choose': ({ id, policy }) => {
      fake.change({ active: { connectionId: id, policy } });
      return done({});
    },
    'connections.tryNow': () => done({}),
    'connections.storeSecret': ({ id, secret }) => {
      fake.change({
        connections: fake.state.connections.map((connection) => {
          if (connection.id !== id) return connection;
          if (secret.kind !== 'policyPassword') return { ...connection, [secret.kind]: 'stored' as const };
          return {
            ...connection,
            policyPasswords: [
              ...connection.policyPasswords.filter(({ policy }) => policy !== secret.policy),
              { policy: secret.policy, state: 'stored' as const },
            ],
          };
        }),
      });
      return done({});
    },
    'connections.rotateKey': ({ id, value, expires }) => {
      const works = restoreText(value) === 'works';
      fake.change({
        connections: fake.state.connections.map((connection) =>
          connection.id === id
            ? works
              ? { ...connection, apiKeyExpires: expires, nextApiKey: 'missing' as const }
              : { ...connection, nextApiKey: 'stored' as const }
            : connection,
        ),
      });
      return works ? done({}) : failed('service.credentials', { policy: 'analyst' });
    },
    'connections.tryNextKey': () => failed('service.credentials', { policy: 'analyst' }),
    'connections.forgetNextKey': ({ id }) => {
      fake.change({
        connections: fake.state.connections.map((connection) =>
          connection.id === id ? { ...connection, nextApiKey: 'missing' as const } : connection,
        ),
      });
      return done({});
    },
    'connections.chooseCertificate': ({ id }) => {
      const clientCertificate = { subject: 'CN=Till 4, O=Acme', expires: '2027-06-30' };
      fake.change({
        connections: fake.state.connections.map((connection) =>
          connection.id === id
            ? { ...connection, clientCertificate, certificateKey: 'stored' as const }
            : connection,
        ),
      });
      return done(clientCertificate);
    },
    'connections.forgetCertificate': ({ id }) => {
      fake.change({
        connections: fake.state.connections.map((connection) =>
          connection.id === id
            ? { ...connection, clientCertificate: null, certificateKey: 'missing' as const }
            : connection,
        ),
      });
      return done({});
    },
    'connections.importProfile': ({ id }) => setProfile(id, { name: 'other.json', fitted: [] }),
    'connections.removeProfile': ({ id, part }) =>
      setProfile(id, {
        name: part === 'imported' ? null : (profileOf(id)?.name ?? null),
        fitted: [],
      }),
    'connections.unreadAnswers': () => done([]),
    'connections.fitProfile': ({ id, operation }) => {
      const profile = { name: profileOf(id)?.name ?? null, fitted: [operation] };
      setProfile(id, profile);
      return done({ profile, test: null });
    },
    ...assistantAnswers(),
    'connections.test': ({ id, policy }) => {
      const connection = fake.state.connections.find((one) => one.id === id);
      if (connection === undefined) return failed('connection.unknown');
      const grants = data.grantsOf(connection, policy);
      const others = connection.grants.filter((one) => one.policy !== policy);
      const next = { ...connection, grants: [...others, grants] };
      fake.change({ connections: fake.state.connections.map((one) => (one.id === id ? next : one)) });
      return done(grants);
    },
    'connections.startBuiltIn': () => {
      fake.change({
        connections: [...fake.state.connections, data.builtIn],
        active: { connectionId: data.builtIn.id, policy: 'dispute-desk' },
        service: data.appState().service,
      });
      return done({ id: data.builtIn.id });
    },
    'lookup.mask': ({ token, definition, policy, caseReference }) =>
      add({ token, definition, policy, caseReference, kind: 'masked' }),
    'lookup.tokenize': ({ definition, policy, caseReference }) =>
      add({ definition, policy, caseReference, kind: 'tokenized' }),
    'lookup.translate': ({ targetDefinition, targetPolicy }) =>
      add({ definition: targetDefinition, policy: targetPolicy, kind: 'translated' }),
    'lookup.reveal': ({ lookupId, xorKey, caseReference }) => {
      const lookup = find(lookupId);
      if (lookup === undefined) return failed('lookup.unknown');
      lookup.revealedAt = data.at(9_000);
      if (caseReference !== '') lookup.caseReference = caseReference;
      turn += 1;
      return done({
        revealId: `reveal-${turn}`,
        obscured: obscureText(clearOf(lookup.masked), xorKey),
        hideAfterMs: fake.state.settings.revealSeconds * 1_000,
        requestId: 'aa10',
        lookup: { ...lookup },
      });
    },
    'lookup.hidden': () => done({}),
    'lookup.hide': ({ revealId }) => {
      fake.emit('reveal.ended', { revealId, cause: 'hidden' });
      return done({});
    },
    'lookup.copy': () => done({ clearAfterMs: fake.state.settings.clipboardSeconds * 1_000 }),
    'lookup.recent': () => done([...lookups]),
    'lookup.clearClipboard': nothing,
    'lookup.sample': () => done({ definition: 'card-number', token: data.token(1) }),
    'lookup.forget': ({ caseReference }) => {
      const rest = lookups.filter((one) => caseReference !== null && one.caseReference !== caseReference);
      lookups.splice(0, lookups.length, ...rest);
      return done({});
    },
    'batch.choose': () => {
      if (opening === undefined) return done(data.preview.source);
      fake.emit('batch.opening', opening);
      return new Promise(() => undefined);
    },
    'batch.drop': () => done(data.preview.source),
    // As one file, unless a scene has several.
    'batch.chooseFolder': () => done(null),
    'batch.chooseFiles': async () => {
      const chosen = await chooseOne(fake);
      if (!chosen.ok) return chosen;
      return done(chosen.value === null ? null : { source: chosen.value, queue: null });
    },
    'batch.dropFiles': ({ references }) => {
      const queue = data.queueOf(references);
      fake.queues.set(queue.queueId, queue);
      return done({ source: data.preview.source, queue });
    },
    'batch.queues': () => done([...fake.queues.values()]),
    'batch.compareQueue': ({ queueId }) => change(queueId, {}),
    'batch.startQueue': ({ queueId }) => {
      const started = data.job();
      fake.jobs.set(started.jobId, started);
      fake.emit('batch.job', started);
      const files = (fake.queues.get(queueId)?.files ?? []).map((file, at) =>
        at === 0 ? { ...file, state: 'begun' as const, jobId: started.jobId } : file,
      );
      const { connectionName, environment } = started;
      change(queueId, {
        ...{ state: 'running', files, connectionName, environment },
        current: files[0]?.fileId ?? null,
      });
      return done({ jobId: started.jobId });
    },
    'batch.decideQueued': ({ queueId, fileId, decision }) => {
      const state = decision === 'run' ? ('checking' as const) : ('skipped' as const);
      const files = (fake.queues.get(queueId)?.files ?? []).map((file) =>
        file.fileId === fileId ? { ...file, state, asks: null } : file,
      );
      return change(queueId, { state: 'running', files });
    },
    'batch.pauseQueue': ({ queueId }) => change(queueId, { state: 'stopped' }),
    'batch.resumeQueue': ({ queueId }) => change(queueId, { state: 'running' }),
    'batch.removeQueue': ({ queueId }) => {
      fake.queues.delete(queueId);
      return done({});
    },
    'batch.openQueued': () => done(data.preview.source),
    'batch.exportQueue': ({ files }) =>
      done({
        folder: '/home/ada/Documents/Disputes',
        files: files.map((fileId, n) => ({
          fileId,
          exported: {
            ...{
              exportId: `export-${n}`,
              name: fileNamed(`${fileId}_masked.csv`),
              tally: data.finishedTally,
            },
            ...{ rowsWritten: 500_000, lostCells: 0, lostRows: 0, escaped: 0, bytes: 43_118_204 },
            remaining: { cards: 0, values: 0, places: [] },
          },
        })),
      }),
    'batch.paste': ({ text }) => done({ ...data.preview.source, name: 'Pasted lines', bytes: text.length }),
    'batch.sample': () => done({ ...data.preview.source, name: 'sample-disputes.csv' }),
    'batch.sheet': ({ sheet }) =>
      done({
        ...data.preview.source,
        name: 'disputes.xlsx',
        sheet: { name: sheet, all: ['Disputes', 'Archive'].map((name) => ({ name, rows: null })) },
      }),
    'batch.openEncrypted': () => done(data.preview.source),
    'batch.stopOpening': () => done({}),
    'batch.stopExport': () => done({}),
    'batch.stopViewing': () => done({}),
    'batch.preview': ({ reading }) =>
      done({
        ...data.preview,
        reading: { ...data.preview.reading, ...(reading as typeof data.preview.reading) },
      }),
    'batch.hash': () => done({ bytes: 48_211, sha256: 'c'.repeat(64) }),
    'approval.people': () => done(data.people),
    'approval.introduce': () => done({}),
    'approval.removePerson': () => done({}),
    'approval.addToDesk': ({ name }) => done({ name, fingerprint: 'd'.repeat(64) }),
    'approval.writeRequest': () => done({ name: fileNamed('approval-request-D-2026-0417.json') }),
    'approval.copyLink': () => done({ clearAfterMs: 30_000 }),
    'approval.atDesk': () => done({}),
    'approval.choose': () => done(data.openedRequest),
    'approval.drop': () => done(data.openedRequest),
    'approval.answer': () => done({ name: fileNamed('approval-answer-D-2026-0417.json') }),
    'approval.close': () => done({}),
    'approval.dismiss': () => {
      fake.change({ approval: { wanted: null, held: [] } });
      return done({});
    },
    'batch.noticedRows': ({ notice }) =>
      done(
        Array.from({ length: 12 }, (_, n) => ({
          row: notice.row + n * 7,
          cells: [
            ...data.sourceRow(notice.row + n * 7),
            ...(notice.kind === 'row-malformed' ? ['one more'] : []),
          ],
        })),
      ),
    'batch.preflight': () => {
      setTimeout(() => {
        fake.emit('batch.preflight', preflight(true));
      }, 20);
      return done(preflight(false));
    },
    'batch.testPattern': ({ pattern, samples, own }) => {
      if (/\(\?(?:[=!]|<[=!])/.test(pattern)) return failed('pattern.unsupported');
      const flags = pattern.startsWith('(?i)') ? 'i' : '';
      let expression: RegExp;
      try {
        expression = new RegExp(pattern.replace('(?i)', ''), flags);
      } catch {
        return failed('pattern.invalid');
      }
      return done({
        matches: samples.map((sample) => expression.test(sample)),
        own: own === null ? null : expression.test(restoreText(own)),
      });
    },
    'batch.try': ({ plan }) => {
      const besides = plan.columns.filter(({ into }) => into === 'beside').map(() => '');
      const job = { plan, columns: [...data.header, ...besides] };
      const rows = Array.from({ length: 20 }, (_, n) => data.wideRow(job, data.resultRow(n + 1)));
      return done({ total: 20, from: 0, rows });
    },
    'compare.files': async ({ sides }) => {
      compared = null;
      if (comparing !== undefined) {
        fake.emit('compare.progress', comparing);
        await new Promise<void>((stop) => (stopComparing = stop));
        return failed('service.cancelled');
      }
      return done((compared = comparisonOf(sides)));
    },
    'compare.rows': (query) =>
      compared === null ? failed('compare.none') : done(comparedRowsOf(compared, query)),
    'compare.save': () => done({ name: fileNamed('compared.csv') }),
    'compare.stop': () => {
      stopComparing?.();
      return done({});
    },
    'inventory.look': () => look(),
    'inventory.drop': () => look(),
    'inventory.save': ({ form }) => done({ name: fileNamed(`inventory.${form}`) }),
    'story.look': () => done(data.story),
    'story.save': () => done({ name: fileNamed('story.csv') }),
    'story.stop': () => done({}),
    'batch.reportQueue': ({ form }) => done({ name: fileNamed(`report.${form}`) }),
    'inventory.stop': () => {
      stopLooking?.();
      return done({});
    },
    'batch.takeUp': () => done(null),
    'batch.start': () => {
      const started = data.job();
      fake.jobs.set(started.jobId, started);
      fake.emit('batch.job', started);
      return done({ jobId: started.jobId });
    },
    'batch.pause': ({ jobId }) => settle(jobId, { state: 'paused', secondsLeft: null }),
    'batch.resume': ({ jobId }) => settle(jobId, { state: 'running' }),
    'batch.cancel': ({ jobId }) => settle(jobId, { state: 'cancelled', endedAt: data.at(300) }),
    'batch.retry': ({ jobId }) => settle(jobId, { state: 'running' }),
    'batch.canary': ({ jobId }) => done(data.firstValues(fake.jobs.get(jobId)?.canary ?? null)),
    'batch.compare': () => done(data.listComparison),
    'batch.dropComparison': () => done({}),
    'batch.changes': ({ from, count }) => done({ from, cells: data.changedCells.slice(from, from + count) }),
    'batch.mend': ({ jobId }) => {
      settle(jobId, { state: 'running' });
      return done({ changed: 2, unchanged: 1, leftOut: [], leftOutRows: 0 });
    },
    'batch.changePolicy': ({ jobId }) => settle(jobId, { state: 'running', braked: null }),
    'batch.reopen': () => done(data.preview.source),
    'batch.discard': ({ jobId }) => {
      damaged.delete(jobId);
      fake.jobs.delete(jobId);
      return done({});
    },
    'batch.jobs': ({ after }) => done(after === undefined ? [...fake.jobs.values()] : []),
    'batch.damaged': () => done([...damaged.values()]),
    'batch.find': ({ text, after }) => {
      if (viewing !== undefined) {
        fake.emit('batch.viewing', viewing);
        return new Promise(() => undefined);
      }
      return done(text === 'nowhere' ? null : { count: 12, ordinal: 1, position: after + 40, column: 3 });
    },
    'batch.copy': () => done({ clearAfterMs: fake.state.settings.clipboardSeconds * 1_000 }),
    'batch.ofCase': ({ caseReference }) => {
      const batch = {
        jobId: 'job-of-case',
        name: 'chargebacks_december.csv',
        startedAt: '2026-12-04T08:12:00.000Z',
        environment: 'production',
      };
      const isThere = caseReference === 'D-20944';
      return done({
        batches: isThere
          ? [{ ...batch, rows: 14, ok: 12, first: [3, 18, 44, 45, 46, 102, 340, 1_204, 8_017, 9_411] }]
          : [],
        uncovered: isThere
          ? [{ ...batch, jobId: 'job-gone', name: 'refunds_week_48.csv', code: 'job.source-gone' as const }]
          : [],
      });
    },
    'batch.profile': ({ column }) =>
      done({
        column,
        rows: 500_000,
        distinct: 412_318,
        distinctExact: true,
        blank: 48,
        failed: 49,
        unmatched: 0,
        bars: [
          { test: 'brand', text: 'Visa', count: 310_220 },
          { test: 'brand', text: 'Mastercard', count: 171_004 },
          { test: 'brand', text: 'American Express', count: 18_679 },
          { test: 'begins', text: '411111', count: 201_442 },
          { test: 'begins', text: '550000', count: 120_018 },
          { test: 'length', text: '16', count: 481_224 },
          { test: 'length', text: '15', count: 18_679 },
        ],
      }),
    'batch.layout': () => done({ widths: [], hidden: [] }),
    'batch.saveLayout': () => done({}),
    'batch.rows': ({ jobId, filter, view, from, count, columns }) => {
      const job = fake.jobs.get(jobId);
      if (job === undefined) return failed('job.unknown');
      const all = filter === 'all' ? job.committed : job.tally[filter];
      const total = (view?.where.length ?? 0) === 0 ? all : Math.ceil(all / 37);
      const isFound = (view?.where.length ?? 0) > 0;
      const row = (index: number) =>
        filter === 'failed' ? index * 10_205 + 3 : isFound ? (index + 1) * 4 : index + 1;
      const rows = Array.from({ length: Math.max(0, Math.min(count, total - from)) }, (_, n) =>
        data.wideRow(
          job,
          data.resultRow(row(from + n), {
            fail: job.tally.ok === 0 ? 'all' : job.tally.failed === 0 ? 'none' : 'some',
          }),
        ),
      ).map((one) =>
        columns === undefined ? one : { ...one, cells: columns.flatMap((column) => one.cells[column] ?? []) },
      );
      return done({ total, from, rows });
    },
    'batch.reveal': ({ xorKey }) => {
      turn += 1;
      return done({
        revealId: `reveal-${turn}`,
        obscured: obscureText('4111117309211111', xorKey),
        hideAfterMs: fake.state.settings.revealSeconds * 1_000,
        requestId: 'aa11',
      });
    },
    'batch.export': ({ jobId }) => {
      const job = fake.jobs.get(jobId);
      if (job === undefined) return failed('job.unknown');
      if (exporting !== undefined) {
        fake.emit('batch.exporting', exporting);
        return new Promise(() => undefined);
      }
      return done({
        exportId: 'export-1',
        name: fileNamed('disputes-q3_masked.csv'),
        folder: '/home/ada/Documents/Disputes',
        tally: job.tally,
        rowsWritten: job.tally.rows,
        lostCells: 0,
        lostRows: 0,
        escaped: 14,
        bytes: 43_118_204,
        remaining: { cards: 0, values: 0, places: [] },
      });
    },
    'batch.checkExport': () => done({ cards: 0, values: 0, places: [] }),
    'batch.showExport': () => done({ shown: true }),
    'batch.mappings': () => done([...fake.mappings]),
    'batch.saveMapping': (mapping) => {
      turn += 1;
      const id = `mapping-${turn}`;
      fake.mappings = [...fake.mappings.filter(({ name }) => name !== mapping.name), { id, ...mapping }];
      return done({ id });
    },
    'batch.removeMapping': ({ id }) => {
      fake.mappings = fake.mappings.filter((one) => one.id !== id);
      return done({});
    },
    'activity.list': ({ before, limit, caseReference, kind, text, foldBatches }) => {
      const total = 240;
      const entries = [];
      let at = (before ?? total) - 1;
      for (; at >= 0 && entries.length < limit; at -= 1) {
        const entry = data.auditEntry(at);
        if (caseReference !== null && entry.caseReference !== caseReference) continue;
        if (kind === 'cleartext' && !['Reveal', 'Export'].includes(entry.action)) continue;
        if (kind === 'requests' && ['Reveal', 'Export'].includes(entry.action)) continue;
        if (kind === 'changes') continue;
        if (text !== undefined && entry.reason?.toLowerCase().includes(text.toLowerCase()) !== true) continue;
        entries.push(entry);
      }
      const batches =
        foldBatches === true && kind === 'requests' && entries[1] !== undefined
          ? [{ sequence: entries[1].sequence, requests: 1_000, failed: 12, rows: 500_000 }]
          : [];
      const next = at < 0 ? null : at + 1;
      return done({ entries, batches, total, next, chain: { state: 'intact', checked: total } });
    },
    'activity.cases': ({ limit }) => done(data.recentCases.slice(0, limit)),
    ...reportAnswers(),
    ...administrationAnswers(),
    'settings.save': (settings) => {
      fake.change({ settings });
      return done(settings);
    },
    'lock.now': () => {
      fake.change({ lock: { ...fake.state.lock, locked: true } });
      return done(fake.state.lock);
    },
    'lock.unlock': ({ passphrase }) => {
      if (fake.state.lock.passphraseSet && restoreText(passphrase) !== 'correct horse')
        return failed('unlock.wrong');
      fake.change({ lock: { ...fake.state.lock, locked: false } });
      return done(fake.state.lock);
    },
    'lock.reset': () => {
      fake.change({ lock: { locked: false, passphraseSet: false, waitMs: 0 } });
      return done(fake.state.lock);
    },
    'lock.setPassphrase': ({ next }) => {
      fake.change({ lock: { ...fake.state.lock, passphraseSet: next.obscured !== '' } });
      return done(fake.state.lock);
    },
    'lock.active': nothing,
  };
}
