import { PassThrough } from 'node:stream';
import { once } from 'node:events';
import { ZipFile } from 'yazl';
import { done, failed, type Failure, type Outcome } from '../../contract/errors.ts';
import { sheetRows } from '../../parsing/workbook/sheet.ts';
import type { AtomicFile } from '../../storage/atomic-file.ts';
import type { RowWriter } from '../../storage/csv.ts';

/** Characters a cell can hold; a spreadsheet calls a file with a longer one damaged. */
const maxCellLength = 32_767;

/** A part of 4 GiB would need another form of archive, and no spreadsheet opens it. */
const maxSheetBytes = 4 * 1024 * 1024 * 1024 - 1;

/**
 * Formats the rows of a sheet. Every cell is text (number format "Text"): no digit is lost, and nothing is run as a
 * formula, not even when it is edited.
 */
export function createSheetWriter(): RowWriter {
  const columns: string[] = [];
  let row = 0;
  let failure: Failure | null = null;
  return {
    line(fields) {
      row += 1;
      if (row > sheetRows) failure ??= { code: 'file.workbook-full' };
      let line = `<row r="${row}">`;
      for (let i = 0; i < fields.length; i++) {
        const field = fields[i] ?? '';
        if (field === '') continue;
        if (field.length > maxCellLength) failure ??= { code: 'file.workbook-cell', row };
        columns[i] ??= columnName(i);
        // Space at the ends would be dropped, and so would some within.
        const space = /^\s|\s$|\s\s/.test(field) ? ' xml:space="preserve"' : '';
        line += `<c r="${columns[i]}${row}" s="1" t="inlineStr"><is><t${space}>${escapeText(field)}</t></is></c>`;
      }
      return `${line}</row>`;
    },
    escaped: 0,
    get failure() {
      return failure;
    },
  };
}

/** 0 → `A`, 26 → `AA`. */
function columnName(index: number): string {
  const before = index < 26 ? '' : columnName(Math.floor(index / 26) - 1);
  return before + String.fromCharCode(0x41 + (index % 26));
}

// U+007F to U+009F are legal in XML as they are: LibreOffice shows `_x0085_` as these seven characters.
const special = /[&<>\ufffe\uffff]|(?![\t\n\x7f-\x9f])\p{Cc}|_(?=x[0-9A-Fa-f]{4}_)/gu;
const markup: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** What XML can't hold is written as `_x000D_`, and what looks like that has its underscore written so. */
function escapeText(text: string): string {
  return text
    .toWellFormed()
    .replace(
      special,
      (char) => markup[char] ?? `_x${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`,
    );
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const packages = 'http://schemas.openxmlformats.org/package/2006';
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

const packageParts: Readonly<Record<string, string>> = {
  '[Content_Types].xml':
    `<Types xmlns="${packages}/content-types">` +
    `<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
    `<Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/>` +
    `<Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/>` +
    `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/></Types>`,
  '_rels/.rels':
    `<Relationships xmlns="${packages}/relationships">` +
    `<Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
  'xl/_rels/workbook.xml.rels':
    `<Relationships xmlns="${packages}/relationships">` +
    `<Relationship Id="rId1" Type="${office}/worksheet" Target="worksheets/sheet1.xml"/>` +
    `<Relationship Id="rId2" Type="${office}/styles" Target="styles.xml"/></Relationships>`,
  'xl/workbook.xml':
    `<workbook xmlns="${main}" xmlns:r="${office}">` +
    `<sheets><sheet name="Rows" sheetId="1" r:id="rId1"/></sheets></workbook>`,
  // Format 49 is "Text".
  'xl/styles.xml':
    `<styleSheet xmlns="${main}"><fonts count="1"><font><sz val="11"/><name val="Calibri"/></font></fonts>` +
    `<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>` +
    `<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>` +
    `<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>` +
    `<cellXfs count="2"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>` +
    `<xf numFmtId="49" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs>` +
    `<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`,
};

const head = `${declaration}<worksheet xmlns="${main}"><sheetData>`;
// Without this every card number gets a green corner: "number stored as text".
const tail =
  '</sheetData><ignoredErrors><ignoredError sqref="A1:XFD1048576" numberStoredAsText="1"/></ignoredErrors></worksheet>';

/** The same job makes the same bytes. */
const mtime = new Date(1980, 0, 1);

/**
 * A workbook of one sheet in `output`. Takes the rows of `createSheetWriter` and packs them in constant memory.
 * Failures besides those of `output`: file.workbook-full.
 */
export function workbookFile(output: AtomicFile): AtomicFile {
  const zip = new ZipFile();
  const sheet = new PassThrough();
  for (const [name, content] of Object.entries(packageParts))
    zip.addBuffer(Buffer.from(declaration + content), name, { mtime });
  zip.addReadStream(sheet, 'xl/worksheets/sheet1.xml', { mtime });
  zip.end();
  const packed = zip.outputStream.pipe(new PassThrough());
  const result: { failure?: { ok: false; failure: Failure } } = {};
  const settled = (async (): Promise<void> => {
    for await (const bytes of packed) {
      const outcome = await output.write(bytes as Buffer);
      if (outcome.ok) continue;
      result.failure = outcome;
      return;
    }
  })().catch(() => {
    result.failure ??= failed('file.unwritable');
  });
  let bytesIn = 0;

  async function add(bytes: Uint8Array): Promise<Outcome<null>> {
    bytesIn += bytes.length;
    if (bytesIn > maxSheetBytes) result.failure ??= failed('file.workbook-full');
    // After a failure nothing reads from the stream.
    if (result.failure === undefined && !sheet.write(bytes))
      await Promise.race([once(sheet, 'drain'), settled]);
    return result.failure ?? done(null);
  }

  let hasHead = false;
  const addHead = async (): Promise<Outcome<null>> => {
    if (hasHead) return done(null);
    hasHead = true;
    return add(Buffer.from(head));
  };

  return {
    async write(bytes) {
      const ready = await addHead();
      return ready.ok ? add(bytes) : ready;
    },
    async finish(before) {
      const ready = await addHead();
      const ended = ready.ok ? await add(Buffer.from(tail)) : ready;
      if (!ended.ok) return ended;
      sheet.end();
      await settled;
      return result.failure ?? output.finish(before);
    },
    async abandon() {
      sheet.destroy();
      packed.destroy();
      await settled;
      // Part of an archive is of no use.
      await output.abandon(false);
    },
  };
}
