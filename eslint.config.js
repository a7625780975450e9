import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

const openConsoles = [
  '[callee.name=/^(exec|execFile|spawn|fork)(Sync)?$/]',
  '[callee.callee.name="promisify"]',
].map((callee) => ({
  selector: `CallExpression${callee}:not(:has(Property[key.name="windowsHide"][value.value=true]))`,
  message: 'Windows opens a console window for a program that is started without windowsHide.',
}));

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
    rules: {
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
  { files: ['electron/**'], rules: { 'no-restricted-syntax': ['error', ...openConsoles] } },
  {
    files: ['electron/{batch,parsing}/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...openConsoles,
        {
          selector: 'BinaryExpression[left.callee.property.name="trim"][right.value=""]',
          message: 'What is blank is said once: isBlank in electron/util/blank.ts.',
        },
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
    // Each is foreign to the service that knows types, and costs more than all other files together: svelte-check sees them.
    files: ['**/*.svelte'],
    extends: [tseslint.configs.disableTypeChecked],
  },
  {
    // The types of tests are checked by tsc. What they await is not.
    files: ['test/**'],
    rules: Object.fromEntries(
      Object.keys(tseslint.plugin.rules)
        .filter((name) => name.startsWith('no-unsafe-'))
        .map((name) => [`@typescript-eslint/${name}`, 'off']),
    ),
  },
  {
    files: ['**/*.mjs', '*.config.js'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: { globals: globals.node },
  },
  prettier,
  ...svelte.configs.prettier,
);
