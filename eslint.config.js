import fs from 'node:fs';
import path from 'node:path';
import js from '@eslint/js';
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';
import { importX } from 'eslint-plugin-import-x';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

/**
 * Who may import whom. A zone reads "files under `target` may not import from `from`, except …". The files directly
 * under `electron/` compose the modules: they see everything and are in no zone.
 */
const modules = fs
  .readdirSync(path.join(import.meta.dirname, 'electron'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);
const domain = modules.filter((name) => !['contract', 'ipc', 'platform'].includes(name));
/** The bottom of the main process: what any domain module may use. */
const base = ['./contract', './storage', './log', './util'];
const features = fs.readdirSync(path.join(import.meta.dirname, 'src/features'));
/** The pipeline of a batch, from the bottom up: each stage may use those before it. */
const stages = ['storing', 'reading', 'planning', 'running', 'output', 'calls'];
const directions = [
  ...stages.flatMap((stage, position) =>
    stages.slice(position + 1).map((later) => ({
      target: `./electron/batch/${stage}`,
      from: `./electron/batch/${later}`,
      message: 'A stage of the batch pipeline knows the stages before it only.',
    })),
  ),
  {
    target: './src',
    from: './electron',
    except: ['./contract'],
    message: 'The renderer is untrusted: it knows the contract and nothing else of the main process.',
  },
  { target: './src/ui', from: './src/features', message: 'The UI kit knows no feature.' },
  { target: './src/ui', from: './src/app', message: 'The UI kit does not know the frame.' },
  { target: './src/features', from: './src/app', message: 'Features do not know the frame.' },
  ...features.map((feature) => ({
    target: `./src/features/${feature}`,
    from: './src/features',
    except: [`./${feature}`],
    message: 'Features never import each other.',
  })),
  { target: './electron', from: './src', message: 'The main process never imports the renderer.' },
  ...['electron', 'src'].flatMap((product) =>
    ['dev', 'test', 'scripts'].map((tool) => ({
      target: `./${product}`,
      from: `./${tool}`,
      message: 'The product does not depend on tools, tests or the development platform.',
    })),
  ),
  ...['dev', 'test'].map((tool) => ({
    target: './scripts',
    from: `./${tool}`,
    message: 'Scripts do not depend on tests or the development platform.',
  })),
  {
    target: './electron/contract',
    from: './electron',
    except: ['./contract'],
    message: 'The contract depends on nothing.',
  },
  {
    target: './electron/preload.ts',
    from: './electron',
    except: ['./contract'],
    message: 'The preload exposes the contract, nothing else.',
  },
  {
    target: './electron/ipc',
    from: './electron',
    except: ['./contract', './ipc', './log', './util'],
    message: 'The router knows the contract only.',
  },
  ...domain.map((name) => ({
    target: `./electron/${name}`,
    from: './electron/ipc',
    message: 'Domain modules never see the IPC router.',
  })),
  ...domain.map((name) => ({
    target: `./electron/${name}`,
    from: './electron/platform',
    except: ['./platform.ts'],
    message: 'Domain modules know the Platform interface, never an implementation.',
  })),
  {
    target: './electron/service',
    from: './electron',
    except: [...base, './privacy', './service'],
    message: 'The client stands alone: audit, credentials and settings are handed to it.',
  },
  {
    target: './electron/built-in-service',
    from: './electron',
    except: [...base, './privacy', './built-in-service'],
    message: 'The built-in service is a service: it must not share code with its client.',
  },
  {
    target: './electron/privacy',
    from: './electron',
    except: [...base, './privacy', './platform/platform.ts'],
    message: 'Privacy depends on no other domain module.',
  },
  {
    target: './electron/storage',
    from: './electron',
    except: ['./contract', './storage', './util'],
    message: 'Storage depends on no domain module.',
  },
  {
    target: './electron/util',
    from: './electron',
    except: ['./util'],
    message: 'Utilities depend on nothing.',
  },
  {
    target: './electron/log',
    from: './electron',
    except: ['./contract', './log', './util'],
    message: 'The log depends on no domain module.',
  },
];

export default tseslint.config(
  { ignores: ['node_modules', 'dist', 'out', 'test/fixtures'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  ...svelte.configs.recommended,
  {
    languageOptions: {
      parserOptions: {
        projectService: true,
        tsconfigRootDir: import.meta.dirname,
        extraFileExtensions: ['.svelte'],
      },
    },
    plugins: { 'import-x': importX },
    settings: { 'import-x/resolver-next': [createTypeScriptImportResolver({ project: ['tsconfig.json'] })] },
    rules: {
      'import-x/no-restricted-paths': ['error', { zones: directions }],
      'import-x/no-cycle': 'error',
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            { group: ['**/index.ts'], message: 'No barrels: import the module that owns the name.' },
          ],
        },
      ],
      'no-eval': 'error',
      'no-restricted-properties': [
        'error',
        { property: 'innerHTML', message: 'Markup from strings is how a CSV cell becomes a script.' },
        { property: 'outerHTML', message: 'Markup from strings is how a CSV cell becomes a script.' },
        {
          property: 'insertAdjacentHTML',
          message: 'Markup from strings is how a CSV cell becomes a script.',
        },
        {
          property: 'findCredentials',
          message: 'Crashes the process on a locked keyring; keep an index instead.',
        },
      ],
      eqeqeq: 'error',
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      'max-params': ['error', 4],
      '@typescript-eslint/naming-convention': [
        'error',
        {
          selector: 'default',
          format: ['camelCase'],
          leadingUnderscore: 'allow',
          trailingUnderscore: 'allow',
        },
        // PascalCase: classes and components held in a variable. Destructured names belong to others: Node's flags, wire members.
        {
          selector: ['variable', 'import'],
          format: ['camelCase', 'PascalCase'],
          leadingUnderscore: 'allow',
          trailingUnderscore: 'allow',
        },
        { selector: ['variable', 'parameter'], modifiers: ['destructured'], format: null },
        // Put in by the build.
        { selector: 'variable', filter: '^(BRIDGE_CALLS|BRIDGE_EVENTS|APP_VERSION)$', format: null },
        { selector: 'typeLike', format: ['PascalCase'] },
        {
          selector: [
            'objectLiteralProperty',
            'typeProperty',
            'objectLiteralMethod',
            'typeMethod',
            'classProperty',
          ],
          format: null,
        },
      ],
      'no-duplicate-imports': ['error', { allowSeparateTypeImports: false }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
    },
  },
  {
    // What is bundled is in `dependencies`, where the audit and the bill of materials look.
    files: ['electron/**', 'src/**'],
    settings: { 'import-x/core-modules': ['electron'] },
    rules: { 'import-x/no-extraneous-dependencies': ['error', { devDependencies: false }] },
  },
  {
    files: ['electron/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...['[callee.name=/^(exec|execFile|spawn|fork)(Sync)?$/]', '[callee.callee.name="promisify"]'].map(
          (callee) => ({
            selector: `CallExpression${callee}:not(:has(Property[key.name="windowsHide"][value.value=true]))`,
            message: 'Windows opens a console window for a program that is started without windowsHide.',
          }),
        ),
      ],
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: {
      parserOptions: { parser: tseslint.parser },
      globals: { ...globals.browser },
    },
    rules: {
      'svelte/no-at-html-tags': 'error',
      // State that is a collection is replaced here, not changed; the rule flags local ones too.
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  {
    // The parser knows no types of snippets and of handlers in markup: svelte-check does, and runs beside.
    files: ['**/*.svelte'],
    rules: {
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
    },
  },
  {
    files: ['**/*.mjs', '*.config.js'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: globals.node },
  },
  prettier,
  ...svelte.configs.prettier,
);
