import fs from 'node:fs';
import path from 'node:path';

/**
 * One app a home folder: two would write one audit log and one job. Electron has its own lock; this is for the
 * other host. Returns the function that gives the lock back, or null when a living process holds it.
 */
export function takeInstanceLock(home: string): (() => void) | null {
  const file = path.join(home, 'desk.lock');
  for (let attempt = 0; attempt < 2; attempt++) {
    try {
      fs.writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o600 });
      return () => {
        fs.rmSync(file, { force: true });
      };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    if (isAlive(Number(fs.readFileSync(file, 'utf8')))) return null;
    fs.rmSync(file, { force: true });
  }
  return null;
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * The proxy for an https address as `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say (either case), where no desktop
 * tells; null for a direct connection. Loopback never goes through a proxy. `NO_PROXY` lists hosts, each matching
 * itself and what is below it, with or without a port; `*` matches all.
 */
export function proxyFromEnvironment(address: string, env: NodeJS.ProcessEnv): string | null {
  const read = (name: string): string => env[name.toLowerCase()] ?? env[name] ?? '';
  const url = new URL(address);
  if (['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)) return null;
  const proxy = read('HTTPS_PROXY') || read('ALL_PROXY');
  if (proxy === '') return null;
  const exempt = read('NO_PROXY')
    .split(/[\s,]+/)
    .some((rule) => rule !== '' && matches(rule.toLowerCase(), url));
  if (exempt) return null;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

function matches(rule: string, url: URL): boolean {
  if (rule === '*') return true;
  const [, host = rule, port] = /^(.*?)(?::(\d+))?$/.exec(rule) ?? [];
  if (port !== undefined && port !== (url.port || '443')) return false;
  const name = host.replace(/^\*?\./, '');
  return url.hostname === name || url.hostname.endsWith(`.${name}`);
}

/** What a host without power events can see of sleep: time went by that the process did not live through. */
export interface SleepClocks {
  /** Milliseconds that go on while the machine sleeps. */
  readonly wall: () => number;
  /** Milliseconds that stop while it does. */
  readonly lived: () => number;
}

const everyMs = 5_000;
const gapMs = 15_000;

/** Calls back after a sleep. A clock set forward looks the same, and locking once too often does no harm. */
export function watchSleep(onWake: () => void, { wall, lived }: SleepClocks): () => void {
  let [lastWall, lastLived] = [wall(), lived()];
  const timer = setInterval(() => {
    const [nowWall, nowLived] = [wall(), lived()];
    if (nowWall - lastWall - (nowLived - lastLived) > gapMs) onWake();
    [lastWall, lastLived] = [nowWall, nowLived];
  }, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
