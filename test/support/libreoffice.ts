import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const program = (process.env['PATH'] ?? '')
  .split(path.delimiter)
  .map((folder) => path.join(folder, 'soffice'))
  .find((file) => fs.existsSync(file));

/** Debian has it in libreoffice-calc-nogui. */
export const hasLibreOffice = program !== undefined;

/** Converts files in one start of LibreOffice, with a profile of its own in `folder`; the results stand in `folder`. */
export async function convertWithLibreOffice(
  folder: string,
  files: readonly string[],
  { to, from, timeout = 110_000 }: { readonly to: string; readonly from?: string; readonly timeout?: number },
): Promise<void> {
  const profile = pathToFileURL(path.join(folder, 'profile')).href;
  const filter = from === undefined ? [] : [`--infilter=${from}`];
  const options = [`-env:UserInstallation=${profile}`, '--headless', '--norestore', ...filter];
  const env = { PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8' };
  const args = [...options, '--convert-to', to, '--outdir', folder, ...files];
  await promisify(execFile)(program ?? '', args, { env, timeout });
}
