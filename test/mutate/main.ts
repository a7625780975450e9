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
 * A break that the compiler refuses is seen as well. One that stays green has a test made for it, or a word why it is none.
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

function judge({ file, start, end, to }: Break): { verdict: Verdict; by: string } {
  const text = fs.readFileSync(path.join(root, file), 'utf8');
  fs.writeFileSync(path.join(copy, file), text.slice(0, start) + to + text.slice(end));
  try {
    const tests = relatedTo(file).slice(0, Number(values.tests));
    // The nearest few by themselves: most breaks are seen by one of them.
    for (const part of [tests.slice(0, 3), tests.slice(3)]) {
      if (part.length === 0) continue;
      const ended = run('vitest/vitest.mjs', 'run', '--bail', '1', ...part);
      const seen = /FAIL\s+(?:\S+\s+)*?(test\/\S+)/.exec(stripped(ended.stdout + ended.stderr));
      if (ended.status !== 0) return { verdict: 'red', by: seen?.[1] ?? 'no end, or no start' };
    }
    const compiled = run('typescript/bin/tsc', '--noEmit');
    if (compiled.status !== 0) return { verdict: 'refused by the compiler', by: '' };
    return { verdict: 'GREEN', by: `${tests.length} files of tests` };
  } finally {
    fs.writeFileSync(path.join(copy, file), text);
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
process.stdout.write(`${chosen.length} breaks, ${green} green\n`);
process.exitCode = green === 0 ? 0 : 1;
