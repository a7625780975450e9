import { posix } from 'node:path';
import { builtInStyle, maxFormatCode, styleOfCode, type NumberStyle } from './cells.ts';
import { packageLimits, type Package, Refusal } from './package.ts';
import { readXml, type XmlHooks } from './xml.ts';

export interface SheetPart {
  readonly name: string;
  readonly part: string;
  readonly visible: boolean;
}

/** What is known of a workbook before any of its sheets is read. */
export interface Workbook {
  /** Worksheets in their order; sheets that are charts or macros have no rows. */
  readonly sheets: readonly SheetPart[];
  readonly sharedStrings: string | null;
  /** By a cell's style number. */
  readonly styles: readonly NumberStyle[];
  readonly from1904: boolean;
}

/** Characters. Spreadsheets allow 31 in a sheet's name. */
const maxSheetName = 255;

/** Throws `Refusal`: file.not-a-table for an archive that is something else, file.workbook-damaged. */
export async function describeWorkbook(pack: Package): Promise<Workbook> {
  if (pack.size('_rels/.rels') === null)
    throw new Refusal(
      'file.not-a-table',
      pack.size('content.xml') === null ? 'ZIP archive' : 'OpenDocument file',
    );
  const roots = await relations(pack, '');
  const main = [...roots.values()].find(({ type }) => type === 'officeDocument')?.part;
  if (main === undefined) throw new Refusal('file.not-a-table', 'ZIP archive');
  if (main.endsWith('.bin')) throw new Refusal('file.not-a-table', 'binary Excel workbook (.xlsb)');
  const parts = await relations(pack, main);
  const partOf = (type: string): string | null =>
    [...parts.values()].find((relation) => relation.type === type)?.part ?? null;

  const sheets: SheetPart[] = [];
  const names: { root?: string } = {};
  let from1904 = false;
  await readSmall(pack, main, {
    open(name, attributes) {
      names.root ??= name;
      if (name === 'workbookPr') from1904 = ['1', 'true'].includes(attributes['date1904'] ?? '');
      if (name !== 'sheet') return;
      const id = Object.entries(attributes).find(([key]) => key === 'id' || key.endsWith(':id'))?.[1];
      const part = parts.get(id ?? '');
      if (part?.type !== 'worksheet') return;
      const title = attributes['name'] ?? '';
      // All of them are told to the window: neither more sheets than parts, nor names no spreadsheet allows.
      if (sheets.some((sheet) => sheet.part === part.part) || title.length > maxSheetName)
        throw new Refusal('file.workbook-damaged');
      const visible = !['hidden', 'veryHidden'].includes(attributes['state'] ?? '');
      sheets.push({ name: title, part: part.part, visible });
    },
  });
  if (names.root !== 'workbook') throw new Refusal('file.not-a-table', 'Office file that is no workbook');
  return {
    sheets,
    sharedStrings: partOf('sharedStrings'),
    styles: await styles(pack, partOf('styles')),
    from1904,
  };
}

async function readSmall(pack: Package, part: string, hooks: XmlHooks): Promise<void> {
  if ((pack.size(part) ?? 0) > packageLimits.other) throw new Refusal('file.workbook-too-large');
  await readXml(await pack.read(part), hooks);
}

/** Where the relations of a part lead, by their ID. The type is a URI that differs between editions but for its end. */
async function relations(pack: Package, of: string): Promise<Map<string, { type: string; part: string }>> {
  const folder = posix.dirname(of);
  const found = new Map<string, { type: string; part: string }>();
  await readSmall(pack, posix.join(folder, '_rels', `${posix.basename(of)}.rels`), {
    open(name, { Id, Type, Target, TargetMode }) {
      if (name !== 'Relationship' || TargetMode === 'External') return;
      if (Id === undefined || Type === undefined || Target === undefined) return;
      const part = Target.startsWith('/') ? Target.slice(1) : posix.join(folder, Target);
      found.set(Id, { type: Type.slice(Type.lastIndexOf('/') + 1), part });
    },
  });
  return found;
}

async function styles(pack: Package, part: string | null): Promise<NumberStyle[]> {
  const found: NumberStyle[] = [];
  // A part that is named and not there is damage: without it dates would be read as numbers.
  if (part === null) return found;
  const codes = new Map<number, NumberStyle>();
  let inCells = false;
  await readSmall(pack, part, {
    open(name, { numFmtId, formatCode }) {
      if ((formatCode?.length ?? 0) > maxFormatCode) throw new Refusal('file.workbook-damaged');
      if (name === 'cellXfs') inCells = true;
      if (name === 'numFmt' && numFmtId !== undefined && formatCode !== undefined)
        codes.set(Number(numFmtId), styleOfCode(formatCode));
      if (name !== 'xf' || !inCells) return;
      const id = Number(numFmtId ?? '0');
      found.push(codes.get(id) ?? builtInStyle(id));
    },
    close(name) {
      if (name === 'cellXfs') inCells = false;
    },
  });
  return found;
}
