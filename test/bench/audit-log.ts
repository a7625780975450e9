import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createAudit } from '../../electron/audit/audit.ts';
import { createCheckpointFile } from '../../electron/audit/checkpoint.ts';
import { done } from '../../electron/contract/errors.ts';
import type { ActivityQuery } from '../../electron/contract/models/activity.ts';
import { writeLongLog } from './long-log.ts';
import { type Timed, timed } from './timed.ts';

/**
 * What Activity asks of a long audit log: its first verification, pages, and pages under filters. Options as JSON in the
 * first argument; milliseconds as JSON on the last line.
 */
const { folder, entries } = JSON.parse(process.argv[2] ?? '{}') as { folder: string; entries: number };

const key = randomBytes(32);
const log = path.join(folder, 'audit');
const checkpoint = path.join(folder, 'checkpoint');
const firstAt = Date.UTC(2026, 0, 1);
const stepMs = 10_000;

fs.writeFileSync(checkpoint, writeLongLog({ folder: log, key, entries, firstAt, stepMs }).padEnd(4_096));
const audit = createAudit({
  folder: log,
  key: () => Promise.resolve(done({ bytes: key, persistent: true })),
  actor: 'kim',
  now: () => new Date(),
  checkpoint: createCheckpointFile(checkpoint),
});
const figures: Record<string, Timed> = { verified: await timed(() => audit.opened) };
if (audit.state() !== 'ready') throw new Error(`the log is ${audit.state()}`);

const ask = (query: Partial<ActivityQuery>) => async (): Promise<void> => {
  const page = await audit.list({
    before: null,
    limit: 100,
    caseReference: null,
    foldBatches: true,
    ...query,
  });
  if (page.chain.state !== 'intact') throw new Error('the log is broken');
  if (page.total === 0) throw new Error('nothing was found');
};
figures['firstPage'] = await timed(ask({}));
figures['cleartext'] = await timed(ask({ kind: 'cleartext' }));
figures['middle'] = await timed(ask({ before: entries / 2 }));
figures['text'] = await timed(ask({ text: 'no such text' }));
figures['day'] = await timed(
  ask({
    from: new Date(firstAt + (entries / 4) * stepMs).toISOString(),
    to: new Date(firstAt + (entries / 4) * stepMs + 86_400_000).toISOString(),
  }),
);
figures['case'] = await timed(ask({ caseReference: 'CB-100' }));
figures['cases'] = await timed(() => audit.cases(20));
await audit.close();
process.stdout.write(`${JSON.stringify(figures)}\n`);
