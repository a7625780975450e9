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

/** Checks every statement against a service, in their order. */
export async function run(options: TargetOptions): Promise<Result[]> {
  const target = new Target(options);
  const results: Result[] = [];
  try {
    for (const statement of statements) results.push(await check(statement, target));
  } finally {
    await target.close();
  }
  return results;
}
