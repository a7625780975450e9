import type { CallInput } from '../../contract/calls.ts';
import type { Outcome } from '../../contract/errors.ts';
import type { ExportChoice, Exported } from '../../contract/models/batch.ts';
import type { BatchOptions } from '../options.ts';
import type { QueuePlace } from '../running/queue-state.ts';

/** What is done with a job not only by its own calls. */
export interface JobActs {
  /** Begins a batch: `batch.start`. `queued`: the file of a queue that it is of. Failure besides: queue.elsewhere. */
  start(
    asked: CallInput<'batch.start'> & { readonly queued?: string; readonly where?: QueuePlace },
  ): Promise<Outcome<{ jobId: string }>>;
  /** Writes a result: `batch.export`. `target` names the file in place of the system's dialog. */
  write(
    choice: ExportChoice,
    how?: { readonly target?: ChooseTarget; readonly stop?: AbortController },
  ): Promise<Outcome<Exported | null>>;
  /** What is held of the rows of a job that is gone. */
  forget(jobId: string): void;
}

export type ChooseTarget = BatchOptions['platform']['chooseTarget'];
