import { expect, test } from 'vitest';
import { refusedSwitch, verifierArguments } from '../../electron/platform/command-line.ts';

/* Whoever starts the packaged app gives it a switch of Chromium's that takes a protection away. */

const packaged = (argument: string, os: NodeJS.Platform = 'linux') =>
  refusedSwitch({ isPackaged: true }, ['/opt/tokendesk/tokendesk', argument], os);

test.each([
  'remote-debugging-port',
  'remote-debugging-pipe',
  'no-sandbox',
  'disable-web-security',
  'disable-site-isolation-trials',
  'load-extension',
  'single-process',
  'disable-gpu-sandbox',
  'disable-setuid-sandbox',
  'disable-namespace-sandbox',
  'disable-seccomp-filter-sandbox',
  'no-zygote',
  'renderer-cmd-prefix',
  'gpu-launcher',
  'js-flags',
  'log-net-log',
  'proxy-server',
  'host-rules',
  'host-resolver-rules',
  'disable-features',
  'enable-features',
  'enable-blink-features',
  'enable-crash-reporter',
  'enable-logging',
  'ignore-certificate-errors',
  'inspect',
  'inspect-brk',
  'a-switch-of-next-year',
  '',
])('it does not start with --%s', (name) => {
  expect(packaged(`--${name}`)).toBe(name);
  expect(packaged(`--${name}=1`)).toBe(name);
  expect(packaged(`-${name}`)).toBe(name);
  expect(packaged(` --${name}`)).toBe(name);
  expect(refusedSwitch({ isPackaged: false }, ['tokendesk', `--${name}`], 'linux')).toBeNull();
});

test('nor with one among those that are allowed', () => {
  const argv = ['tokendesk', '--self-check', '--lang=de', '--no-sandbox', '--disable-gpu'];
  expect(refusedSwitch({ isPackaged: true }, argv, 'linux')).toBe('no-sandbox');
});

test.each(['/no-sandbox', '--NO-SANDBOX', '-No-Sandbox=1'])('on Windows, %s is one too', (argument) => {
  expect(packaged(argument, 'win32')).toBe('no-sandbox');
});

test('a path is none elsewhere, and the Finder’s number is none on macOS', () => {
  expect(packaged('/home/ada/cards.csv')).toBeNull();
  expect(packaged('-psn_0_12345', 'darwin')).toBeNull();
  expect(packaged('-psn_0_12345')).toBe('psn_0_12345');
});

test('a notification’s click is one on Windows alone', () => {
  expect(packaged('-Embedding', 'win32')).toBeNull();
  expect(packaged('-Embedding')).toBe('Embedding');
  expect(packaged('-EmbeddingX', 'win32')).toBe('embeddingx');
});

test.each([
  '--self-check',
  '--user-data-dir=/data',
  '--lang=de',
  '--disable-gpu',
  '--ozone-platform=wayland',
])('it starts with %s', (argument) => {
  expect(packaged(argument)).toBeNull();
});

test('the options of the verifiers are taken with them alone', () => {
  const given = (...args: string[]) => refusedSwitch({ isPackaged: true }, ['tokendesk', ...args], 'linux');
  expect(given('--verify-audit', 'FOLDER', '--key', '-', '--checkpoint=FILE')).toBeNull();
  expect(given('--verify-evidence', 'FILE', '--signer=00', '--log', 'FOLDER')).toBeNull();
  expect(given('--verify-evidence', 'FILE', '--known-signers', 'FILE')).toBeNull();
  expect(given('--key=FILE')).toBe('key');
  expect(given('--verify-audit', '--no-sandbox')).toBe('no-sandbox');
});

test('and they alone are handed on to it', () => {
  const given = (...args: string[]) => verifierArguments(['tokendesk', ...args], 'linux');
  expect(given('--verify-audit', '--user-data-dir=/data')).toEqual([]);
  expect(given('--user-data-dir=/data', '--verify-audit')).toEqual([]);
  expect(given('--verify-audit', '--user-data-dir=/data', 'FOLDER', '--lang=de', '--key', '-')).toEqual([
    'FOLDER',
    '--key',
    '-',
  ]);
  // Else the log of somebody else would be called valid, and this person's own be read.
  expect(given('--verify-audit=FOLDER', '--key', '-')).toEqual(['FOLDER', '--key', '-']);
  expect(given('--verify-evidence=a=b.json', '--lang=de')).toEqual(['a=b.json']);
  expect(verifierArguments(['tokendesk.exe', '/VERIFY-AUDIT', '--Lang=de', 'C:\\log'], 'win32')).toEqual([
    'C:\\log',
  ]);
});
