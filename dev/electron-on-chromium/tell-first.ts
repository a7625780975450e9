import net from 'node:net';
import { workerData } from 'node:worker_threads';
import { outcomes, type ToFirst } from './single-instance.ts';

/*
 * The thread in which a second instance tells the first of its start, while its main thread waits.
 */

const { address, outcome, message } = workerData as ToFirst;
let answer = '';
const socket = net.connect(address);
socket.end(JSON.stringify(message));
socket
  .setEncoding('utf8')
  .on('data', (part: string) => (answer += part))
  .on('error', () => undefined)
  .once('close', () => {
    Atomics.store(outcome, 0, answer === 'ACK' ? outcomes.told : outcomes.gone);
    Atomics.notify(outcome, 0);
  });
