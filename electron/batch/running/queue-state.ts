import type { Failure } from '../../contract/errors.ts';
import type { JobState, Plan } from '../../contract/models/batch.ts';
import type { Grounds } from '../../contract/models/lookup.ts';
import type { Queue, QueuedFile } from '../../contract/models/queue.ts';
import type { Account } from '../storing/job-files.ts';
import type { KnownFile, StoredFile } from '../storing/queue-file.ts';

/** Where a queue runs. */
export interface QueuePlace {
  readonly id: string;
  readonly name: string;
  readonly environment: string;
  /** Of a move, those at both ends, for all of its files: each is refused at others. */
  readonly accounts: Account[];
}

export interface FileState extends StoredFile {
  failure: Failure | null;
  isSkipped: boolean;
  isPassed: boolean;
  /** It can't be of the kind, however the first is read. */
  readonly isRefused: boolean;
  jobId: string | null;
  jobState: JobState | null;
  asks: QueuedFile['asks'];
}

export interface QueueState {
  readonly queueId: string;
  readonly createdAt: string;
  /** Null for a draft. */
  begun: { known: KnownFile; plan: Plan; connection: QueuePlace; mapping: string | null } | null;
  files: FileState[];
  /** No further file is begun. */
  isHeld: boolean;
  /** What the person said at its beginning; not after a start of the app. */
  grounds: Grounds | null;
  comparing: AbortController | null;
  /** The file that is read and counted before it begins. */
  checking: { readonly file: FileState; readonly abort: AbortController } | null;
}

/** Nothing more comes of such a batch by itself: the next file's turn has come. */
const settledStates: readonly (JobState | null)[] = ['finished', 'cancelled', 'failed'];

export const isSettled = ({ failure, isSkipped, isPassed, jobId, jobState }: FileState): boolean =>
  failure !== null || isSkipped || isPassed || (jobId !== null && settledStates.includes(jobState));

/** The first file that is not done with. */
export const currentOf = ({ files }: QueueState): FileState | undefined =>
  files.find((file) => !isSettled(file));

export const storedOf = ({
  fileId,
  path,
  name,
  bytes,
  failure,
  isSkipped,
  isPassed,
}: FileState): StoredFile => ({
  ...{ fileId, path, name, bytes, failure, isSkipped, isPassed },
});

/** As the window sees it. */
export function viewOf(queue: QueueState): Queue {
  const { queueId, createdAt, begun, files, comparing, checking } = queue;
  return {
    ...{ queueId, createdAt, state: stateOf(queue), isComparing: comparing !== null },
    current: begun === null ? null : (currentOf(queue)?.fileId ?? null),
    connectionName: begun?.connection.name ?? null,
    environment: begun?.connection.environment ?? null,
    mapping: begun?.mapping ?? null,
    files: files
      .filter(({ failure }) => failure === null)
      .map((file) => {
        const { fileId, name, bytes, jobId, asks } = file;
        return { ...{ fileId, name, bytes, jobId, asks }, state: fileStateOf(file, file === checking?.file) };
      }),
    others: files.flatMap(({ fileId, name, failure }) =>
      failure === null ? [] : [{ fileId, name, failure }],
    ),
  };
}

function stateOf(queue: QueueState): Queue['state'] {
  const { begun, isHeld, checking } = queue;
  if (begun === null) return 'draft';
  const current = currentOf(queue);
  if (current === undefined) return 'finished';
  if (checking !== null || current.jobState === 'running') return 'running';
  return isHeld || current.asks !== null || current.jobId !== null ? 'stopped' : 'running';
}

function fileStateOf(
  { isSkipped, isPassed, jobId, asks }: FileState,
  isChecked: boolean,
): QueuedFile['state'] {
  if (isSkipped) return 'skipped';
  if (jobId !== null || isPassed) return 'begun';
  if (isChecked) return 'checking';
  return asks === null ? 'waiting' : 'asking';
}
