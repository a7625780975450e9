import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';

/*
 * One process a folder, with the three links that Chromium leaves in it: a lock that names host and process, and a socket
 * in the temporary folder, since its path must be short.
 */

export interface InstanceLock {
  isHeld(): boolean;
  release(): void;
}

export interface LockOptions {
  readonly folder: string;
  readonly argv: readonly string[];
  readonly onSecond: (argv: readonly string[], folder: string) => void;
  /** Until then the holder answers nobody, as in Chromium. */
  readonly ready: Promise<void>;
  /** Chromium's own limit. */
  readonly hungAfterMs?: number;
}

interface Message {
  readonly argv: readonly string[];
  readonly folder: string;
}

/** What the thread is given that makes the connection. */
export interface ToFirst {
  readonly address: string;
  readonly message: Message;
  /** One of `outcomes`, in memory that both threads have. */
  readonly outcome: Int32Array;
}
export const outcomes = { pending: 0, told: 1, gone: 2 } as const;

const names = ['Lock', 'Socket', 'Cookie'] as const;

/**
 * The lock, or one that is not held where another process has it and was told of this start. As in Chromium this waits for
 * its answer. A holder that refuses the connection is gone; one that does not answer is ended.
 */
export function acquireLock({
  folder,
  argv,
  onSecond,
  ready,
  hungAfterMs = 20_000,
}: LockOptions): InstanceLock {
  const link = (name: (typeof names)[number]): string => path.join(folder, `Singleton${name}`);
  const remove = (): void => {
    for (const name of names) fs.rmSync(link(name), { force: true });
  };
  fs.mkdirSync(folder, { recursive: true });
  const address = readLink(link('Socket'));
  if (address !== null) {
    const outcome = tellFirst(address, argv, hungAfterMs);
    if (outcome === 'told') return { isHeld: () => false, release: () => undefined };
    if (outcome === 'hung') endHolder(readLink(link('Lock')) ?? '');
  }
  remove();
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'electron-'));
  const file = path.join(place, 'SingletonSocket');
  const server = listen(file, (given, from) =>
    ready.then(() => {
      onSecond(given, from);
    }),
  );
  fs.symlinkSync(`${os.hostname()}-${process.pid}`, link('Lock'));
  fs.symlinkSync(file, link('Socket'));
  fs.symlinkSync(randomUUID(), link('Cookie'));
  let held = true;
  return {
    isHeld: () => held,
    release() {
      if (!held) return;
      held = false;
      server.close();
      remove();
      fs.rmSync(place, { recursive: true, force: true });
    },
  };
}

function listen(file: string, hear: (...start: [readonly string[], string]) => Promise<void>): net.Server {
  const server = net.createServer({ allowHalfOpen: true }, (socket) => {
    let text = '';
    socket.setEncoding('utf8').on('error', () => undefined);
    socket.on('data', (part: string) => (text += part));
    socket.once('end', () => {
      const message = readMessage(text);
      // Of what is no start the sender hears nothing, as from Chromium.
      if (message === null) socket.destroy();
      else void hear(message.argv, message.folder).then(() => socket.end('ACK'));
    });
  });
  return server.listen(file).unref();
}

/** Another program may write to the socket too. */
function readMessage(text: string): Message | null {
  try {
    const { argv, folder } = JSON.parse(text) as Partial<Message>;
    return Array.isArray(argv) && typeof folder === 'string' ? { argv, folder } : null;
  } catch {
    return null;
  }
}

/** The caller waits for the answer in its own turn, so the connection is made in a thread. */
function tellFirst(address: string, argv: readonly string[], limitMs: number): 'told' | 'gone' | 'hung' {
  const [program = '', ...rest] = argv;
  const isSwitch = (argument: string): boolean => argument.startsWith('-');
  const ordered = [program, ...rest.filter(isSwitch), ...rest.filter((argument) => !isSwitch(argument))];
  const outcome = new Int32Array(new SharedArrayBuffer(4));
  const workerData: ToFirst = { address, outcome, message: { argv: ordered, folder: process.cwd() } };
  const thread = new Worker(new URL('./tell-first.ts', import.meta.url), { workerData });
  thread.unref();
  const isLate = Atomics.wait(outcome, 0, outcomes.pending, limitMs) === 'timed-out';
  void thread.terminate();
  if (isLate) return 'hung';
  return outcome[0] === outcomes.told ? 'told' : 'gone';
}

/** `lock` names host and process: on another host the number is somebody else's. */
function endHolder(lock: string): void {
  const [, host, pid] = /^(.*)-(\d+)$/.exec(lock) ?? [];
  if (host !== os.hostname() || Number(pid) <= 1 || Number(pid) === process.pid) return;
  try {
    process.kill(Number(pid), 'SIGKILL');
  } catch {
    // It has ended by now, or is another person's.
  }
}

function readLink(file: string): string | null {
  try {
    return fs.readlinkSync(file);
  } catch {
    return null;
  }
}
