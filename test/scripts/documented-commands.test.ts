import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseCommand } from '../../electron/commands/arguments.ts';
import { commandOf, commands, isCommandName, refusedSwitch } from '../../electron/platform/command-line.ts';
import pkg from '../../package.json' with { type: 'json' };
import { documentedCommands, type DocumentedCommand } from '../support/documented-commands.ts';

/* Each command that a document names can be given. */

const all = documentedCommands();
const of = (program: string): readonly DocumentedCommand[] => all.filter((one) => one.program === program);

const packaged = { isPackaged: true };

/** The sentence why the app does not take it. */
function refusalOf({ args, isUsage }: DocumentedCommand): string | null {
  const argv = ['tokendesk', ...args];
  // The name of a command, of which a sentence tells.
  if (args.length === 1 && isCommandName(args[0] ?? '')) return null;
  if (isUsage) return usageFault(args);
  const refused = refusedSwitch(packaged, argv, 'linux');
  if (refused !== null) return `It does not start with --${refused}.`;
  const command = commandOf(packaged, argv);
  const parsed = command === null ? null : parseCommand(command.name, command.args);
  return typeof parsed === 'string' ? parsed : null;
}

/** Of a line of syntax: each switch is one of the command, and takes a value, or none, as the help has it. */
function usageFault(args: readonly string[]): string | null {
  const command = commandOf(packaged, ['tokendesk', ...args.map((word) => word.replaceAll(/[[\]…]/g, ''))]);
  const switches = args.flatMap((word) => /^\[?(--[\w-]+=?)/.exec(word)?.[1] ?? []);
  if (command === null) {
    const names = switches.map((one) => one.replace(/=$/, ''));
    const refused = refusedSwitch(packaged, ['tokendesk', ...names], 'linux');
    return refused === null ? null : `It does not start with --${refused}.`;
  }
  const { usage } = commands[command.name];
  const wrong = switches.find((one) => !new RegExp(`[[ ]${one}(?=[\\]A-Z])`).test(usage));
  return wrong === undefined ? null : `${command.name} has no ${wrong}`;
}

test('the app takes each of its commands as it stands', () => {
  const own = of('tokendesk');
  expect(own.length).toBeGreaterThan(25);
  expect(
    own.map((one) => [one.where, one.args.join(' '), refusalOf(one)]).filter(([, , fault]) => fault !== null),
  ).toEqual([]);
  // Each command and each documented start is among them.
  const named = new Set(own.flatMap(({ args }) => args.map((word) => word.replace(/=.*$/, ''))));
  for (const name of Object.keys(commands)) expect([...named]).toContain(name);
});

test('npm has each script, and the script the options that are given to it', () => {
  const npm = of('npm').filter(({ args: [first = ''] }) => ['run', 'start', 'test'].includes(first));
  expect(npm.length).toBeGreaterThan(40);
  const faults = npm.flatMap(({ where, args }) => {
    const [first = '', ...rest] = args;
    const name = first === 'run' ? (rest[0] ?? '') : first;
    const script = (pkg.scripts as Record<string, string>)[name];
    if (script === undefined) return [`${where}: there is no script ${name}`];
    const options = args
      .slice(args.indexOf('--') + 1)
      .filter((word) => args.includes('--') && word.startsWith('--'));
    return options.flatMap((option) => (takes(script, option) ? [] : [`${where}: ${name} has no ${option}`]));
  });
  expect(faults).toEqual([]);
});

/** Whether the file that a script starts, or one that it imports, reads the option. */
function takes(script: string, option: string): boolean {
  const file = script.split(' ').findLast((word) => /\.m?[jt]s$/.test(word)) ?? '';
  const source = fs.readFileSync(file, 'utf8');
  const near = [...source.matchAll(/from '(\.{1,2}\/[^']+\.m?[jt]s)'/g)].map(([, name = '']) =>
    fs.readFileSync(path.join(path.dirname(file), name), 'utf8'),
  );
  const [name = ''] = option.slice(2).split('=');
  const isRead = new RegExp(`(?:--|['\\s{])${name}'?\\b['":]|'--${name}'|--${name}\\b`);
  return [source, ...near].some((text) => isRead.test(text));
}

test('what node and npx are given is there', () => {
  const faults = [...of('node'), ...of('npx')].flatMap(({ where, program, args }) => {
    const [first = ''] = args;
    if (program === 'npx' && !fs.existsSync(path.join('node_modules/.bin', first)))
      return [`${where}: no ${first}`];
    const files = args.filter((word) => /^(?:test|scripts|dev)\//.test(word));
    return files.filter((file) => !fs.existsSync(file)).map((file) => `${where}: no ${file}`);
  });
  expect(faults).toEqual([]);
});
