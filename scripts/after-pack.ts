import fs from 'node:fs';
import path from 'node:path';
import type { AfterPackContext } from 'electron-builder';
import { writeFileList } from '../electron/platform/package-integrity.ts';

/**
 * electron-builder's hook between packing and signing. Removes the program that Electron runs where it finds no app: a
 * distribution given as a folder brings it along. Lists what was packed, for `--self-check`.
 */
export default function afterPack({ appOutDir, packager, electronPlatformName }: AfterPackContext): void {
  const resources =
    electronPlatformName === 'darwin'
      ? path.join(appOutDir, `${packager.appInfo.productFilename}.app`, 'Contents/Resources')
      : path.join(appOutDir, 'resources');
  fs.rmSync(path.join(resources, 'default_app.asar'), { force: true });
  writeFileList(resources, electronPlatformName as NodeJS.Platform);
}
