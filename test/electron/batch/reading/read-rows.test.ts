import { expect, it } from 'vitest';
import { beginning, readRows, type Format } from '../../../../electron/batch/reading/read-rows.ts';
import { done } from '../../../../electron/contract/errors.ts';

const format: Format = {
  encoding: 'utf-8',
  delimiter: ',',
  header: false,
  newline: '\n',
  markLength: 0,
  names: null,
  width: 1,
};

it('fails where a source ends before its size, and loses no row quietly', async () => {
  const bytes = Buffer.from('a\nb\n');
  const source = {
    identity: { size: bytes.length + 2, modifiedMs: 0 },
    read: (offset: number, length: number) => Promise.resolve(done(bytes.subarray(offset, offset + length))),
  };
  const read = [];
  for await (const chunk of readRows(source, format, beginning(format))) read.push(chunk);
  expect(read.at(-1)).toMatchObject({ ok: false, failure: { code: 'file.changed' } });
});
