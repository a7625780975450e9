import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPacked } from '../../electron/parsing/packed/read-packed.ts';
import { packageLimits } from '../../electron/parsing/workbook/package.ts';
import { type Outcome, done } from '../../electron/contract/errors.ts';
import { codeOf, openApp, valueOf, type TestApp } from '../support/batch-app.ts';
import { text, workbook } from '../support/make-workbook.ts';

let app: TestApp;
let freeBytes = Number.MAX_SAFE_INTEGER;
beforeEach(async () => {
  freeBytes = Number.MAX_SAFE_INTEGER;
  app = await openApp({ freeBytes: () => Promise.resolve(freeBytes) });
});
afterEach(() => app.close());

async function convert(bytes: Buffer): Promise<{ outcome: Outcome<unknown>; written: number }> {
  const path = await app.write('padded.xlsx', bytes);
  let written = 0;
  const outcome = await readPacked({
    path,
    sheet: null,
    passphrase: null,
    report: () => undefined,
    createOutput: () => {
      written = 0;
      return Promise.resolve(
        done({
          write(piece: Buffer) {
            written += piece.length;
            return Promise.resolve(done(null));
          },
          finish: () => Promise.resolve(done(null)),
          abandon: () => Promise.resolve(),
        }),
      );
    },
  });
  return { outcome, written };
}

const wide = `<row r="1">${text('ALL1', 'x')}</row>`;
const narrow = `<row r="1">${text('F1', 'x')}</row>`;
const last = `<row r="1048576">${text('A1048576', 'end')}</row>`;

describe('what a workbook may write to the disk', () => {
  it.each([
    [
      'one text shared by every row',
      'file.workbook-too-large',
      {
        strings: `<si><t>${'ab'.repeat(225_000)}</t></si>`,
        sheets: [{ rows: '<row><c t="s"><v>0</v></c></row>'.repeat(20_000) }],
      },
    ],
    ['a million blank rows of a wide sheet', 'file.workbook-sparse', { sheets: [{ rows: wide + last }] }],
    [
      'short rows of a wide sheet',
      'file.workbook-sparse',
      { sheets: [{ rows: wide + '<row><c><v>1</v></c></row>'.repeat(200_000) }] },
    ],
  ])('is 200 times what it packs: %s', async (_, code, made) => {
    const bytes = await workbook(made);
    const { outcome, written } = await convert(bytes);
    expect(codeOf(outcome)).toBe(code);
    expect(written).toBeLessThanOrEqual(
      Math.max(packageLimits.ratioFrom, bytes.length * packageLimits.textRatio),
    );
  });

  it('is not less than an honest one needs: a stray cell at the very end of a sheet', async () => {
    const { outcome, written } = await convert(await workbook({ sheets: [{ rows: narrow + last }] }));
    expect(codeOf(outcome)).toBe('ok');
    expect(written).toBeGreaterThan(6_000_000);
  });

  it('counts the packed bytes of the sheet that is read, not those of other parts', async () => {
    const random = Array.from({ length: 200_000 }, (_, i) => Math.imul(i, 2_654_435_761).toString(36)).join(
      '',
    );
    const { outcome, written } = await convert(
      await workbook({
        sheets: [{ rows: wide + last }, { rows: `<row>${text('A1', random)}</row>` }],
        over: { 'xl/media/picture.png': random },
      }),
    );
    expect(codeOf(outcome)).toBe('file.workbook-sparse');
    expect(written).toBeLessThanOrEqual(packageLimits.ratioFrom);
  });
});

describe('a copy that would take more than half of what is free', () => {
  const copies = async (): Promise<string[]> => {
    const names = await readdir(join(app.options.folder, 'opened'), { recursive: true });
    return names.filter((name) => /[0-9a-f-]{36}.[0-9a-f-]{36}$/.test(name));
  };
  const rows = Array.from({ length: 20_000 }, (_, i) => `<row>${text(`A${i + 1}`, `token ${i}`)}</row>`).join(
    '',
  );

  it('is not written: of a workbook, with the name of the file', async () => {
    const path = await app.write('cards.xlsx', await workbook({ sheets: [{ rows }] }));
    freeBytes = 400_000;
    await expect(app.open(path)).rejects.toThrow('file.no-room');
    expect(await copies()).toEqual([]);
    freeBytes = 600_000;
    await app.open(path);
    expect(await copies()).toHaveLength(1);
  });

  it('is not written: of pasted rows', async () => {
    const pasted = { text: 'token\n'.repeat(50_000) };
    freeBytes = 500_000;
    expect(codeOf(await app.batch['batch.paste'](pasted))).toBe('file.no-room');
    expect(await copies()).toEqual([]);
    freeBytes = 700_000;
    valueOf(await app.batch['batch.paste'](pasted));
  });
});
