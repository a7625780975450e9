import { check, type Result, type Statement } from './statement.ts';
import { administration } from './statements/administration.ts';
import { conventions } from './statements/conventions.ts';
import { errors } from './statements/errors.ts';
import { limits } from './statements/limits.ts';
import { operations } from './statements/operations.ts';
import { portal } from './statements/portal.ts';
import { resources } from './statements/resources.ts';
import { Target, type TargetOptions } from './target.ts';

/** In the order of the specification, but limits last: they leave the window of a second full. */
export const statements: readonly Statement[] = [
  ...resources,
  ...conventions,
  ...operations,
  ...portal,
  ...administration,
  ...errors,
  ...limits,
];

export interface Run {
  readonly results: readonly Result[];
  /** Why it is no check of a service at all; null where it is one. */
  readonly trouble: string | null;
}

/** Checks every statement against a service, in their order. Where nobody answers no more is asked. */
export async function runSuite(options: TargetOptions): Promise<Run> {
  const target = new Target(options);
  const results: Result[] = [];
  const isUnanswered = (): boolean => target.statuses.size === 0 && target.faults.size > 0;
  try {
    for (const statement of statements) {
      if (isUnanswered()) break;
      results.push(await check(statement, target));
    }
  } finally {
    await target.close();
  }
  if (isUnanswered())
    return { results, trouble: `No request was answered (${[...target.faults].join(', ')}).` };
  const isUntried = target.sessionsAsked === 0;
  return {
    results,
    trouble: isUntried
      ? 'Nothing that needs a session could be tried: the account has no API key with a policy and a definition to use it for.'
      : null,
  };
}
