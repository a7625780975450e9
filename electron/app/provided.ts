import type { RecordAct } from '../audit/record.ts';
import { done, failed, type Failure } from '../contract/errors.ts';
import type { AppState } from '../contract/models/app.ts';
import type { Deployment } from '../contract/models/deployment.ts';
import type { ImportItem } from '../contract/models/import-item.ts';
import { createProvidedFile, providedFileOf, type Provided } from '../settings/provided-file.ts';
import type { Clock } from '../util/clock.ts';
import type { AppOptions } from './options.ts';

interface ProvidedOptions {
  readonly options: Pick<
    AppOptions,
    'deployment' | 'log' | 'managed' | 'rereadDeployment' | 'rereadEveryMs' | 'providedLimitMs'
  >;
  /** The person's folder. */
  readonly home: string;
  readonly clock: Clock;
}

interface Following {
  /** Makes the connections what the file says. */
  readonly apply: (given: Deployment) => Promise<readonly ImportItem[]>;
  readonly record: RecordAct;
  readonly changed: () => void;
  readonly isLocked: () => boolean;
}

const dayMs = 86_400_000;
/** A share is away for minutes, or until the network is there. */
const retryMs = 600_000;

/**
 * The connections that an administrator provides, beside the policy or in a signed file elsewhere: read at the start and each
 * day, and followed while the app is unlocked. Reading begins at once, beside all else that a start does.
 */
export function createProvided({ options, home, clock }: ProvidedOptions) {
  const { log, managed, rereadDeployment, rereadEveryMs } = options;
  const named = providedFileOf(managed);
  const signed =
    named === null ? null : createProvidedFile({ ...named, home, clock, limitMs: options.providedLimitMs });
  let deployment = options.deployment;
  let failure: Failure | null = null;
  let taken: Provided['taken'] = null;
  let items: readonly ImportItem[] = [];
  let recorded = '';
  let isClosed = false;
  let stop = (): void => undefined;
  let again: Promise<void> | null = null;

  async function read(): Promise<void> {
    if (signed === null) return;
    const found = await signed.read();
    deployment = found.deployment;
    failure = found.failure;
    taken = found.taken ?? taken;
    if (failure !== null) log.info(`provided connections not taken - ${failure.code}`);
  }

  async function readAgain(): Promise<void> {
    if (signed !== null) return read();
    // One that can't be read now changes nothing.
    deployment = (await rereadDeployment?.()) ?? deployment;
  }

  /** One that was refused stands in the log once in each run; one that is away does not. */
  async function recordRefusal(record: RecordAct): Promise<void> {
    const { code = '', subject = '' } = failure ?? {};
    if (failure === null || code === 'provided.unreachable' || recorded === code + subject) return;
    recorded = code + subject;
    const { code: refused } = failure;
    await record({ action: 'ProvideConnections', note: subject }, () => failed(refused));
  }

  async function follow({ apply, record, changed }: Omit<Following, 'isLocked'>): Promise<void> {
    await reading;
    await recordRefusal(record);
    const given = deployment;
    if (given !== null) {
      const act = async () => done((items = await apply(given)));
      if (taken === null) await act();
      else {
        const note = `issued ${taken.issued}, signed by ${taken.signer}`;
        taken = null;
        await record({ action: 'ProvideConnections', note }, act);
      }
      for (const { change, code } of items)
        if (change === 'refused') log.info(`a connection is not provided - ${code}`);
    }
    changed();
  }

  const reading = read();
  return {
    /** What is in force of it now. */
    deployment: () => deployment,
    state: (): Pick<AppState, 'provided' | 'providedFailure'> => ({
      provided: [...items],
      providedFailure: failure,
    }),
    follow,
    /** Whoever leaves the app open for weeks gets what an administrator changes all the same. */
    followAgain(following: Following): void {
      if (isClosed || (signed === null && rereadDeployment === undefined)) return;
      const isAway = failure?.code === 'provided.unreachable';
      stop = clock.after(rereadEveryMs ?? (isAway ? retryMs : dayMs), () => {
        again = readAgain()
          .then(() => (isClosed || following.isLocked() ? undefined : follow(following)))
          .finally(() => {
            this.followAgain(following);
          });
      });
    },
    /** What is being followed is followed to its end: the log it is recorded in is closed next. */
    async close(): Promise<void> {
      isClosed = true;
      stop();
      await again;
    },
  };
}
