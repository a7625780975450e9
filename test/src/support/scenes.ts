import type { ImportItem } from '../../../electron/contract/models/import-item.ts';
import { done } from '../../../electron/contract/errors.ts';
import type { UnreadAnswer } from '../../../electron/contract/models/connection.ts';
import { acme, acmeService, batchScenes, inProduction } from './batch-scenes.ts';
import type { FakeOptions } from './fake-bridge.ts';
import { comparisonScenes } from './comparison-scenes.ts';
import { inventoryScenes } from './inventory-scenes.ts';
import { moveScenes } from './move-scenes.ts';
import { queueScenes } from './queue-scenes.ts';
import { administrationAnswers, manyListed, signedIn } from './fake-administration.ts';
import * as data from './fake-data.ts';
import { figuresOf, nothingReported, reportAnswers, signedOut } from './fake-reports.ts';

const manyDefinitions = Array.from(
  { length: 40 },
  (_, n) => `${['card-number', 'account', 'customer-reference', 'e-mail'][n % 4] ?? ''}-region-${n + 1}`,
);
const withDefinitions = (definitions: string[]): FakeOptions => ({
  state: inProduction,
  answers: {
    ...reportAnswers(),
    'reports.metrics': (query) => ({
      ok: true,
      value: { ...figuresOf(query, definitions), requestId: '7f3a91c2-9001' },
    }),
  },
});
/** Answers whose members are not where the profile looks for them. */
const unread: UnreadAnswer[] = [
  {
    operation: 'CreateSession',
    members: [
      { path: ['result', 'ticket'], kind: 'text' },
      { path: ['result', 'validUntil'], kind: 'text' },
      { path: ['result', 'validForSeconds'], kind: 'number' },
    ],
  },
  {
    operation: 'BatchDetokenize',
    members: [
      { path: ['items', '[]', 'reference'], kind: 'text' },
      { path: ['items', '[]', 'plainValue'], kind: 'text' },
      { path: ['items', '[]', 'status'], kind: 'text' },
    ],
  },
];
const refused = {
  code: 'service.refused',
  policy: 'dispute-desk',
  operation: 'GetMasked',
  definition: 'card-number',
  requestId: '7f3a91c2-88d1',
} as const;
const down = { code: 'service.unreachable', subject: 'acme.tokens.example' } as const;

const longCase =
  'Complaint of the merchant in Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch, 2026/4711/B';
const caseScene = (caseReference: string, count: number, actor?: string): FakeOptions => {
  const { lookups, entries } = data.caseOf(caseReference, count, actor);
  const [newest] = entries;
  return {
    lookups,
    answers: {
      'activity.list': () => ({
        ok: true,
        value: {
          entries,
          batches: [],
          total: entries.length,
          next: null,
          chain: { state: 'intact', checked: 240 },
        },
      }),
      'activity.cases': () => ({
        ok: true,
        value: [...(newest ? [newest] : []), ...data.recentCases.slice(1)],
      }),
    },
  };
};

const providedItem = (name: string, over: Partial<ImportItem>): ImportItem => ({
  kind: 'connection',
  name,
  change: 'same',
  members: [],
  code: '',
  forgetsSecrets: false,
  ...over,
});

