import fs from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../electron/contract/errors.ts';
import { createParser, parserLimits, type Parser } from '../../electron/parsing/parser.ts';
import { createReveals } from '../../electron/privacy/reveals.ts';
import { createEncryptedFile } from '../../electron/storage/encrypted-file.ts';
import { createRecordCipher } from '../../electron/storage/encryption.ts';
import { codeOf } from '../support/batch-app.ts';
import { fakeClock, type FakeClock } from '../support/fake-clock.ts';
import { longestTurn, noticedTurn } from '../support/longest-turn.ts';
import { text, workbook } from '../support/make-workbook.ts';
import { parserWorker } from '../support/workers.ts';

let folder: string;
let clock: FakeClock;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'tokendesk-parsers-'));
  clock = fakeClock();
});
afterEach(() => rm(folder, { recursive: true, force: true }));

type Act = (parser: Parser) => Promise<Outcome<unknown>>;

const cipher = createRecordCipher(new Uint8Array(32).fill(1), 'parsers');

const input = (): string => path.join(folder, 'in.xlsx');

/** The file is made before anything is measured. */
function convert(make: () => Promise<Buffer>): { act: Act; make: () => Promise<Buffer> } {
  const act: Act = (parser) =>
    parser.readPacked({
      path: input(),
      sheet: null,
      passphrase: null,
      createOutput: () => createEncryptedFile(path.join(folder, 'copy'), cipher),
      report: () => undefined,
      signal: new AbortController().signal,
    });
  return { act, make };
}

/** Processor time, in milliseconds, of all threads but this one. */
function usedByOthers(): number {
  const whole = process.cpuUsage();
  const own = process.threadCpuUsage();
  return (whole.user + whole.system - own.user - own.system) / 1_000;
}

/** The other thread needs the processor: this one only looks each millisecond. */
const nextTurn = (): Promise<void> => pause(1);

const row = (cells: string): string => `<row>${cells}</row>`;
const shared = (count: number): string => row('<c t="s"><v>0</v></c>').repeat(count);
const wide = `<row r="1">${text('ALL1', 'x')}</row>`;
const slowPattern = '(?:a?){1000}'.repeat(80);
const fixture = path.join(import.meta.dirname, '../fixtures/pkcs12/firefox-rounds.p12');

const worst: readonly (readonly [name: string, given: Act | ReturnType<typeof convert>, code: string])[] = [
  [
    'an expression of a thousand characters',
    (parser) =>
      parser.matchPatterns(
        [slowPattern],
        Array.from({ length: 20 }, () => 'a'.repeat(300)),
      ),
    'pattern.slow',
  ],
  [
    'a nested repetition, to be compiled for twenty columns',
    (parser) => parser.matchPatterns(Array<string>(20).fill(slowPattern), []),
    'pattern.slow',
  ],
  [
    'a PKCS #12 file with Firefox’s rounds',
    (parser) => parser.readPkcs12(fs.readFileSync(fixture), 'canary-ä€'),
    'ok',
  ],
  [
    'eight hundred thousand shared texts',
    convert(() =>
      workbook({
        sheets: [{ rows: shared(1) }],
        stringsWhole: function* () {
          yield Buffer.from('<sst>');
          for (let i = 0; i < 40; i++)
            yield Buffer.from(
              Array.from({ length: 20_000 }, (_, n) => `<si><t>${i * n} of many</t></si>`).join(''),
            );
          yield Buffer.from('</sst>');
        },
      }),
    ),
    'ok',
  ],
  [
    'short rows of a wide sheet',
    convert(() => workbook({ sheets: [{ rows: wide + row('<c><v>1</v></c>').repeat(100_000) }] })),
    'file.workbook-sparse',
  ],
  [
    'numbers to format',
    convert(() =>
      workbook({
        styles: `<numFmts><numFmt numFmtId="200" formatCode="${'0'.repeat(15)}"/></numFmts><cellXfs><xf numFmtId="200"/></cellXfs>`,
        sheets: [{ rows: row('<c s="0"><v>1e14</v></c>'.repeat(900)).repeat(200) }],
      }),
    ),
    'ok',
  ],
  [
    'a text that is shared until its row is too long, over and over',
    convert(() =>
      workbook({ strings: `<si><t>${'ab'.repeat(225_000)}</t></si>`, sheets: [{ rows: shared(20_000) }] }),
    ),
    'file.workbook-too-large',
  ],
];

describe('a reveal ends on time while a parser works on', () => {
  it.each(worst)('%s', async (_, given, code) => {
    const act = typeof given === 'function' ? given : given.act;
    if (typeof given !== 'function') await writeFile(input(), await given.make());
    let workingSince: number | null = null;
    const parser = createParser({
      worker: parserWorker,
      clock: {
        after(ms, run) {
          // The thread has started.
          if (ms !== parserLimits.startMs) workingSince = usedByOthers();
          // Its deadline is a second after the reveal's end.
          return clock.after(Math.min(ms, 6_000), run);
        },
      },
    });
    const ended: string[] = [];
    const reveals = createReveals({
      clock,
      revealMs: () => 5_000,
      newId: () => 'r1',
      emit: ({ revealId }) => ended.push(revealId),
      protectContent: () => undefined,
      endRenderer: () => undefined,
    });
    reveals.open('one');
    const progress = { begun: false, settled: false };
    const outcomes: Outcome<unknown>[] = [];
    const turn = await longestTurn(async () => {
      const working = act(parser).then((found) => {
        progress.settled = true;
        outcomes.push(found);
      });
      // The other thread has worked for a while; this one still gets its turns.
      while (!progress.settled && (workingSince === null || usedByOthers() - workingSince < 100))
        await nextTurn();
      progress.begun = !progress.settled;
      clock.advance(5_000);
      reveals.hidden('r1');
      if (code === 'pattern.slow') clock.advance(1_000);
      await working;
    });
    expect(ended).toEqual(['r1']);
    expect(progress.begun).toBe(true);
    expect(outcomes.map(codeOf)).toEqual([code]);
    expect(turn).toBeLessThan(noticedTurn);
  });
});
