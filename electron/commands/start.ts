import readline from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout } from 'node:timers/promises';
import type { App } from '../app/compose.ts';
import type { Platform } from '../platform/platform.ts';
import { type CommandName, commands } from '../platform/command-line.ts';
import type { WorkstationFacts } from '../contract/models/attestation.ts';
import type { RunLine } from '../contract/models/run-lines.ts';
import { type Command, parseCommand } from './arguments.ts';
import { compareFiles } from './compare.ts';
import { lookThroughFiles } from './inventory.ts';
import { createCommandPlatform } from './command-platform.ts';
import { End, exitCodes, type ExitCode, gravestOf } from './ends.ts';
import { exportJob, printJobs, printMask } from './questions.ts';
import { runFiles, type RunOptions } from './run.ts';
import { attest, signConnectionsFile } from './statements.ts';
import { formatSum } from './write-file.ts';
import { printable, type Words } from './asked.ts';

interface StartOptions extends Pick<Platform, 'version' | 'home' | 'resources' | 'site'> {
  readonly origin: string;
  readonly words: Words;
  readonly process: Pick<NodeJS.Process, 'env' | 'on' | 'off'> & {
    readonly stdin: Readable;
    readonly stdout: Writable;
    readonly stderr: Writable;
  };
  /** Takes the person's folder for this process alone; or says why it can't. */
  readonly takeHome: () => TakenHome;
  /** The app on such a platform; or the sentence why what an administrator has fixed lets it not. */
  readonly open: (platform: Platform) => Promise<App | string>;
  /** What `--attest` states of this installation. */
  readonly facts: () => Promise<WorkstationFacts>;
}

/** The folder, until it is released; 'command' where another command runs with it; or the sentence why it can't be used. */
export type TakenHome = { readonly release: () => void } | 'command' | { readonly refused: string };

/** So often a person is told how far it is. */
const progressMs = 2_000;

/** So often it is looked whether the command before has ended. A start of the window has the folder for a moment. */
const waitingMs = 500;

