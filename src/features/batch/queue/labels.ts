import type { Failure } from '../../../../electron/contract/errors.ts';
import type { Notice } from '../../../../electron/contract/models/batch.ts';
import type { Queue, QueuedFile } from '../../../../electron/contract/models/queue.ts';
import { formatCount, formatUnits } from '../../../lib/format.ts';
import { messageFor, sentenceFor } from '../../../messages/messages.ts';
import { formatNotice } from '../../../messages/notices.ts';
import { describeState, shareDone } from '../labels.ts';
import type { QueueLine } from './queue.svelte.ts';

interface Label {
  variant: 'ok' | 'warn' | 'danger' | 'quiet';
  label: string;
}

/** "a.csv and 3 more". */
export function formatFiles({ files, others }: Pick<Queue, 'files' | 'others'>): string {
  const [first] = files;
  if (first === undefined) return formatUnits(others.length, 'file');
  return files.length === 1 ? first.name : `${first.name} and ${formatCount(files.length - 1)} more`;
}

const isOfAnotherKind = ({ code }: Failure): boolean => code === 'queue.columns' || code === 'queue.sheet';

/** Whether it can be opened by itself. */
export const canOpen = (failure: Failure): boolean =>
  isOfAnotherKind(failure) || failure.code === 'file.passphrase-needed';

/** Why a file is not run with the others. What to do stands beside it as a button, where there is one. */
export const formatOther = (failure: Failure): string =>
  isOfAnotherKind(failure) ? messageFor(failure).summary : sentenceFor(failure);

/** "3 files of one kind · 1 of another kind · 1 can’t be run". */
export function formatKinds({ files, others }: Pick<Queue, 'files' | 'others'>): string {
  const kinds = others.filter(({ failure }) => isOfAnotherKind(failure)).length;
  const unfit = others.length - kinds;
  return [
    ...(files.length === 0
      ? []
      : [files.length === 1 ? '1 file' : `${formatCount(files.length)} files of one kind`]),
    ...(kinds > 0 ? [`${formatCount(kinds)} of another kind`] : []),
    ...(unfit > 0 ? [`${formatCount(unfit)} can’t be run`] : []),
  ].join(' · ');
}

const doubts = {
  encoding: 'Its encoding is a guess',
  delimiter: 'Its delimiter is a guess',
  records: 'Its columns of fixed width are a guess',
  place: 'Where its table begins and ends is a guess',
} as const;

/** Why a file is not begun before a person says so. */
export function formatAsks({ notices, doubt, failure }: NonNullable<QueuedFile['asks']>): string {
  if (failure !== null) return sentenceFor(failure);
  const news = notices.map((notice: Notice) => formatNotice(notice).replace(/\.$/, ''));
  const shown = news.slice(0, 3);
  const more = news.length - shown.length;
  return [
    ...(doubt === null ? [] : [`${doubts[doubt]}.`]),
    ...(shown.length === 0
      ? []
      : [`New in this file: ${shown.join('; ')}${more > 0 ? `; and ${formatCount(more)} more` : ''}.`]),
  ].join(' ');
}

/** Of a file that is not begun: what is behind it. */
export const formatBehind = (count: number): string =>
  `Nothing of it was sent.${count === 0 ? '' : ` The ${formatUnits(count, 'file')} behind it ${count === 1 ? 'waits' : 'wait'}.`}`;

/** Whether a reason is what the file waits for. */
export const asksReason = (failure: Failure | null): boolean =>
  failure !== null && ['reveal.reason-required', 'export.confirm'].includes(failure.code);

const fileStates = {
  waiting: { variant: 'quiet', label: 'Not begun' },
  checking: { variant: 'quiet', label: 'Counting' },
  asking: { variant: 'warn', label: 'Needs you' },
  skipped: { variant: 'quiet', label: 'Left out' },
} as const;

export function describeFile({ file, job }: QueueLine): Label {
  if (file.state !== 'begun') return fileStates[file.state];
  return job === null ? { variant: 'quiet', label: 'Results removed' } : describeState(job);
}

export function describeQueue({ state, files }: Queue, lines: readonly QueueLine[]): Label {
  switch (state) {
    case 'draft':
      return files.length === 0
        ? { variant: 'warn', label: 'Can’t be run' }
        : { variant: 'quiet', label: 'Not begun' };
    case 'running':
      return { variant: 'quiet', label: 'Running' };
    case 'stopped':
      return lines.some(({ file, job }) => file.state === 'asking' || job?.braked)
        ? { variant: 'warn', label: 'Needs you' }
        : { variant: 'warn', label: 'Paused' };
    case 'finished': {
      const left = lines.filter(
        ({ file, job }) => file.state === 'skipped' || job?.state !== 'finished',
      ).length;
      if (left > 0) return { variant: 'warn', label: `Ended · ${formatUnits(left, 'file')} not finished` };
      const failed = lines.reduce((sum, { job }) => sum + (job?.tally.failed ?? 0), 0);
      return failed > 0
        ? { variant: 'warn', label: `Finished · ${formatUnits(failed, 'row')} failed` }
        : { variant: 'ok', label: 'Finished' };
    }
  }
}

/** Between 0 and 1, by bytes: rows are not known before a file is counted. */
export function shareOfQueue(lines: readonly QueueLine[]): number {
  const all = lines.reduce((sum, { file }) => sum + file.bytes, 0);
  const done = lines.reduce((sum, { file, job }) => {
    if (file.state === 'skipped') return sum + file.bytes;
    if (file.state !== 'begun') return sum;
    return sum + file.bytes * (job === null || job.state === 'finished' ? 1 : (shareDone(job) ?? 0));
  }, 0);
  return all === 0 ? 0 : done / all;
}
