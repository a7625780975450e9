import { parseArgs } from 'node:util';
import { fuzzCalls } from '../support/fuzz-calls.ts';

/**
 * `npm run fuzz -- --calls 50000 --seed 1`: every call of the contract against the whole app, and no canary in any answer
 * or event. `--unchecked`: without the check of what leaves, so that the masks alone hold.
 */
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '50000' },
    seed: { type: 'string', default: '1' },
    unchecked: { type: 'boolean', default: false },
  },
});
const never = { saw: () => undefined, showed: () => undefined, finds: () => false };
const started = process.cpuUsage();
const result = await fuzzCalls(
  { count: Number(values.calls), seed: Number(values.seed) },
  values.unchecked ? { options: { leakCheck: never } } : {},
);
const { user, system } = process.cpuUsage(started);
process.stdout.write(
  `${JSON.stringify({ ...result, cpuSeconds: Math.round((user + system) / 1e6) }, null, 2)}\n`,
);
process.exitCode = result.leaks.length + result.heldBack.length + result.bugs.length === 0 ? 0 : 1;
