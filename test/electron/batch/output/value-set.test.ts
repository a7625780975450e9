import { expect, test } from 'vitest';
import { ValueSet } from '../../../../electron/batch/output/value-set.ts';

function hash(set: ValueSet, text: string): ValueSet {
  set.begin();
  for (let at = 0; at < text.length; at++) set.unit(text.charCodeAt(at));
  return set;
}

test('has what was added, also what came before it grew, and nothing else', () => {
  const set = new ValueSet(1_000_000);
  const texts = Array.from({ length: 20_000 }, (_, index) => `value ${index}`);
  for (const text of [...texts, ...texts]) hash(set, text).add();
  expect(set.size).toBe(texts.length);
  expect(texts.filter((text) => !hash(set, text).has())).toEqual([]);
  expect(texts.filter((text) => hash(set, `${text}.`).has())).toEqual([]);
});

test('takes no more than its limit', () => {
  const set = new ValueSet(3);
  for (const text of ['one', 'two', 'three', 'four']) hash(set, text).add();
  expect(['one', 'two', 'three', 'four'].map((text) => hash(set, text).has())).toEqual([
    true,
    true,
    true,
    false,
  ]);
});

test('says the same of a sum that was taken before', () => {
  const set = new ValueSet(10);
  const sum = hash(set, 'one').sum();
  expect(set.hasSum(sum)).toBe(false);
  hash(set, 'one').add();
  expect(set.hasSum(sum)).toBe(true);
});
