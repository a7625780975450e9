import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import {
  checklistLines,
  countClaims,
  parseClaims,
  proofLevels,
  readClaims,
} from '../../scripts/electron-claims.ts';

const root = path.resolve(import.meta.dirname, '../..');
const claims = readClaims();
const lines = checklistLines();
const read = (file: string): string => fs.readFileSync(path.join(root, file), 'utf8');

test('every row of the tables is read, and no claim stands twice', () => {
  const rows = read('docs/electron.md')
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\| +(Claim|-+|Level) /.test(line));
  const legend = rows.filter((line) => proofLevels.some((level) => line.startsWith(`| ${level} `)));
  expect(claims.length).toBe(rows.length - legend.length);
  expect(new Set(claims.map(({ claim }) => claim)).size).toBe(claims.length);
  expect(claims.length).toBeGreaterThan(50);
});

test('every level is one of the list', () => {
  const known: readonly string[] = proofLevels;
  expect(claims.filter(({ level }) => !known.includes(level))).toEqual([]);
});

test('every item of a proof is a test, a member, a line of the checklist, or a document of Electron', () => {
  const isKnown = (item: string): boolean =>
    /^`test\/[^`]+\.(test|spec)\.ts` › /.test(item) ||
    /^`electron\.d\.ts` › `\w+`$/.test(item) ||
    /^\[line \d+\]\(first-run\.md\)$/.test(item) ||
    /^(Electron|Chromium|Node|electron-builder): /.test(item);
  expect(claims.flatMap(({ proof }) => proof.split('<br>')).filter((item) => !isKnown(item))).toEqual([]);
});

test('every test that is named exists, under that name', () => {
  const missing = claims
    .flatMap(({ tests }) => tests)
    .filter(({ file, name }) => {
      if (!fs.existsSync(path.join(root, file))) return true;
      const text = read(file);
      return !["'", '"', '`'].some((quote) => text.includes(quote + name + quote));
    });
  expect(missing).toEqual([]);
});

test('a claim has the proof that its level says', () => {
  const bare = claims.filter(({ level, tests, members, lines: named, proof }) => {
    if (level === 'types') return members.length === 0;
    if (level === 'documentation') return !/(Electron|Chromium|Node|electron-builder): /.test(proof);
    if (level === 'real machine') return named.length === 0;
    return tests.length === 0;
  });
  expect(bare).toEqual([]);
});

test('every member is declared by Electron', () => {
  const declared = read('node_modules/electron/electron.d.ts');
  const members = claims.flatMap((claim) => claim.members);
  expect(members.filter((member) => !new RegExp(`\\b${member}\\b`).test(declared))).toEqual([]);
});

test('every line that is named is in the checklist, whose lines are numbered without a gap', () => {
  expect(lines).toEqual(lines.map((_, index) => index + 1));
  expect(lines.length).toBeGreaterThan(10);
  expect(claims.flatMap((claim) => claim.lines).filter((line) => !lines.includes(line))).toEqual([]);
  // And no line is there for nothing.
  const named = new Set(claims.flatMap((claim) => claim.lines));
  expect(lines.filter((line) => !named.has(line))).toEqual([]);
});

test('a packed archive is proved by starting it, BoringSSL by running on it', () => {
  const fits = { 'packed archive': /^test\/electron\/packaging\//, BoringSSL: /^test\/electron\/crypto\// };
  for (const [level, place] of Object.entries(fits))
    for (const { tests, claim } of claims.filter((one) => one.level === level))
      expect([claim, tests.some(({ file }) => place.test(file))]).toEqual([claim, true]);
});

test('a real machine alone proves what only the project electron runs', () => {
  const onlyThere = claims.filter(
    ({ tests }) => tests.length > 0 && tests.every(({ file }) => file.startsWith('test/e2e/electron/')),
  );
  expect(onlyThere.filter(({ level }) => level !== 'real machine')).toEqual([]);
});

test('the counts are one line', () => {
  const text = [
    '## One',
    '| Claim | Level | Proof |',
    '| ----- | ----- | ----- |',
    '| It is so | types | `electron.d.ts` › `App` |',
    '| It is so too | real machine | `test/a.test.ts` › it is<br>[line 2](first-run.md) |',
  ].join('\n');
  const parsed = parseClaims(text);
  expect(parsed[1]).toMatchObject({
    group: 'One',
    claim: 'It is so too',
    tests: [{ file: 'test/a.test.ts', name: 'it is' }],
    lines: [2],
  });
  expect(countClaims(parsed)).toBe(
    '2 claims about Electron: 1 types, 0 documentation, 0 stand-in, 0 BoringSSL, 0 packed archive, 1 real machine (docs/electron.md)',
  );
});
