import fs from 'node:fs';
import path from 'node:path';
import { unpackArchive } from './archive.ts';

/*
 * The command line: electron [-r MODULE]… [SWITCHES] FOLDER_OR_ARCHIVE [ARGUMENTS], and for a program that is not called
 * `electron` the archive beside it, as a package has it.
 */

export interface Start {
  readonly executable: string;
  readonly isPackaged: boolean;
  /** Folder of the app; of an archive its path, below which its files can be read. */
  readonly appPath: string;
  readonly name: string;
  readonly version: string;
  /** The main script. */
  readonly main: string;
  /** Modules that are loaded first. */
  readonly modules: readonly string[];
  /** The executable and its arguments, as the app finds them. */
  readonly argv: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly isHeadless: boolean;
}

export const start: Start = read(process.argv.slice(2));

function read([given = '', ...args]: readonly string[]): Start {
  const executable = path.resolve(given);
  const isPackaged = path.basename(executable) !== 'electron';
  const modules: string[] = [];
  let target: string | null = isPackaged ? path.join(path.dirname(executable), 'resources/app.asar') : null;
  for (let at = 0; at < args.length && target === null; at++) {
    const argument = args[at] ?? '';
    if (argument === '-r' || argument === '--require') modules.push(args[++at] ?? '');
    else if (!argument.startsWith('-')) target = path.resolve(argument);
  }
  if (target === null || !fs.existsSync(target)) {
    console.error(`There is no app at ${target ?? 'the end of the command line'}.`);
    process.exit(1);
  }
  const appPath = target.endsWith('.asar') ? unpackArchive(target) : target;
  const manifest = JSON.parse(fs.readFileSync(path.join(appPath, 'package.json'), 'utf8')) as {
    productName?: string;
    name: string;
    version: string;
    main: string;
  };
  const { env } = process;
  return {
    executable,
    isPackaged,
    appPath,
    name: manifest.productName ?? manifest.name,
    version: manifest.version,
    main: path.join(appPath, manifest.main),
    modules,
    argv: [executable, ...args],
    env,
    isHeadless: process.platform === 'linux' && !env['DISPLAY'] && !env['WAYLAND_DISPLAY'],
  };
}
