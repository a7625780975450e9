import { tableLimits } from '../table-limits.ts';
import { numberText, type CellText, textHooks, unescapeText, type SharedStrings } from './cells.ts';
import type { Workbook } from './workbook.ts';
import { type Attributes, plainSign, type UsualElements, type XmlHooks } from './xml.ts';
import { Refusal } from './package.ts';

/** Rows of any sheet. */
export const sheetRows = 1_048_576;

/** Characters of one row. */
const rowLength = 4_000_000;

/** Columns of any sheet that three letters can name. */
const namedColumns = 26 + 26 ** 2 + 26 ** 3;

/** A row's cells up to the last that holds something. */
export interface SheetRow {
  /** As the sheet numbers it, from 1. */
  readonly number: number;
  readonly cells: readonly string[];
  /** Columns, from 0, whose digits the spreadsheet rounded. */
  readonly rounded: readonly number[];
  /** Columns, from 0, with a formula whose value was never stored: it is blank here. */
  readonly unevaluated: readonly number[];
}

/** Hooks that hand each row on as it ends; rows without content are left out. They throw `Refusal`. */
export function sheetHooks(
  workbook: Pick<Workbook, 'styles' | 'from1904'>,
  strings: SharedStrings,
  take: (row: SheetRow) => void,
): XmlHooks {
  const inline = textHooks();
  let inRows = false;
  let inRow = false;
  let row = 0;
  let cells: string[] = [];
  let rounded: number[] = [];
  let unevaluated: number[] = [];
  /** By column, the last row that had a cell there. */
  const lastRows = new Int32Array(namedColumns);
  let length = 0;
  let column = -1;
  let cell: Attributes = {};
  let raw = '';
  let inValue = false;
  let hasFormula = false;
  let hasValue = false;

  function textOf(): CellText {
    switch (cell['t']) {
      case 's':
        if (raw === '') return { text: '', rounded: false };
        if (!/^\d{1,9}$/.test(raw)) throw new Refusal('file.workbook-damaged');
        return { text: strings.get(Number(raw)), rounded: false };
      case 'inlineStr':
        return { text: inline.take(), rounded: false };
      case 'str':
        return { text: unescapeText(raw), rounded: false };
      case 'b':
        return { text: raw === '1' || raw === 'true' ? 'TRUE' : raw === '' ? '' : 'FALSE', rounded: false };
      case 'e':
      case 'd':
        return { text: raw, rounded: false };
      default:
        return numberText(
          raw,
          workbook.styles[Number(cell['s'] ?? '0')] ?? { kind: 'plain' },
          workbook.from1904,
        );
    }
  }

  function endCell(): void {
    const found = textOf();
    // A formula whose value is an empty text says so: `t="str"` with a value.
    const isUnevaluated = hasFormula && found.text === '' && !(hasValue && cell['t'] === 'str');
    if (found.text === '' && !isUnevaluated) return;
    // A lone cell far from the others is no column of a table.
    if (column >= tableLimits.columns && cells.filter((text) => text !== '').length * 20 < column)
      throw new Refusal('file.workbook-sparse');
    if (column >= tableLimits.columns)
      throw new Refusal('file.too-many-columns', String(tableLimits.columns));
    length += found.text.length;
    if (found.text.length > tableLimits.field || length > rowLength)
      throw new Refusal('file.workbook-too-large');
    while (cells.length < column) cells.push('');
    cells[column] = found.text;
    if (found.rounded) rounded.push(column);
    if (isUnevaluated) unevaluated.push(column);
  }

  const hooks: XmlHooks = {
    open(name, attributes) {
      if (name === 'sheetData') inRows = true;
      if (!inRows) return;
      if (name === 'c') {
        cell = attributes;
        column = attributes['r'] === undefined ? column + 1 : columnOf(attributes['r']);
        // Of two cells with one address, another program might read the other one.
        if (!inRow || column >= namedColumns || lastRows[column] === row)
          throw new Refusal('file.workbook-damaged');
        lastRows[column] = row;
        raw = '';
        hasFormula = false;
        hasValue = false;
        inline.take();
      } else if (name === 'v') {
        if (hasValue) throw new Refusal('file.workbook-damaged');
        inValue = true;
        hasValue = true;
      } else if (name === 'f') hasFormula = true;
      else if (name === 'row') {
        const number = attributes['r'] === undefined ? row + 1 : Number(attributes['r']);
        // Rows out of order would get the numbers of others.
        if (inRow || !Number.isInteger(number) || number <= row || number > sheetRows)
          throw new Refusal('file.workbook-damaged');
        row = number;
        inRow = true;
        cells = [];
        rounded = [];
        unevaluated = [];
        length = 0;
        column = -1;
      } else inline.open(name);
    },
    text(text) {
      if (inValue) {
        raw += text;
        if (raw.length > tableLimits.field) throw new Refusal('file.workbook-too-large');
      } else inline.text(text);
    },
    close(name) {
      if (!inRows) return;
      if (name === 'c') endCell();
      else if (name === 'v') inValue = false;
      else if (name === 'row') {
        inRow = false;
        if (cells.length > 0) take({ number: row, cells, rounded, unevaluated });
      } else if (name === 'sheetData') inRows = false;
      else inline.close(name);
    },
  };
  return { ...hooks, usual: usualCells(hooks) };
}

