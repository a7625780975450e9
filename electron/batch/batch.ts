import type { CallInput, CallName, CallOutput } from '../contract/calls.ts';
import type { Outcome } from '../contract/errors.ts';

type BatchCallName = Extract<CallName, `batch.${string}`>;

/**
 * The batch room: one method for each `batch.*` call of the contract, under the same input and output. `batch.drop`
 * and `batch.choose` get paths from the shell; paths never leave this room.
 */
export type Batch = {
  readonly [N in BatchCallName]: (input: CallInput<N>) => Promise<Outcome<CallOutput<N>>>;
} & {
  /** Picks up jobs that a crash left behind as `interrupted`. */
  start(): Promise<void>;
  /** Pauses what runs at a chunk's edge and releases files and locks. */
  close(): Promise<void>;
};
