import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAllowedHost } from '../../../electron/settings/managed-settings.ts';
import {
  readManagedSettings,
  type ManagedOptions,
} from '../../../electron/settings/read-managed-settings.ts';
import { parseRegistry } from '../../../electron/settings/registry.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const me = process.getuid?.() ?? 0;
const isRoot = me === 0;

function policy(text: string | object, over: Partial<ManagedOptions> = {}) {
  const folder = path.join(tempFolder(), 'tokendesk');
  fs.mkdirSync(folder);
  const file = path.join(folder, 'policy.json');
  fs.writeFileSync(file, typeof text === 'string' ? text : JSON.stringify(text));
  const options: ManagedOptions = {
    os: 'linux',
    uid: me,
    folder,
    user: 'ada',
    run: () => Promise.reject(new Error('nothing is run on Linux')),
    ...over,
  };
  return { folder, file, options };
}

const sentenceOf = async (options: ManagedOptions): Promise<string> => {
  const read = await readManagedSettings(options);
  return read.ok ? `read: ${JSON.stringify(read.managed)}` : read.sentence;
};

describe('the policy file', () => {
  test('is read, and says what is fixed', async () => {
    const { options, file } = policy({ caseRequired: true, revealSeconds: 5, allowedHosts: ['a.example'] });
    expect(await readManagedSettings(options)).toEqual({
      ok: true,
      managed: { caseRequired: true, revealSeconds: 5, allowedHosts: ['a.example'] },
      sources: [file],
      sourceOf: { caseRequired: file, revealSeconds: file, allowedHosts: file },
      deployment: null,
      deploymentSource: null,
      profile: null,
    });
  });

  test('that is not there fixes nothing', async () => {
    const { options, file, folder } = policy({});
    fs.rmSync(file);
    expect(await readManagedSettings(options)).toMatchObject({ ok: true, managed: {}, sources: [] });
    fs.rmdirSync(folder);
    expect(await readManagedSettings(options)).toMatchObject({ ok: true, managed: {}, sources: [] });
  });

  test.each([
    ['{"caseRequired": true', 'it is not JSON'],
    ['[]', 'it is not an object'],
    ['"caseRequired"', 'it is not an object'],
    ['{"caseRequired": "yes"}', 'caseRequired must be true or false'],
    ['{"lockAfterMinutes": 60}', 'lockAfterMinutes must be a whole number from 1 to 15'],
    ['{"revealSeconds": 1}', 'revealSeconds must be a whole number from 5 to 60'],
    ['{"cleartextExport": "sometimes"}', 'cleartextExport must be "allowed" or "encrypted" or "forbidden"'],
    ['{"allowedHosts": ["https://a.example"]}', 'allowedHosts, entry 1 must be a host in small letters'],
    ['{"allowedHosts": ["*"]}', 'allowedHosts, entry 1 must be a host in small letters'],
    ['{"caseRequried": true}', 'there is no setting caseRequried'],
    ['{"maxRevealsPerDay": -1}', 'maxRevealsPerDay must be a whole number from 0 to 1000000000'],
    ['\ufffe{}', 'it is not JSON'],
  ])('with %s stops the app', async (text, reason) => {
    const sentence = await sentenceOf(policy(text).options);
    expect(sentence).toContain('The settings of your administrator can’t be used: ');
    expect(sentence).toContain(`policy.json: ${reason}`);
  });

  test('with bytes that are no text stops the app', async () => {
    const { options, file } = policy({});
    fs.writeFileSync(file, Buffer.from('{"updateNotice":"\xff"}', 'latin1'));
    expect(await sentenceOf(options)).toContain('it is not JSON');
  });
});