/** States of the app by name; a screenshot or a check starts from one. */
export const scenes: Record<string, FakeOptions> = {
  'first-run': { state: data.appState({ connections: [], active: null, service: null }) },
  'first-run-provided': {
    state: data.appState({
      connections: [
        { ...data.production, apiKey: 'missing' },
        { ...data.staging, apiKey: 'missing' },
      ],
      active: null,
      service: null,
      provided: [
        providedItem(data.production.name, { change: 'new' }),
        providedItem(data.staging.name, { change: 'new' }),
        providedItem('Beta', { change: 'refused', code: 'connection.host' }),
      ],
    }),
  },
  provided: {
    state: data.appState({
      provided: [
        providedItem('Acme EU', {
          change: 'changed',
          members: ['baseUrl', 'policies'],
          forgetsSecrets: true,
        }),
      ],
    }),
  },
  'first-run-failed': {
    state: data.appState({ connections: [], active: null, service: null }),
    fail: { 'connections.startBuiltIn': { code: 'keychain.stalled' } },
  },
  empty: {
    state: data.appState({
      service: {
        ...acmeService,
        remaining: null,
        limit: null,
        limitPeriodSeconds: null,
        sessionSince: null,
        transfersToday: 0,
        pausedUntil: null,
        pauseReason: null,
      },
    }),
  },
  /** Events of the service came. */
  events: {
    lookups: structuredClone(data.lookups),
    state: data.appState({
      webhooks: {
        address: 'https://127.0.0.1:9443',
        problem: null,
        events: (
          [
            ['keyExpiring', data.production.name, null],
            ['policyRevoked', data.production.name, 'dispute-desk'],
            ['keyRevoked', 'Acme Zahlungsverkehr Mitteleuropa (Notfallbetrieb, zweites Rechenzentrum)', null],
          ] as const
        ).map(([kind, connection, subject], index) => ({
          id: `event-${index}`,
          connection,
          kind,
          subject,
          at: `2026-11-20T0${index + 7}:15:00.000Z`,
        })),
      },
    }),
  },
  busy: { lookups: structuredClone(data.lookups), jobs: [data.job()] },
  ...batchScenes,
  ...queueScenes,
  ...inventoryScenes,
  ...moveScenes,
  ...comparisonScenes,
  case: caseScene('D-20931', 6),
  'case-long': caseScene(longCase, 40, 'CORP\\maximiliane.von-und-zu-hohenstein-waldburg'),
  refused: {
    lookups: structuredClone(data.lookups),
    fail: { 'lookup.mask': refused, 'lookup.reveal': refused },
  },
  fitting: {
    state: inProduction,
    answers: {
      'connections.unreadAnswers': () =>
        done([
          {
            operation: 'BatchTokenize',
            members: [
              { path: ['requestTime'], kind: 'number' },
              { path: ['rows'], kind: 'list' },
              { path: ['rows', '[]', 'id'], kind: 'text' },
              { path: ['rows', '[]', 'surrogate'], kind: 'text' },
              { path: ['rows', '[]', 'note'], kind: 'text' },
            ],
          },
        ]),
    },
    fail: { 'connections.fitProfile': { code: 'profile.cleartext', subject: 'value' } },
  },
  down: {
    state: data.appState({
      active: acme,
      keychain: 'locked',
      audit: 'unwritable',
      service: {
        ...acmeService,
        sessionSince: null,
        remaining: 0,
        limit: 600,
        limitPeriodSeconds: null,
        transfersToday: 412_000,
        pausedUntil: new Date(Date.now() + 42_000).toISOString(),
        pauseReason: 'busy',
      },
    }),
    jobs: [data.job({ state: 'paused', secondsLeft: null, waiting: { failure: { ...down }, until: null } })],
    fail: {
      'lookup.mask': down,
      'batch.preview': { code: 'file.unreadable', subject: 'disputes-q3.csv' },
      'batch.preflight': down,
      'reports.metrics': down,
      'reports.failures': {
        code: 'service.unexpected-answer',
        members: ['records', 'paging'],
        requestId: '7f3a91c2-77',
      },
      'activity.list': { code: 'audit.broken', row: 118 },
      'connections.save': { code: 'certificate.invalid' },
      'settings.save': { code: 'call.failed' },
      'batch.export': { code: 'file.disk-full' },
    },
  },
  offline: {
    state: data.appState({
      service: { ...acmeService, connectionId: 'built-in', offlineSince: data.at(12) },
    }),
    lookups: structuredClone(data.lookups),
    fail: { 'lookup.mask': down, 'connections.tryNow': down },
  },
  'little-left': {
    state: data.appState({
      service: {
        ...acmeService,
        policy: 'intake',
        remaining: 41,
        limit: 600,
        remainingUntil: new Date(Date.now() + 600_000).toISOString(),
      },
    }),
  },
  upgraded: { state: data.appState({ upgradedFrom: '0.0.9' }), lookups: structuredClone(data.lookups) },
  'single-keys-off': {
    state: data.appState({ settings: { ...data.settings, singleKeys: false } }),
    lookups: structuredClone(data.lookups),
  },
  managed: {
    state: data.appState({
      managed: {
        caseRequired: true,
        reasons: ['Chargeback response', 'Refund'],
        revealSeconds: 10,
        lockAfterMinutes: 5,
        passphraseRequired: true,
        cleartextExport: 'encrypted',
        bulkMatch: false,
        maxRevealsPerDay: 40,
        allowedHosts: ['tokens.acme.example', '*.eu.acme.example'],
        builtInService: false,
        updateNotice: 'Tokendesk 0.3 is in the Software Centre since Monday.',
      },
      settings: {
        ...data.settings,
        revealSeconds: 10,
        lockAfterMinutes: 5,
        reasons: ['Chargeback response', 'Refund'],
      },
    }),
  },
  'second-person': {
    state: data.appState({ approval: { wanted: data.wantedAct, held: [] } }),
  },
  'second-person-approved': {
    state: data.appState({
      approval: { wanted: null, held: [{ by: 'Dana Reyes (dana, desk-09)', act: data.wantedAct }] },
    }),
  },
  'passphrase-missing': {
    state: data.appState({ managed: { passphraseRequired: true }, passphraseMissing: true }),
  },
  'long-names': {
    state: data.appState({
      connections: [
        {
          ...data.production,
          id: 'built-in',
          name: 'Acme Europe Shared Services Centre, payments and disputes, Frankfurt am Main',
          policies: ['dispute-desk-second-line-europe-and-middle-east', 'analyst'],
          definitions: data.production.definitions.map((definition) => ({
            ...definition,
            label: `${definition.label} of customers and their authorised representatives`,
          })),
        },
      ],
      active: { connectionId: 'built-in', policy: 'dispute-desk-second-line-europe-and-middle-east' },
    }),
    answers: reportAnswers(),
  },
  'signed-out': { state: inProduction, answers: reportAnswers(signedOut) },
  'many-definitions': withDefinitions(manyDefinitions),
  'twelve-definitions': withDefinitions(manyDefinitions.slice(0, 12)),
  'one-definition': withDefinitions(['card-number']),
  unread: {
    state: inProduction,
    answers: {
      'connections.unreadAnswers': () => ({ ok: true, value: unread }),
    },
  },
  'many-policies': {
    state: data.appState({
      active: acme,
      connections: [
        {
          ...data.production,
          policies: Array.from({ length: 12 }, (_, n) => `team-${n + 1}`),
          policyPasswords: Array.from({ length: 12 }, (_, n) => ({
            policy: `team-${n + 1}`,
            state: 'stored' as const,
          })),
          definitions: manyDefinitions.map((name) => ({ name, label: name, kind: 'card' as const })),
        },
      ],
    }),
  },
  'administration-production': { state: inProduction, answers: administrationAnswers(signedIn) },
  administration: { answers: administrationAnswers(signedIn) },
  'administration-many': { answers: administrationAnswers(signedIn, manyListed) },
  'administration-signed-out': {
    answers: administrationAnswers({ ...signedIn, signedIn: false, asksPassphrase: true }),
  },
  'administration-none': {
    state: inProduction,
    answers: administrationAnswers({ ...signedIn, available: false, signedIn: false }),
  },
  'administration-failed': {
    answers: administrationAnswers(signedIn),
    fail: {
      'administration.saveDefinition': {
        code: 'service.invalid-input',
        fields: [{ name: 'definition.name', message: 'definition.name is invalid' }],
        requestId: '7f3a91c2-9003',
      },
      'administration.savePolicy': { code: 'audit.unwritable' },
      'administration.createKey': down,
      'administration.previewDefinition': down,
    },
  },
  'administration-refused': {
    answers: administrationAnswers(signedIn),
    fail: { 'administration.load': { code: 'service.failing', requestId: '7f3a91c2-9004' } },
  },
  'nothing-reported': { state: inProduction, answers: nothingReported() },
  locked: {
    state: data.appState({ lock: { locked: true, passphraseSet: true, waitMs: 0 } }),
    jobs: [data.job()],
  },
  'locked-waiting': {
    state: data.appState({ lock: { locked: true, passphraseSet: true, waitMs: 30_000 } }),
  },
};
