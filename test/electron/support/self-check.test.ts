import fs from 'node:fs';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { createPackage, getRawHeader } from '@electron/asar';
import { FuseV1Options, FuseVersion, flipFuses } from '@electron/fuses';
import { describe, expect, test } from 'vitest';
import { writeFileList } from '../../../electron/platform/package-integrity.ts';
import { report, selfCheck, type SelfCheckOptions } from '../../../electron/support/self-check.ts';
import { fakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { standInDistribution } from '../../../scripts/stand-in-distribution.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { sentenceFor } from '../../../src/messages/messages.ts';
import { systemOptions } from '../../../electron/settings/read-managed-settings.ts';

const shippedProfile = path.resolve('resources/service-profile.json');

const nativeModule = 'app.asar.unpacked/keytar.node';

/** The library answers before its stream has written the last bytes, of which a list of hashes could already be made. */
async function packArchive(root: string, archive: string): Promise<void> {
  await createPackage(root, archive);
  interface Entry {
    readonly files?: Readonly<Record<string, Entry>>;
    readonly offset?: string;
    readonly size?: number;
  }
  const { header, headerSize } = getRawHeader(archive);
  const endOf = ({ files, offset, size }: Entry): number =>
    files === undefined ? Number(offset) + (size ?? 0) : Math.max(0, ...Object.values(files).map(endOf));
  const end = 8 + headerSize + endOf(header);
  while (fs.statSync(archive).size < end) await setImmediate();
}

/** An installed app, as far as it is looked at: executable with fuses, archive, and the archive's files. */
async function installed(): Promise<SelfCheckOptions & { clock: FakeClock }> {
  const folder = tempFolder();
  const root = path.join(folder, 'files');
  fs.mkdirSync(path.join(root, 'dist/main'), { recursive: true });
  fs.mkdirSync(path.join(root, 'dist/renderer'));
  fs.mkdirSync(path.join(root, 'resources'));
  for (const name of ['dist/main/main.js', 'dist/main/preload.cjs', 'dist/renderer/index.html'])
    fs.writeFileSync(path.join(root, name), name);
  fs.copyFileSync(shippedProfile, path.join(root, 'resources/service-profile.json'));
  fs.writeFileSync(path.join(root, 'package.json'), '{"main":"dist/main/main.js"}');
  const resources = path.join(folder, 'resources');
  const archive = path.join(resources, 'app.asar');
  await packArchive(root, archive);
  fs.mkdirSync(path.join(resources, 'app.asar.unpacked'));
  fs.writeFileSync(path.join(resources, nativeModule), 'native');
  writeFileList(resources, 'linux');
  await standInDistribution(path.join(folder, 'electron'), '45.4.1');
  const executable = path.join(folder, 'electron', 'electron');
  await flipFuses(executable, {
    version: FuseVersion.V1,
    [FuseV1Options.RunAsNode]: false,
    [FuseV1Options.EnableCookieEncryption]: false,
    [FuseV1Options.EnableNodeOptionsEnvironmentVariable]: false,
    [FuseV1Options.EnableNodeCliInspectArguments]: false,
    [FuseV1Options.EnableEmbeddedAsarIntegrityValidation]: true,
    [FuseV1Options.OnlyLoadAppFromAsar]: true,
    [FuseV1Options.GrantFileProtocolExtraPrivileges]: false,
  });
  return {
    executable,
    archive,
    root,
    resources,
    preload: path.join(root, 'dist/main/preload.cjs'),
    site: path.join(folder, 'site'),
    os: 'linux',
    managed: { ...systemOptions('linux'), folder: path.join(folder, 'managed') },
    loadKeytar: () => Promise.resolve(keyring(() => Promise.resolve(null))),
    clock: fakeClock(),
    systemCertificates: () => ['one', 'two'],
    node: { options: [], inspector: undefined },
    words: sentenceFor,
  };
}

const keyring = (getPassword: () => Promise<string | null>) => ({
  getPassword,
  setPassword: () => Promise.reject(new Error('nothing is written')),
  deletePassword: () => Promise.reject(new Error('nothing is written')),
});

/** The line about one thing. */
async function line(what: string, parts: SelfCheckOptions): Promise<string> {
  const { text } = report(await selfCheck(parts));
  return text.split('\n').find((one) => one.slice('not ok  '.length).startsWith(`${what}:`)) ?? '';
}

test('a whole app: a line for each check, all ok', async () => {
  const { text, code } = report(await selfCheck(await installed()));
  expect(text).toBe(
    [
      'ok      fuses: as they were set at packaging',
      'ok      archive: every file has a hash, which Electron does not compare on Linux',
      'ok      files: 2, all as they were packed',
      'ok      preload: there',
      'ok      node options: none taken',
      'ok      keychain module: loads',
      'ok      keyring: Secret Service reachable',
      'ok      system certificates: 2 trusted besides those that come with the program',
      'ok      client certificates: a PKCS #12 file opens',
      'ok      service profile: valid, the one that is shipped',
      'ok      managed settings: none',
      'ok      provided connections: none',
      '',
    ].join('\n'),
  );
  expect(code).toBe(0);
});

test('one failed check is enough, and the others are still reported', async () => {
  const parts = await installed();
  fs.rmSync(parts.preload);
  const { text, code } = report(await selfCheck(parts));
  expect(code).toBe(1);
  expect(text.trim().split('\n')).toHaveLength(12);
  expect(text).toContain('not ok  preload: missing');
});

describe('fuses', () => {
  test.each([
    [FuseV1Options.RunAsNode, true, 'runAsNode'],
    [FuseV1Options.EnableCookieEncryption, true, 'cookieEncryption'],
    [FuseV1Options.EnableNodeOptionsEnvironmentVariable, true, 'nodeOptions'],
    [FuseV1Options.EnableNodeCliInspectArguments, true, 'nodeInspect'],
    [FuseV1Options.EnableEmbeddedAsarIntegrityValidation, false, 'archiveIntegrity'],
    [FuseV1Options.OnlyLoadAppFromAsar, false, 'onlyFromArchive'],
    [FuseV1Options.GrantFileProtocolExtraPrivileges, true, 'fileProtocolRights'],
  ])('fuse %s the other way round is named', async (fuse, on, name) => {
    const parts = await installed();
    await flipFuses(parts.executable, { version: FuseVersion.V1, [fuse]: on });
    expect(await line('fuses', parts)).toBe(`not ok  fuses: not as expected: ${name}`);
  });

  test('a program that has none', async () => {
    const parts = await installed();
    fs.writeFileSync(parts.executable, 'plain');
    expect(await line('fuses', parts)).toBe('not ok  fuses: none in this program');
  });
});

describe('the archive and its files', () => {
  test('an app that runs from a folder', async () => {
    const parts = await installed();
    expect(await line('archive', { ...parts, archive: parts.root })).toMatch(
      /^not ok .*does not run from one/,
    );
  });

  test('files without a hash', async () => {
    const parts = await installed();
    const bytes = fs.readFileSync(parts.archive, 'latin1');
    fs.writeFileSync(parts.archive, bytes.replaceAll('"SHA256"', '"sha256"'), 'latin1');
    expect(await line('archive', parts)).toMatch(/^not ok {2}archive: 5 files without a hash, first \//);
  });

  test.each<[string, string, (parts: SelfCheckOptions) => unknown]>([
    [
      'one byte of a file in the archive',
      'app.asar',
      ({ archive }) => {
        const bytes = fs.readFileSync(archive);
        bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1;
        fs.writeFileSync(archive, bytes);
      },
    ],
    [
      'an archive that was packed anew, with another main',
      'app.asar',
      ({ root, archive }) => {
        fs.writeFileSync(path.join(root, 'package.json'), '{"main":"evil.js"}');
        return packArchive(root, archive);
      },
    ],
    [
      'an archive that is gone',
      'app.asar',
      ({ archive }) => {
        fs.rmSync(archive);
      },
    ],
    [
      'a native module with something behind it',
      nativeModule,
      ({ resources }) => {
        fs.appendFileSync(path.join(resources, nativeModule), ' ');
      },
    ],
    [
      'a native module that is gone',
      nativeModule,
      ({ resources }) => {
        fs.rmSync(path.join(resources, nativeModule));
      },
    ],
    [
      'a file more outside of the archive',
      'app.asar.unpacked/deep/more.node',
      ({ resources }) => {
        fs.mkdirSync(path.join(resources, 'app.asar.unpacked/deep'));
        fs.writeFileSync(path.join(resources, 'app.asar.unpacked/deep/more.node'), '');
      },
    ],
  ])('%s', async (_what, name, change) => {
    const parts = await installed();
    await change(parts);
    expect(await line('files', parts)).toBe(`not ok  files: 1 missing, changed or added, first ${name}`);
  });

  test('on macOS the native module is known by its name: it is signed after it was listed', async () => {
    const parts = await installed();
    writeFileList(parts.resources, 'darwin');
    fs.appendFileSync(path.join(parts.resources, nativeModule), 'a signature');
    expect(await line('files', parts)).toMatch(/^ok /);
    fs.rmSync(path.join(parts.resources, nativeModule));
    expect(await line('files', parts)).toContain(`first ${nativeModule}`);
  });

  test('no list', async () => {
    const parts = await installed();
    fs.rmSync(path.join(parts.resources, 'files.json'));
    expect(await line('files', parts)).toBe('not ok  files: there is no list of what was packed');
  });

  test('nothing outside of the archive', async () => {
    const parts = await installed();
    fs.rmSync(path.join(parts.resources, 'app.asar.unpacked'), { recursive: true });
    expect(await line('files', parts)).toContain(`1 missing, changed or added, first ${nativeModule}`);
  });

  test.each(['', '{}', '{"app.asar":"0"}'])('a list that says %j is no list', async (text) => {
    const parts = await installed();
    fs.writeFileSync(path.join(parts.resources, 'files.json'), text);
    expect(await line('files', parts)).toMatch(/^not ok {2}files: could not be checked/);
  });
});

describe('the keychain', () => {
  const withKeyring = async (load: SelfCheckOptions['loadKeytar']) => ({
    ...(await installed()),
    loadKeytar: load,
  });

  test('no module', async () => {
    const parts = await withKeyring(() => Promise.reject(new TypeError('/home/secret path')));
    expect(await line('keychain module', parts)).toBe(
      'not ok  keychain module: could not be checked (TypeError)',
    );
  });

  test('no keyring is said, and no fault', async () => {
    const parts = await withKeyring(() =>
      Promise.resolve(keyring(() => Promise.reject(new Error('no bus')))),
    );
    expect(await line('keyring', parts)).toBe('ok      keyring: no keyring: secrets in memory only');
  });

  test('one that is locked', async () => {
    const parts = await withKeyring(() =>
      Promise.resolve(
        keyring(() => Promise.reject(new Error('Cannot get secret of a locked object: is locked'))),
      ),
    );
    expect(await line('keyring', parts)).toBe('ok      keyring: reachable, locked');
  });

  test('one that never answers', async () => {
    const { clock, ...parts } = await installed();
    const asked = Promise.withResolvers<undefined>();
    const hangs = keyring(() => {
      asked.resolve(undefined);
      return new Promise(() => undefined);
    });
    const said = line('keyring', { ...parts, clock, loadKeytar: () => Promise.resolve(hangs) });
    await asked.promise;
    clock.advance(5_000);
    expect(await said).toBe('not ok  keyring: no answer in 5 seconds');
  });
});

describe('certificates', () => {
  test('none of the system’s is said, and no fault', async () => {
    const parts = { ...(await installed()), systemCertificates: () => [] };
    expect(await line('system certificates', parts)).toMatch(/^ok {6}system certificates: none found/);
  });

  test('a store that can’t be read is one', async () => {
    const parts = {
      ...(await installed()),
      systemCertificates: (): string[] => {
        throw new TypeError('/home/secret path');
      },
    };
    expect(await line('system certificates', parts)).toBe(
      'not ok  system certificates: could not be checked (TypeError)',
    );
  });
});

describe('what Node was told', () => {
  test('an option it took', async () => {
    const parts = await installed();
    const node = { options: ['--inspect'], inspector: undefined };
    expect(await line('node options', { ...parts, node })).toBe('not ok  node options: taken: --inspect');
  });

  test('a debugger that can attach', async () => {
    const parts = await installed();
    const node = { options: [], inspector: 'ws://127.0.0.1:9229/x' };
    expect(await line('node options', { ...parts, node })).toBe(
      'not ok  node options: a debugger can attach',
    );
  });
});

describe('the service profile', () => {
  const withOwn = async (text: string) => {
    const parts = await installed();
    fs.mkdirSync(parts.site);
    fs.writeFileSync(path.join(parts.site, 'service-profile.json'), text);
    return parts;
  };

  test('of the site is in force', async () => {
    const parts = await withOwn(fs.readFileSync(shippedProfile, 'utf8'));
    expect(await line('service profile', parts)).toBe("ok      service profile: valid, the site's own");
  });

  test.skipIf(process.getuid?.() !== 0)('of the administrator’s folder goes before it', async () => {
    const parts = await withOwn('{');
    fs.mkdirSync(parts.managed.folder);
    fs.writeFileSync(path.join(parts.managed.folder, 'service-profile.json'), '{"version": 1}');
    expect(await line('service profile', parts)).toBe("ok      service profile: valid, the administrator's");
  });

  test('of the site is damaged', async () => {
    const parts = await withOwn('{');
    expect(await line('service profile', parts)).toMatch(/^not ok .*not valid, the site's own .*not JSON/);
  });
});

test('connections of a signed file that is away are not ok, and those beside the policy are named', async () => {
  const parts = await installed();
  const folder = tempFolder();
  const managed = { ...parts.managed, folder, uid: process.getuid?.() ?? 0 };
  const share = path.join(folder, 'share.json');
  const policy = { connectionsFile: share, connectionsSigners: ['0'.repeat(64)] };
  fs.writeFileSync(path.join(folder, 'policy.json'), JSON.stringify(policy));
  expect(await line('provided connections', { ...parts, managed })).toBe(
    'not ok  provided connections: The connections that your administrator provides can’t be read now (share.json: there is no such file). Trying again right away won’t help. What was taken last stays in use. If this goes on, tell your administrator.',
  );
  fs.writeFileSync(share, '{}');
  expect(await line('provided connections', { ...parts, managed })).toContain('has no signature that holds');
  fs.rmSync(path.join(folder, 'policy.json'));
  const file = path.join(folder, 'connections.json');
  const given = { format: 'tokendesk-connections', version: 1, connections: [], mappings: [] };
  fs.writeFileSync(file, JSON.stringify(given));
  expect(await line('provided connections', { ...parts, managed })).toBe(
    `ok      provided connections: none, of ${file}`,
  );
});
