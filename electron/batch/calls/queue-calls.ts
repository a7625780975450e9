import { shownName } from '../../privacy/file-names.ts';
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Handlers } from '../../contract/calls.ts';
import { done, failed, type Failure } from '../../contract/errors.ts';
import type { ExportChoice, Job } from '../../contract/models/batch.ts';
import type { QueueExported } from '../../contract/models/queue.ts';
import { maxFiles } from '../../contract/queue-limits.ts';
import { maskNumbers } from '../../masking/masking.ts';
import { writeFileAtomically } from '../../storage/atomic-file.ts';
import type { BatchOptions } from '../options.ts';
import { evidenceKeyAccount } from '../../evidence/evidence.ts';
import { signingKey } from '../../storage/signed-document.ts';
import { filesBelow } from '../inventory/files-below.ts';
import { queueReportTexts, reportOf, signReport } from '../output/queue-report.ts';
import type { JobList } from '../running/job-list.ts';
import type { NamedFile, Queues } from '../running/queue.ts';
import type { ChooseTarget, JobActs } from './job-acts.ts';

export type QueueCalls = Pick<
  Handlers<'batch'>,
  | 'batch.chooseFiles'
  | 'batch.chooseFolder'
  | 'batch.dropFiles'
  | 'batch.queues'
  | 'batch.compareQueue'
  | 'batch.startQueue'
  | 'batch.decideQueued'
  | 'batch.pauseQueue'
  | 'batch.resumeQueue'
  | 'batch.removeQueue'
  | 'batch.openQueued'
  | 'batch.exportQueue'
  | 'batch.reportQueue'
>;

interface QueueCallOptions extends Pick<BatchOptions, 'platform' | 'audit' | 'clock' | 'keychain'> {
  readonly queues: Queues;
  readonly jobs: Pick<JobList, 'find'>;
  readonly write: JobActs['write'];
}

