import type { App } from 'electron';

interface Switch {
  readonly name: string;
  readonly short?: string;
  /** What may follow `=`, as the help shows it. */
  readonly value?: string;
  /** One line of the help; none for those that say how and where the window is drawn. */
  readonly text?: string;
}

/**
 * What may be given at start: our own, and how and where the window is drawn. Chromium has hundreds of others; many
 * switch off a protection, open a port, write a log or start another program in the place of one of its processes.
 */
const switches: readonly Switch[] = [
  { name: 'help', short: 'h', text: 'Print this help.' },
  { name: 'version', short: 'v', text: 'Print the version.' },
  {
    name: 'user-data-dir',
    value: 'FOLDER',
    text: 'Use another folder for settings, batches and the audit log.',
  },
  { name: 'new-batch', text: 'Open the page of batches, ready for a file.' },
  { name: 'lock', text: 'Lock the app that is open, and nothing else.' },
  {
    name: 'self-check',
    text: 'Say whether this installation is complete and unchanged. 0: it is. 1: it is not.',
  },
  {
    name: 'check-policy',
    value: '[FILE]',
    text: 'Print the settings of an administrator, those in force or of a file, and what is wrong. 0: nothing. 2: something.',
  },
  { name: 'verify-audit', text: 'Check an audit log: this person’s, or a folder that is named.' },
  { name: 'verify-evidence', text: 'Check a file of evidence, or a receipt.' },
  {
    name: 'conformance',
    value: '[PROFILE]',
    text: 'Check a service against its specification; the administrator’s guide has the options. 0: no statement fails. 1: some do. 2: not checked.',
  },
  {
    name: 'compare',
    value: 'FOLDER',
    text: 'Say which workstations differ, by the statements of --attest in a folder. 0: none. 1: some. 2: not checked. 3: none, signers unknown.',
  },
  { name: 'wipe', text: 'Remove all that is kept of this person. Asks first.' },
  { name: 'lang', value: 'LANGUAGE', text: 'Write numbers and dates as in this language.' },
  { name: 'ozone-platform' },
  { name: 'ozone-platform-hint' },
  { name: 'force-device-scale-factor' },
  { name: 'force-color-profile' },
  { name: 'high-dpi-support' },
  { name: 'disable-gpu' },
  { name: 'disable-gpu-compositing' },
  { name: 'use-gl' },
  { name: 'use-angle' },
];

/** Those that people are told of: the help, the man page and the completion are made of them. */
export const documentedSwitches: readonly Switch[] = switches.filter(({ text }) => text !== undefined);

const allowedNames = switches.flatMap(({ name, short }) => [name, ...(short === undefined ? [] : [short])]);

/** Options of the two verifiers, and of nothing else; `-` is standard input. */
export const verifierOptions: readonly string[] = [
  'checkpoint',
  'key',
  'keychain',
  'signer',
  'known-signers',
  'log',
  'source',
  '',
];

