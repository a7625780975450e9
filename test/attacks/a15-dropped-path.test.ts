import { describe, expect, test } from 'vitest';
import { isDroppable } from '../../electron/platform/electron-platform.ts';

/* A compromised window sends paths of its own, as if files had been dropped. */

describe('on Linux and macOS', () => {
  test.each([
    '/home/ada/.ssh/id_ed25519',
    '/home/ada/.ssh/config.txt',
    '/home/ada/.secret.csv',
    '/home/ada/../bob/cards.csv',
    '/home/ada/./cards.csv',
    '/etc/passwd',
    '/etc/shadow.bak',
    '/dev/stdin',
    '/dev/fd/3.txt',
    '/proc/self/environ.txt',
    '/sys/x.csv',
    '//host/share/cards.csv',
    '/home/ada/cards.csv\0.png',
    '/home/ada/cards.csv\n',
    '/home/ada/cards.pem',
    '/home/ada/cards',
    '/home/ada/csv',
    'cards.csv',
    '~/cards.csv',
    'file:///home/ada/cards.csv',
    '\\\\host\\share\\cards.csv',
    '',
  ])('%j is refused', (reference) => {
    for (const os of ['linux', 'darwin'] as const)
      expect([os, isDroppable(reference, os)]).toEqual([os, false]);
  });

  test.each(['/home/ada/cards.csv', '/home/ada/Fälle 2026/Karten.v2.XLSX', '/Volumes/USB/a..b.tsv'])(
    '%j is opened',
    (reference) => {
      for (const os of ['linux', 'darwin'] as const)
        expect([os, isDroppable(reference, os)]).toEqual([os, true]);
    },
  );
});

describe('on Windows', () => {
  test.each([
    '\\\\host\\share\\cards.csv',
    '//host/share/cards.csv',
    '\\/host/share/cards.csv',
    '\\\\?\\C:\\cards.csv',
    '\\\\?\\UNC\\host\\share\\cards.csv',
    '\\\\.\\pipe\\cards.csv',
    '\\??\\C:\\cards.csv',
    '\\cards.csv',
    '/home/ada/cards.csv',
    'C:cards.csv',
    'C:\\\\host\\cards.csv',
    'C:\\Users\\ada\\.ssh\\config.txt',
    'C:\\Users\\..\\bob\\cards.csv',
    'C:/Users/../bob/cards.csv',
    'C:\\Users\\ada\\CON.txt',
    'C:\\Users\\ada\\com1.csv',
    'C:\\Users\\NUL\\cards.csv',
    'C:\\Users\\ada\\id_ed25519:stream.csv',
    'C:\\Users\\ada\\cards.csv::$DATA',
    'C:\\Users\\ada\\cards.csv ',
    'C:\\Users\\ada\\cards.csv.',
    'C:\\Users\\ada\\key.pfx',
  ])('%j is refused', (reference) => {
    expect(isDroppable(reference, 'win32')).toBe(false);
  });

  test.each(['C:\\Users\\ada\\cards.csv', 'd:/shared/console.TSV', 'Z:\\mapped\\a.xlsm'])(
    '%j is opened',
    (reference) => {
      expect(isDroppable(reference, 'win32')).toBe(true);
    },
  );
});
