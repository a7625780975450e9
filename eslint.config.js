import js from '@eslint/js';
import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

/*
 * Linting is done by two tools. oxlint (.oxlintrc.json) has nearly all rules, those that need types among them, and takes a
 * tenth of the time. What it can't do is here, without types: components, names, and what no rule of the shelf forbids.
 */

const openConsoles = [
  '[callee.name=/^(exec|execFile|spawn|fork)(Sync)?$/]',
  '[callee.callee.name="promisify"]',
].map((callee) => ({
  selector: `CallExpression${callee}:not(:has(Property[key.name="windowsHide"][value.value=true]))`,
  message: 'Windows opens a console window for a program that is started without windowsHide.',
}));

const ownTurns = {
  selector:
    'ImportDeclaration[source.value="node:timers/promises"] > ImportSpecifier[imported.name="setImmediate"]',
  message:
    'Work gives way in one place, where it also stands for what a person waits for: electron/util/turns.ts.',
};

/** The rules of several configurations, without the parser that they bring. */
const rulesOf = (configs) => Object.assign({}, ...configs.map(({ rules = {} }) => rules));

export default tseslint.config(
  { ignores: ['node_modules', 'dist', 'out', 'test/fixtures'] },
  ...svelte.configs.recommended,
  { files: ['**/*.ts'], ignores: ['**/*.svelte.ts'], languageOptions: { parser: tseslint.parser } },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: tseslint.parser }, globals: { ...globals.browser } },
    // State that is a collection is replaced here, not changed; the rule flags local ones too.
    rules: { 'svelte/prefer-svelte-reactivity': 'off' },
  },
  {
    files: ['**/*.ts', '**/*.svelte'],
    plugins: { '@typescript-eslint': tseslint.plugin },
    // Directives for oxlint are none of its business.
    linterOptions: { reportUnusedDisableDirectives: 'off' },
    rules: {
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
    },
  },
  {
    files: ['electron/**'],
    ignores: ['electron/util/turns.ts'],
    rules: { 'no-restricted-syntax': ['error', ...openConsoles, ownTurns] },
  },
  {
    files: ['electron/{batch,parsing}/**'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...openConsoles,
        ownTurns,
        {
          selector: 'BinaryExpression[left.callee.property.name="trim"][right.value=""]',
          message: 'What is blank is said once: isBlank in electron/util/blank.ts.',
        },
      ],
    },
  },
  {
    files: ['**/*.svelte'],
    extends: [js.configs.recommended],
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      ...rulesOf(tseslint.configs.strict),
      'svelte/no-at-html-tags': 'error',
      'no-undef': 'off',
      'no-unused-vars': 'off',
      // Props are taken apart by `let`.
      'prefer-const': 'off',
      eqeqeq: 'error',
      'max-params': ['error', 4],
      '@typescript-eslint/no-unused-vars': ['error', { varsIgnorePattern: '^_', argsIgnorePattern: '^_' }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      'no-duplicate-imports': ['error', { allowSeparateTypeImports: false }],
    },
  },
  {
    files: ['**/*.mjs', '*.config.js'],
    extends: [js.configs.recommended],
    languageOptions: { globals: globals.node },
  },
  prettier,
  ...svelte.configs.prettier,
);
