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
 * The directions of the house: who may import whom. A zone reads "files under `target` may not import from
 * `from`, except …". `electron/desk.ts` and the two entries see everything and stand in no zone.
 */
const rooms = ['audit', 'batch', 'credentials', 'lookup', 'privacy', 'sandbox', 'service', 'settings'];
const features = fs.readdirSync(path.join(import.meta.dirname, 'src/features'));
/** The pipeline of a batch, from the bottom up: each stage may use those before it. */
const stages = ['bytes', 'csv', 'storing', 'reading', 'planning', 'running', 'output', 'calls'];
const directions = [
  ...stages.flatMap((stage, place) =>
    stages.slice(place + 1).map((later) => ({
      target: `./electron/batch/${stage}`,
      from: `./electron/batch/${later}`,
      message: 'A stage of the batch pipeline knows the stages before it only.',
    })),
  ),
  {
    target: './src',
    from: './electron',
    except: ['./contract'],
    message: 'The window is untrusted: it knows the contract and nothing else of the trusted side.',
  },
  { target: './src/components', from: './src/features', message: 'Components know no feature.' },
  ...features.map((feature) => ({
    target: `./src/features/${feature}`,
    from: './src/features',
    except: [`./${feature}`],
    message: 'Features never import each other.',
  })),
  { target: './electron', from: './src', message: 'The trusted side never imports the window.' },
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
    except: ['./contract', './ipc'],
    message: 'The door knows the contract only.',
  },
  ...rooms.map((room) => ({
    target: `./electron/${room}`,
    from: './electron/ipc',
    message: 'Domain rooms never see the door.',
  })),
  ...rooms.map((room) => ({
    target: `./electron/${room}`,
    from: './electron/shell',
    except: ['./shell.ts'],
    message: 'Domain rooms know the Shell interface, never a host.',
  })),
  {
    target: './electron/service',
    from: './electron',
    except: ['./contract', './privacy', './service'],
    message: 'The client stands alone: audit, credentials and settings are handed to it.',
  },
  {
    target: './electron/sandbox',
    from: './electron',
    except: ['./contract', './privacy', './sandbox'],
    message: 'The embedded service is a service: it must not share code with its client.',
  },
  {
    target: './electron/privacy',
    from: './electron',
    except: ['./contract', './privacy', './shell/shell.ts'],
    message: 'Privacy is at the bottom of the house.',
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
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
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
