import { expect, onTestFinished, test } from 'vitest';
import { calls } from '../../electron/contract/calls.ts';
import { openApp, valueOf } from '../support/batch-app.ts';

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

test.each(['-', '_', ' ', '+'])(
  'where %j divides hidden values every part is shown as wide as another',
  async (delimiter) => {
    const app = await openApp();
    onTestFinished(() => app.close());
    const text = 'name;address\nAnn;ann-marie_van+dyk@bank-one.example\nJo;j-o_o x@x-y.example\n';
    const sourceId = await app.open(await app.write('hidden.csv', text));
    const preview = valueOf(
      await app.batch['batch.preview']({ sourceId, reading: { delimiter }, masked: null }),
    );
    const shown = [...preview.rows, ...preview.above, ...preview.last, ...preview.below].flat();
    expect(new Set(shown.filter((cell) => cell !== '' && !cell.startsWith('name')))).toEqual(
      new Set(['••••••••']),
    );
  },
);
