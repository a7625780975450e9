import { expect, it } from 'vitest';
import { createSourceOutput } from '../../../../electron/batch/output/row-output.ts';
import { codecOf } from '../../../../electron/batch/reading/encodings.ts';
import { findRows } from '../../../../electron/batch/reading/row-spans.ts';
import { Table } from '../../../../electron/batch/reading/table.ts';
import type { Encoding } from '../../../../electron/contract/models/batch.ts';

const encodings: readonly Encoding[] = ['utf-8', 'utf-16le', 'utf-16be', 'shift_jis', 'ibm037'];

it.each(encodings)('a long row in %s goes out as it came in, but for the cell that changed', (encoding) => {
  const codec = codecOf(encoding);
  const encode = (text: string): Buffer => {
    const encoded = codec.encode(text);
    if (!encoded.ok) throw new Error(encoded.character);
    return encoded.bytes;
  };
  // One that is longer than what is used again, and one that is copied as text.
  for (const length of [3_000_000, 100_000, 50]) {
    const long = (encoding === 'ibm037' ? 'a' : '表').repeat(length);
    const lines = [`a,1,${long}`, `${long},2,b`, 'c,3,d'];
    const bytes = encode(lines.map((line) => `${line}\n`).join(''));
    const view = codec.view(bytes);
    const layout = { delimiter: ',', newline: '\n' } as const;
    const spans = findRows(view, { ...layout, isEnd: true, isFull: true, until: Infinity });
    const table = new Table({ encoding, bytes, view }, spans);
    const output = createSourceOutput({
      ...layout,
      encoding,
      markLength: 0,
      header: false,
      names: null,
      width: 3,
    });
    let first: Buffer | null = null;
    for (let row = 0; row < table.count; row++) {
      output.begin(table, row);
      output.replace(1, `t${row}`);
      output.end();
      if (row === 1) first = output.take();
    }
    expect(output.take().equals(encode('c,t2,d\n'))).toBe(true);
    // What was taken is not written over by what came later.
    expect(first?.equals(encode(`a,t0,${long}\n${long},t1,b\n`)), String(length)).toBe(true);
  }
});