/** What runs without a window. `switches`: those of the command and of no other; see `commands/arguments.ts`. */
export const commands = {
  run: {
    usage:
      'run MAPPING FILE… [--out=FOLDER] [--sheet=NAME] [--json] [--yes] [--anew] [--reason=TEXT] [--case=REFERENCE] [--passphrase-stdin] [--file-passphrase-stdin]',
    text: 'Runs files through a saved mapping.',
    switches: [
      ...(['out', 'sheet', 'json', 'yes', 'anew', 'reason', 'case'] as const),
      ...(['passphrase-stdin', 'file-passphrase-stdin'] as const),
    ],
  },
  jobs: {
    usage: 'jobs [--json] [--passphrase-stdin]',
    text: 'Lists the batches, the newest first.',
    switches: ['json', 'passphrase-stdin'],
  },
  lookup: {
    usage:
      'lookup TOKEN [--definition=NAME] [--policy=NAME] [--case=REFERENCE] [--json] [--passphrase-stdin]',
    text: 'Prints the mask of a token, and never more.',
    switches: ['definition', 'policy', 'case', 'json', 'passphrase-stdin'],
  },
  export: {
    usage: 'export BATCH [--out=FOLDER] [--reason=TEXT] [--case=REFERENCE] [--json] [--passphrase-stdin]',
    text: 'Writes masks or tokens of a finished batch, with a receipt.',
    switches: ['out', 'reason', 'case', 'json', 'passphrase-stdin'],
  },
  compare: {
    usage: 'compare FILE|BATCH FILE|BATCH… --column=NAME [--out=FILE] [--yes] [--json] [--passphrase-stdin]',
    text: 'Counts which values of a column are in which files, and shows none.',
    switches: ['column', 'out', 'yes', 'json', 'passphrase-stdin'],
  },
  inventory: {
    usage: 'inventory FILE|FOLDER… [--out=FILE] [--json] [--passphrase-stdin]',
    text: 'Counts the cards, SSNs, IBANs and e-mail addresses in files, and shows none.',
    switches: ['out', 'json', 'passphrase-stdin'],
  },
  '--attest': {
    usage: '--attest [--out=FILE] [--passphrase-stdin]',
    text: 'Prints a signed statement on this installation: its checks, policies, versions and log.',
    switches: ['out', 'passphrase-stdin'],
  },
  '--sign-connections': {
    usage: '--sign-connections FILE [--out=FILE] [--passphrase-stdin]',
    text: 'Signs a file of connections for the workstations of an administrator.',
    switches: ['out', 'passphrase-stdin'],
  },
} as const;
export type CommandName = keyof typeof commands;

/** What the switches of the commands mean. */
export const commandSwitches: Readonly<Record<(typeof commands)[CommandName]['switches'][number], string>> = {
  out: 'Where the result goes: a folder, or of compare, inventory and statements a file. run: the folder of the last export by hand, else that of the file; export: the present one.',
  sheet: 'The sheet of a workbook. The mapping’s own if not given.',
  column: 'The column that is compared, by its name or number; once for all, or once for each file.',
  json: 'Prints lines of JSON: resources/schemas/run-line.schema.json describes them.',
  yes: 'Goes on where the window would ask: after a guess about the file, new notices or failures, a batch that paused itself, many rows of production.',
  anew: 'Begins a batch of its own, where an earlier call of the same file would be taken up.',
  policy: 'The policy of the connection, by its name.',
  definition: 'The token definition, by its name.',
  reason: 'Why, for what needs a reason. It is recorded.',
  case: 'The case, recorded with the reason.',
  'passphrase-stdin': 'The first line of standard input opens the lock.',
  'file-passphrase-stdin':
    'The next line of standard input opens files under a passphrase, and encrypts their results.',
};

export const isCommandName = (word: string): word is CommandName => Object.hasOwn(commands, word);
const commandNames = Object.keys(commands).filter(isCommandName);

/** The command that a word names; `--sign-connections=FILE` names its file as well. */
function readCommand(word: string): { readonly name: CommandName; readonly args: readonly string[] } | null {
  if (isCommandName(word)) return { name: word, args: [] };
  const name = commandNames.find((one) => one.startsWith('--') && word.startsWith(`${one}=`));
  return name === undefined ? null : { name, args: [word.slice(name.length + 1)] };
}

/** Options of `--compare`, and of nothing else. */
export const compareOptions: readonly string[] = ['known-signers'];

/** Options of `--conformance`, and of nothing else. None of them is a secret. */
export const conformanceOptions: readonly string[] = ['base-url', 'ca', 'session-seconds', 'json', 'junit'];

/** Name of the switch that an argument is for Chromium: with one dash as well, on Windows with a slash and in any case. */
function switchName(argument: string, os: NodeJS.Platform): string | null {
  const [, name] = (os === 'win32' ? /^(?:--?|\/)([^=]*)/ : /^--?([^=]*)/).exec(argument.trim()) ?? [];
  if (name === undefined) return null;
  return os === 'win32' ? name.toLowerCase() : name;
}

/** Whether a command line has this switch of ours. */
export const isGiven = (name: string, argv: readonly string[], os: NodeJS.Platform): boolean =>
  argv.slice(1).some((argument) => switchName(argument, os) === name);

