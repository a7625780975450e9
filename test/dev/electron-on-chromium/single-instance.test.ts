import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { acquireLock } from '../../../dev/electron-on-chromium/single-instance.ts';
import { electronOnChromium } from '../../../scripts/electron-binary.ts';
import { ProbeApp } from '../../support/probe-app.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/*
 * What becomes of the lock where its holder is gone or does not answer, as in Chromium (chrome/browser/process_singleton_posix.cc).
 */

function probe(): ProbeApp {
  const main = `
    import { app } from 'electron';
    import { note } from './tools.mjs';
    app.on('second-instance', () => { note('second-instance'); app.exit(0); });
    note('lock', app.requestSingleInstanceLock());
    if (!app.hasSingleInstanceLock()) app.exit(0);`;
  const app = new ProbeApp({ main }, electronOnChromium);
  onTestFinished(() => app.remove());
  return app;
}

/** A process that does nothing. */
function idle(): ChildProcess {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 60_000)']);
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const lockOf = (pid: number | undefined): string => `${os.hostname()}-${pid ?? 0}`;

const unheard = { onSecond: () => undefined, ready: Promise.resolve() };

/** On a busy machine a start takes longer than the second of the default. */
const patience = { timeout: 30_000 };

test('a holder that was killed has none, also where another process has its number by now', async () => {
  const app = probe();
  const first = app.start();
  await vi.waitUntil(() => app.notes().length === 1, patience);
  first.child.kill('SIGKILL');
  await first.ended;
  const other = idle();
  const link = path.join(app.folder, 'home/SingletonLock');
  fs.rmSync(link);
  fs.symlinkSync(lockOf(other.pid), link);
  const second = app.start();
  await vi.waitUntil(() => app.notes().length === 2, patience);
  expect(app.notes().map(([, value]) => value)).toEqual([true, true]);
  expect(other.exitCode ?? other.signalCode).toBeNull();
  second.child.kill('SIGKILL');
  await second.ended;
});

test('a holder that does not answer in time is ended, and the lock is free', async () => {
  const folder = tempFolder();
  const address = path.join(folder, 'socket');
  // In this thread, which waits: it connects, and answers nothing.
  const server = net.createServer().listen(address);
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const holder = idle();
  fs.symlinkSync(lockOf(holder.pid), path.join(folder, 'SingletonLock'));
  fs.symlinkSync(address, path.join(folder, 'SingletonSocket'));
  const ended = once(holder, 'exit');
  const lock = acquireLock({ folder, argv: [], ...unheard, hungAfterMs: 500 });
  expect(lock.isHeld()).toBe(true);
  expect(await ended).toEqual([null, 'SIGKILL']);
  expect(fs.readlinkSync(path.join(folder, 'SingletonLock'))).toBe(lockOf(process.pid));
  lock.release();
  expect(fs.readdirSync(folder)).toEqual(['socket']);
});

test.for(['not JSON', '5', 'null', '{"argv":5}'])(
  'a holder that is sent %s goes on, and hears the next start',
  async (text) => {
    const app = probe();
    const first = app.start();
    await vi.waitUntil(() => app.notes().length === 1, patience);
    const socket = net.connect(fs.readlinkSync(path.join(app.folder, 'home/SingletonSocket')));
    socket.on('error', () => undefined).resume();
    socket.end(text);
    await once(socket, 'close');
    expect(await app.start().ended).toBe(0);
    expect(await first.ended).toBe(0);
    const names = app.notes().map(([name]) => name);
    expect(names.toSorted()).toEqual(['lock', 'lock', 'second-instance']);
  },
);
