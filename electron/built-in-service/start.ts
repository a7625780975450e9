import { Worker } from 'node:worker_threads';
import defaultSeed from '../../resources/built-in-service-seed.json' with { type: 'json' };
import type { Seed } from './seed.ts';
import type { ServiceFacts, ServiceOptions } from './service.ts';
import type { WorkerMessage } from './worker.ts';

export interface BuiltInServiceOptions extends Omit<ServiceOptions, 'seed'> {
  /** The thread's entry: this folder's `worker.ts` under Node, its bundle in the application. */
  readonly worker: URL;
  /** What a portal would hold; the shipped seed if absent. */
  readonly seed?: Seed;
}

export interface RunningBuiltInService extends ServiceFacts {
  /** Ends connections, thread and port. A second call waits for the first. */
  stop(): Promise<void>;
  /** Resolves when the thread has ended, stopped or not. */
  readonly ended: Promise<void>;
}

const stopTimeoutMs = 5000;

/**
 * Starts the built-in tokenization service in a thread of its own, on a loopback port. The result holds its
 * credentials: keep it in memory or a keychain. Rejects where the port is taken or the seed is wrong.
 * Each start has a new certificate authority; everything else stays the same with the same secret and seed.
 */
export async function startBuiltInService({
  worker,
  seed,
  ...options
}: BuiltInServiceOptions): Promise<RunningBuiltInService> {
  const workerData: ServiceOptions = { ...options, seed: seed ?? (defaultSeed as Seed) };
  const thread = new Worker(worker, { workerData, name: 'tokenization service' });
  const ended = new Promise<void>((resolve) => {
    thread.once('exit', () => {
      resolve();
    });
  });

  const facts = await new Promise<ServiceFacts>((resolve, reject) => {
    thread.once('message', (message: WorkerMessage) => {
      if (message.kind === 'ready') resolve(message.facts);
      else reject(new Error(message.message));
    });
    thread.once('error', reject);
    thread.once('exit', () => {
      reject(new Error('The service ended before it began.'));
    });
  });
  // From here on an error ends the thread, which `ended` reports. Without a listener it would end this process too.
  thread.on('error', () => undefined);

  let stopping: Promise<void> | undefined;
  const stop = async () => {
    thread.postMessage('stop');
    const timer = setTimeout(() => void thread.terminate(), stopTimeoutMs);
    await ended;
    clearTimeout(timer);
  };
  return { ...facts, ended, stop: () => (stopping ??= stop()) };
}
