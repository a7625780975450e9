import { done, failed, type Outcome } from '../contract/errors.ts';
import type { FailedRequests, Figures } from '../contract/models/report.ts';

export type Answer =
  | { readonly kind: 'metrics'; readonly where: string; readonly figures: Figures }
  | { readonly kind: 'failures'; readonly where: string; readonly list: FailedRequests };

const most = 20;

/** The last answers, so that what is exported or copied is what was shown, and comes from here. */
export interface Answers {
  keep(reportId: string, answer: Answer): void;
  /** Failure: report.unknown. */
  find(reportId: string): Outcome<Answer>;
  clear(): void;
}

export function createAnswers(): Answers {
  const kept = new Map<string, Answer>();
  return {
    keep(reportId, answer) {
      kept.set(reportId, answer);
      for (const oldest of [...kept.keys()].slice(0, kept.size - most)) kept.delete(oldest);
    },
    find(reportId) {
      const found = kept.get(reportId);
      return found === undefined ? failed('report.unknown') : done(found);
    },
    clear: () => kept.clear(),
  };
}
