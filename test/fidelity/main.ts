import { openApp } from '../support/batch-app.ts';
import { naughtyStrings, random, spectrum, writtenByHand } from './corpora.ts';
import { falseAlarms, orders } from './false-alarms.ts';
import { runCases } from './run-cases.ts';

/**
 * `npm run fidelity`: files of every kind through a batch that changes no value, and their exports compared byte for
 * byte. A number of random files may be given, and a seed.
 */
const [count = '1000', seed = '20261122'] = process.argv.slice(2);
const corpora = {
  'csv-spectrum': spectrum(),
  'big list of naughty strings': naughtyStrings(),
  'written by hand': writtenByHand(),
  random: random(Number(count), Number(seed)),
};
const app = await openApp();
let differing = 0;
try {
  for (const [name, cases] of Object.entries(corpora)) {
    const report = await runCases(app, cases);
    differing += report.differing.length;
    const refused = Object.entries(report.refused).map(([code, times]) => `, ${times} ${code}`);
    process.stdout.write(
      `${name}: ${report.cases} cases, ${report.identical} identical, ${report.differing.length} differing${refused.join('')}\n`,
    );
    for (const one of report.differing.slice(0, 20)) process.stdout.write(`  ${one.name}\n    ${one.why}\n`);
  }
} finally {
  await app.close();
}
process.stdout.write(`${differing} differing\n`);
for (const [name, cases] of Object.entries(corpora)) {
  const { files, found } = falseAlarms(cases);
  process.stdout.write(`card numbers found in ${name}: ${found}, in ${files} files\n`);
}
const million = 1_000_000;
const { found } = falseAlarms([orders(million, Number(seed))]);
process.stdout.write(
  `card numbers found among ${million} order numbers of 13 to 16 digits: ${found} (${((found / million) * 100).toFixed(2)} %)\n`,
);
process.exitCode = differing === 0 ? 0 : 1;
