import { Worker } from 'node:worker_threads';
import { closeHelper, createHelperMemory } from './helper-process.ts';
import type { Gpg } from './packed/gpg.ts';
import type { ReadPackedOptions, Unpacked } from './packed/read-packed.ts';
import { done, failed, type FailureCode, type Outcome } from '../contract/errors.ts';
import type { CertificateWithKey } from './pkcs12.ts';
import type { CallExample } from './service-examples/example.ts';
import type { Clock } from '../util/clock.ts';
import type { EncryptedFileWriter } from '../storage/encrypted-file.ts';
import { createSerialQueue } from '../util/serial-queue.ts';
import type { OutputMessage, Task, WorkerMessage } from './worker.ts';

/**
 * Reads what strangers made: archives, workbooks, PKCS #12 files, and expressions that people type. Each is read in a thread of its own with a
 * deadline and a memory limit, which is ended afterwards. So the worst of them costs an answer, and never a turn of the
 * main process, whose timers hide revealed values. Where the machine is too busy to start the thread, all of them fail
 * with app.busy: nothing is known of the input then.
 */
export interface Parser {
  /**
   * Writes what is in an archive or a workbook as `readPacked` does, with its failures. In addition: file.workbook-slow,
   * file.workbook-too-large for the memory limit, service.cancelled. `createOutput` is called in this thread: the other
   * one has no key.
   */
  readPacked(
    options: Omit<ReadPackedOptions, 'gpg' | 'helper'> & { readonly signal: AbortSignal },
  ): Promise<Outcome<Unpacked>>;
  /**
   * For each expression, in which of these texts it is found; without texts a check of the expressions. Failures:
   * pattern.invalid, pattern.unsupported, pattern.slow.
   */
  matchPatterns(patterns: readonly string[], texts: readonly string[]): Promise<Outcome<boolean[][]>>;
  /** As `readPkcs12`, with its failures. */
  readPkcs12(file: Buffer, passphrase: string): Promise<Outcome<CertificateWithKey>>;
  /** As `readExamples`, with its failures. */
  readExamples(text: string): Promise<Outcome<CallExample[]>>;
}

export interface ParserOptions {
  /** The thread's entry: this folder's `worker.ts` under Node, its bundle in the application. */
  readonly worker: URL;
  readonly clock: Pick<Clock, 'after'>;
  /** Asked at each file: it may have been installed meanwhile. Never started if absent. */
  readonly gpg?: () => Gpg | null;
  readonly limits?: Partial<typeof parserLimits>;
}

/** Far above what the largest honest input needs on a slow machine. Each begins when the thread has loaded its code. */
export const parserLimits = {
  /** Until then: a tenth of a second, or many seconds where a batch and a virus scanner take the processor. */
  startMs: 60_000,
  /** A full sheet, 1,048,576 rows × 6, takes half a minute on one busy core; ten gigabytes in an archive some minutes. */
  packedMs: 20 * 60_000,
  patternsMs: 5_000,
  /** Ten million rounds take some five seconds. */
  certificateMs: 30_000,
  /** A document of four megabytes takes a second. */
  examplesMs: 20_000,
  /** The thread's heap, in MiB. Shared strings are outside of it and have a limit of their own. */
  heapMb: 512,
};

interface RunOptions {
  readonly deadlineMs: number;
  /** What it is called when the deadline, or the memory limit, ended it. */
  readonly slow: FailureCode;
  readonly tooLarge: FailureCode;
  readonly signal?: AbortSignal;
  readonly report?: (share: number) => void;
  readonly output?: (message: OutputMessage) => Promise<Outcome<null>>;
}

export function createParser({ worker, clock, gpg = () => null, limits }: ParserOptions): Parser {
  const { startMs, packedMs, patternsMs, certificateMs, examplesMs, heapMb } = { ...parserLimits, ...limits };

  /** The type of the outcome is that of the task. Rejects where the thread fails: a bug of ours. */
  async function run<T>(task: Task, options: RunOptions): Promise<Outcome<T>> {
    const { signal, report, output } = options;
    if (signal?.aborted === true) return failed('service.cancelled');
    const thread = new Worker(worker, {
      workerData: task,
      name: 'parser',
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: heapMb },
    });
    let isOver = false;
    const { promise, resolve, reject } = Promise.withResolvers<Outcome<T>>();
    let stopTimer = clock.after(startMs, () => {
      resolve(failed('app.busy'));
    });
    const cancel = (): void => {
      resolve(failed('service.cancelled'));
    };
    signal?.addEventListener('abort', cancel);
    thread.on('message', (message: WorkerMessage) => {
      if (message.kind === 'ready') {
        // It may come while the thread is being ended.
        if (isOver) return;
        stopTimer();
        stopTimer = clock.after(options.deadlineMs, () => {
          resolve(failed(options.slow));
        });
      } else if (message.kind === 'outcome') resolve(message.outcome as Outcome<T>);
      else if (message.kind === 'report') report?.(message.share);
      else
        output?.(message).then((answer) => {
          thread.postMessage(answer);
        }, reject);
    });
    thread.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') resolve(failed(options.tooLarge));
      else reject(error);
    });
    thread.on('exit', () => {
      reject(new Error('The parser ended without an outcome.'));
    });
    try {
      return await promise;
    } finally {
      isOver = true;
      stopTimer();
      signal?.removeEventListener('abort', cancel);
      const pid = task.kind === 'packed' ? await closeHelper(task.helper) : null;
      if (pid !== null) endProcess(pid);
      await thread.terminate();
    }
  }

  return {
    async readPacked({ path, sheet, passphrase, createOutput, report, signal }) {
      const inOrder = createSerialQueue();
      let file: EncryptedFileWriter | null = null;
      const output = async (message: OutputMessage): Promise<Outcome<null>> => {
        if (message.step === 'create') {
          const created = await createOutput();
          if (!created.ok) return created;
          file = created.value;
        } else if (message.step === 'write') {
          return (
            file?.write(Buffer.from(message.bytes.buffer, 0, message.bytes.length)) ??
            failed('file.unwritable')
          );
        } else if (message.step === 'finish') {
          const finished = await (file?.finish() ?? failed('file.unwritable'));
          if (!finished.ok) return finished;
          file = null;
        } else {
          await file?.abandon();
          file = null;
        }
        return done(null);
      };
      try {
        return await run<Unpacked>(
          { kind: 'packed', path, sheet, passphrase, gpg: gpg(), helper: createHelperMemory() },
          {
            deadlineMs: packedMs,
            slow: 'file.workbook-slow',
            tooLarge: 'file.workbook-too-large',
            signal,
            report,
            output: (message) => inOrder(() => output(message)),
          },
        );
      } finally {
        // The thread was ended before its file was.
        await inOrder(() => output({ kind: 'output', step: 'abandon' }));
      }
    },
    matchPatterns: (patterns, texts) =>
      run<boolean[][]>(
        { kind: 'patterns', patterns, texts },
        { deadlineMs: patternsMs, slow: 'pattern.slow', tooLarge: 'pattern.slow' },
      ),
    readPkcs12: (file, passphrase) =>
      run<CertificateWithKey>(
        { kind: 'certificate', file, passphrase },
        { deadlineMs: certificateMs, slow: 'certificate.slow', tooLarge: 'certificate.invalid' },
      ),
    readExamples: (text) =>
      run<CallExample[]>(
        { kind: 'examples', text },
        { deadlineMs: examplesMs, slow: 'examples.unreadable', tooLarge: 'examples.unreadable' },
      ),
  };
}

function endProcess(pid: number): void {
  try {
    process.kill(pid);
  } catch {
    // It has ended.
  }
}
