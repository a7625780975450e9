import { parentPort, workerData } from 'node:worker_threads';
import { runService, type ServiceFacts, type ServiceOptions } from './run-service.ts';

/** What the service's thread tells its host, in this order: one of the first two, then `stopped`. */
export type FromService =
  | { readonly kind: 'ready'; readonly facts: ServiceFacts }
  | { readonly kind: 'failed'; readonly message: string }
  | { readonly kind: 'stopped' };

const host = parentPort;
if (!host) throw new Error('This module is the entry of a worker thread.');
const tell = (message: FromService) => {
  host.postMessage(message);
};

try {
  const service = await runService(workerData as ServiceOptions);
  host.once('message', () => {
    void service.stop().then(() => {
      tell({ kind: 'stopped' });
      host.close();
    });
  });
  tell({ kind: 'ready', facts: service.facts });
} catch (error) {
  tell({ kind: 'failed', message: error instanceof Error ? error.message : 'unknown' });
  host.close();
}