/** Several files: from the choice of a person to their results in one folder. */
export function createQueueCalls({
  queues,
  jobs,
  platform,
  write,
  audit,
  clock,
  keychain,
}: QueueCallOptions): QueueCalls {
  return {
    async 'batch.chooseFiles'({ together = false }) {
      const paths = await platform.chooseFiles('table');
      if (paths === null) return done(null);
      const files = paths.map((path) => ({ path, name: basename(path) }));
      return queues.collect(files, { together });
    },
    async 'batch.chooseFolder'() {
      const folder = await platform.chooseFolder(null);
      if (folder === null) return done(null);
      const below = await filesBelow(folder);
      if (!below.ok) return below;
      const subject = maskNumbers(basename(folder)).slice(0, 300);
      if (below.value.length === 0) return failed('file.empty', { subject });
      if (below.value.length > maxFiles) return failed('queue.too-many', { subject: String(maxFiles) });
      return queues.collect(below.value, { together: true });
    },
    async 'batch.dropFiles'({ references }) {
      const files: NamedFile[] = [];
      for (const reference of references)
        files.push({ path: await platform.droppedFile(reference), name: basename(reference) || 'A file' });
      return queues.collect(files);
    },
    'batch.queues': () => queues.all(),
    'batch.compareQueue': ({ queueId, sourceId, reading }) => queues.compare(queueId, sourceId, reading),
    'batch.startQueue': ({ queueId, ...asked }) => queues.begin(queueId, asked),
    'batch.decideQueued': ({ queueId, fileId, decision, grounds = null }) =>
      queues.decide(queueId, fileId, decision === 'run' ? { what: decision, grounds } : { what: decision }),
    'batch.pauseQueue': ({ queueId }) => queues.pause(queueId),
    'batch.resumeQueue': ({ queueId, grounds = null }) => queues.resume(queueId, grounds),
    'batch.removeQueue': ({ queueId }) => queues.remove(queueId),
    'batch.openQueued': ({ queueId, fileId }) => queues.openFile(queueId, fileId),
    async 'batch.exportQueue'({ queueId, files, grounds, ...choice }) {
      const listed = queues.finished(queueId, files);
      if (!listed.ok) return listed;
      const views: { fileId: string; job: Job }[] = [];
      for (const { fileId, jobId } of listed.value) {
        const job = await jobs.find(jobId);
        if (job.ok) views.push({ fileId, job: job.value.view() });
      }
      const rowsOf = ({ tally }: Job): number => (choice.rows === 'matches' ? tally.ok : tally.rows);
      // The number that was typed is of all files together. Where it is not, each file refuses it.
      const isConfirmed = grounds?.confirmRows === views.reduce((sum, { job }) => sum + rowsOf(job), 0);
      const stop = new AbortController();
      const written: QueueExported['files'] = [];
      const chosen: { folder: string | null } = { folder: null };
      /** The person is asked once, when the gate of the first file has let it pass. */
      const target: ChooseTarget = async ({ name, beside }) => {
        chosen.folder ??= await platform.chooseFolder(beside === null ? null : dirname(beside));
        return chosen.folder === null ? null : freeName(chosen.folder, name);
      };
      /** A file was refused as a second person has to approve it: no other is tried, so that this one is asked for. */
      let needed: ReturnType<typeof failed> | null = null;
      for (const { fileId, job } of views) {
        const asked: ExportChoice = {
          ...choice,
          jobId: job.jobId,
          // What a sheet was read from has no form of text of its own.
          ...(job.isWorkbook && choice.safety === 'source' && { safety: 'spreadsheet' }),
          grounds: grounds && { ...grounds, confirmRows: isConfirmed ? rowsOf(job) : undefined },
        };
        const outcome: Awaited<ReturnType<JobActs['write']>> = stop.signal.aborted
          ? failed('service.cancelled')
          : (needed ?? (await write(asked, { target, stop })));
        if (outcome.ok && outcome.value === null) return done(null);
        if (!outcome.ok && chosen.folder === null && isRuleOf(outcome.failure)) return outcome;
        if (!outcome.ok && outcome.failure.code.startsWith('approval.')) needed = outcome;
        written.push(lineOf(fileId, outcome));
      }
      return done({ ...chosen, files: written });
    },
    async 'batch.reportQueue'({ queueId, form }) {
      const all = await queues.all();
      if (!all.ok) return all;
      const queue = all.value.find((one) => one.queueId === queueId);
      if (queue === undefined) return failed('queue.unknown');
      const target = await platform.chooseTarget({ name: `report.${form}`, beside: null });
      if (target === null) return done(null);
      const name = shownName(target);
      return audit.record({ action: 'SaveQueueReport', cleartext: false, note: name }, async (add) => {
        const made = new Date(clock.now());
        const report = await reportOf(queue, { find: (jobId) => jobs.find(jobId), made });
        if (!report.ok) return report;
        const seed = form === 'json' ? await keychain.key(evidenceKeyAccount) : null;
        if (seed?.ok === false) return seed;
        add({ rows: report.value.sum.rows });
        const text =
          form === 'json'
            ? seed && signReport(report.value, signingKey(seed.value))
            : queueReportTexts[form](report.value);
        const written = await writeFileAtomically(target, text ?? '');
        return written.ok ? done({ name }) : written;
      });
    },
  };
}

function lineOf(
  fileId: string,
  outcome: Awaited<ReturnType<JobActs['write']>>,
): QueueExported['files'][number] {
  if (!outcome.ok) return { fileId, failure: outcome.failure };
  if (outcome.value === null) return { fileId, failure: { code: 'service.cancelled' } };
  const { folder: _, ...exported } = outcome.value;
  return { fileId, exported };
}

/** What was asked for may not be written in any file. */
const isRuleOf = ({ code }: Failure): boolean =>
  code.startsWith('reveal.') ||
  code.startsWith('approval.') ||
  ['export.confirm', 'export.forbidden', 'export.unencrypted', 'export.passphrase'].includes(code);

/** A name that is free: nothing is written over. */
function freeName(folder: string, name: string): string {
  const [, stem = name, ending = ''] = /^(.*?)((?:\.\w+)?\.age|\.\w+)?$/s.exec(name) ?? [];
  let target = join(folder, name);
  for (let count = 2; existsSync(target); count++) target = join(folder, `${stem}-${count}${ending}`);
  return target;
}
