/*
 * The entry of the service's thread: `start.ts` creates it with ServiceOptions as its data, gets one WorkerMessage,
 * and posts any message to stop it.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { runService, type ServiceFacts, type ServiceOptions } from './service.ts';

export type WorkerMessage =
  | { readonly kind: 'ready'; readonly facts: ServiceFacts }
  | { readonly kind: 'failed'; readonly message: string };

if (!parentPort) throw new Error('This module is the entry of a worker thread.');
const port = parentPort;
const post = (message: WorkerMessage) => {
  port.postMessage(message);
};

try {
  const service = await runService(workerData as ServiceOptions);
  port.once('message', () => {
    void service.stop().then(() => {
      port.close();
    });
  });
  post({ kind: 'ready', facts: service.facts });
} catch (error) {
  post({ kind: 'failed', message: error instanceof Error ? error.message : 'unknown' });
  port.close();
}
