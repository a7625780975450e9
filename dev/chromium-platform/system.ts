/**
 * The proxy for an https address as `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say (either case); null for a direct
 * connection. Loopback never goes through a proxy. `NO_PROXY` lists hosts, each matching itself and what is below it,
 * with or without a port; `*` matches all.
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

/** How sleep is noticed without power events: time passed during which the process did not run. */
export interface SleepClocks {
  /** Milliseconds that are counted while the machine sleeps. */
  readonly wall: () => number;
  /** Milliseconds that are not. */
  readonly running: () => number;
}

const everyMs = 5_000;
const gapMs = 15_000;

/** Calls back after a sleep. A clock that is set forward looks the same; locking then does no harm. */
export function watchSleep(onWake: () => void, { wall, running }: SleepClocks): () => void {
  let [lastWall, lastRunning] = [wall(), running()];
  const timer = setInterval(() => {
    const [nowWall, nowRunning] = [wall(), running()];
    if (nowWall - lastWall - (nowRunning - lastRunning) > gapMs) onWake();
    [lastWall, lastRunning] = [nowWall, nowRunning];
  }, everyMs);
  timer.unref();
  return () => {
    clearInterval(timer);
  };
}
