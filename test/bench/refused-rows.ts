import { readFile, writeFile } from 'node:fs/promises';
import { type Harness, untilDone } from './harness.ts';

/** A run over `input` at a service that refuses some rows, and the list of these with each of them corrected, in `output`. */
export async function correctRefused(
  harness: Harness,
  { input, output }: { readonly input: string; readonly output: string },
): Promise<{ readonly jobId: string; readonly rows: number }> {
  const jobId = await harness.start(await harness.source(input), 1);
  const { tally } = await untilDone(harness, jobId);
  const exported = await harness.batch['batch.export']({
    jobId,
    content: 'tokens',
    rows: 'failed',
    format: 'csv',
    safety: 'source',
    delimiter: ',',
    encoding: 'utf-8',
    byteOrderMark: false,
    newline: '\r\n',
    grounds: null,
    passphrase: null,
  });
  if (!exported.ok) throw new Error(exported.failure.code);
  const listed = await readFile(output, 'utf8');
  const [header = '', ...rows] = listed.trimEnd().split('\n');
  const corrected = rows.map((row) =>
    row.replace(/(?<=,)\d{16}(?=,)/, (token) => String(BigInt(token) + 1n)),
  );
  await writeFile(output, [header, ...corrected, ''].join('\n'));
  return { jobId, rows: tally.rows };
}
