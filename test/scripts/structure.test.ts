import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { cruise, type ICruiseResult } from 'dependency-cruiser';
import extractDepcruiseConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { describe, expect, onTestFinished, test } from 'vitest';

/* The rules of .dependency-cruiser.mjs, on made files: each names the imports of a file. The product itself is held to
 * them by a check of its own in `npm test`. */

type Files = Readonly<Record<string, readonly string[]>>;

const { forbidden = [], options } = await extractDepcruiseConfig(path.resolve('.dependency-cruiser.mjs'));

/** Names of the rules that the files break. */
async function broken(files: Files): Promise<string[]> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-structure-'));
  onTestFinished(() => {
    fs.rmSync(root, { recursive: true, force: true });
  });
  fs.writeFileSync(
    path.join(root, 'tsconfig.json'),
    '{"compilerOptions":{"allowImportingTsExtensions":true}}',
  );
  fs.writeFileSync(path.join(root, 'package.json'), '{"type":"module"}');
  for (const folder of ['electron', 'src']) fs.mkdirSync(path.join(root, folder));
  for (const [name, imports] of Object.entries(files)) {
    const file = path.join(root, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    const lines = imports.map((to, at) => {
      const from = path.relative(path.dirname(name), to);
      const type = `import type { a as b${at} } from '${from.startsWith('.') ? from : `./${from}`}';`;
      // A component has no types that others import.
      return name.endsWith('.svelte') ? type.replace('import type', 'import') : type;
    });
    const text = `${lines.join('\n')}\nexport type a = string;\n`;
    fs.writeFileSync(file, name.endsWith('.svelte') ? `<script lang="ts">\n${text}</script>\n` : text);
  }
  const { output } = await cruise(
    ['electron', 'src'],
    { ...options, ruleSet: { forbidden }, validate: true, baseDir: root },
    options?.enhancedResolveOptions,
    { tsConfig: extractTSConfig(path.join(root, 'tsconfig.json')) },
  );
  const { summary } = output as ICruiseResult;
  return [...new Set(summary.violations.map(({ rule }) => rule.name))].sort();
}

const cases: Readonly<Record<string, { readonly files: Files; readonly rules: readonly string[] }>> = {
  'what is as it should be': {
    files: {
      'electron/contract/calls.ts': [],
      'electron/storage/files.ts': ['electron/contract/calls.ts'],
      'electron/batch/options.ts': ['electron/storage/files.ts'],
      'electron/batch/storing/results.ts': ['electron/batch/options.ts'],
      'electron/batch/reading/rows.ts': ['electron/batch/storing/results.ts'],
      'src/lib/format.ts': ['electron/contract/calls.ts'],
    },
    rules: [],
  },
  'a circle of types between files': {
    files: {
      'electron/audit/audit.ts': ['electron/audit/entries.ts'],
      'electron/audit/entries.ts': ['electron/audit/audit.ts'],
    },
    rules: ['no circle'],
  },
  'the circle of a batch: a stage that takes its options from the whole': {
    files: {
      'electron/batch/batch.ts': ['electron/batch/running/job.ts'],
      'electron/batch/running/job.ts': ['electron/batch/batch.ts'],
    },
    rules: ['batch/running knows earlier stages only', 'no circle'],
  },
  'a circle between folders, where no file is in one': {
    files: {
      'electron/reports/reports.ts': ['electron/evidence/chain.ts'],
      'electron/evidence/chain.ts': [],
      'electron/evidence/evidence.ts': ['electron/reports/report.ts'],
      'electron/reports/report.ts': [],
    },
    rules: ['evidence uses what it may', 'no circle of folders'],
  },
  'a module that uses a sibling': {
    files: {
      'electron/batch/batch.ts': ['electron/administration/bodies.ts'],
      'electron/administration/bodies.ts': [],
    },
    rules: ['batch uses what it may'],
  },
  'an implementation of the platform': {
    files: { 'electron/privacy/lock.ts': ['electron/platform/window.ts'], 'electron/platform/window.ts': [] },
    rules: ['privacy uses what it may'],
  },
  'a module that uses the whole': {
    files: { 'electron/lookup/lookup.ts': ['electron/app/compose.ts'], 'electron/app/compose.ts': [] },
    rules: ['lookup uses what it may'],
  },
  'a stage that knows a later one': {
    files: {
      'electron/batch/storing/a.ts': ['electron/batch/output/b.ts'],
      'electron/batch/output/b.ts': [],
    },
    rules: ['batch/storing knows earlier stages only'],
  },
  'a loose file, and a folder without a line': {
    files: {
      'electron/app/compose.ts': ['electron/clients.ts', 'electron/news/news.ts'],
      'electron/clients.ts': [],
      'electron/news/news.ts': [],
    },
    rules: ['a place for each module'],
  },
  'the window and main': {
    files: { 'src/lib/a.ts': ['electron/storage/b.ts'], 'electron/storage/b.ts': [] },
    rules: ['the renderer is untrusted'],
  },
  'a feature that imports another, from a component': {
    files: {
      'src/features/lookup/Page.svelte': ['src/features/batch/labels.ts'],
      'src/features/batch/labels.ts': [],
    },
    rules: ['features never import each other'],
  },
  'a kit that knows a feature': {
    files: { 'src/ui/Table.svelte': ['src/features/batch/labels.ts'], 'src/features/batch/labels.ts': [] },
    rules: ['src/ui uses what it may'],
  },
};

test('a file that nobody imports', async () => {
  expect(await broken({ 'electron/storage/forgotten.ts': [] })).toEqual(['no orphan']);
});

describe('who may import whom', () => {
  for (const [name, { files, rules }] of Object.entries(cases))
    test(name, async () => {
      expect(await broken(files)).toEqual(rules);
    });
});
