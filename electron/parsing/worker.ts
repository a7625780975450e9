/*
 * The entry of the parser's thread: `parser.ts` creates it with one Task as its data. It posts WorkerMessages, the first
 * one when its code is loaded, the last one with the outcome, and gets an Outcome for each `output` message. It gets no
 * key of the app: what it read goes to the main process in pieces, which encrypts them.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { helperProcess, type HelperMemory } from './helper-process.ts';
import { readPacked, type ReadPackedOptions } from './packed/read-packed.ts';
import { matchPatterns } from './pattern.ts';
import { done, type Outcome } from '../contract/errors.ts';
import { readPkcs12 } from './pkcs12.ts';
import { readExamples } from './service-examples/read-examples.ts';
import type { EncryptedFileWriter } from '../storage/encrypted-file.ts';

export type Task =
  | ({ readonly kind: 'packed' } & Pick<ReadPackedOptions, 'path' | 'sheet' | 'passphrase' | 'gpg'> & {
        readonly helper: HelperMemory;
      })
  | { readonly kind: 'certificate'; readonly file: Uint8Array; readonly passphrase: string }
  | { readonly kind: 'examples'; readonly text: string }
  | { readonly kind: 'patterns'; readonly patterns: readonly string[]; readonly texts: readonly string[] };

export type WorkerMessage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'report'; readonly share: number }
  | OutputMessage
  | { readonly kind: 'outcome'; readonly outcome: Outcome<unknown> };

/** What is to be done with the file that is written. One at a time. */
export type OutputMessage =
  | { readonly kind: 'output'; readonly step: 'create' | 'finish' | 'abandon' }
  | { readonly kind: 'output'; readonly step: 'write'; readonly bytes: Uint8Array<ArrayBuffer> };

/** What the main process encrypts and writes in one turn: a quarter of a millisecond's work. */
const pieceBytes = 256 * 1024;

/** The main process hears of every half percent. */
const reportStep = 0.005;

if (!parentPort) throw new Error('This module is the entry of a worker thread.');
const port = parentPort;

function post(message: WorkerMessage, moved: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, moved);
}

function ask(message: OutputMessage, moved?: readonly ArrayBuffer[]): Promise<Outcome<null>> {
  return new Promise((resolve) => {
    port.once('message', resolve);
    post(message, moved);
  });
}

async function createOutput(): Promise<Outcome<EncryptedFileWriter>> {
  const created = await ask({ kind: 'output', step: 'create' });
  if (!created.ok) return created;
  /** Of its own memory, which moves along; small buffers share theirs with others. */
  let piece = new Uint8Array(pieceBytes);
  let filled = 0;
  /** The answer to the piece before: the main process encrypts it while the next one is read. */
  let asked: Promise<Outcome<null>> = Promise.resolve(done(null));
  async function send(): Promise<Outcome<null>> {
    const before = await asked;
    if (!before.ok) return before;
    const bytes = piece.subarray(0, filled);
    piece = new Uint8Array(pieceBytes);
    filled = 0;
    asked = ask({ kind: 'output', step: 'write', bytes }, [bytes.buffer]);
    return before;
  }
  return done({
    async write(bytes) {
      for (let at = 0; at < bytes.length;) {
        const part = bytes.subarray(at, at + pieceBytes - filled);
        piece.set(part, filled);
        filled += part.length;
        at += part.length;
        if (filled < pieceBytes) break;
        const sent = await send();
        if (!sent.ok) return sent;
      }
      return done(null);
    },
    async finish() {
      const sent = filled > 0 ? await send() : done(null);
      const written = sent.ok ? await asked : sent;
      return written.ok ? ask({ kind: 'output', step: 'finish' }) : written;
    },
    async abandon() {
      await asked;
      await ask({ kind: 'output', step: 'abandon' });
    },
  });
}

function run(task: Task): Promise<Outcome<unknown>> | Outcome<unknown> {
  switch (task.kind) {
    case 'packed': {
      let reported = -1;
      const report = (share: number): void => {
        if (share < 1 && Math.abs(share - reported) < reportStep) return;
        reported = share;
        post({ kind: 'report', share });
      };
      const { path, sheet, passphrase, gpg } = task;
      const helper = helperProcess(task.helper);
      return readPacked({ path, sheet, passphrase, gpg, helper, createOutput, report });
    }
    case 'certificate':
      return readPkcs12(Buffer.from(task.file), task.passphrase);
    case 'examples':
      return readExamples(task.text);
    case 'patterns':
      return matchPatterns(task.patterns, task.texts);
  }
}

post({ kind: 'ready' });
post({ kind: 'outcome', outcome: await run(workerData as Task) });
