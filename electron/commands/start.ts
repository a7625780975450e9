import readline from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { App } from '../app/compose.ts';
import type { Platform } from '../platform/platform.ts';
import { parseRun, usage } from './arguments.ts';
import { createCommandPlatform } from './command-platform.ts';
import { exitCodes, type ExitCode } from './ends.ts';
import { runFiles, type RunLine } from './run.ts';
import type { Words } from './asked.ts';

interface StartOptions extends Pick<Platform, 'version' | 'home' | 'resources' | 'site'> {
  readonly origin: string;
  readonly words: Words;
  readonly process: Pick<NodeJS.Process, 'env' | 'once' | 'off'> & {
    readonly stdin: Readable;
    readonly stdout: Writable;
    readonly stderr: Writable;
  };
  /** Takes the person's folder for this process alone; or says why it can't. */
  readonly takeHome: () => string | null;
  /** The app on such a platform; or the sentence why what an administrator has fixed lets it not. */
  readonly open: (platform: Platform) => Promise<App | string>;
}

/** So often a person is told how far it is. */
const progressMs = 2_000;

/** `tokendesk run`, from its arguments to its exit code. Needs no window, and ends before one could be opened. */
export async function startRun(args: readonly string[], options: StartOptions): Promise<ExitCode> {
  const { stdin, stdout, stderr } = options.process;
  const given = parseRun(args);
  if (typeof given === 'string') {
    stderr.write(`${given}\n${usage}\n`);
    return exitCodes.usage;
  }
  const passphrase = given.passphraseOnInput ? await firstLine(stdin) : null;
  const taken = options.takeHome();
  if (taken !== null) {
    stderr.write(`${taken}\n`);
    return exitCodes.refused;
  }
  const { origin, version, home, resources, site } = options;
  const { platform, app: asked } = createCommandPlatform({
    origin,
    version,
    home,
    resources,
    site,
    env: options.process.env,
  });
  const app = await options.open(platform);
  if (typeof app === 'string') {
    stderr.write(`${app}\n`);
    return exitCodes.refused;
  }
  const ended = new AbortController();
  const end = (): void => {
    ended.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) options.process.once(signal, end);
  let saidAt = 0;
  const print = (line: RunLine): void => {
    const isDue = line.kind === 'result' || Date.now() - saidAt >= progressMs;
    if (!isDue) return;
    saidAt = Date.now();
    if (given.json) stdout.write(`${JSON.stringify(line)}\n`);
    else if (line.kind === 'result') stdout.write(`${line.file}: ${line.sentence}\n`);
    else stderr.write(`${line.file}: ${line.rows} of ${line.total ?? '?'} rows\n`);
  };
  try {
    return await runFiles(given, {
      app: asked,
      words: options.words,
      print,
      signal: ended.signal,
      passphrase,
    });
  } finally {
    await app.close();
    for (const signal of signals) options.process.off(signal, end);
  }
}

/** Empty where nothing is given. What follows is left unread. */
async function firstLine(input: Readable): Promise<string> {
  const lines = readline.createInterface({ input });
  for await (const line of lines) {
    lines.close();
    return line;
  }
  return '';
}
