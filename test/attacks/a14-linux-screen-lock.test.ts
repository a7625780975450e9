import fs from 'node:fs';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { watchScreenLock } from '../../electron/platform/screen-lock.ts';
import {
  body,
  missingBusTools,
  startPrivateBus,
  type Body,
  type BusService,
  type PrivateBus,
} from '../support/private-bus.ts';
import { answerOf } from '../support/ask-bridge.ts';
import { launchApp } from '../support/launch-app.ts';
import { tempFolder } from '../support/temp-folder.ts';

/* The screen is locked on Linux, where Electron does not say so. */

const missing = missingBusTools();
const uid = 1000;
const own = '/org/freedesktop/login1/session/_32';
const anothers = '/org/freedesktop/login1/session/c3';
const unowned = '/org/freedesktop/login1/session/_39';

const userOf = (session: string): Body =>
  body('v', (writer) => {
    if (session === unowned) {
      writer.signature('s');
      writer.string('nobody');
      return;
    }
    writer.signature('(uo)');
    writer.align(8);
    writer.uint32(session.startsWith(anothers) ? uid + 1 : uid);
    writer.string('/org/freedesktop/login1/user/self');
  });
const nothing = body('', () => undefined);
const active = (is: boolean): Body => body('b', (writer) => writer.boolean(is));
const hint = (name: string, is: boolean): Body =>
  body('sa{sv}as', (writer) => {
    writer.string('org.freedesktop.login1.Session');
    writer.array(8, () => {
      writer.align(8);
      writer.string(name);
      writer.signature('b');
      writer.boolean(is);
    });
    writer.array(4, () => undefined);
  });

const lockSignal = (session: string) => ({
  path: session,
  interface: 'org.freedesktop.login1.Session',
  member: 'Lock',
});
const changed = (session: string) => ({
  path: session,
  interface: 'org.freedesktop.DBus.Properties',
  member: 'PropertiesChanged',
});
const saver = (name: string) => ({
  path: `/${name.replaceAll('.', '/')}`,
  interface: name,
  member: 'ActiveChanged',
});