describe('the administrator’s service profile', () => {
  const withProfile = (text: string) => {
    const { options, folder } = policy({});
    const file = path.join(folder, 'service-profile.json');
    fs.writeFileSync(file, text);
    return { options, file };
  };

  test('is read beside the policy', async () => {
    const text = '{"version": 1, "wrappers": ["envelope"]}';
    expect(await readManagedSettings(withProfile(`\ufeff${text}`).options)).toMatchObject({ profile: text });
  });

  test.each([
    ['{', 'not JSON'],
    ['{"wrappers": []}', 'version'],
    ['{"version": 1, "wrappers": ["value"]}', 'wrappers'],
  ])('that is %s stops the app', async (text, where) => {
    expect(await sentenceOf(withProfile(text).options)).toContain(
      `service-profile.json: service profile: ${where}`,
    );
  });

  test('that others may write stops the app', async () => {
    const { options, file } = withProfile('{"version": 1}');
    fs.chmodSync(file, 0o666);
    expect(await sentenceOf(options)).toContain('can be written by others than the administrator');
  });
});

describe('whose file it is', () => {
  test('somebody else’s stops the app', async () => {
    const { options, file } = policy({});
    if (isRoot) fs.chownSync(file, 12345, 0);
    expect(await sentenceOf(isRoot ? options : { ...options, uid: me + 1 })).toContain(
      'belongs to somebody else than the administrator',
    );
  });

  test.each([
    ['a file that everybody may write', 'file', 0o666],
    ['a folder that everybody may write', 'folder', 0o777],
  ] as const)('%s stops the app', async (_, what, mode) => {
    const made = policy({});
    fs.chmodSync(made[what], mode);
    expect(await sentenceOf(made.options)).toContain('can be written by others than the administrator');
  });

  test.skipIf(!isRoot)('a file that another group may write stops the app; root’s group may', async () => {
    const { options, file } = policy({});
    fs.chmodSync(file, 0o664);
    fs.chownSync(file, 0, 12345);
    expect(await sentenceOf(options)).toContain('can be written by others');
    fs.chownSync(file, 0, 0);
    expect(await sentenceOf(options)).toBe('read: {}');
    // The group whose members may become root on macOS.
    fs.chownSync(file, 0, 80);
    expect(await sentenceOf(options)).toContain('can be written by others');
    const mac = { ...options, os: 'darwin' as const, managedPreferences: path.join(options.folder, 'none') };
    expect(await sentenceOf(mac)).toBe('read: {}');
  });

  test('a folder further up that everybody may write stops the app, unless its sticky bit guards it', async () => {
    const { options, folder } = policy({});
    const above = path.dirname(folder);
    fs.chmodSync(above, 0o777);
    expect(await sentenceOf(options)).toContain(`its folder ${above} can be written by others`);
    fs.chmodSync(above, 0o1777);
    expect(await sentenceOf(options)).toBe('read: {}');
  });

  test('a link stops the app, as the file, its folder or one above', async () => {
    const { options, file, folder } = policy({});
    const elsewhere = path.join(tempFolder(), 'policy.json');
    fs.writeFileSync(elsewhere, '{}');
    fs.rmSync(file);
    fs.symlinkSync(elsewhere, file);
    expect(await sentenceOf(options)).toContain('it is a link');
    fs.rmSync(file);
    fs.rmdirSync(folder);
    fs.symlinkSync(path.dirname(elsewhere), folder);
    expect(await sentenceOf(options)).toContain(`its folder ${folder} is a link`);
    expect(await sentenceOf({ ...options, folder: path.join(folder, 'deeper') })).toContain('is a link');
  });

  test('what can’t be opened, or is no file, stops the app', async () => {
    const { options, file } = policy({});
    fs.rmSync(file);
    fs.mkdirSync(file);
    expect(await sentenceOf(options)).toContain('it is no file');
    fs.rmdirSync(file);
    fs.writeFileSync(file, ' '.repeat(5 * 1024 * 1024));
    expect(await sentenceOf(options)).toContain('it is too large');
  });
});

