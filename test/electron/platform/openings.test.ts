import { EventEmitter } from 'node:events';
import type { App } from 'electron';
import { expect, test } from 'vitest';
import { watchOpenings } from '../../../electron/platform/openings.ts';
import type { Opening } from '../../../electron/platform/platform.ts';

/* What the system asks to open. */

function watched(argv: readonly string[] = [], os: NodeJS.Platform = 'linux', isPackaged = true) {
  const schemes: string[] = [];
  const app = Object.assign(new EventEmitter(), {
    isPackaged,
    setAsDefaultProtocolClient: (scheme: string) => schemes.push(scheme) > 0,
  });
  const openings = watchOpenings(app as unknown as App, ['tokendesk', ...argv], os);
  const heard: Opening[] = [];
  return { app, schemes, heard, listen: () => openings.on((opening) => heard.push(opening)) };
}
const file = (reference: string, others = 0): Opening => ({ kind: 'file', reference, others });

test.each([
  ['linux', ['/home/ada/Disputes Q3.csv'], file('/home/ada/Disputes Q3.csv')],
  ['linux', ['--ozone-platform=x11', '/home/ada/a.XLSX'], file('/home/ada/a.XLSX')],
  ['linux', ['/home/ada/a.csv', '--x', '/home/ada/b.csv', '/home/ada/c.csv'], file('/home/ada/c.csv', 2)],
  ['linux', ['file:///home/ada/Disputes%20Q3.csv'], file('/home/ada/Disputes Q3.csv')],
  ['win32', ['C:\\Users\\ada\\a.csv'], file('C:\\Users\\ada\\a.csv')],
  ['win32', ['tokendesk://case/D-1'], { kind: 'link', address: 'tokendesk://case/D-1' }],
  ['linux', ['file://other.example/a.csv'], null],
  ['linux', ['/home/ada/notes.md'], null],
  ['linux', ['--user-data-dir=/tmp/a.csv'], null],
  ['linux', ['https://a.example/a.csv?x'], null],
  ['linux', ['--new-batch'], { kind: 'new-batch' }],
  ['linux', ['--new-batch', '/home/ada/a.csv'], file('/home/ada/a.csv')],
  ['win32', ['/NEW-BATCH'], { kind: 'new-batch' }],
] as const)('on %s started with %j', (os, argv, opening) => {
  const { heard, listen } = watched(argv, os);
  listen();
  expect(heard).toEqual(opening === null ? [] : [opening]);
});

test('a second instance hands over its file, relative to where it was started', () => {
  const { app, heard, listen } = watched();
  listen();
  app.emit('second-instance', {}, ['tokendesk', 'disputes.csv'], '/home/ada');
  app.emit('second-instance', {}, ['tokendesk'], '/home/ada');
  expect(heard).toEqual([file('/home/ada/disputes.csv')]);
});

test('macOS may ask before anybody listens; the latest is kept', () => {
  const { app, heard, listen } = watched([], 'darwin');
  let prevented = 0;
  const event = { preventDefault: () => (prevented += 1) };
  app.emit('open-file', event, '/Users/ada/a.csv');
  app.emit('open-url', event, 'tokendesk://case/D-1');
  listen();
  app.emit('open-file', event, '/Users/ada/b.csv');
  expect(heard).toEqual([{ kind: 'link', address: 'tokendesk://case/D-1' }, file('/Users/ada/b.csv')]);
  expect(prevented).toBe(3);
});

test('links are registered on Windows by the installed app alone', () => {
  expect(watched([], 'win32').schemes).toEqual(['tokendesk']);
  expect(watched([], 'win32', false).schemes).toEqual([]);
  expect(watched([], 'linux').schemes).toEqual([]);
});
