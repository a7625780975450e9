import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Log } from '../log/log.ts';

/**
 * Electron does not say on Linux that the screen is locked. The desktop does, on D-Bus: logind tells that a session is
 * to lock or has locked, a screen saver that it is active. Both are read through `gdbus`, which comes with GLib.
 */
export interface ScreenLockOptions {
  /** Where the buses are: DBUS_SYSTEM_BUS_ADDRESS, DBUS_SESSION_BUS_ADDRESS or XDG_RUNTIME_DIR. */
  readonly env: NodeJS.ProcessEnv;
  /** Of the person: sessions of others on this machine don't count. */
  readonly uid: number;
  readonly log: Pick<Log, 'info'>;
  readonly onLocked: () => void;
}

type Bus = 'system' | 'session';

const logind = 'org.freedesktop.login1';
/** Desktops whose screen saver does not answer to org.freedesktop.ScreenSaver, as XDG_CURRENT_DESKTOP names them. */
const screenSavers: Readonly<Record<string, string>> = {
  GNOME: 'org.gnome.ScreenSaver',
  'X-Cinnamon': 'org.cinnamon.ScreenSaver',
  MATE: 'org.mate.ScreenSaver',
  XFCE: 'org.xfce.ScreenSaver',
};

const sessionLocked =
  /^(\/org\/freedesktop\/login1\/session\/\w+): org\.freedesktop\.(?:login1\.Session\.Lock \(|DBus\.Properties\.PropertiesChanged \('org\.freedesktop\.login1\.Session', .*'LockedHint': <true>)/;
const screenSaverActive = /^\/\S*: org\.\w+\.ScreenSaver\.ActiveChanged \(true,\)/;

const askMs = 2_000;
/** A monitor that ran may lose its bus to an update of the system; one that never listened has none. */
const restartMs = 10_000;

/**
 * Calls `onLocked` each time the screen of this person locks; twice for one lock where the desktop says it twice.
 * Without `gdbus` or a bus a line of the log says that this lock is missing. Returns the function that stops it.
 */
export function watchScreenLock({ env, uid, log, onLocked }: ScreenLockOptions): () => void {
  const childEnv = busEnvironment(env);
  const children = new Set<ChildProcess>();
  const timers = new Set<NodeJS.Timeout>();
  let isStopped = false;

  function monitor(bus: Bus, name: string, read: (line: string) => void): void {
    const child = spawn('gdbus', ['monitor', `--${bus}`, '--dest', name], {
      env: childEnv,
      stdio: ['ignore', 'pipe', 'ignore'],
      windowsHide: true,
    });
    children.add(child);
    let isListening = false;
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (isStopped) return;
      // Says who owns the name, or that nobody does yet.
      if (line.startsWith('The name ')) isListening = true;
      else read(line);
    });
    let isOver = false;
    const onEnd = (): void => {
      children.delete(child);
      if (isStopped || isOver) return;
      isOver = true;
      log.info('screen lock not watched', { system: bus === 'system', again: isListening });
      if (!isListening) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        monitor(bus, name, read);
      }, restartMs);
      timer.unref();
      timers.add(timer);
    };
    // Without the program there is an error and no exit.
    child.once('error', onEnd).once('exit', onEnd);
    child.unref();
  }

  /** Asks logind whose session it is. Where it can't tell, the app locks: once too often does no harm. */
  function lockIfOwn(path: string): void {
    const get = ['--method', 'org.freedesktop.DBus.Properties.Get', `${logind}.Session`, 'User'];
    const args = ['call', '--system', '--dest', logind, '--object-path', path, ...get];
    execFile('gdbus', args, { env: childEnv, timeout: askMs, windowsHide: true }, (_error, answer) => {
      const [, owner] = /^\(<\(uint32 (\d+),/.exec(answer) ?? [];
      if (!isStopped && (owner === undefined || Number(owner) === uid)) onLocked();
    });
  }

  function stop(): void {
    isStopped = true;
    for (const timer of timers) clearTimeout(timer);
    for (const child of children) child.kill();
    process.off('exit', stop);
  }
  process.once('exit', stop);

  monitor('system', logind, (line) => {
    const [, session] = sessionLocked.exec(line) ?? [];
    if (session !== undefined) lockIfOwn(session);
  });
  for (const name of screenSaverNames(env))
    monitor('session', name, (line) => {
      if (screenSaverActive.test(line)) onLocked();
    });
  return stop;
}

function screenSaverNames(env: NodeJS.ProcessEnv): string[] {
  const desktops = (env['XDG_CURRENT_DESKTOP'] ?? '').split(':');
  return ['org.freedesktop.ScreenSaver', ...desktops.flatMap((desktop) => screenSavers[desktop] ?? [])];
}

/** What finds the buses and no more: a package's own library path would break the system's program. English to be read. */
function busEnvironment(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = ['PATH', 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS', 'DBUS_SYSTEM_BUS_ADDRESS'];
  const found = names.flatMap((name) => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...(Object.fromEntries(found) as Record<string, string>), LC_ALL: 'C.UTF-8' };
}
