/*
 * Checks a tokenization service against the specification, sentence by sentence:
 * npm run conformance -- [--base-url URL --account FILE [--ca FILE] [--profile FILE]] [--session-seconds N] [--json FILE] [--junit FILE]
 * Without an address, the built-in service is started and checked. Exits 1 if a statement fails.
 * With --rows it runs the tests that docs/specification.md names, and prints its table.
 */
import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import defaultSeed from '../../resources/built-in-service-seed.json' with { type: 'json' };
import type { Seed } from '../../electron/built-in-service/seed.ts';
import { formatJson, formatJunit, formatText } from '../../electron/conformance/report.ts';
import { runSuite, type Run } from '../../electron/conformance/suite.ts';
import { startBuiltInTarget } from '../support/built-in-target.ts';
import type { TargetOptions } from '../../electron/conformance/target.ts';

if (process.argv.includes('--rows')) {
  const { printRows } = await import('./specification.ts');
  process.exit(printRows() ? 0 : 1);
}
try {
  const { values } = parseArgs({
    options: {
      'base-url': { type: 'string' },
      ca: { type: 'string' },
      account: { type: 'string' },
      /** The former name of --account: a seed file is one. */
      seed: { type: 'string' },
      profile: { type: 'string' },
      'session-seconds': { type: 'string' },
      json: { type: 'string' },
      junit: { type: 'string' },
    },
  });
  const baseUrl = values['base-url'];
  const builtIn =
    baseUrl === undefined ? await startBuiltInTarget(randomBytes(32), defaultSeed as Seed) : null;
  const options = builtIn?.options ?? readTarget(baseUrl ?? '', values);
  let ended: Run;
  try {
    ended = await runSuite(options);
  } finally {
    await builtIn?.stop();
  }
  const { results, trouble } = ended;
  if (trouble !== null) throw new Error(trouble);
  console.log(formatText(results));
  if (values.json !== undefined) writeFileSync(values.json, formatJson(results, options.baseUrl));
  if (values.junit !== undefined) writeFileSync(values.junit, formatJunit(results));
  process.exitCode = results.some(({ outcome }) => outcome === 'fail') ? 1 : 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

type Names = 'ca' | 'account' | 'seed' | 'profile' | 'session-seconds';

function readTarget(baseUrl: string, values: Readonly<Partial<Record<Names, string>>>): TargetOptions {
  const account = values.account ?? values.seed;
  if (account === undefined) throw new Error('--base-url needs --account, a file with all credentials.');
  const text = values['session-seconds'];
  const sessionSeconds = text === undefined ? undefined : Number(text);
  if (sessionSeconds !== undefined && !(sessionSeconds > 0))
    throw new Error('--session-seconds must be a number.');
  const read = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file, 'utf8'));
  return {
    baseUrl,
    ca: read(values.ca),
    account: JSON.parse(readFileSync(account, 'utf8')),
    profile: read(values.profile),
    sessionSeconds,
  };
}
