import fs from 'node:fs';
import { signCheckpoint } from '../../electron/audit/checkpoint.ts';
import { beginEntry, endEntry } from '../../electron/audit/entries.ts';
import { keyIdOf, segmentFile, signLine, zeroMac } from '../../electron/audit/lines.ts';

const rotateBytes = 8 * 2 ** 20;

export interface LongLog {
  readonly folder: string;
  readonly key: Uint8Array;
  readonly entries: number;
  /** Of the first entry, in milliseconds. */
  readonly firstAt: number;
  /** From one act to the next, of two entries each. */
  readonly stepMs: number;
}

/** As years of days leave it: requests of batches, and a reveal for one in fifty. */
function* contents({ entries, firstAt, stepMs }: LongLog) {
  for (let turn = 0; turn < entries / 2; turn++) {
    const at = new Date(firstAt + turn * stepMs);
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

/** The files as the app writes them, without a sync for each line. The checkpoint of their end. */
export function writeLongLog(log: LongLog): string {
  const { folder, key } = log;
  fs.mkdirSync(folder, { recursive: true });
  let segment = 0;
  let sequence = 0;
  let prev = zeroMac;
  let lines: Buffer[] = [];
  let size = 0;
  const flush = (): void => fs.writeFileSync(segmentFile(folder, segment), Buffer.concat(lines));
  const add = (content: Parameters<typeof signLine>[1]): void => {
    const { bytes, mac } = signLine(key, content, prev);
    prev = mac;
    size += bytes.length;
    lines.push(bytes);
  };
  for (const content of contents(log)) {
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
  return signCheckpoint(key, { segment, size, sequence, head: prev });
}
