import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Break, chooseBreaks, known } from './breaks.ts';
import { createCompiler } from './compiler.ts';
import { functionsAround, measureReach, readReach, testsThatReach } from './reach.ts';
import { createRelated } from '../../scripts/related-tests.ts';

/**
 * `npm run mutate -- --seed 1 --breaks 40`: breaks one defence at a time in a copy of the project, runs the tests that call
 * what is broken until one is red, and prints the breaks that no test saw. `--known`: the breaks that once stayed green.
 * `--tests 25`: as many test files at most for each, and the attacks that reach it. `--from 12`: begins with the twelfth, where
 * a run was ended before. `--list`: only says what would be broken.
 *
 * The first run measures which test file calls which function, in `out/reach`; `--measure` does it anew. What runs in another
 * thread or process is not seen there: tests are chosen by imports then.
 *
 * A test that fails in the unbroken copy too sees nothing: it is left out, and named at the end. A break that the compiler
 * refuses is seen as well, and no test is run for it. One that stays green has a test made for it, or a word why it is none.
 */
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    breaks: { type: 'string', default: '40' },
    from: { type: 'string', default: '1' },
    tests: { type: 'string', default: '25' },
    known: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    measure: { type: 'boolean', default: false },
  },
});
const project = path.resolve(import.meta.dirname, '../..');
const all = values.known ? known(project) : chooseBreaks(project, Number(values.seed), Number(values.breaks));
const chosen = all.slice(Number(values.from) - 1);
const describe = ({ file, line, what }: Break): string => `${file}:${line}: ${what}`;
if (values.list) {
  process.stdout.write(`${chosen.map(describe).join('\n')}\n`);
  process.exit(0);
}

const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-mutate-'));
process.on('exit', () => {
  fs.rmSync(copy, { recursive: true, force: true });
});
/** The one program that runs now. */
let child: ChildProcess | null = null;
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)
  process.on(signal, () => {
    child?.kill();
    process.exit(code);
  });
const left = new Set(['.git', 'node_modules', 'out', 'coverage']);
for (const name of fs.readdirSync(project))
  if (!left.has(name)) fs.cpSync(path.join(project, name), path.join(copy, name), { recursive: true });
fs.symlinkSync(path.join(project, 'node_modules'), path.join(copy, 'node_modules'), 'junction');

type Verdict = 'red' | 'refused by the compiler' | 'GREEN';

interface Ended {
  readonly status: number | null;
  readonly output: string;
}

function run(program: string, ...given: string[]): Promise<Ended> {
  const started = spawn(process.execPath, [path.join('node_modules', program), ...given], {
    cwd: copy,
    // A break may make a test wait for good.
    timeout: 240_000,
  });
  child = started;
  let output = '';
  for (const stream of [started.stdout, started.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve) => started.once('close', (status) => resolve({ status, output })));
}

/** A break is looked for with two processes, whatever the machine has: it runs beside other work. */
const runTests = (...given: string[]) => run('vitest/vitest.mjs', 'run', '--maxWorkers', '2', ...given);

const reachFolder = path.join(project, 'out', 'reach');
if (values.measure) fs.rmSync(reachFolder, { recursive: true, force: true });
if (!fs.existsSync(reachFolder)) await measureReach(copy, reachFolder);
const reach = readReach(reachFolder);

const { output: listed } = await run('vitest/vitest.mjs', 'list', '--filesOnly', '--project', 'proof');
const slow = new Set(stripped(listed).match(/test\/\S+\.test\.ts/g));
const relatedTo = createRelated(copy, (test) => slow.has(test));

const isRefused = createCompiler(project);

/** Test files that were run in the unbroken copy, and whether they passed there. */
const unbroken = new Map<string, boolean>();

async function passesUnbroken(test: string): Promise<boolean> {
  const known = unbroken.get(test);
  if (known !== undefined) return known;
  const passes = (await runTests(test)).status === 0;
  unbroken.set(test, passes);
  return passes;
}

function stripped(text: string): string {
  // eslint-disable-next-line no-control-regex -- colours of a terminal
  return text.replaceAll(/\u001b\[[0-9;]*m/g, '');
}

const failedIn = (output: string): string | undefined =>
  /FAIL\s+(?:\S+\s+)*?(test\/\S+)/.exec(stripped(output))?.[1];

/** The first test file that is red with the file as it is and green with it unbroken; null where there is none. */
async function redTest(
  tests: readonly string[],
  unbreak: () => void,
  breakIt: () => void,
): Promise<string | null> {
  let left = tests;
  while (left.length > 0) {
    const ended = await runTests('--bail', '1', ...left);
    if (ended.status === 0) return null;
    const by = failedIn(ended.output);
    // No test says anything where none could start, or none ended.
    const doubted = by === undefined ? left : [by];
    unbreak();
    let sound = true;
    for (const test of doubted) sound = (await passesUnbroken(test)) && sound;
    breakIt();
    if (sound) return by ?? 'no end, or no start';
    const sounder = left.filter((test) => unbroken.get(test) !== false);
    if (sounder.length === left.length) return by ?? 'no end, or no start';
    left = sounder;
  }
  return null;
}

async function judge({ file, start, end, to }: Break): Promise<{ verdict: Verdict; by: string }> {
  const text = fs.readFileSync(path.join(copy, file), 'utf8');
  const write = (content: string) => (): void => fs.writeFileSync(path.join(copy, file), content);
  const breakIt = write(text.slice(0, start) + to + text.slice(end));
  const unbreak = write(text);
  const count = Number(values.tests);
  const reaching = testsThatReach(reach, file, functionsAround(file, text, start));
  const related = relatedTo(file, count);
  const about = related.filter((test) => slow.has(test));
  const quick = reaching.length > 0 ? closestFirst(reaching, related).slice(0, count) : related;
  if (isRefused(file, text.slice(0, start) + to + text.slice(end)))
    return { verdict: 'refused by the compiler', by: '' };
  breakIt();
  try {
    // The nearest few by themselves: most breaks are seen by one of them.
    for (const part of [quick.slice(0, 4), quick.slice(4).filter((test) => !slow.has(test)), about]) {
      const by = await redTest(
        part.filter((test) => unbroken.get(test) !== false),
        unbreak,
        breakIt,
      );
      if (by !== null) return { verdict: 'red', by };
    }
    return {
      verdict: 'GREEN',
      by: `${reaching.length} files call it, ${quick.length + about.length} were run`,
    };
  } finally {
    unbreak();
  }
}

/** Of the tests that call it, those first that are about the file by their place or name. */
function closestFirst(reaching: readonly string[], related: readonly string[]): string[] {
  const nearest = related.filter((test) => !slow.has(test)).slice(0, 2);
  return [...new Set([...nearest, ...reaching])];
}

let green = 0;
for (const one of chosen) {
  const begun = performance.now();
  const { verdict, by } = await judge(one);
  if (verdict === 'GREEN') green++;
  const seconds = Math.round((performance.now() - begun) / 1000);
  process.stdout.write(`${verdict.padEnd(6)} ${describe(one)}${by === '' ? '' : ` (${by})`}, ${seconds} s\n`);
}
const unsound = [...unbroken].filter(([, passes]) => !passes).map(([test]) => test);
if (unsound.length > 0) process.stdout.write(`left out, red without a break: ${unsound.join(', ')}\n`);
process.stdout.write(`${chosen.length} breaks, ${green} green\n`);
process.exitCode = green === 0 ? 0 : 1;
