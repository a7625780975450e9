import path from 'node:path';
import { expect, test } from 'vitest';
import { chooseBreaks, defenceFiles, known, knownBreaks } from '../../mutate/breaks.ts';
import { createRelated } from '../../../scripts/related-tests.ts';

const root = path.resolve(import.meta.dirname, '../../..');

test('the breaks that once stayed green can still be made, each in one place', () => {
  expect(known(root)).toHaveLength(knownBreaks.length);
});

test('a seed chooses the same breaks each time, in different files', () => {
  const chosen = chooseBreaks(root, 1, 40);
  expect(chosen).toEqual(chooseBreaks(root, 1, 40));
  expect(new Set(chosen.map(({ file }) => file)).size).toBeGreaterThan(15);
});

test('every file of defences has tests that load it', () => {
  const relatedTo = createRelated(root, () => false);
  expect(defenceFiles(root).filter((file) => relatedTo(file, 25).length === 0)).toEqual([]);
});
