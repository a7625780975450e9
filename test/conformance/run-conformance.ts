import type { Statement } from './statement.ts';
import { conventions } from './statements/conventions.ts';
import { errors } from './statements/errors.ts';
import { limits } from './statements/limits.ts';
import { operations } from './statements/operations.ts';
import { portal } from './statements/portal.ts';
import { resources } from './statements/resources.ts';
import { NotShown, Target, type TargetOptions } from './target.ts';

export interface Result {
  readonly section: string;
  readonly says: string;
  readonly outcome: 'pass' | 'fail' | 'not shown';
  readonly remark: string;
}

/** In the order of the specification, but limits last: they leave the window of a second full. */
export const STATEMENTS: readonly Statement[] = [
  ...resources,
  ...conventions,
  ...operations,
  ...portal,
  ...errors,
  ...limits,
];

export async function check(statement: Statement, target: Target): Promise<Result> {
  const { section, says } = statement;
  try {
    return { section, says, outcome: 'pass', remark: (await statement.check(target)) ?? '' };
  } catch (error) {
    const remark = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error);
    return { section, says, outcome: error instanceof NotShown ? 'not shown' : 'fail', remark };
  }
}

/** Runs the whole suite against one service, one statement after the other. */
export async function runConformance(options: TargetOptions): Promise<Result[]> {
  const target = new Target(options);
  const results: Result[] = [];
  try {
    for (const statement of STATEMENTS) results.push(await check(statement, target));
  } finally {
    await target.close();
  }
  return results;
}
