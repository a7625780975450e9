import { buffer } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';

const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006/relationships';

/** Parts by name; a function yields the pieces of a part too long to hold. Later entries of a pair list may repeat names. */
export type Part = string | Buffer | (() => Iterable<Buffer>);

export async function zip(
  parts: Iterable<readonly [name: string, content: Part]>,
  { compress = true }: { readonly compress?: boolean } = {},
): Promise<Buffer> {
  const archive = new ZipFile();
  for (const [name, content] of parts) {
    if (typeof content === 'function')
      archive.addReadStreamLazy(name, (give) => {
        give(null, Readable.from(content()));
      });
    else archive.addBuffer(Buffer.from(content as string), name, { compress });
  }
  archive.end();
  return buffer(archive.outputStream);
}

export interface Sheet {
  readonly name?: string;
  readonly state?: 'visible' | 'hidden' | 'veryHidden';
  /** What stands between `<sheetData>` and its end; or, with `whole`, the part as it is. */
  readonly rows?: string;
  readonly whole?: Part;
}

export interface Made {
  readonly sheets?: readonly Sheet[];
  /** Content of `<sst>`. */
  readonly strings?: string;
  readonly stringsWhole?: Part;
  /** Content of `<styleSheet>`. */
  readonly styles?: string;
  readonly workbookPr?: string;
  /** In place of, or besides, the usual parts; null leaves one out. */
  readonly over?: Readonly<Record<string, Part | null>>;
}

/** A workbook part by part, as spreadsheet programs write them or as somebody with other plans would. */
export function partsOf({ sheets = [{}], ...made }: Made): Map<string, Part> {
  const strings =
    made.stringsWhole ?? (made.strings === undefined ? null : `<sst xmlns="${main}">${made.strings}</sst>`);
  const relations = [
    ...sheets.map((_, i) => [`rId${i + 1}`, 'worksheet', `worksheets/sheet${i + 1}.xml`]),
    ...(strings === null ? [] : [['rIdS', 'sharedStrings', 'sharedStrings.xml']]),
    ...(made.styles === undefined ? [] : [['rIdT', 'styles', '/xl/styles.xml']]),
  ];
  const all: Record<string, Part | null> = {
    '[Content_Types].xml': '<Types/>',
    '_rels/.rels': `<Relationships xmlns="${packages}"><Relationship Id="rId1" Type="${office}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${packages}">${relations
      .map(([id, type, target]) => `<Relationship Id="${id}" Type="${office}/${type}" Target="${target}"/>`)
      .join('')}</Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${office}">${made.workbookPr ?? ''}<sheets>${sheets
      .map(
        ({ name, state }, i) =>
          `<sheet name="${name ?? `Sheet${i + 1}`}" sheetId="${i + 1}" state="${state ?? 'visible'}" r:id="rId${i + 1}"/>`,
      )
      .join('')}</sheets></workbook>`,
    ...(made.styles === undefined
      ? {}
      : { 'xl/styles.xml': `<styleSheet xmlns="${main}">${made.styles}</styleSheet>` }),
    ...(strings === null ? {} : { 'xl/sharedStrings.xml': strings }),
    ...Object.fromEntries(
      sheets.map(({ rows, whole }, i) => [
        `xl/worksheets/sheet${i + 1}.xml`,
        whole ?? `<worksheet xmlns="${main}"><sheetData>${rows ?? ''}</sheetData></worksheet>`,
      ]),
    ),
    ...made.over,
  };
  return new Map(Object.entries(all).filter((entry): entry is [string, Part] => entry[1] !== null));
}

export const workbook = (made: Made, options: Parameters<typeof zip>[1] = {}): Promise<Buffer> =>
  zip(partsOf(made), options);

/** One cell of inline text. */
export const text = (reference: string, value: string): string =>
  `<c r="${reference}" t="inlineStr"><is><t>${value}</t></is></c>`;
