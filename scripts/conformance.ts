/*
 * Holds a tokenization service against the specification, sentence by sentence:
 * npm run conformance -- [--base-url URL --ca FILE --seed FILE] [--session-seconds N]
 * Without an address, the built-in service is started and tried. Exits 1 if a statement fails.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import defaultSeed from '../resources/built-in-service-seed.json' with { type: 'json' };
import type { Seed } from '../electron/built-in-service/seed.ts';
import { startBuiltInService } from '../electron/built-in-service/start.ts';
import { builtInTarget } from '../test/conformance/built-in-target.ts';
import { runConformance, type Result } from '../test/conformance/run-conformance.ts';
import type { TargetOptions } from '../test/conformance/target.ts';

function table(results: readonly Result[]): string {
  const lines = results.map(({ section, says, outcome, remark }) =>
    [`§${section}`, outcome.padEnd(9), remark === '' ? says : `${says}  [${remark}]`].join('  '),
  );
  const count = (outcome: Result['outcome']) => results.filter((one) => one.outcome === outcome).length;
  return [...lines, '', `${count('pass')} pass, ${count('fail')} fail, ${count('not shown')} not shown`].join(
    '\n',
  );
}

function readValues() {
  return parseArgs({
    options: {
      'base-url': { type: 'string' },
      ca: { type: 'string' },
      seed: { type: 'string' },
      'session-seconds': { type: 'string' },
    },
  }).values;
}

async function runBuiltIn(): Promise<Result[]> {
  const { start, options } = builtInTarget(randomBytes(32), defaultSeed as Seed);
  const service = await startBuiltInService(start);
  try {
    return await runConformance(options(service));
  } finally {
    await service.stop();
  }
}

function runGiven(baseUrl: string, values: ReturnType<typeof readValues>): Promise<Result[]> {
  if (values.seed === undefined)
    throw new Error('--base-url needs --seed, a seed file with all credentials.');
  const text = values['session-seconds'];
  const seconds = text === undefined ? undefined : Number(text);
  if (seconds !== undefined && !(seconds > 0)) throw new Error('--session-seconds wants a number.');
  const options: TargetOptions = {
    baseUrl,
    ca: values.ca === undefined ? undefined : readFileSync(values.ca, 'utf8'),
    seed: JSON.parse(readFileSync(values.seed, 'utf8')) as Seed,
    sessionSeconds: seconds,
  };
  return runConformance(options);
}

try {
  const values = readValues();
  const baseUrl = values['base-url'];
  const results = await (baseUrl === undefined ? runBuiltIn() : runGiven(baseUrl, values));
  console.log(table(results));
  process.exitCode = results.some(({ outcome }) => outcome === 'fail') ? 1 : 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