describe('macOS', () => {
  function mac(preferences: Record<string, string>) {
    const { options, folder } = policy({ revealSeconds: 10, clipboardSeconds: 10 });
    const managedPreferences = path.join(folder, 'Managed Preferences');
    fs.mkdirSync(path.join(managedPreferences, 'ada'), { recursive: true });
    for (const [name, text] of Object.entries(preferences))
      fs.writeFileSync(path.join(managedPreferences, name), text);
    const run = (file: string, args: readonly string[]): Promise<string> => {
      expect([file, ...args.slice(0, 4)]).toEqual(['/usr/bin/plutil', '-convert', 'json', '-o', '-']);
      const text = fs.readFileSync(args[4] ?? '', 'utf8');
      return text === 'torn' ? Promise.reject(new Error('plutil')) : Promise.resolve(text);
    };
    return { ...options, os: 'darwin' as const, managedPreferences, run };
  }

  test('managed preferences go before the file, those of the person before those of the computer', async () => {
    const options = mac({
      'app.tokendesk.plist': '{"revealSeconds":20,"lockAfterMinutes":5,"PayloadUUID":"1-2"}',
      'ada/app.tokendesk.plist': '{"lockAfterMinutes":2}',
    });
    const read = await readManagedSettings(options);
    expect(read).toMatchObject({
      ok: true,
      managed: { revealSeconds: 20, clipboardSeconds: 10, lockAfterMinutes: 2 },
    });
  });

  test('preferences that can’t be read or have an unknown member stop the app', async () => {
    expect(await sentenceOf(mac({ 'app.tokendesk.plist': 'torn' }))).toContain('it is no property list');
    expect(await sentenceOf(mac({ 'app.tokendesk.plist': '{"other":1}' }))).toContain(
      'there is no setting other',
    );
    const options = mac({ 'app.tokendesk.plist': '{}' });
    fs.chmodSync(path.join(options.managedPreferences, 'app.tokendesk.plist'), 0o666);
    expect(await sentenceOf(options)).toContain('can be written by others');
  });
});

/** What `reg export` writes (regedit's format, version 5). */
const head =
  'Windows Registry Editor Version 5.00\r\n\r\n[HKEY_LOCAL_MACHINE\\Software\\Policies\\Tokendesk]\r\n';
const exported = [
  '"caseRequired"=dword:00000001',
  '"builtInService"=dword:00000000',
  '"maxRevealsPerDay"=dword:00000032',
  '"cleartextExport"="encrypted"',
  '"updateNotice"="Version 2: \\"C:\\\\neu\\" für alle"',
  `"reasons"=hex(7):${hex('Chargeback\0Rückfrage\0\0')}`,
  '',
  '',
].join('\r\n');

function hex(text: string): string {
  const all = [...Buffer.from(text, 'utf16le')].map((byte) => byte.toString(16).padStart(2, '0'));
  // Continued in a second line, as it is where there are many.
  return `${all.slice(0, 10).join(',')},\\\r\n  ${all.slice(10).join(',')}`;
}

/** What `reg query` prints of the same, where the code page of the console has these letters and no others. */
function printedOf(text: string, letters = ''): string {
  const [, ...lines] = text
    .replaceAll(/\\\r\n\s*/g, '')
    .split(/\r\n/)
    .filter((line) => line !== '');
  const printed = lines.map((line) => {
    const [, name = '', raw = ''] = /^(?:"|(?=@))([^"=]+)"?=(.*)$/.exec(line) ?? [];
    if (name === '') return line.replaceAll(/[[\]]/g, '');
    const list = /^hex\(7\):(.*)$/.exec(raw)?.[1];
    const texts = Buffer.from((list ?? '').replaceAll(',', ''), 'hex').toString('utf16le');
    if (list !== undefined)
      return `    ${name}    REG_MULTI_SZ    ${texts.replace(/\0+$/, '').replaceAll('\0', String.raw`\0`)}`;
    if (raw.startsWith('dword:'))
      return `    ${name}    REG_DWORD    0x${Number.parseInt(raw.slice(6), 16).toString(16)}`;
    if (raw.startsWith('"')) return `    ${name}    REG_SZ    ${raw.slice(1, -1).replaceAll(/\\(.)/g, '$1')}`;
    return `    ${name}    REG_QWORD    0x1`;
  });
  const lost = (letter: string): string => (letters.includes(letter) ? letter : '?');
  return ['', ...printed, ''].join('\r\n').replaceAll(/[^\0-\x7e]/g, lost);
}

