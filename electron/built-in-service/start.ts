import { Worker } from 'node:worker_threads';
import defaultSeed from '../../resources/built-in-service-seed.json' with { type: 'json' };
import type { ServiceFacts, ServiceOptions } from './run-service.ts';
import type { Seed } from './seed.ts';
import type { FromService } from './worker.ts';

export interface BuiltInServiceOptions extends Omit<ServiceOptions, 'seed'> {
  /** The thread's entry: this folder's `worker.ts` under Node, its bundle in the application. */
  readonly worker: URL;
  /** What the portal would hold; the built-in seed if absent. */
  readonly seed?: Seed;
}

export interface RunningBuiltInService extends ServiceFacts {
  /** Ends connections, thread and port; safe to call twice. */
  stop(): Promise<void>;
  /** Settles when the thread is gone, asked for or not. */
  readonly ended: Promise<void>;
}

const STOP_MS = 5000;

/**
 * Starts the embedded tokenization service in a thread of its own, on a loopback port. The answer holds its
 * credentials: keep it in memory or a keychain. Rejects where the port is taken or the seed doesn't hold.
 * Each start has a new certificate authority; everything else stays as long as secret and seed do.
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
    thread.once('message', (message: FromService) => {
      if (message.kind === 'ready') resolve(message.facts);
      else
        reject(new Error(message.kind === 'failed' ? message.message : 'The service ended before it began.'));
    });
    thread.once('error', reject);
    thread.once('exit', () => {
      reject(new Error('The service ended before it began.'));
    });
  });
  // Later on, an error is the thread's end, which `ended` tells; without a listener it would end the host too.
  thread.on('error', () => undefined);

  let stopping: Promise<void> | undefined;
  const stop = async () => {
    thread.postMessage('stop');
    const timer = setTimeout(() => void thread.terminate(), STOP_MS);
    await ended;
    clearTimeout(timer);
  };
  return { ...facts, ended, stop: () => (stopping ??= stop()) };
}