describe.skipIf(missing.length > 0)(
  `on a private bus (missing here: ${missing.join(', ') || 'nothing'})`,
  () => {
    let bus: PrivateBus;
    let logind: BusService;
    let freedesktop: BusService;
    let gnome: BusService;
    /** Sessions whose owner was asked for. */
    const asked: string[] = [];
    const savers = [
      [() => freedesktop, 'org.freedesktop.ScreenSaver'],
      [() => gnome, 'org.gnome.ScreenSaver'],
    ] as const;

    beforeAll(async () => {
      bus = await startPrivateBus();
      logind = await bus.own('org.freedesktop.login1', (session) => {
        asked.push(session);
        return userOf(session);
      });
      freedesktop = await bus.own('org.freedesktop.ScreenSaver');
      gnome = await bus.own('org.gnome.ScreenSaver');
    });
    afterAll(() => bus.stop());

    async function watch() {
      const seen = { locks: 0, infos: [] as string[] };
      const env = {
        ...process.env,
        XDG_CURRENT_DESKTOP: 'ubuntu:GNOME',
        DBUS_SESSION_BUS_ADDRESS: bus.address,
        DBUS_SYSTEM_BUS_ADDRESS: bus.address,
      };
      const stop = watchScreenLock({
        env,
        uid,
        log: { info: (event) => seen.infos.push(event) },
        onLocked: () => (seen.locks += 1),
      });
      onTestFinished(stop);
      // A program listens some time after it says so: what is emitted before is lost.
      const isActive = active(true);
      for (const [service, name] of savers) {
        seen.locks = 0;
        await expect
          .poll(() => {
            service().emit(saver(name), isActive);
            return seen.locks;
          })
          .toBeGreaterThan(0);
      }
      await heardByLogind();
      seen.locks = 0;
      return { seen, stop };
    }

    /** Resolves once the lock of another person's session, made for this, was heard and its owner asked for. */
    async function heardByLogind(): Promise<void> {
      const [from, stranger] = [asked.length, `${anothers}${asked.length}`];
      await expect
        .poll(() => {
          logind.emit(lockSignal(stranger), nothing);
          return asked.slice(from);
        })
        .toContain(stranger);
      await expect.poll(() => programs(bus.address)).toHaveLength(3);
    }

    test.each<[string, () => void]>([
      ['logind asks the session to lock', () => logind.emit(lockSignal(own), nothing)],
      ['the desktop says that it locked', () => logind.emit(changed(own), hint('LockedHint', true))],
      [
        'a screen saver becomes active',
        () => freedesktop.emit(saver('org.freedesktop.ScreenSaver'), active(true)),
      ],
      ['the one of the desktop does', () => gnome.emit(saver('org.gnome.ScreenSaver'), active(true))],
    ])('the app locks when %s', async (_what, emit) => {
      const { seen } = await watch();
      emit();
      await expect.poll(() => seen.locks).toBe(1);
    });

    test('nothing else locks it: another person’s session, unlocking, idling', async () => {
      const { seen } = await watch();
      logind.emit(lockSignal(anothers), nothing);
      logind.emit(changed(anothers), hint('LockedHint', true));
      logind.emit({ ...lockSignal(own), member: 'Unlock' }, nothing);
      logind.emit(changed(own), hint('LockedHint', false));
      logind.emit(changed(own), hint('IdleHint', true));
      freedesktop.emit(saver('org.freedesktop.ScreenSaver'), active(false));
      // Whoever may emit signals on the bus is not logind.
      freedesktop.emit(lockSignal(own), nothing);
      // The lines of one program come in order.
      gnome.emit(saver('org.gnome.ScreenSaver'), active(true));
      await expect.poll(() => seen.locks).toBe(1);
      await heardByLogind();
      logind.emit(lockSignal(own), nothing);
      await expect.poll(() => seen.locks).toBe(2);
      expect(seen.infos).toEqual([]);
    });

    test('a session whose owner logind does not tell counts as one’s own', async () => {
      const { seen } = await watch();
      logind.emit(lockSignal(unowned), nothing);
      await expect.poll(() => seen.locks).toBe(1);
    });

    test('the built app locks, in Electron or the program that stands for it', async () => {
      const home = tempFolder();
      const app = await launchApp({
        home,
        downloads: home,
        env: {
          ...process.env,
          DBUS_SESSION_BUS_ADDRESS: bus.address,
          DBUS_SYSTEM_BUS_ADDRESS: bus.address,
        },
      });
      onTestFinished(() => app.close());
      const isActive = active(true);
      await expect
        .poll(async () => {
          freedesktop.emit(saver('org.freedesktop.ScreenSaver'), isActive);
          return answerOf(app.page, 'app.state', {});
        })
        .toMatchObject({ lock: { locked: true } });
      await app.close();
      expect(programs(bus.address)).toEqual([]);
    });

    test('no program is left once it stops, and nothing is heard', async () => {
      const { seen, stop } = await watch();
      expect(programs(bus.address)).toHaveLength(3);
      stop();
      await expect.poll(() => programs(bus.address)).toEqual([]);
      logind.emit(lockSignal(own), nothing);
      expect(seen).toEqual({ locks: 0, infos: [] });
    });
  },
);

/** Processes of gdbus that were started with this bus. */
function programs(address: string): string[] {
  return fs.readdirSync('/proc').filter((pid) => {
    try {
      return (
        fs.readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'gdbus' &&
        fs.readFileSync(`/proc/${pid}/environ`, 'utf8').includes(address)
      );
    } catch {
      return false;
    }
  });
}

test.each([
  ['gdbus is missing', { PATH: '/nowhere' }],
  [
    'there is no bus',
    {
      PATH: process.env['PATH'],
      DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/nowhere/bus',
      DBUS_SESSION_BUS_ADDRESS: 'unix:path=/nowhere/bus',
    },
  ],
])('where %s the log says so, and nothing else happens', async (_what, env) => {
  const infos: unknown[] = [];
  const stop = watchScreenLock({
    env,
    uid,
    log: { info: (event, facts) => infos.push([event, facts?.['again']]) },
    onLocked: () => infos.push('locked'),
  });
  await expect.poll(() => infos).toHaveLength(2);
  expect(infos).toEqual(Array(2).fill(['screen lock not watched', false]));
  stop();
});
