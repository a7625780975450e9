import { runWrongService } from './wrong-at-random.ts';
import { wrongAnswers } from './wrong-answers.ts';

/**
 * `node test/faults/wrong-service.ts [rounds] [values] [seed]`: prints every way in which a service can answer wrongly
 * with what becomes of it, and runs batches against a service that is wrong at random.
 */
const [rounds = '500', values = '2000', seed = '20261125'] = process.argv.slice(2);
for (const { fault, expected } of wrongAnswers) console.log(`  ${fault} → ${expected}`);
const counts = await runWrongService({
  rounds: Number(rounds),
  values: Number(values),
  seed: Number(seed),
});
console.log(JSON.stringify(counts));
