import fs from 'node:fs';
import path from 'node:path';
import { createPackage } from '@electron/asar';

/** What marks the fuses in Electron's executable: this, the version of the wire, how many, and one digit for each. */
export const fuseSentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
const fuses = Buffer.concat([Buffer.from(fuseSentinel), Buffer.from([1, 9]), Buffer.from('101001011')]);

/** Says what it is, and can't be taken for the app. Behind `exit` no shell reads on. */
const script = `#!/bin/sh
echo 'This package was made without Electron, to try the packaging. It holds no program.' >&2
exit 1
`;

/**
 * A folder with as much of an unpacked Electron for Linux as packaging looks at, for machines where Electron can't be
 * had. What is packaged with it does not start, and says so.
 */
export async function standInDistribution(folder: string, version: string): Promise<void> {
  fs.mkdirSync(path.join(folder, 'resources'), { recursive: true });
  fs.mkdirSync(path.join(folder, 'locales'));
  await writeDefaultApp(path.join(folder, 'resources'));
  fs.writeFileSync(path.join(folder, 'electron'), Buffer.concat([Buffer.from(script), fuses]), {
    mode: 0o755,
  });
  writeOther(folder, version, ['chrome-sandbox', 'locales/en-US.pak']);
  fs.chmodSync(path.join(folder, 'chrome-sandbox'), 0o755);
}

/** The same for Windows. `program` is any PE executable: electron-builder writes icon and version into it. */
export async function standInForWindows(folder: string, version: string, program: string): Promise<void> {
  fs.mkdirSync(path.join(folder, 'resources'), { recursive: true });
  fs.mkdirSync(path.join(folder, 'locales'));
  await writeDefaultApp(path.join(folder, 'resources'));
  fs.writeFileSync(path.join(folder, 'electron.exe'), Buffer.concat([fs.readFileSync(program), fuses]));
  writeOther(folder, version, ['ffmpeg.dll', 'locales/en-US.pak']);
}

/** The same for macOS: the program, its framework with the fuses, and the four helpers. */
export async function standInForMac(folder: string, version: string): Promise<void> {
  const contents = path.join(folder, 'Electron.app/Contents');
  const frameworks = path.join(contents, 'Frameworks');
  const framework = path.join(frameworks, 'Electron Framework.framework');
  fs.mkdirSync(path.join(contents, 'Resources'), { recursive: true });
  fs.mkdirSync(framework, { recursive: true });
  await writeDefaultApp(path.join(contents, 'Resources'));
  fs.writeFileSync(path.join(framework, 'Electron Framework'), fuses, { mode: 0o755 });
  writeProgram(contents, 'Electron');
  for (const kind of ['', ' (GPU)', ' (Plugin)', ' (Renderer)'])
    writeProgram(path.join(frameworks, `Electron Helper${kind}.app/Contents`), `Electron Helper${kind}`);
  writeOther(folder, version, []);
}

function writeProgram(contents: string, name: string): void {
  fs.mkdirSync(path.join(contents, 'MacOS'), { recursive: true });
  fs.writeFileSync(path.join(contents, 'MacOS', name), script, { mode: 0o755 });
  const members = { CFBundleExecutable: name, CFBundleName: name, CFBundleIdentifier: 'com.github.Electron' };
  const lines = Object.entries(members).map(([key, value]) => `<key>${key}</key><string>${value}</string>`);
  fs.writeFileSync(
    path.join(contents, 'Info.plist'),
    `<?xml version="1.0" encoding="UTF-8"?>\n<plist version="1.0"><dict>${lines.join('')}</dict></plist>\n`,
  );
}

async function writeDefaultApp(resources: string): Promise<void> {
  const app = path.join(resources, 'default-app');
  fs.mkdirSync(app);
  fs.writeFileSync(path.join(app, 'main.js'), '');
  await createPackage(app, path.join(resources, 'default_app.asar'));
  fs.rmSync(app, { recursive: true });
}

function writeOther(folder: string, version: string, names: readonly string[]): void {
  fs.writeFileSync(path.join(folder, 'version'), version);
  for (const name of ['LICENSE', 'LICENSES.chromium.html', ...names])
    fs.writeFileSync(path.join(folder, name), 'A stand-in.\n');
}
