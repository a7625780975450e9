import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Reading } from '../../contract/models/batch.ts';
import { tableLimits } from '../../parsing/table-limits.ts';
import type { ByteSource } from '../../storage/byte-source.ts';
import { codecOf } from './encodings.ts';
import { detectFormat } from './detect.ts';
import { findPointers } from './json-rows.ts';
import { jsonReading } from './layout.ts';
import { beginning, readRows } from './read-rows.ts';

const lookedBytes = 1024 * 1024;

/**
 * The columns of a JSON text: the values of its first rows. What comes first in later rows is copied and is no column. An
 * array is read whole, since nothing of a file that is cut may be sent; of lines, one that is broken is a row that fails.
 * Failures: file.not-a-table where no row has a value, file.json-damaged, and those of reading.
 */
export async function readJsonTable(bytes: ByteSource, rows: 'lines' | 'array'): Promise<Outcome<Reading>> {
  const head = await bytes.read(0, lookedBytes);
  if (!head.ok) return head;
  const codec = codecOf('utf-8');
  const isWhole = head.value.length === bytes.identity.size;
  const text = codec.view(head.value).replace(/^\xef\xbb\xbf/, '');
  const found = findPointers(text, rows, { max: tableLimits.columns, isEnd: isWhole });
  const pointers = found.filter(({ length }) => length <= maxPointer);
  if (pointers.length === 0) {
    const damaged = rows === 'array' && isWhole;
    return damaged ? failed('file.json-damaged') : failed('file.not-a-table', { subject: 'JSON file' });
  }
  const reading = jsonReading({ rows, pointers });
  if (rows === 'lines') return done(reading);
  const format = await detectFormat(bytes, reading);
  if (!format.ok) return format;
  let last = '';
  for await (const read of readRows(bytes, format.value, beginning(format.value))) {
    if (!read.ok) return read.failure.code === 'row.field-too-long' ? failed('file.json-damaged') : read;
    const { table, start } = read.value;
    for (let row = 0; row < table.count; row++) {
      // Only the first object has a bracket before it.
      const begins = table.units[table.rowStart(row)];
      const isFirst = row === 0 && start.row === 1;
      if (table.isBroken(row) || (begins !== openBrace && !isFirst)) return failed('file.json-damaged');
    }
    last = table.slice(table.rowStart(table.count - 1), table.rowEnd(table.count - 1));
  }
  return last.trimEnd().endsWith(']') ? done(reading) : failed('file.json-damaged');
}

const maxPointer = 1_000;
const openBrace = 0x7b;
