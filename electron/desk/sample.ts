import fs from 'node:fs/promises';
import path from 'node:path';
import Papa from 'papaparse';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { ServiceClient } from '../service/client.ts';

export interface SampleParts {
  /** A CSV of made-up people with test card numbers, in UTF-8. */
  readonly source: string;
  /** Where the tokenized copy is kept. */
  readonly folder: string;
  readonly client: ServiceClient;
  readonly policy: string;
}

/** Columns of the sample that are protected, and what they are called once they are. */
const protectedColumns = [
  { header: 'card_number', renamed: 'card_token', definition: 'card-number' },
  { header: 'ssn', renamed: 'ssn_token', definition: 'ssn' },
];

/**
 * A sample to practise on: the shipped file with its card numbers and SSNs tokenized by the built-in service, since
 * tokens hang on this workstation's own key. Rows that can't be tokenized keep what they have, on purpose: the
 * sample shows failed rows too.
 */
export async function makeSample({ source, folder, client, policy }: SampleParts): Promise<Outcome<string>> {
  const rows = Papa.parse<string[]>(await fs.readFile(source, 'utf8')).data;
  const [header] = rows;
  if (header === undefined) return failed('file.empty');
  for (const { header: name, renamed, definition } of protectedColumns) {
    const column = header.indexOf(name);
    if (column === -1) continue;
    const elements = rows
      .map((row, index) => ({ ref: `${index}`, value: row[column]?.trim() ?? '' }))
      .slice(1)
      .filter(({ value }) => value !== '');
    const call = { operation: 'BatchTokenize', policy, definition } as const;
    const answer = await client.batch(call, elements, { rows: elements.length });
    if (!answer.ok) return answer;
    for (const element of answer.value.elements) {
      const row = rows[Number(element.ref)];
      if (element.ok && row !== undefined) row[column] = element.value;
    }
    header[column] = renamed;
  }
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, path.basename(source));
  await fs.writeFile(file, Papa.unparse(rows, { newline: '\r\n' }), { mode: 0o600 });
  return done(file);
}
