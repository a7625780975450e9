import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { contextOf, createRecordReader } from '../../../../electron/batch/storing/records.ts';
import { countChunk, encodeResults } from '../../../../electron/batch/storing/results.ts';
import { createRecordCipher } from '../../../../electron/storage/encryption.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';

it('a record behind all that its reader knows of is a failure, and not an error that nobody catches', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tokendesk-records-'));
  const file = await open(join(folder, 'results'), 'w+');
  try {
    const cipher = createRecordCipher(new Uint8Array(32), 'job');
    const columns = [{ states: 'o', values: [cleartext('v')], requests: [], reasons: {} }];
    const results = { states: 'o', flaws: {}, columns };
    const range = { chunk: 0, start: { offset: 0, row: 1 }, end: { offset: 4, row: 2 }, crc: 1 };
    const record = cipher.encrypt(encodeResults(results), contextOf(range));
    await file.write(record);
    await file.write(record, 0, record.length, record.length);
    const entry = { ...range, offset: 0, length: record.length, counts: countChunk(results) };
    const read = createRecordReader(file, cipher, record.length);
    expect(await read(entry)).toMatchObject({ ok: true });
    // As a second try leaves it, while somebody goes through the rows.
    expect(await read({ ...entry, offset: record.length })).toMatchObject({
      ok: false,
      failure: { code: 'job.damaged' },
    });
    expect(await read({ ...entry, offset: record.length * 3 })).toMatchObject({ ok: false });
  } finally {
    await file.close();
    await rm(folder, { recursive: true });
  }
});
