import fs from 'node:fs';
import path from 'node:path';
import { createPackage } from '@electron/asar';

/** What marks the fuses in Electron's executable: this, the version of the wire, how many, and one digit for each. */
export const fuseSentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';

/** A folder with as much of an unpacked Electron for Linux as packaging looks at. */
export async function standInDistribution(folder: string, version: string): Promise<void> {
  fs.mkdirSync(path.join(folder, 'resources'), { recursive: true });
  fs.mkdirSync(path.join(folder, 'locales'));
  fs.mkdirSync(path.join(folder, 'default-app'));
  fs.writeFileSync(path.join(folder, 'default-app', 'main.js'), '');
  await createPackage(path.join(folder, 'default-app'), path.join(folder, 'resources', 'default_app.asar'));
  fs.rmSync(path.join(folder, 'default-app'), { recursive: true });

  const fuses = Buffer.concat([Buffer.from(fuseSentinel), Buffer.from([1, 9]), Buffer.from('101001011')]);
  const executable = Buffer.concat([Buffer.from('\x7fELF'), Buffer.alloc(64), fuses, Buffer.alloc(64)]);
  fs.writeFileSync(path.join(folder, 'electron'), executable, { mode: 0o755 });
  fs.writeFileSync(path.join(folder, 'version'), version);
  for (const name of ['LICENSE', 'LICENSES.chromium.html', 'chrome-sandbox', 'locales/en-US.pak'])
    fs.writeFileSync(path.join(folder, name), '');
}
