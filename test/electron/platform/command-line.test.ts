import { expect, test } from 'vitest';
import {
  commandOf,
  commands,
  helpText,
  policyArgument,
  printedAtStart,
  refusalOf,
  refusalOfWord,
  refusedSwitch,
  unknownCommand,
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
  const commandWith = (name: string): string[] =>
    Object.entries(commands)
      .flatMap(([command, { switches }]) => ((switches as readonly string[]).includes(name) ? [command] : []))
      .slice(0, 1);
  for (const name of named)
    expect([
      name,
      refusedSwitch({ isPackaged: true }, ['tokendesk', ...commandWith(name), `--${name}`], 'linux'),
    ]).toEqual([name, null]);
});

test.each([
  [true, ['run', 'Cards', 'a.csv', '--json'], ['Cards', 'a.csv', '--json']],
  [true, ['--user-data-dir=/data', 'run', 'Cards'], ['Cards']],
  [true, ['cards.csv', 'run'], null],
  [true, ['./run'], null],
  [true, [], null],
  [false, ['folder', 'run', 'Cards'], ['Cards']],
  [false, ['-r', 'first.cjs', 'folder', 'run'], []],
  [false, ['run'], null],
])('packaged %s: of %j the command’s are %j', (isPackaged, given, expected) => {
  expect(commandOf({ isPackaged }, ['tokendesk', ...given])?.args ?? null).toEqual(expected);
});

test('switches of the command are refused without it, and others with it', () => {
  const refused = (...given: string[]) =>
    refusedSwitch({ isPackaged: true }, ['tokendesk', ...given], 'linux');
  expect(refused('--json')).toBe('json');
  expect(refused('run', 'Cards', 'a.csv', '--json', '--out=x')).toBeNull();
  expect(refused('run', 'Cards', 'a.csv', '--no-sandbox')).toBe('no-sandbox');
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

test.each([
  [['runn', 'Card file', 'a.csv'], 'runn', 'Did you mean run?'],
  [['--json', 'exort', '5f0c'], 'exort', 'Did you mean export?'],
  [['cards'], 'cards', 'There is no command and no file cards. tokendesk --help'],
])('a mistyped command opens no window: %j', (given, word, sentence) => {
  expect(unknownCommand(['tokendesk', ...given], () => false)).toBe(word);
  expect(refusalOfWord(word)).toContain(sentence);
  expect(unknownCommand(['tokendesk', ...given], () => true)).toBeNull();
});

test.each([
  [[]],
  [['--new-batch']],
  [['cards.csv']],
  [['./cards']],
  [['/srv/cards']],
  [['C:\\cards']],
  [['tokendesk://lookup?x=1']],
  [['file:///srv/cards']],
  [['-r', '/tmp/module.cjs', '/srv/tokendesk']],
])('what can only be a file, a folder or a link is opened: %j', (given) => {
  expect(unknownCommand(['tokendesk', ...given], () => false)).toBeNull();
});