/** What follows `--verify-audit` or `--verify-evidence` and is the verifier's: the app's own switches are not. */
export const verifierArguments = (argv: readonly string[], os: NodeJS.Platform): string[] =>
  argumentsBehind(['verify-audit', 'verify-evidence'], argv, os);

/** The same for `--conformance`. */
export const conformanceArguments = (argv: readonly string[], os: NodeJS.Platform): string[] =>
  argumentsBehind(['conformance'], argv, os);

/** The same for `--compare`. */
export const compareArguments = (argv: readonly string[], os: NodeJS.Platform): string[] =>
  argumentsBehind(['compare'], argv, os);

/** What stands behind `=` first: `--verify-audit=FOLDER` is of that folder. */
function argumentsBehind(asked: readonly string[], argv: readonly string[], os: NodeJS.Platform): string[] {
  const names = argv.map((argument) => switchName(argument, os));
  const at = names.findIndex((name) => name !== null && asked.includes(name));
  const [, value = ''] = /=(.*)$/s.exec(argv[at] ?? '') ?? [];
  const behind = argv.slice(at + 1).filter((_argument, index) => {
    const name = names[at + 1 + index] ?? null;
    return name === null || !allowedNames.includes(name);
  });
  return value === '' ? behind : [value, ...behind];
}

/**
 * The file that `--check-policy` names, behind `=` or as the next argument; null where no file is named. Undefined where it
 * is not clear which one is meant: what is in force must not be said of a file that was never read.
 */
export function policyArgument(
  { isPackaged }: Pick<App, 'isPackaged'>,
  argv: readonly string[],
  os: NodeJS.Platform,
): string | null | undefined {
  // In development the first one is the app's folder.
  const given = argv.slice(isPackaged ? 1 : 2);
  const asked = given.filter((argument) => switchName(argument, os) === 'check-policy');
  const files = given.filter((argument) => switchName(argument, os) === null);
  const [, value] = /=(.*)$/s.exec(asked[0] ?? '') ?? [];
  if (asked.length > 1 || given.includes('--')) return undefined;
  if (value !== undefined) return value === '' || files.length > 0 ? undefined : value;
  const [file = null] = files;
  if (files.length > 1 || (file !== null && given[given.indexOf(asked[0] ?? '') + 1] !== file))
    return undefined;
  return file;
}

/**
 * The command, whose name is the first word that is no switch, and what stands behind it; null where the command line has
 * none. A file of such a name is opened as `./run`.
 */
export function commandOf(
  { isPackaged }: Pick<App, 'isPackaged'>,
  argv: readonly string[],
): { readonly name: CommandName; readonly args: string[] } | null {
  // In development the app's folder, and what is loaded before it, stand before the word.
  const at = argv.findIndex((word, index) => index > (isPackaged ? 0 : 1) && readCommand(word) !== null);
  const command = readCommand(argv[at] ?? '');
  if (command === null) return null;
  if (isPackaged && !argv.slice(1, at).every((argument) => argument.startsWith('-'))) return null;
  return { name: command.name, args: [...command.args, ...argv.slice(at + 1)] };
}

/**
 * The first word that is no switch, where it is neither a command nor a file that is there: a mistyped command must not open
 * the window. Null where it is one, or has a form that only a file, a folder or a link has.
 */
export function unknownCommand(argv: readonly string[], isThere: (file: string) => boolean): string | null {
  const word = argv.slice(1).find((argument) => /^[^-/\\.:][^/\\.:]*$/.test(argument));
  return word === undefined || isThere(word) ? null : word;
}

/** What is printed in place of a start: the help wins over the version. */
export function printedAtStart(argv: readonly string[], os: NodeJS.Platform): 'help' | 'version' | null {
  const given = argv.slice(1).map((argument) => switchName(argument, os));
  for (const { name, short } of switches)
    if ((name === 'help' || name === 'version') && given.some((one) => one === name || one === short))
      return name;
  return null;
}

