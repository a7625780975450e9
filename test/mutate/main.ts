import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Break, chooseBreaks, known } from './breaks.ts';
import { createRelated } from './related.ts';

/**
 * `npm run mutate -- --seed 1 --breaks 40`: breaks one defence at a time in a copy of the project, runs the tests that are
 * nearest to it until one is red, and prints the breaks that no test saw. `--known`: the breaks that once stayed green.
 * `--tests 25`: as many test files at most for each. `--list`: only says what would be broken.
 *
 * A test that fails in the unbroken copy too sees nothing: it is left out, and named at the end. A break that the compiler
 * refuses is seen as well. One that stays green has a test made for it, or a word why it is none.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    breaks: { type: 'string', default: '40' },
    tests: { type: 'string', default: '25' },
    known: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});
const root = path.resolve(import.meta.dirname, '../..');
const chosen = values.known ? known(root) : chooseBreaks(root, Number(values.seed), Number(values.breaks));
const describe = ({ file, line, what }: Break): string => `${file}:${line}: ${what}`;
if (values.list) {
  process.stdout.write(`${chosen.map(describe).join('\n')}\n`);
  process.exit(0);
}

const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-mutate-'));
process.on('exit', () => {
  fs.rmSync(copy, { recursive: true, force: true });
});
process.on('SIGINT', () => process.exit(130));
process.on('SIGTERM', () => process.exit(143));
const left = new Set(['.git', 'node_modules', 'out', 'coverage']);
for (const name of fs.readdirSync(root))
  if (!left.has(name)) fs.cpSync(path.join(root, name), path.join(copy, name), { recursive: true });
fs.symlinkSync(path.join(root, 'node_modules'), path.join(copy, 'node_modules'), 'junction');
const relatedTo = createRelated(root);

type Verdict = 'red' | 'refused by the compiler' | 'GREEN';

const run = (program: string, ...given: string[]) =>
  spawnSync(process.execPath, [path.join('node_modules', program), ...given], {
    cwd: copy,
    encoding: 'utf8',
    // A break may make a test wait for good.
    timeout: 300_000,
  });

/** Test files that were run in the unbroken copy, and whether they passed there. */
const unbroken = new Map<string, boolean>();

function passesUnbroken(test: string): boolean {
  const known = unbroken.get(test);
  if (known !== undefined) return known;
  const passes = run('vitest/vitest.mjs', 'run', test).status === 0;
  unbroken.set(test, passes);
  return passes;
}

const failedIn = (output: string): string | undefined =>
  /FAIL\s+(?:\S+\s+)*?(test\/\S+)/.exec(stripped(output))?.[1];

/** The first test file that is red with the file as it is and green with it unbroken; null where there is none. */
function redTest(tests: readonly string[], unbreak: () => void, breakIt: () => void): string | null {
  let left = tests;
  while (left.length > 0) {
    const ended = run('vitest/vitest.mjs', 'run', '--bail', '1', ...left);
    if (ended.status === 0) return null;
    const by = failedIn(ended.stdout + ended.stderr);
    // No test says anything where none could start, or none ended.
    const doubted = by === undefined ? left : [by];
    unbreak();
    const sound = doubted.every(passesUnbroken);
    breakIt();
    if (sound) return by ?? 'no end, or no start';
    const sounder = left.filter((test) => unbroken.get(test) !== false);
    if (sounder.length === left.length) return by ?? 'no end, or no start';
    left = sounder;
  }
  return null;
}

function judge({ file, start, end, to }: Break): { verdict: Verdict; by: string } {
  const text = fs.readFileSync(path.join(root, file), 'utf8');
  const write = (content: string) => (): void => fs.writeFileSync(path.join(copy, file), content);
  const breakIt = write(text.slice(0, start) + to + text.slice(end));
  const unbreak = write(text);
  breakIt();
  try {
    const tests = relatedTo(file)
      .slice(0, Number(values.tests))
      .filter((test) => unbroken.get(test) !== false);
    // The nearest few by themselves: most breaks are seen by one of them.
    for (const part of [tests.slice(0, 3), tests.slice(3)]) {
      const by = redTest(part, unbreak, breakIt);
      if (by !== null) return { verdict: 'red', by };
    }
    const compiled = run('typescript/bin/tsc', '--noEmit');
    if (compiled.status !== 0) return { verdict: 'refused by the compiler', by: '' };
    return { verdict: 'GREEN', by: `${tests.length} files of tests` };
  } finally {
    unbreak();
  }
}

// eslint-disable-next-line no-control-regex -- colours of a terminal
const stripped = (text: string): string => text.replaceAll(/\u001b\[[0-9;]*m/g, '');

let green = 0;
for (const one of chosen) {
  const { verdict, by } = judge(one);
  if (verdict === 'GREEN') green++;
  process.stdout.write(`${verdict.padEnd(6)} ${describe(one)}${by === '' ? '' : ` (${by})`}\n`);
}
const unsound = [...unbroken].filter(([, passes]) => !passes).map(([test]) => test);
if (unsound.length > 0) process.stdout.write(`left out, red without a break: ${unsound.join(', ')}\n`);
process.stdout.write(`${chosen.length} breaks, ${green} green\n`);
process.exitCode = green === 0 ? 0 : 1;
