import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { numbersOf } from '../../mutate/breaks.ts';
import {
  runVerifier,
  verifyAttempts,
  workstation,
  type Attempt,
  type Workstation,
} from '../../support/signed-files.ts';
import { evidenceRows, ofSigner } from './evidence-rows.ts';
import { logRows, wholeLog } from './log-rows.ts';
import { receiptRows, wholeReceipt } from './receipt-rows.ts';
import type { Row } from './row.ts';

/*
 * One table of what may have been done to an audit log, to evidence on a case or to the receipt of a run, and of what an
 * operator may name wrongly: the exit code and the verdict's word of the verifiers as they are shipped.
 */
type Table = readonly [of: string, rows: readonly Row[], args: (given: Workstation) => string[]];
const tables: readonly Table[] = [
  ['audit log', logRows, wholeLog],
  ['evidence', evidenceRows, ofSigner],
  ['receipt', receiptRows, wholeReceipt],
];

const rows = tables.flatMap(([of, all, args]) =>
  all.map(([what, change, [code, verdict], said]) => ({ of, what, verdict, code, change, said, args })),
);

test.each(rows)('$of, $what: $verdict, $code', async ({ of, change, code, verdict, said, args }) => {
  const given = await workstation();
  const named = await change(given);
  const verifier = of === 'audit log' ? 'verify-audit' : 'verify-evidence';
  const found = runVerifier(verifier, Array.isArray(named) ? (named as string[]) : args(given));
  expect(found).toEqual({ status: code, said: found.said, verdict });
  if (said !== undefined) expect(found.said).toMatch(said);
  // A sentence, never the place in a program.
  expect(found.said).not.toMatch(/ {4}at |node:|The verifier failed/);
});

/** A file with one character changed, removed, doubled or swapped with the next, at places chosen by a seed. */
function attemptsAt(file: string, count: number, seed: number): Attempt[] {
  const random = numbersOf(seed);
  const before = fs.readFileSync(file);
  // Whitespace at the end of JSON says nothing.
  const end = before.toString('latin1').trimEnd().length;
  const found: Attempt[] = [];
  while (found.length < count) {
    const at = Math.floor(random() * end);
    const [from, to] = [before.subarray(0, at), before.subarray(at)];
    const other = Buffer.from([32 + Math.floor(random() * 95)]);
    const ways = [
      [from, other, to.subarray(1)],
      [from, to.subarray(1)],
      [from, to.subarray(0, 1), to],
      [from, to.subarray(1, 2), to.subarray(0, 1), to.subarray(2)],
    ];
    const bytes = Buffer.concat(ways[found.length % ways.length] ?? []);
    if (!bytes.equals(before)) found.push({ file, bytes });
  }
  return found;
}

test.each([
  ['the first file of a log', 'verify-audit', ({ segment }) => segment(1), wholeLog],
  ['the last file of a log', 'verify-audit', ({ segment, segments }) => segment(segments), wholeLog],
  ['evidence', 'verify-evidence', ({ evidence }) => evidence, ofSigner],
  ['the page beside it', 'verify-evidence', ({ page }) => page, ofSigner],
  ['the page alone', 'verify-evidence', ({ page }) => page, ({ page, signer }) => [page, '--signer', signer]],
  ['a receipt', 'verify-evidence', ({ receipt }) => receipt, wholeReceipt],
  ['the file of a receipt', 'verify-evidence', ({ output }) => output, wholeReceipt],
] satisfies [string, 'verify-audit' | 'verify-evidence', (given: Workstation) => string, Table[2]][])(
  'one character of %s changed, wherever it is: not valid',
  async (_what, verifier, fileOf, args) => {
    const given = await workstation();
    const attempts = attemptsAt(fileOf(given), 80, 1);
    const codes = verifyAttempts(verifier, args(given), attempts);
    // What does not call itself evidence or a receipt any more is another file.
    const form = /"format": "tokendesk-(?:evidence|receipt)",\n {2}"version": [12],/;
    const isOther = (attempt: Attempt | undefined): boolean =>
      attempt?.file.endsWith('.json') === true && !form.test(attempt.bytes.toString());
    expect(codes.filter((code, index) => code !== 1 && !(code === 2 && isOther(attempts[index])))).toEqual(
      [],
    );
    expect(codes).toHaveLength(80);
    expect(attempts.filter(isOther).length).toBeLessThan(5);
  },
);

test.each(['verify-audit', 'verify-evidence'])('%s imports nothing of the app', (name) => {
  const script = fs.readFileSync(path.resolve('scripts', `${name}.ts`), 'utf8');
  const imports = [...script.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, from]) => from);
  expect(imports.filter((from) => from?.startsWith('node:') !== true)).toEqual(
    name === 'verify-audit' ? ['keytar'] : [],
  );
});
