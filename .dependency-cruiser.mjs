/*
 * Who may import whom, over the graph of all imports, types counted: `depcruise electron src dev scripts`, part of
 * `npm test`. What stands in no list is refused, so a new folder is refused until it has its line.
 */

/** Modules of the main process, and the other modules that each may use. */
const mayUse = {
  // The bottom.
  contract: [],
  util: [],
  masking: ['contract', 'util'],
  log: ['contract'],
  storage: ['contract', 'util'],
  parsing: ['contract', 'storage', 'util'],
  ipc: ['contract', 'log'],
  // The client of the service stands alone: audit, credentials and settings are handed to it.
  service: ['contract', 'masking', 'util'],
  settings: ['contract', 'service', 'storage', 'util'],
  // Of the platform other modules know the interface only.
  platform: ['contract', 'ipc', 'log', 'settings', 'storage', 'util'],
  privacy: ['contract', 'log', 'masking', 'platform/platform.ts', 'storage', 'util'],
  audit: ['contract', 'masking', 'privacy', 'storage', 'util'],
  evidence: ['audit', 'contract', 'masking', 'privacy', 'storage', 'util/markup.ts'],
  // A service of its own: it shares nothing with its client.
  'built-in-service': ['storage', 'util'],
  connections: [
    'audit',
    'built-in-service/start.ts',
    'contract',
    'masking',
    'parsing',
    'platform/platform.ts',
    'privacy',
    'service',
    'settings',
    'storage',
    'util',
  ],
  portal: [
    'audit',
    'connections',
    'contract',
    'masking',
    'platform/platform.ts',
    'privacy',
    'service',
    'storage',
  ],
  // A checker of services: it asks through the client's transport, and reads answers as the client does.
  conformance: ['contract', 'masking', 'portal', 'service', 'storage', 'util'],
  // What the pages do.
  lookup: ['audit', 'contract', 'masking', 'privacy', 'service', 'util'],
  batch: [
    'audit',
    'connections',
    'contract',
    'evidence',
    'masking',
    'parsing',
    'platform/platform.ts',
    'privacy',
    'service',
    'settings',
    'storage',
    'util',
  ],
  // Of batches and lookups it is handed what it asks.
  story: ['audit', 'contract', 'masking', 'platform/platform.ts', 'privacy', 'storage', 'util'],
  reports: ['audit', 'contract', 'evidence', 'portal', 'privacy', 'service', 'storage'],
  administration: ['audit', 'connections', 'contract', 'portal', 'privacy', 'service'],
  webhooks: ['audit', 'connections', 'contract', 'service', 'storage'],
  // The app without a window: asked through the router, as the window asks.
  commands: [
    'app/compose.ts',
    'app/statements.ts',
    'contract',
    'platform/command-line.ts',
    'platform/platform.ts',
    'storage',
  ],
  support: [
    'audit',
    'connections',
    'contract',
    'log',
    'parsing',
    'platform',
    'privacy/file-names.ts',
    'settings',
    'storage',
    'util',
  ],
};

/** The pipeline of a batch: each stage may use those before it. */
const stages = [
  'storing',
  'reading',
  'inside',
  'planning',
  'running',
  'viewing',
  'output',
  'comparing',
  'inventory',
  'mending',
  'calls',
];
/** Parts of the window, and what each may use of the others; a feature never uses another. */
const windowParts = {
  lib: [],
  messages: ['lib'],
  ui: ['lib', 'messages'],
  features: ['lib', 'messages', 'ui'],
};

const inside = (folder, names) => `^${folder}/(${names.join('|')})(/|$)`;
const rule = (name, from, to, comment) => ({ name, severity: 'error', comment, from, to });

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    rule('no circle', {}, { circular: true }, 'Move what both need to the lower of the two.'),
    {
      ...rule('no circle of folders', {}, { circular: true }, 'Move what both need to the lower of the two.'),
      scope: 'folder',
    },
    rule(
      'no orphan',
      { orphan: true, pathNot: '\\.d\\.ts$' },
      {},
      'Nobody imports it, and it is no entry: delete it.',
    ),
    rule(
      'a place for each module',
      { path: '^electron/' },
      {
        path: '^electron/',
        pathNot: `^electron/(app|${Object.keys(mayUse).join('|')})/`,
      },
      'electron/ has a line in mayUse for each folder, and no file of code but its entries.',
    ),
    ...Object.entries(mayUse).map(([name, allowed]) =>
      rule(
        `${name} uses what it may`,
        { path: `^electron/${name}/` },
        { path: '^(electron|src|dev|scripts|test)/', pathNot: inside('electron', [name, ...allowed]) },
        'See mayUse.',
      ),
    ),
    ...stages.slice(0, -1).map((stage, position) =>
      rule(
        `batch/${stage} knows earlier stages only`,
        { path: `^electron/batch/${stage}/` },
        {
          path: '^electron/batch/',
          pathNot: inside('electron/batch', [...stages.slice(0, position + 1), 'options\\.ts']),
        },
        'A stage of the pipeline knows the stages before it.',
      ),
    ),
    rule(
      'the preload exposes the contract',
      { path: '^electron/preload\\.ts$' },
      { path: '^electron/', pathNot: '^electron/contract/' },
      'And nothing else.',
    ),
    rule(
      'the renderer is untrusted',
      { path: '^src/' },
      { path: '^(electron|dev|scripts|test)/', pathNot: '^electron/contract/' },
      'It knows the contract and nothing else of the main process.',
    ),
    ...Object.entries(windowParts).map(([name, allowed]) =>
      rule(
        `src/${name} uses what it may`,
        { path: `^src/${name}/` },
        { path: '^src/', pathNot: inside('src', [name, ...allowed]) },
        'See windowParts.',
      ),
    ),
    rule(
      'features never import each other',
      { path: '^src/features/([^/]+)/' },
      { path: '^src/features/', pathNot: '^src/features/$1/' },
      'What two of them need belongs to lib or ui.',
    ),
    rule(
      'the product knows no tool',
      { path: '^electron/(app/|main\\.ts)' },
      // A command prints the sentences that the window shows.
      { path: '^(src|dev|scripts|test)/', pathNot: '^src/messages/' },
      'Neither tools, tests nor the window.',
    ),
    rule(
      'scripts stand alone',
      { path: '^scripts/' },
      { path: '^(dev|test)/' },
      'Tests and dev use scripts.',
    ),
    rule(
      'what is bundled is a dependency',
      { path: '^(electron|src)/' },
      {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        // Electron is the runtime.
        pathNot: 'node_modules/electron/',
      },
      'The audit and the bill of materials look at `dependencies`.',
    ),
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    enhancedResolveOptions: {
      extensions: ['.ts', '.svelte', '.js', '.mjs', '.json'],
      exportsFields: ['exports'],
      conditionNames: ['svelte', 'import', 'node', 'default', 'types'],
    },
  },
};
