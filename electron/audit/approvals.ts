import fs from 'node:fs/promises';
import { approvalActions } from '../contract/models/approval.ts';
import { instantOf, linesBackward, listSegments, readLine, segmentFile } from './lines.ts';
import type { ChainBreak } from './verify.ts';

/** The line with which a request is asked for. */
const askApproval = 'AskApproval';
/** Other lines name a request and do not use its answer. */
const acts: readonly string[] = approvalActions;

/** What the log has of one request for approval. */
export interface ApprovalLines {
  /** Whether an act named it: also one that has no end. */
  readonly isUsed: boolean;
  /** The latest time that any line has since it was asked for: a clock that is set back does not take it back. */
  readonly latest: number;
}

/**
 * The log is what remembers requests and used answers: its end is anchored in the keychain, so neither of both can be put
 * back without the other. Read from its end to the line that asked; null where there is none, or where the log was
 * changed since, so that a line which used it may be missing.
 */
export async function readApproval({
  folder,
  key,
  breaks,
  request,
}: {
  readonly folder: string;
  readonly key: Uint8Array;
  readonly breaks: readonly Pick<ChainBreak, 'segment'>[];
  readonly request: string;
}): Promise<ApprovalLines | null> {
  const needle = Buffer.from(`"request":${JSON.stringify(request)}`);
  let isUsed = false;
  let latest = 0;
  for (const segment of (await listSegments(folder)).reverse()) {
    if (breaks.some((found) => found.segment >= segment)) return null;
    const file = segmentFile(folder, segment);
    for await (const bytes of linesBackward(file, (await fs.stat(file)).size)) {
      latest = Math.max(latest, instantOf(bytes) ?? 0);
      if (!bytes.includes(needle)) continue;
      const line = readLine(key, bytes);
      if (line?.kind !== 'entry' || line.approval?.request !== request) continue;
      if (line.action === askApproval && line.phase === 'begun') return { isUsed, latest };
      if (acts.includes(line.action)) isUsed = true;
    }
  }
  return null;
}