/** As it is written: `-h, --help`, `--check-policy[=FILE]`. */
export function shownSwitch({ name, short, value }: Switch): string {
  const suffix = value === undefined ? '' : value.startsWith('[') ? `[=${value.slice(1)}` : `=${value}`;
  return `${short === undefined ? '' : `-${short}, `}--${name}${suffix}`;
}

export function helpText(): string {
  const rows = documentedSwitches.map((one) => [shownSwitch(one), one.text ?? ''] as const);
  const width = Math.max(...rows.map(([left]) => left.length));
  return [
    'Usage: tokendesk [SWITCH…] [FILE]',
    '',
    'Opens Tokendesk, with a file of rows or a tokendesk:// link.',
    '',
    'Without a window:',
    '',
    ...Object.values(commands).flatMap(({ usage, text }) => [
      ...wrapped(`tokendesk ${usage}`, 78).map((line, at) => `  ${at === 0 ? '' : '  '}${line}`),
      `      ${text}`,
    ]),
    '',
    ...rows.map(([left, text]) => `  ${left.padEnd(width)}  ${text}`),
    '',
    `How and where the window is drawn: ${switches
      .filter(({ text }) => text === undefined)
      .map(({ name }) => `--${name}`)
      .join(' ')}`,
    '',
  ].join('\n');
}

/** Lines of no more than so many characters, where its words allow it. */
function wrapped(text: string, length: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= length)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** For standard error. `name` is what `refusedSwitch` answered. */
export function refusalOf(name: string): string {
  const nearest = nearestOf(
    name,
    documentedSwitches.map((one) => one.name),
  );
  return `Tokendesk does not start with --${name}.${
    nearest === null ? '' : ` Did you mean --${nearest}?`
  } tokendesk --help lists what it starts with.`;
}

/** The same for a word that `unknownCommand` answered. */
export function refusalOfWord(word: string): string {
  const nearest = nearestOf(word, commandNames);
  return `There is no command and no file ${word}.${
    nearest === null ? '' : ` Did you mean ${nearest}?`
  } tokendesk --help lists the commands.`;
}

function nearestOf(word: string, names: readonly string[]): string | null {
  const [best] = names
    .map((name) => ({ name, edits: editsBetween(word.toLowerCase(), name) }))
    .sort((a, b) => a.edits - b.edits);
  return best !== undefined && best.edits <= Math.max(1, Math.floor(best.name.length / 4)) ? best.name : null;
}

/** Letters to add, remove or replace. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++)
      next.push(
        Math.min(
          (row[j] ?? 0) + 1,
          (next[j - 1] ?? 0) + 1,
          (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1),
        ),
      );
    row = next;
  }
  return row[b.length] ?? 0;
}

/**
 * The switch for which a packaged app does not start; null if there is none. In development all are allowed.
 */
export function refusedSwitch(
  { isPackaged }: Pick<App, 'isPackaged'>,
  argv: readonly string[],
  os: NodeJS.Platform,
): string | null {
  if (!isPackaged) return null;
  const given = argv.slice(1).flatMap((argument) => {
    const name = switchName(argument, os);
    return name === null ? [] : [name];
  });
  const verifies = given.some((name) => name === 'verify-audit' || name === 'verify-evidence');
  const command = commandOf({ isPackaged }, argv);
  const ofCommand: readonly string[] = command === null ? [] : commands[command.name].switches;
  const isOwn = (name: string): boolean =>
    allowedNames.includes(name) ||
    (verifies && verifierOptions.includes(name)) ||
    ofCommand.includes(name) ||
    command?.name === `--${name}` ||
    (given.includes('compare') && compareOptions.includes(name)) ||
    (given.includes('conformance') && conformanceOptions.includes(name)) ||
    // With it Windows starts a program whose notification is clicked, were it no longer there.
    (os === 'win32' && name === 'embedding') ||
    // macOS gives a program that is started from the Finder its process serial number.
    (os === 'darwin' && /^psn_\d+_\d+$/.test(name));
  return given.find((name) => !isOwn(name)) ?? null;
}
