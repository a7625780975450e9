import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { detectFormat } from '../../../../electron/batch/reading/detect.ts';
import { looksEbcdic } from '../../../../electron/batch/reading/ebcdic.ts';
import { done } from '../../../../electron/contract/errors.ts';
import { cleartext } from '../../../../electron/util/cleartext.ts';
import { codecOf } from '../../../../electron/batch/reading/encodings.ts';
import { ebcdicEncodings } from '../../../../electron/contract/ebcdic.ts';
import type { Encoding } from '../../../../electron/contract/models/batch.ts';
import { ebcdic, ebcdicExtracts, ebcdicTables } from '../../../fidelity/ebcdic.ts';
import { fromMemory, runCases } from '../../../fidelity/run-cases.ts';
import { openSecondOpinion } from '../../../fidelity/second-opinion.ts';
import {
  detokenize,
  openApp,
  plainExport,
  planOf,
  takeIn,
  valueOf,
  type TestApp,
} from '../../../support/batch-app.ts';

const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
const hasIconv = spawnSync('iconv', ['--version']).status === 0;

describe.each(ebcdicEncodings)('%s', (encoding) => {
  it.skipIf(!hasIconv)('has the table of glibc', () => {
    const iconv = spawnSync('iconv', ['-f', encoding.toUpperCase(), '-t', 'UTF-8'], { input: allBytes });
    expect(codecOf(encoding).decode(allBytes).text).toBe(iconv.stdout.toString('utf8'));
  });

  it('writes each character as the byte that it is read from', () => {
    const { text } = codecOf(encoding).decode(allBytes);
    expect(new Set(text).size).toBe(256);
    expect(codecOf(encoding).encode(text)).toEqual({ ok: true, bytes: allBytes });
  });
});

it.each<[Encoding, string]>([
  ['ibm037', 'c1f14b5b4fadba4a'],
  ['ibm273', '4ae05ac06ad0a17c'],
])('%s reads as its vendor’s table has it', (encoding, hex) => {
  const expected = encoding === 'ibm037' ? 'A1.$|Ý[¢' : 'ÄÖÜäöüß§';
  expect(codecOf(encoding).decode(Buffer.from(hex, 'hex')).text).toBe(expected);
});

describe('a guess', () => {
  it.each(ebcdicExtracts().map((one) => [one.name, one] as const))(
    '%s',
    async (_, { bytes, expected, delimiter }) => {
      const format = await detectFormat(fromMemory(bytes), {});
      if (!format.ok) throw new Error(format.failure.code);
      expect(format.value).toMatchObject({
        encoding: expected,
        delimiter,
        newline: /NEL/.test(_) ? '\x85' : _.includes('CRLF') ? '\r\n' : '\n',
      });
      // No byte is wrong in any of them: a person is asked.
      expect(format.value.guesses.encoding?.length).toBe(3);
    },
  );

  it('is none for texts of other encodings', () => {
    const words = 'Müller;Größe;4111;x\r\nИванов;Пётр;12;y\n'.repeat(20);
    for (const encoding of ['utf-8', 'utf-16le', 'gb18030', 'koi8-r'] as const) {
      const encoded = codecOf(encoding).encode(
        encoding === 'koi8-r' ? words.replaceAll(/[üöß]/g, 'o') : words,
      );
      expect(encoded.ok && looksEbcdic(encoded.bytes)).toBe(false);
    }
    expect(looksEbcdic(Buffer.from(Array.from({ length: 4_096 }, (_, n) => (n * 7919) % 256)))).toBe(false);
  });
});

