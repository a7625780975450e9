import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { done } from '../../electron/contract/errors.ts';
import type { Plan } from '../../electron/contract/models/batch.ts';
import { cleartext } from '../../electron/util/cleartext.ts';
import { detokenize, type TestApp } from '../support/batch-app.ts';
import type { RecordCase } from './fixed-width.ts';
import type { FidelityReport } from './run-cases.ts';

/** A byte that no field is damaged by unseen: it is lost, or there is one more, or the end is missing. */
const damages: Readonly<Record<string, (bytes: Buffer, at: number) => Buffer>> = {
  'a byte lost': (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
  'a byte more': (bytes, at) =>
    Buffer.concat([bytes.subarray(0, at), bytes.subarray(at, at + 1), bytes.subarray(at)]),
  cut: (bytes, at) => bytes.subarray(0, at),
};

/**
 * Files of records of one length, each damaged in every way at several places. One without line ends is refused whole, unless
 * it was cut between two records; of one with lines the record fails. What is sent is what the whole file has.
 */
export async function runDamagedRecords(
  app: TestApp,
  cases: readonly RecordCase[],
  valuesOf: (one: RecordCase) => Promise<ReadonlySet<string>>,
): Promise<FidelityReport> {
  const refused: Record<string, number> = {};
  const differing: { name: string; why: string }[] = [];
  let [count, identical] = [0, 0];
  for (const one of cases.filter(({ layout }) => layout.bytes !== undefined)) {
    const known = await valuesOf(one);
    for (const [damage, apply] of Object.entries(damages)) {
      for (const share of [0.31, 0.5, 0.83]) {
        count += 1;
        const at = Math.floor(one.bytes.length * share);
        const outcome = await runDamaged(app, { ...one, bytes: apply(one.bytes, at) }, known);
        if (outcome === null) identical += 1;
        else if (outcome.startsWith('file.')) refused[outcome] = (refused[outcome] ?? 0) + 1;
        else differing.push({ name: `${one.name}, ${damage} at ${at}`, why: outcome });
      }
    }
  }
  return { cases: count, identical, refused, differing };
}

async function runDamaged(
  app: TestApp,
  { bytes, encoding, layout, mapped }: RecordCase,
  known: ReadonlySet<string>,
): Promise<string | null> {
  app.service.sent.length = 0;
  app.service.answer = (_, elements) =>
    done({
      requestId: 'r',
      elements: elements.map(({ ref }) => ({ ref, ok: true as const, value: cleartext('t') })),
    });
  const path = join(app.folder, 'damaged.dat');
  await writeFile(path, bytes);
  const plan: Plan = {
    reading: { encoding, delimiter: ',', header: false, records: layout },
    columns: mapped.map((index) => detokenize(index, { definition: 'text' })),
  };
  const sourceId = await app.open(path);
  const started = await app.batch['batch.start']({ sourceId, plan, grounds: null });
  if (!started.ok) return app.service.sent.length === 0 ? started.failure.code : 'refused, and yet sent';
  await app.until(started.value.jobId, 'finished', 'paused', 'failed', 'cancelled');
  await app.batch['batch.discard']({ jobId: started.value.jobId });
  const foreign = app.service.sent.find((value) => !known.has(value));
  return foreign === undefined ? null : `sent ${JSON.stringify(foreign)}, which is no value of the file`;
}