/** A command, from its arguments to its exit code. Needs no window, and ends before one could be opened. */
export async function startCommand(
  name: CommandName,
  args: readonly string[],
  options: StartOptions,
): Promise<ExitCode> {
  const { stdin, stdout, stderr } = options.process;
  const command = parseCommand(name, args);
  if (typeof command === 'string') {
    if (args.includes('--json')) {
      const line: RunLine = { kind: 'end', exitCode: exitCodes.usage, sentence: command, code: null };
      stdout.write(`${JSON.stringify(line)}\n`);
    }
    stderr.write(`${command}\ntokendesk ${commands[name].usage}\n`);
    return exitCodes.usage;
  }
  let isLost = false;
  const lose = (error: NodeJS.ErrnoException): void => {
    // Who stops reading, as `head` does, has what it wanted.
    isLost ||= error.code !== 'EPIPE';
  };
  stdout.on('error', lose);
  const { given } = command;
  const opensFiles = 'filePassphraseOnInput' in given && given.filePassphraseOnInput;
  const wanted = Number(given.passphraseOnInput) + Number(opensFiles);
  const lines = await firstLines(stdin, wanted);
  const passphrase = given.passphraseOnInput ? (lines[0] ?? '') : null;
  const filePassphrase = opensFiles ? (lines[wanted - 1] ?? '') : null;
  const ended = new AbortController();
  const end = (): void => {
    ended.abort();
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  // More than one may come: timeout(1) sends its own to the program and to its group.
  for (const signal of signals) options.process.on(signal, end);
  let saidAt = 0;
  const print = (line: RunLine): void => {
    const isDue = line.kind !== 'progress' || Date.now() - saidAt >= progressMs;
    if (!isDue) return;
    saidAt = Date.now();
    if (given.json) stdout.write(`${JSON.stringify(line)}\n`);
    else (isAside(line) ? stderr : stdout).write(`${shownText(line)}\n`);
  };
  let home: { readonly release: () => void } | null = null;
  try {
    home = await waitForHome(options.takeHome, { signal: ended.signal, print });
    const secrets = { passphrase, filePassphrase };
    return await whenPrinted(await inHome(command, secrets, { ...options, print, signal: ended.signal }));
  } catch (error) {
    if (!(error instanceof End)) throw error;
    const { exitCode, code, message: sentence } = error;
    print({ kind: 'end', exitCode, sentence, code });
    return await whenPrinted(exitCode);
  } finally {
    home?.release();
    stdout.off('error', lose);
    for (const signal of signals) options.process.off(signal, end);
  }

  /** The end, once all has left that was printed: what nobody got must not look like success. */
  async function whenPrinted(exitCode: ExitCode): Promise<ExitCode> {
    await new Promise((resolve) => stdout.write('', resolve));
    if (!isLost) return exitCode;
    stderr.write('What was printed could not be written, and is lost.\n');
    return gravestOf([exitCode, exitCodes.broken]);
  }
}

/** Commands of one folder run one after the other. */
async function waitForHome(
  take: StartOptions['takeHome'],
  { signal, print }: Pick<RunOptions, 'signal' | 'print'>,
): Promise<{ readonly release: () => void }> {
  for (let times = 0; ; times++) {
    const taken = take();
    if (taken !== 'command') {
      if ('release' in taken) return taken;
      throw new End(exitCodes.refused, taken.refused);
    }
    if (times === 1)
      print({
        kind: 'waiting',
        sentence: 'Another command of Tokendesk runs with this folder. This one begins once that has ended.',
      });
    await setTimeout(waitingMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) throw new End(exitCodes.paused, 'It was ended while it waited. Nothing was sent.');
  }
}

/** The command itself, on the app that it opens and closes. */
async function inHome(
  command: Command,
  { passphrase, filePassphrase = null }: Pick<RunOptions, 'passphrase' | 'filePassphrase'>,
  options: StartOptions & Pick<RunOptions, 'signal' | 'print'>,
): Promise<ExitCode> {
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
  if (typeof app === 'string') throw new End(exitCodes.refused, app);
  const { canMake } = app;
  const asking = { app: asked, words: options.words, passphrase, canMake };
  const { print, signal } = options;
  const { stdout, stderr } = options.process;
  const signing = {
    ...asking,
    statements: app.statements,
    write: (text: string) => void stdout.write(text),
    tell: (sentence: string) => void stderr.write(`${sentence}\n`),
  };
  try {
    switch (command.name) {
      case 'run':
        return await runFiles(command.given, { ...asking, filePassphrase, print, signal });
      case 'jobs':
        return await printJobs(asking, print);
      case 'lookup':
        return await printMask(command.given, asking, print);
      case 'export':
        return await exportJob(command.given, asking, print);
      case 'compare':
        return await compareFiles(command.given, { ...asking, print, signal });
      case 'inventory':
        return await lookThroughFiles(command.given, { ...asking, print, signal });
      case '--attest':
        return await attest(command.given, { ...signing, facts: options.facts });
      case '--sign-connections':
        return await signConnectionsFile(command.given, signing);
    }
  } finally {
    await app.close();
  }
}

/** Not what was asked for: it goes where errors go. */
const isAside = ({ kind }: RunLine): boolean => kind === 'progress' || kind === 'waiting' || kind === 'end';

/** One line on a terminal, whatever a file is called; only what is compared has several. */
const shownText = (line: RunLine): string =>
  line.kind === 'comparison' || line.kind === 'inventory' ? line.sentence : printable(textOf(line));

/** A line as a person reads it. */
function textOf(line: RunLine): string {
  switch (line.kind) {
    case 'progress':
      return `${line.file}: ${line.rows} of ${line.total ?? '?'} rows`;
    case 'result':
      return `${line.file}: ${line.sentence}`;
    case 'sum':
      return `${line.written} of ${line.files} files were written. In all ${formatSum(line.tally)}`;
    case 'lookup':
      return line.masked;
    case 'comparison':
    case 'inventory':
    case 'waiting':
    case 'end':
      return line.sentence;
    case 'job': {
      const { rows, failed } = line.tally;
      const count = `${rows} of ${line.total ?? '?'} rows, ${failed} failed`;
      return [line.jobId, line.startedAt, line.state, count, line.environment, line.sourceName].join('  ');
    }
  }
}

/** Fewer where no more are given. What follows is left unread. */
async function firstLines(input: Readable, count: number): Promise<string[]> {
  const found: string[] = [];
  if (count === 0) return found;
  const lines = readline.createInterface({ input });
  for await (const line of lines) {
    found.push(line);
    if (found.length < count) continue;
    lines.close();
    break;
  }
  return found;
}
