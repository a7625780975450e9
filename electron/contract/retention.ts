import type { Job } from './models/batch.ts';

const dayMs = 86_400_000;

/** Until when a batch's results are kept; null while it has not ended, or where nothing is removed by itself (0 days). */
export function keptUntil({ endedAt }: Pick<Job, 'endedAt'>, days: number): number | null {
  return endedAt === null || days === 0 ? null : Date.parse(endedAt) + days * dayMs;
}
