/*
 * Checks a tokenization service against the specification, sentence by sentence:
 * npm run conformance -- [--base-url URL --ca FILE --seed FILE] [--session-seconds N]
 * Without an address, the built-in service is started and checked. Exits 1 if a statement fails.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import defaultSeed from '../../resources/built-in-service-seed.json' with { type: 'json' };
import type { Seed } from '../../electron/built-in-service/seed.ts';
import { check, type Result } from './statement.ts';
import { startBuiltInTarget, statements } from './suite.ts';
import { Target, type TargetOptions } from './target.ts';

try {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string' },
      ca: { type: 'string' },
      seed: { type: 'string' },
      'session-seconds': { type: 'string' },
    },
  });
  const baseUrl = values['base-url'];
  const results = await (baseUrl === undefined ? runBuiltIn() : run(readTarget(baseUrl, values)));
  console.log(formatResults(results));
  process.exitCode = results.some(({ outcome }) => outcome === 'fail') ? 1 : 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

async function run(options: TargetOptions): Promise<Result[]> {
  const target = new Target(options);
  const results: Result[] = [];
  try {
    for (const statement of statements) results.push(await check(statement, target));
  } finally {
    await target.close();
  }
  return results;
}

async function runBuiltIn(): Promise<Result[]> {
  const { options, stop } = await startBuiltInTarget(randomBytes(32), defaultSeed as Seed);
  try {
    return await run(options);
  } finally {
    await stop();
  }
}

function readTarget(
  baseUrl: string,
  values: Readonly<Partial<Record<'ca' | 'seed' | 'session-seconds', string>>>,
): TargetOptions {
  if (values.seed === undefined)
    throw new Error('--base-url needs --seed, a seed file with all credentials.');
  const text = values['session-seconds'];
  const sessionSeconds = text === undefined ? undefined : Number(text);
  if (sessionSeconds !== undefined && !(sessionSeconds > 0))
    throw new Error('--session-seconds must be a number.');
  return {
    baseUrl,
    ca: values.ca === undefined ? undefined : readFileSync(values.ca, 'utf8'),
    seed: JSON.parse(readFileSync(values.seed, 'utf8')) as Seed,
    sessionSeconds,
  };
}

function formatResults(results: readonly Result[]): string {
  const lines = results.map(({ section, text, outcome, remark }) =>
    [`§${section}`, outcome.padEnd(9), remark === '' ? text : `${text}  [${remark}]`].join('  '),
  );
  const count = (outcome: Result['outcome']) => results.filter((one) => one.outcome === outcome).length;
  const summary = `${count('pass')} pass, ${count('fail')} fail, ${count('not shown')} not shown`;
  return [...lines, '', summary].join('\n');
}