const usualCell = new RegExp(
  `<c r="([A-Z]{1,3}\\d{1,7})"(?: s="(\\d{1,5})")?(?: t="(s|n|str|b|e)")?><v>(${plainSign}*)</v></c>`,
  'y',
);
const nextRow = /<\/row><row r="(\d{1,7})"((?: [A-Za-z]\w*(?::[A-Za-z]\w*)?="[ !#-%'-;=?-~]*")*)>/y;

/** Cells with a value and nothing else, from row to row: of a sheet as programs write it, nearly all. */
function usualCells(hooks: XmlHooks): UsualElements {
  /** What rows have besides their number, nearly always the same. */
  let knownRest = '';

  function takeCells(xml: string, at: number): number {
    usualCell.lastIndex = at;
    let end = at;
    for (let found = usualCell.exec(xml); found !== null; found = usualCell.exec(xml)) {
      const [, r = '', s = '', t = '', value = ''] = found;
      end = usualCell.lastIndex;
      hooks.open('c', { r, s, t });
      hooks.open('v', {});
      hooks.text?.(value);
      hooks.close?.('v');
      hooks.close?.('c');
    }
    return end;
  }

  function takeRow(xml: string, at: number): number {
    nextRow.lastIndex = at;
    const [, r = '', rest = ''] = nextRow.exec(xml) ?? [];
    if (r === '' || (rest !== knownRest && hasRepeats(` r=${rest}`))) return at;
    knownRest = rest;
    hooks.close?.('row');
    hooks.open('row', { r });
    return nextRow.lastIndex;
  }

  return {
    parents: ['sheetData', 'row'],
    begins: '<c r="',
    take: (xml, at) => {
      for (let end = at; ;) {
        const row = takeCells(xml, end);
        end = takeRow(xml, row);
        if (end === row) return end;
      }
    },
  };
}

/** Two attributes of one name are no XML. */
function hasRepeats(attributes: string): boolean {
  const names = attributes.match(/ [^=" ]+(?==)/g) ?? [];
  return new Set(names).size < names.length;
}

/** `B7` → 1. */
function columnOf(reference: string): number {
  let column = 0;
  let at = 0;
  for (; at < reference.length; at++) {
    const letter = reference.charCodeAt(at) - 0x40;
    if (letter < 1 || letter > 26) break;
    column = column * 26 + letter;
  }
  if (at === 0 || at > 3) throw new Refusal('file.workbook-damaged');
  return column - 1;
}