describe('files', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openApp();
  });
  afterAll(() => app.close());

  it('keep every byte outside the changed cells, by another reader too', { timeout: 120_000 }, async () => {
    const other = openSecondOpinion();
    const cases = [...ebcdicTables(), ...ebcdicExtracts()];
    const report = await runCases(app, cases, other);
    other.close();
    expect(report.differing).toEqual([]);
    expect(report.identical).toBe(cases.length);
    if (other.name !== 'papaparse' && hasIconv) expect(other.count).toBeGreaterThan(40);
  });

  it('get results with characters in their code page, and a failed row where it has none', async () => {
    const answers: Record<string, string> = { TOKA: 'Ünal; "Jo"', TOKB: 'Łódź', TOKC: 'ok' };
    app.service.answer = (_, elements) =>
      done({
        requestId: 'r',
        elements: elements.map(({ ref, value }) => ({
          ref,
          ok: true as const,
          value: cleartext(answers[value] ?? value),
        })),
      });
    const text = 'TOKEN;NAME 0000000000\x85TOKA;x\x85TOKB;y\x85TOKC;z\x85';
    const sourceId = await app.open(await app.write('in.csv', ebcdic(text, 'ibm273')));
    const plan = planOf([detokenize(0, { definition: 'text' })], { encoding: 'ibm273', delimiter: ';' });
    const { jobId } = await app.run(sourceId, plan);
    const outcome = valueOf(
      await app.batch['batch.export']({
        ...plainExport,
        safety: 'source',
        jobId,
        content: 'cleartext',
        leavesEmpty: true,
      }),
    );
    expect(outcome?.lostCells).toBe(1);
    const written = codecOf('ibm273').decode(await readFile(join(app.folder, outcome?.name ?? '')));
    expect(written.text).toBe(
      'TOKEN;NAME 0000000000;error\x85"Ünal; ""Jo""";x;\x85TOKB;y;value.unencodable\x85ok;z;\x85',
    );
  });

  it('read a corrected list in the code page of the source, whatever a guess would be', async () => {
    app.service.answer = () => null;
    app.service.refuses = (value) => value.startsWith('BAD');
    const text = `TOKEN;NAME\x85${'TOK1;x\x85'.repeat(9)}BAD1;{~}[]^\x85BAD2;aÄb\x85`;
    const sourceId = await app.open(await app.write('in.csv', ebcdic(text, 'ibm273')));
    const plan = planOf([detokenize(0, { definition: 'text' })], { encoding: 'ibm273', delimiter: ';' });
    const { jobId } = await app.run(sourceId, plan);
    const choice = { ...plainExport, safety: 'source', rows: 'failed', content: 'tokens', jobId } as const;
    const list = valueOf(await app.batch['batch.export'](choice));
    const written = codecOf('ibm273').decode(await readFile(join(app.folder, list?.name ?? ''))).text;
    const corrected = ebcdic(written.replace('BAD1', 'GOOD1'), 'ibm273');
    const taken = await takeIn(app, {
      jobId,
      sourceId: await app.open(await app.write('corrected.csv', corrected)),
    });
    expect(taken).toMatchObject({ ok: true, value: { changed: 1, unchanged: 1, leftOutRows: 0 } });
  });

  it('show nothing in clear where the window asks for another alphabet', async () => {
    const card = '4111111111111111';
    const clear = `TOKEN,CARD\n${`T1,${card}\n`.repeat(30)}`;
    for (const [bytes, asked] of [
      [Buffer.from(clear), 'ibm037'],
      [ebcdic(clear, 'ibm500'), 'iso-8859-1'],
    ] as const) {
      const sourceId = await app.open(await app.write('cards.csv', bytes));
      const preview = valueOf(
        await app.batch['batch.preview']({ sourceId, reading: { encoding: asked }, masked: null }),
      );
      const shown = JSON.stringify(preview);
      const written = codecOf(asked).decode(ebcdicOrAscii(card, asked)).text;
      expect(shown).not.toContain(written);
      expect(shown).toContain('••••');
    }
  });
});

/** The bytes of a card as the file has them, which another alphabet reads as other characters. */
const ebcdicOrAscii = (card: string, asked: Encoding): Buffer =>
  asked === 'ibm037' ? Buffer.from(card) : ebcdic(card, 'ibm500');
