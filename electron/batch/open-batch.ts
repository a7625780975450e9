import type { Batch } from './batch.ts';
import { createDraftCalls } from './calls/draft-calls.ts';
import { createJobCalls } from './calls/job-calls.ts';
import { createMappingCalls } from './calls/mapping-calls.ts';
import { createResultCalls } from './calls/result-calls.ts';
import type { BatchParts } from './parts.ts';
import { createJobList } from './running/job-list.ts';

/**
 * The batch room. Paths and cleartext stay inside: the window gets handles, masked rows and counts. Call `start`
 * once, before anything else; `close` at the end.
 */
export function openBatch(parts: BatchParts): Batch {
  const jobs = createJobList(parts);
  const { drafts, calls } = createDraftCalls(parts);
  return {
    ...calls,
    ...createJobCalls(parts, drafts, jobs),
    ...createResultCalls(parts, jobs),
    ...createMappingCalls(parts),
    async start() {
      await drafts.sweep();
      await jobs.load();
    },
    async close() {
      await jobs.close();
      await drafts.close();
    },
  };
}
