import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { openApp } from '../support/batch-app.ts';
import { naughtyStrings, random, spectrum, writtenByHand, type Case } from './corpora.ts';
import { containers } from './containers.ts';
import { runCorrectedLists } from './corrected-lists.ts';
import { checkGuesses, customerFiles } from './customer-files.ts';
import { falseAlarms, masked, orders } from './false-alarms.ts';
import { measureFinder } from './finder.ts';
import { runDamagedRecords } from './damaged-records.ts';
import {
  fixedWidthCorpora,
  hasPython,
  openRecordReader,
  runRecordCases,
  type RecordCase,
} from './fixed-width.ts';
import { realRecords } from './real-records.ts';
import { ebcdicExtracts, ebcdicTables } from './ebcdic.ts';
import { runCases, type FidelityReport } from './run-cases.ts';
import { jsonCases, realJson, runJson } from './json-files.ts';
import { openSecondOpinion } from './second-opinion.ts';

/**
 * `npm run fidelity`: files of every kind through a batch that changes no value, and their exports compared byte for
 * byte. With a folder, all files in it instead. Else a number of random files may be given, and a seed. Writes
 * `out/fidelity.md`.
 */
const [first = '1000', seed = '20261122'] = process.argv.slice(2);
const maxBytes = 200 * 1024 * 1024;

async function filesIn(folder: string): Promise<Case[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  const cases: Case[] = [];
  for (const entry of found.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    if ((await stat(path)).size <= maxBytes)
      cases.push({ name: relative(folder, path), bytes: await readFile(path) });
    else process.stdout.write(`${path} is larger than ${maxBytes} bytes: left out\n`);
  }
  return cases;
}

const isFolder = !/^\d+$/.test(first);
const customers = customerFiles(3, Number(seed));
const corpora: Readonly<Record<string, readonly Case[]>> = isFolder
  ? { [first]: await filesIn(first) }
  : {
      'csv-spectrum': spectrum(),
      'big list of naughty strings': naughtyStrings(),
      'written by hand': writtenByHand(),
      EBCDIC: [...ebcdicTables(), ...ebcdicExtracts()],
      'files as customers have them': customers,
      random: random(Number(first), Number(seed)),
    };

interface Line extends Omit<FidelityReport, 'refused'> {
  readonly name: string;
  readonly refused?: FidelityReport['refused'];
}
const lines: Line[] = [];
function report(line: Line): void {
  lines.push(line);
  const refused = Object.entries(line.refused ?? {}).map(([code, times]) => `, ${times} ${code}`);
  process.stdout.write(
    `${line.name}: ${line.cases} cases, ${line.identical} identical, ${line.differing.length} differing${refused.join('')}\n`,
  );
  for (const one of line.differing.slice(0, 20)) process.stdout.write(`  ${one.name}\n    ${one.why}\n`);
}

const app = await openApp({ scryptCost: 8 });
const secondOpinion = openSecondOpinion();
try {
  for (const [name, cases] of Object.entries(corpora))
    report({ name, ...(await runCases(app, cases, secondOpinion)) });
  if (!isFolder) {
    const inside = [...random(56, Number(seed) + 1), ...customers.slice(0, 5)];
    for (const [name, container] of Object.entries(containers))
      report({ name, ...(await runCases(app, inside, secondOpinion, container)) });
  }
  if (!isFolder) {
    for (const rows of ['lines', 'array'] as const)
      report({ name: `JSON, ${rows}`, ...(await runJson(app, jsonCases(rows, 60, Number(seed)))) });
    report({ name: 'JSON as programs write it', ...(await runJson(app, realJson())) });
  }
  process.stdout.write(`${secondOpinion.count} of them read by ${secondOpinion.name} too\n`);
} finally {
  secondOpinion.close();
  await app.close();
}
if (!isFolder) {
  const lists = await openApp();
  try {
    report({ name: 'corrected lists', ...(await runCorrectedLists(lists)) });
  } finally {
    await lists.close();
  }
  if (hasPython()) {
    const records = await openApp();
    const reader = openRecordReader();
    try {
      for (const [name, cases] of Object.entries(fixedWidthCorpora))
        report({ name, ...(await runRecordCases(records, cases(60), reader.read)) });
      const real = await realRecords();
      report({
        name: 'records as programs write them',
        ...(await runRecordCases(records, real, reader.read)),
      });
      const some = [...real, ...Object.values(fixedWidthCorpora).flatMap((cases) => cases(12))];
      const valuesOf = async (one: RecordCase): Promise<ReadonlySet<string>> =>
        new Set((await reader.read(one)).flatMap(([values]) => values ?? []));
      report({ name: 'damaged records', ...(await runDamagedRecords(records, some, valuesOf)) });
    } finally {
      reader.close();
      await records.close();
    }
  }
  const finder = measureFinder(10_000, Number(seed));
  for (const [kind, { written, found, wrong }] of Object.entries(finder.kinds)) {
    const rate = (part: number, all: number): string => `${((part / all) * 100).toFixed(1)} %`;
    process.stdout.write(
      `inside 10,000 notes: ${kind} recall ${rate(found, written)} (${found} of ${written}), precision ${rate(found, found + wrong)} (${wrong} wrong)\n`,
    );
  }
  process.stdout.write(
    `inside 10,000 notes: ${finder.refused} refused, since a value is spelled in other signs\n`,
  );
  const guesses = await checkGuesses(customers);
  process.stdout.write(
    `guesses: ${guesses.right} right, ${guesses.asked} wrong and asked about, ${guesses.silent.length} wrong without a word\n`,
  );
  lines.push({
    name: 'how a file is read: wrong without a word',
    cases: customers.length,
    identical: guesses.right,
    differing: guesses.silent.map((name) => ({ name, why: 'read wrongly, and nothing was asked' })),
  });
}
const differing = lines.reduce((sum, line) => sum + line.differing.length, 0);
process.stdout.write(`${differing} differing\n`);
await mkdir('out', { recursive: true });
await writeFile(
  'out/fidelity.md',
  [
    '| Files | Cases | Identical | Refused, each in a sentence | Different |',
    '| --- | ---: | ---: | --- | ---: |',
    ...lines.map(({ name, cases, identical, refused = {}, differing: others }) => {
      const said = Object.entries(refused).map(([code, times]) => `${times} ${code}`);
      return `| ${name} | ${cases} | ${identical} | ${said.join(', ')} | ${others.length} |`;
    }),
    '',
  ].join('\n'),
);
if (!isFolder) {
  for (const [name, cases] of Object.entries(corpora)) {
    const { files, found } = falseAlarms(cases);
    process.stdout.write(`card numbers found in ${name}: ${found}, in ${files} files\n`);
  }
  const million = 1_000_000;
  for (const [shortest, longest] of [
    [13, 16],
    [17, 19],
  ] as const) {
    const numbers = orders(million, Number(seed), [shortest, longest]);
    const rate = (count: number): string => `${count} (${((count / million) * 100).toFixed(2)} %)`;
    const { found } = falseAlarms([numbers]);
    process.stdout.write(
      `card numbers found among ${million} order numbers of ${shortest} to ${longest} digits: ${rate(found)}; masked: ${rate(masked(numbers))}\n`,
    );
  }
}
process.exitCode = differing === 0 ? 0 : 1;
