import { expect, test } from 'vitest';
import { calls } from '../../electron/contract/calls.ts';

/*
 * Where a letter or digit parts the cells, their widths tell where it stands: one look for each character would read a
 * hidden column, without a reason and without a line in the log.
 */

const looked = (delimiter: string): boolean =>
  calls['batch.preview'].input.safeParse({ sourceId: 's1', reading: { delimiter }, masked: null }).success;

test.each(Array.from('0479azAZäß٤４क@.'))('%s is no delimiter', (delimiter) => {
  expect(looked(delimiter)).toBe(false);
});

test.each(Array.from(',;\t|^~:#-_ /\u0001§'))('%j is one', (delimiter) => {
  expect(looked(delimiter)).toBe(true);
});