describe('Windows', () => {
  function windows(
    text: string | null,
    keys = 'HKEY_LOCAL_MACHINE\\Software\\Policies\\Tokendesk\r\n',
    printed = printedOf(text ?? ''),
  ) {
    const asked: string[][] = [];
    const options: ManagedOptions = {
      os: 'win32',
      uid: 0,
      folder: '',
      user: 'ada',
      run: (file, args) => {
        asked.push([file, ...args]);
        if (args[0] === 'query' && args[1]?.endsWith('Policies') === true) return Promise.resolve(keys);
        if (args[0] === 'query' && text !== null) return Promise.resolve(printed);
        if (text === null) return Promise.reject(new Error('reg'));
        fs.writeFileSync(args[2] ?? '', `\ufeff${text}`, 'utf16le');
        return Promise.resolve('');
      },
    };
    return { options, asked };
  }

  test('the registry is read: numbers as yes and no, texts and lists with every letter', async () => {
    const { options, asked } = windows(head + exported);
    expect(await readManagedSettings(options)).toMatchObject({
      ok: true,
      managed: {
        caseRequired: true,
        builtInService: false,
        maxRevealsPerDay: 50,
        cleartextExport: 'encrypted',
        updateNotice: 'Version 2: "C:\\neu" für alle',
        reasons: ['Chargeback', 'Rückfrage'],
      },
      sources: ['HKLM\\Software\\Policies\\Tokendesk'],
      deployment: null,
      profile: null,
    });
    expect(asked[0]?.slice(1)).toEqual(['query', 'HKLM\\Software\\Policies', '/reg:64']);
    // What was exported does not stay.
    expect(asked[2]?.[1]).toBe('export');
    expect(fs.existsSync(asked[2]?.[3] ?? '')).toBe(false);
  });

  const key = 'HKEY_LOCAL_MACHINE\\Software\\Policies\\Tokendesk\r\n';
  const policyOf = (text: string): string =>
    `${head}"cleartextExport"="${text}"\r\n"updateNotice"="Für ${text}?"\r\n`;

  test.each([
    ['question marks', printedOf(policyOf('encrypted'))],
    ['bytes of a code page', printedOf(policyOf('encrypted')).replace('F?r', 'F\x81r')],
    ['bytes of UTF-8', printedOf(policyOf('encrypted')).replace('F?r', 'F\xc3\xbcr')],
  ])('a text is read where it lacks letters, printed as %s', async (_what, printed) => {
    expect(await readManagedSettings(windows(policyOf('encrypted'), key, printed).options)).toMatchObject({
      managed: { cleartextExport: 'encrypted', updateNotice: 'Für encrypted?' },
    });
  });

  test('what the program prints holds, not a file of the person’s that it was exported to', async () => {
    const printed = printedOf(policyOf('forbidden'));
    // Swapped as a whole, the text that lacks a letter gives it away; alone, it is not asked for the rest.
    expect(await sentenceOf(windows(policyOf('allowed'), key, printed).options)).toContain('can’t be read');
    const swapped = policyOf('allowed').replace('Für allowed', 'Für forbidden');
    expect(await readManagedSettings(windows(swapped, key, printed).options)).toMatchObject({
      managed: { cleartextExport: 'forbidden', updateNotice: 'Für forbidden?' },
    });
    // Where no letter is lost there is no file at all.
    const { options, asked } = windows(`${head}"cleartextExport"="forbidden"\r\n`);
    expect(await readManagedSettings(options)).toMatchObject({ managed: { cleartextExport: 'forbidden' } });
    expect(asked.map(([, what]) => what)).toEqual(['query', 'query']);
  });

  test('no key fixes nothing; one that can’t be read, or has an unknown value, stops the app', async () => {
    const { options } = windows(null, 'HKEY_LOCAL_MACHINE\\Software\\Policies\\Microsoft\r\n');
    expect(await readManagedSettings(options)).toMatchObject({ ok: true, managed: {}, sources: [] });
    expect(await sentenceOf(windows(null).options)).toContain('the registry can’t be read');
    const broken = { ...options, run: () => Promise.reject(new Error('no reg.exe')) };
    expect(await sentenceOf(broken)).toContain('the registry can’t be read');
    const sentence = (values: string): Promise<string> => sentenceOf(windows(`${head}${values}\r\n`).options);
    expect(await sentence('"other"=dword:00000001')).toContain('there is no setting other');
    expect(await sentence('"caseRequired"=hex(b):01')).toContain('caseRequired must be true or false');
    expect(await sentence('"caseRequired"=dword:00000002')).toContain('caseRequired must be true or false');
    expect(await sentence('@="x"')).toContain('there is no setting @');
    for (const line of ['[HKEY_LOCAL_MACHINE\\Software\\Policies\\Tokendesk\\More]', 'caseRequired=1'])
      expect(await sentence(line)).toContain('the registry can’t be read');
    expect(await sentenceOf(windows('"caseRequired"=dword:00000001').options)).toContain('can’t be read');
  });

  test('connections and service profile are provided beside the program', async () => {
    const site = tempFolder();
    const options = { ...windows(head).options, site };
    expect(await readManagedSettings(options)).toMatchObject({ ok: true, deployment: null, profile: null });
    const profile = '{"version": 1}';
    const connections = { format: 'tokendesk-connections', version: 1, connections: [], mappings: [] };
    fs.writeFileSync(path.join(site, 'service-profile.json'), profile);
    fs.writeFileSync(path.join(site, 'connections.json'), JSON.stringify(connections));
    expect(await readManagedSettings(options)).toMatchObject({ deployment: connections, profile });
    fs.writeFileSync(path.join(site, 'connections.json'), '{');
    expect(await sentenceOf(options)).toContain('connections.json: it is not JSON');
  });

  test.each([
    ['another key', (text: string) => text.replace('\\Tokendesk]', '\\Other]')],
    ['another form', (text: string) => text.replace('5.00', '4.00')],
  ])('%s than the one that was exported is not read', (_what, change) => {
    const text = `${head}"maxCopiesPerDay"=dword:00000001`;
    expect(change(text)).not.toBe(text);
    expect(() => parseRegistry(change(text))).toThrow('Not an exported key');
  });

  test('a number that is no flag stays a number', () => {
    expect(parseRegistry(`${head}"maxCopiesPerDay"=dword:00000001`)).toEqual({ maxCopiesPerDay: 1 });
  });
});

test.each([
  ['https://tokens.example/api', ['tokens.example'], true],
  ['https://TOKENS.example:8443', ['tokens.example'], true],
  ['https://eu.tokens.example', ['*.tokens.example'], true],
  ['https://tokens.example', ['*.tokens.example'], false],
  ['https://eviltokens.example', ['*.tokens.example', 'tokens.example'], false],
  ['https://tokens.example.evil.example', ['tokens.example', '*.tokens.example'], false],
  ['https://[::1]:8443', ['[::1]'], true],
  ['https://tokens.example', [], false],
])('whether %s is one of %j: %s', (baseUrl, allowedHosts, expected) => {
  expect(isAllowedHost(baseUrl, { allowedHosts })).toBe(expected);
});
