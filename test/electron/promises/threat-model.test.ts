import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const text = fs.readFileSync(path.join(root, 'docs/threat-model.md'), 'utf8');
const rows = [...text.matchAll(/^\| +(\d+) +\|([^|]+)\|([^|]+)\|$/gm)].map(([, number, what, proof]) => ({
  number: Number(number),
  what: what?.trim() ?? '',
  proof: proof?.trim() ?? '',
}));
const paths = (proof: string): string[] => [...proof.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? '');
const isTest = (name: string): boolean => /\.(test|spec)\.ts$/.test(name);

test('every requirement stands in the table once', () => {
  expect(rows.map(({ number }) => number)).toEqual(Array.from({ length: 101 }, (_, index) => index + 1));
});

test('each has a test, or the reason why not', () => {
  const bare = rows.filter(({ proof }) => !paths(proof).some(isTest) && !/^Not here: .{40,}/.test(proof));
  expect(bare).toEqual([]);
});

test('every file that is named exists, and every test has tests in it', () => {
  for (const name of rows.flatMap(({ proof }) => paths(proof))) {
    expect([name, fs.existsSync(path.join(root, name))]).toEqual([name, true]);
    if (isTest(name))
      expect([name, /\b(test|it)(\.\w+)?\(/.test(fs.readFileSync(path.join(root, name), 'utf8'))]).toEqual([
        name,
        true,
      ]);
  }
});

test('every attack is named in a row', () => {
  const named = new Set(rows.flatMap(({ proof }) => paths(proof)));
  const attacks = fs.readdirSync(path.join(root, 'test/attacks')).map((name) => `test/attacks/${name}`);
  expect(attacks.filter((name) => isTest(name) && !named.has(name))).toEqual([]);
});
