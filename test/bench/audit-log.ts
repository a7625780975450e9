import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { createAudit } from '../../electron/audit/audit.ts';
import { createCheckpointFile, signCheckpoint } from '../../electron/audit/checkpoint.ts';
import { beginEntry, endEntry } from '../../electron/audit/entries.ts';
import { keyIdOf, segmentFile, signLine, zeroMac } from '../../electron/audit/lines.ts';
import { done } from '../../electron/contract/errors.ts';
import type { ActivityQuery } from '../../electron/contract/models/activity.ts';
import { type Timed, timed } from './timed.ts';

/**
 * What Activity asks of a long audit log: its first verification, pages, and pages under filters. Options as JSON in the
 * first argument; milliseconds as JSON on the last line.
 */
const { folder, entries } = JSON.parse(process.argv[2] ?? '{}') as { folder: string; entries: number };

const key = randomBytes(32);
const log = path.join(folder, 'audit');
const checkpoint = path.join(folder, 'checkpoint');
const rotateBytes = 8 * 2 ** 20;
const firstAt = Date.UTC(2026, 0, 1);

/** As years of days leave it: requests of batches, and a reveal for one in fifty. */
function* contents() {
  for (let turn = 0; turn < entries / 2; turn++) {
    const at = new Date(firstAt + turn * 10_000);
    const reveal = turn % 50 === 0;
    const begun = beginEntry(
      {
        action: reveal ? 'Reveal' : 'DetokenizeBatch',
        connection: 'Production',
        environment: 'production',
        policy: 'disputes',
        definition: 'card',
        rows: reveal ? 1 : 500,
        ...(reveal
          ? { reason: 'Chargeback dispute', caseReference: `CB-${turn % 5_000}` }
          : { job: `job-${turn >> 9}` }),
      },
      at,
      'kim',
    );
    yield begun;
    const end = {
      ok: turn % 97 !== 0,
      requestId: `req-${turn}`,
      ...(turn % 97 === 0 && { code: 'service.busy' }),
    };
    yield endEntry({ begun, sequence: 2 * turn + 1, end, at });
  }
}

/** The files as the app writes them, without a sync for each line. */
function writeLog(): void {
  fs.mkdirSync(log, { recursive: true });
  let segment = 0;
  let sequence = 0;
  let prev = zeroMac;
  let lines: Buffer[] = [];
  let size = 0;
  const flush = (): void => fs.writeFileSync(segmentFile(log, segment), Buffer.concat(lines));
  const add = (content: Parameters<typeof signLine>[1]): void => {
    const { bytes, mac } = signLine(key, content, prev);
    prev = mac;
    size += bytes.length;
    lines.push(bytes);
  };
  for (const content of contents()) {
    if (lines.length === 0 || size > rotateBytes) {
      if (lines.length > 0) flush();
      segment++;
      lines = [];
      size = 0;
      const head = { v: 1, kind: 'segment', segment, at: content.at, next: sequence + 1 } as const;
      add({ ...head, key: keyIdOf(key), kept: true, after: null, seals: null });
    }
    add({ v: 2, kind: 'entry', sequence: ++sequence, ...content });
  }
  flush();
  fs.writeFileSync(checkpoint, signCheckpoint(key, { segment, size, sequence, head: prev }).padEnd(4_096));
}

writeLog();
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
    from: new Date(firstAt + (entries / 4) * 10_000).toISOString(),
    to: new Date(firstAt + (entries / 4) * 10_000 + 86_400_000).toISOString(),
  }),
);
figures['case'] = await timed(ask({ caseReference: 'CB-100' }));
figures['cases'] = await timed(() => audit.cases(20));
await audit.close();
process.stdout.write(`${JSON.stringify(figures)}\n`);
