import { parseArgs } from 'node:util';
import { fuzzAnswers } from '../support/fuzz-answers.ts';
import { fuzzCalls } from '../support/fuzz-calls.ts';

/**
 * `npm run fuzz -- --calls 50000 --seed 1`: every call of the contract against the whole app, and no canary in any answer
 * or event. `--answers 10000`: a service's answers, changed at random, instead. `--unchecked`: without the check of what leaves, so that the masks alone hold.
 */
const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '50000' },
    answers: { type: 'string' },
    seed: { type: 'string', default: '1' },
    unchecked: { type: 'boolean', default: false },
  },
});
const never = {
  saw: () => undefined,
  showed: () => undefined,
  finds: () => false,
  withoutCells: <T>(_: string, message: T) => message,
};
if (values.answers !== undefined) {
  const answers = await fuzzAnswers({ count: Number(values.answers), seed: Number(values.seed) });
  process.stdout.write(`${JSON.stringify(answers, null, 2)}\n`);
  process.exit(answers.misread.length === 0 ? 0 : 1);
}
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
