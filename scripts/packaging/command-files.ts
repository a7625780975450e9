import {
  commands,
  commandSwitches,
  compareOptions,
  conformanceOptions,
  documentedSwitches,
  shownSwitch,
  verifierOptions,
} from '../../electron/platform/command-line.ts';

/* The man page and the completion of bash, made of the table that the app itself goes by. */

/** As roff takes a text: a hyphen of a command is no dash, no line begins with what would be a request, and all is ASCII. */
const roff = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^(?=[.'])/, '\\&')
    .replaceAll(
      /[^\x20-\x7e]/g,
      (sign) => `\\[u${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`,
    );

const entry = (what: string, text: string): string => `.TP\n.B ${roff(what)}\n${roff(text)}`;

const listed = (options: readonly string[]): string =>
  options
    .filter((option) => option !== '')
    .map((option) => `--${option}`)
    .join(', ');

/** Section 1, before it is compressed. */
export function manPage(): string {
  return [
    '.TH TOKENDESK 1',
    '.SH NAME',
    'tokendesk \\- manual work against a vaultless tokenization service',
    '.SH SYNOPSIS',
    '.B tokendesk',
    '[\\fISWITCH\\fR...] [\\fIFILE\\fR]',
    ...Object.values(commands).map(({ usage }) => `.br\n.B tokendesk\n${roff(usage)}`),
    '.SH DESCRIPTION',
    'Opens the window, or the one that is open already, with a file of rows or a tokendesk:// link. The commands run without a',
    'window, with the connection in use, its secrets and its limits, and write the same lines into the audit log.',
    '.SH COMMANDS',
    ...Object.entries(commands).map(([name, { text }]) => entry(name, text)),
    '.SH SWITCHES OF THE COMMANDS',
    ...Object.entries(commandSwitches).map(([name, text]) => entry(`--${name}`, text)),
    '.SH SWITCHES',
    ...documentedSwitches.map((one) => entry(shownSwitch(one), one.text ?? '')),
    entry('--compare', `Takes also ${listed(compareOptions)}.`),
    entry('--conformance', `Takes also ${listed(conformanceOptions)}.`),
    entry('--verify-audit, --verify-evidence', `Take also ${listed(verifierOptions)}.`),
    '.SH EXIT STATUS',
    'Of the commands: 0 all rows succeeded, 2 wrong use, 3 finished with rows that failed, 4 paused, 5 refused before anything',
    'was sent, 6 broken off, 7 values in clear stay in the file. Of the verifiers: 0 valid, 1 not valid, 2 could not be checked,',
    '3 signer unknown.',
    '.SH FILES',
    entry('~/.config/Tokendesk', 'Settings, audit log and batches of one person.'),
    entry(
      '/etc/tokendesk',
      'What the administrator has fixed (policy.json), provides (connections.json) and says of the service (service-profile.json).',
    ),
    entry('/opt/Tokendesk/site/service-profile.json', 'The site’s own service profile, where it has one.'),
    entry('/opt/Tokendesk/resources/guides', 'The guides for people and for administrators.'),
    '',
  ].join('\n');
}

/** For `/usr/share/bash-completion/completions`. */
export function bashCompletion(): string {
  const names = Object.keys(commands);
  const words = names.filter((name) => !name.startsWith('-'));
  const ofCommand = Object.entries(commands).map(([name, { switches, usage }]) => {
    const words = switches.map((one) => `--${one}${usage.includes(`--${one}=`) ? '=' : ''}`);
    return `    ${name}) switches='${words.join(' ')}' ;;`;
  });
  const behind = {
    '--compare*': compareOptions,
    '--conformance*': conformanceOptions,
    '--verify-audit* | --verify-evidence*': verifierOptions.filter((option) => option !== ''),
  };
  const ofSwitch = Object.entries(behind).map(
    ([pattern, options]) =>
      `    ${pattern}) switches='${options.map((option) => `--${option}`).join(' ')}' ;;`,
  );
  const own = [
    ...documentedSwitches.map(({ name, value }) => `--${name}${value === undefined ? '' : '='}`),
    ...names.filter((name) => name.startsWith('-')),
  ];
  return `# Completion of tokendesk for bash.
_tokendesk() {
  local word=\${COMP_WORDS[COMP_CWORD]} command='' switches='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
    ${[...names, ...Object.keys(behind)].join(' | ')}) command=\${COMP_WORDS[at]} && break ;;
    esac
  done
  case $command in
${[...ofCommand, ...ofSwitch].join('\n')}
    *) switches='${own.join(' ')}' ;;
  esac
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$switches" -- "$word")
  else
    mapfile -t COMPREPLY < <([[ -n $command ]] || compgen -W '${words.join(' ')}' -- "$word"; compgen -f -- "$word")
  fi
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *= ]]; then compopt -o nospace 2>/dev/null; fi
  return 0
}
complete -o filenames -F _tokendesk tokendesk
`;
}
