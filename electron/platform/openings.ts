import path from 'node:path';
import { fileURLToPath } from 'node:url';
import type { App } from 'electron';
import { isCommandName } from './command-line.ts';
import type { Opening } from './platform.ts';

export interface Openings {
  /** Also hears of what came before. Returns the function that stops listening. */
  on(listener: (opening: Opening) => void): () => void;
}

export const linkScheme = 'tokendesk';
/** What a file is named that is taken for a table until it is opened: what it holds then decides how it is read. */
export const tableExtensions: readonly string[] = [
  ...['csv', 'tsv', 'txt', 'xlsx', 'xlsm'],
  ...['gz', 'zip', 'age'],
];
const isNamedAsTable = (file: string): boolean =>
  tableExtensions.includes(path.posix.extname(file).slice(1).toLowerCase());

/**
 * What the system asks the app to open: a file or link on its command line, on that of a second instance, or by the
 * events of macOS. Called before Electron is ready, since macOS may ask earlier. Only the latest is kept until somebody
 * listens.
 */
export function watchOpenings(
  app: Pick<App, 'on' | 'setAsDefaultProtocolClient' | 'isPackaged'>,
  argv: readonly string[],
  os: NodeJS.Platform,
): Openings {
  let listeners: ((opening: Opening) => void)[] = [];
  let latest: Opening | null = null;

  function open(opening: Opening | null): void {
    if (opening === null) return;
    if (listeners.length === 0) latest = opening;
    else for (const listener of listeners) listener(opening);
  }

  app.on('open-file', (event, file) => {
    event.preventDefault();
    open({ kind: 'file', reference: file, others: 0 });
  });
  app.on('open-url', (event, address) => {
    event.preventDefault();
    open({ kind: 'link', address });
  });
  app.on('second-instance', (_event, given, folder) => {
    open(findOpening(given, folder, os));
  });
  // On macOS and Linux the package says so; an installer for Windows doesn't.
  if (os === 'win32' && app.isPackaged) app.setAsDefaultProtocolClient(linkScheme);
  open(findOpening(argv, process.cwd(), os));

  return {
    on(listener) {
      listeners.push(listener);
      const waiting = latest;
      latest = null;
      if (waiting !== null) listener(waiting);
      return () => {
        listeners = listeners.filter((other) => other !== listener);
      };
    },
  };
}

/** The last link or file of a command line; a switch is neither. Files may be relative, and `file:` addresses. */
function findOpening(argv: readonly string[], folder: string, os: NodeJS.Platform): Opening | null {
  // The files of a command are not for the window of another start.
  if (isCommandName(argv.slice(1).find((argument) => !argument.startsWith('-')) ?? '')) return null;
  const paths = os === 'win32' ? path.win32 : path.posix;
  const files: string[] = [];
  for (const argument of argv.slice(1).reverse()) {
    if (argument.startsWith('-')) continue;
    if (argument.toLowerCase().startsWith(`${linkScheme}:`)) {
      if (files.length === 0) return { kind: 'link', address: argument };
      continue;
    }
    const file = argument.startsWith('file:') ? pathOf(argument, os) : argument;
    if (file !== null && isNamedAsTable(file)) files.push(file);
  }
  const [last, ...others] = files;
  return last === undefined
    ? null
    : { kind: 'file', reference: paths.resolve(folder, last), others: others.length };
}

function pathOf(address: string, os: NodeJS.Platform): string | null {
  try {
    return fileURLToPath(address, { windows: os === 'win32' });
  } catch {
    return null;
  }
}
