import { expect, test } from 'vitest';
import {
  helpText,
  policyArgument,
  printedAtStart,
  refusalOf,
  refusedSwitch,
} from '../../../electron/platform/command-line.ts';

test.each([
  [['--help'], 'help'],
  [['-h'], 'help'],
  [['--version'], 'version'],
  [['-v'], 'version'],
  [['-v', '--help'], 'help'],
  [['cards.csv'], null],
  [['--self-check'], null],
])('%j prints %s', (given, expected) => {
  expect(printedAtStart(['tokendesk', ...given], 'linux')).toBe(expected);
  expect(refusedSwitch({ isPackaged: true }, ['tokendesk', ...given], 'linux')).toBeNull();
});

test('on Windows a slash and capitals do as well', () => {
  expect(printedAtStart(['tokendesk.exe', '/HELP'], 'win32')).toBe('help');
});

test('every switch that the help names is one that the app starts with', () => {
  const named = [...helpText().matchAll(/--([a-z-]+)/g)].map(([, name = '']) => name);
  expect(named.length).toBeGreaterThan(10);
  for (const name of named)
    expect([name, refusedSwitch({ isPackaged: true }, ['tokendesk', `--${name}`], 'linux')]).toEqual([
      name,
      null,
    ]);
});

test('the name next to a mistyped one is offered, and to any other the help', () => {
  expect(refusalOf('self-chek')).toBe(
    'Tokendesk does not start with --self-chek. Did you mean --self-check? tokendesk --help lists what it starts with.',
  );
  expect(refusalOf('no-sandbox')).not.toContain('Did you mean');
});

test.each([
  [['--check-policy'], null],
  [['--check-policy=/tmp/policy.json'], '/tmp/policy.json'],
  [['--check-policy', 'policy.json'], 'policy.json'],
  [['--check-policy', '--user-data-dir=/data'], null],
  [['--check-policy='], undefined],
  [['policy.json', '--check-policy'], undefined],
  [['--check-policy', '--', 'policy.json'], undefined],
  [['--check-policy', 'policy.json', 'other.json'], undefined],
  [['--check-policy=policy.json', '--check-policy=other.json'], undefined],
])('%j checks %s', (given, expected) => {
  expect(policyArgument({ isPackaged: true }, ['tokendesk', ...given], 'linux')).toBe(expected);
  expect(policyArgument({ isPackaged: false }, ['electron', '.', ...given], 'linux')).toBe(expected);
});
