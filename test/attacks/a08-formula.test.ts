import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRowWriter } from '../../electron/storage/csv.ts';
import type { Delimiter } from '../../electron/contract/models/batch.ts';
import { metricsCsv } from '../../electron/reports/report-files.ts';

const delimiters: readonly Delimiter[] = [',', ';', '\t', '|'];

const write = (rows: readonly (readonly string[])[], delimiter: Delimiter): string => {
  const writer = createRowWriter({ delimiter, newline: '\r\n', spreadsheet: true });
  return rows.map((row) => writer.line(row)).join('');
};

/** What follows a separator or a line end, whether or not quotes stand around it, and would run. */
const live = (text: string): string[] =>
  text
    .split(/[,;|\t\r\n\p{Cc}]/u)
    .filter((cell) => /^[\s\p{Cf}"]*[=+\-@＝＋－＠]/u.test(cell))
    .filter((cell) => !/^"?[+-]?\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?"?$/.test(cell));

const attacks = [
  ";=1+cmd|' /C calc'!A0",
  'ACME,=40+2',
  'ACME;=40+2;z',
  'a\t=40+2',
  'a|=40+2',
  'two lines\n=40+2',
  'two lines\r\n"=40+2',
  'say ";=40+2',
  'a;"=40+2"',
  'a; \u200b=40+2',
  'a;\t=40+2',
  '\t=40+2',
  'a;\u0000=40+2',
  'a\u0085=40+2',
  'a\u009b=40+2',
  'a;＝40+2',
  'x;-5,+40+2',
  '\n=40+2',
  '",=40+2',
];

describe('no formula hides behind another separator', () => {
  it.each(attacks)('%j', (field) => {
    for (const delimiter of delimiters) {
      const text = write([[field, 'x']], delimiter);
      expect(live(text)).toEqual([]);
    }
  });

  it('nor in whatever else a cell holds', () => {
    const unit = fc.constantFrom(
      '"',
      ',',
      ';',
      '\t',
      '|',
      '\n',
      '\r',
      ' ',
      '=',
      '-',
      "'",
      'a',
      '1',
      '\u200b',
    );
    const field = fc.string({ unit, maxLength: 10 });
    fc.assert(
      fc.property(
        fc.array(field, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(...delimiters),
        (row, by) => {
          expect(live(write([row], by))).toEqual([]);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('nor in a report', () => {
    const row = { day: null, operation: null, requests: 1, failed: null, more: {} };
    const csv = metricsCsv(attacks.map((definition) => ({ ...row, definition })));
    expect(csv.escaped).toBe(attacks.length);
    expect(live(csv.text.slice(1))).toEqual([]);
  });

  it('numbers and ordinary text stay as they are', () => {
    const fields = [
      '-5',
      '+1.50',
      '-1,234.50',
      '+4.2E-7',
      '2026-01-05',
      'a@b.example',
      'x = y',
      'a, b; c',
      "'=1",
    ];
    const back = fields.map((field) => write([[field]], '\t').trimEnd());
    expect(back).toEqual(fields);
  });

  it.each(['\t', ';', '=', '"', ' ', '-a;'])('takes linear time for a field of %j', (piece) => {
    // The processor's time of this thread: a busy machine takes nothing from the proof.
    const began = process.threadCpuUsage();
    write([[piece.repeat(1_000_000 / piece.length)]], ',');
    const { user, system } = process.threadCpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(2_000);
  });
});

const hasLibreOffice = ((): boolean => {
  try {
    execFileSync('soffice', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

describe.skipIf(!hasLibreOffice)('LibreOffice runs nothing (needs soffice)', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tokendesk-formulas-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  /** The formulas that LibreOffice finds in CSV texts which it splits at these characters. */
  function formulas(texts: Readonly<Record<string, string>>, separators: string): Record<string, string[]> {
    const codes = Array.from(separators, (char) => char.charCodeAt(0)).join('/');
    const paths = Object.entries(texts).map(([name, text]) => {
      writeFileSync(join(folder, `${name}.csv`), text);
      return join(folder, `${name}.csv`);
    });
    execFileSync(
      'soffice',
      [
        `-env:UserInstallation=file://${join(folder, 'profile')}`,
        '--headless',
        `--infilter=Text - txt - csv (StarCalc):${codes},34,76`,
        '--convert-to',
        'fods',
        '--outdir',
        folder,
        ...paths,
      ],
      { stdio: 'ignore' },
    );
    return Object.fromEntries(
      Object.keys(texts).map((name) => [
        name,
        [...readFileSync(join(folder, `${name}.fods`), 'utf8').matchAll(/table:formula="([^"]*)"/g)].map(
          ([, formula]) => formula ?? '',
        ),
      ]),
    );
  }

  const files = (spreadsheet: boolean): Record<string, string> =>
    Object.fromEntries(
      delimiters.map((delimiter, i) => {
        const writer = createRowWriter({ delimiter, newline: '\r\n', spreadsheet });
        return [`by${i}`, attacks.map((field) => writer.line(['4111', field, 'x'])).join('')];
      }),
    );

  it.each([',', ';', '\t', '|', ',;\t'])(
    'when it splits at %j',
    (separators) => {
      expect(Object.values(formulas(files(true), separators)).flat()).toEqual([]);
      // The same cells written exactly do run: the check can fail.
      expect(Object.values(formulas(files(false), separators)).flat()).not.toEqual([]);
    },
    120_000,
  );
});
