import { createScanner, type JSONScanner } from 'jsonc-parser';
import type { Encoding, Layout } from '../../contract/models/batch.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { createCellUnits } from './cell-units.ts';
import { codecOf } from './encodings.ts';
import type { CellWriter, FieldForm, FindRowsOptions, RowKind, SpansOfParts } from './row-kind.ts';
import { scanUnits, twiceAsLong } from './scan-arrays.ts';

/*
 * Where the rows of a JSON text and the values of their members stand. The scanner is jsonc-parser's, which says where a
 * token is; what it takes besides JSON (comments, line ends in strings) and what it leaves to others (the grammar) is
 * decided here, as strictly as JSON.parse does.
 */

/** How a JSON text is read as a table. */
interface JsonTable {
  readonly rows: NonNullable<Layout['json']>['rows'];
  readonly pointers: readonly string[];
}

/** One object in each line, or one array of objects. */
export const jsonRows = (table: JsonTable): RowKind => ({
  find: (text, extent) => findJsonRows(text, table, extent),
  read: (raw, form) => (form === 'text' && raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw),
  brokenCode: 'row.malformed',
  values: 'escaped',
  isOrdered: false,
  // A member that a row lacks is not added to it.
  takesPlainWords: false,
  misfit: 'row.malformed',
  writer: createJsonWriter,
  ending: () => (table.rows === 'array' ? '.json' : '.jsonl'),
  // The last row has the bracket that closes it.
  isOneValue: table.rows === 'array',
});

/** Only what stands between the quotes changes. In place of a number a mask is a string. */
function createJsonWriter({ encoding }: { readonly encoding: Encoding }): CellWriter {
  const units = createCellUnits(encoding);
  return {
    replace(cells, { row, column }, value) {
      const form = cells.form(row, column);
      if (form === 'none' || openCleartext(cells.value(row, column)) === value) return null;
      if (form === 'broken') return units.encode(value.replaceAll(/[\r\n]/g, ' '));
      const text = JSON.stringify(value.toWellFormed());
      return units.encode(form === 'text' ? text.slice(1, -1) : text);
    },
    added: null,
    ...(codecOf(encoding).extendsAscii && { arePlain: (lines: string) => plainLines.test(lines) }),
    canHold: (value) => units.canHold(value),
  };
}

/** Of what stands between quotes as it is. */
const plainLines = /^[\n -!#-[\]-~]*$/;

type Extent = Pick<FindRowsOptions, 'isEnd' | 'until' | 'units'>;

const maxDepth = 64;
/** Elements of one array that are columns. */
const maxElements = 20;
/** Members and elements of one row. A row is read in one turn. */
const maxValues = 20_000;
/** Values of a row that the next one is expected to be like. To learn more takes longer than to read them. */
const maxAlike = 2_000;

interface Value {
  readonly form: FieldForm;
  readonly start: number;
  readonly end: number;
}
type Found = Value & { readonly pointer: string };

interface Row {
  /** Where its object ends, or what stands in place of one. */
  readonly from: number;
  readonly end: number;
  readonly next: number;
  readonly isBlank: boolean;
}

/**
 * The rows at the beginning of a text. In lines each line is one. Of an array each object is, with the comma and the white
 * space behind it, and the brackets belong to the first and the last. Broken is a row that is no JSON, is no object, is
 * deeper than 64 levels, has more than 20,000 values, or has a member twice in one object: readers differ about which of
 * them counts.
 */
export function findJsonRows(text: string, { rows, pointers }: JsonTable, extent: Extent): SpansOfParts {
  const forms: FieldForm[] = [];
  const broken = new Set<number>();
  const scanner = createScanner(text, false);
  const add = (form: FieldForm, from: number, end: number): void => {
    const at = forms.push(form) - 1;
    if (at === startScratch.length) {
      startScratch = twiceAsLong(startScratch);
      endScratch = twiceAsLong(endScratch);
    }
    startScratch[at] = from;
    endScratch[at] = end;
  };
  const units = extent.units ?? scanUnits(text);
  const alike = createLikeness(text, units, pointers);
  const wanted = new Set(pointers);
  const element = { ...extent, endOf: (from: number) => alike.endOf(from) ?? objectEnd(text, from) };
  let count = 0;
  let start = 0;
  while (start < text.length && start < extent.until) {
    const row = rows === 'lines' ? lineAt(text, start, extent) : elementAt(text, start, element);
    if (row === null) break;
    if (count + 1 === rowScratch.length) {
      rowScratch = twiceAsLong(rowScratch);
      firstScratch = twiceAsLong(firstScratch);
    }
    rowScratch[count] = start;
    firstScratch[count] = forms.length;
    if (row.isBlank) add('none', start, start);
    else if (alike.endOf(row.from) === row.end) alike.each(start, add);
    else {
      const values: Found[] = [];
      const found = new Map<string, Value>();
      const isWhole = readObject({ text, units, scanner }, row, (pointer, value) => {
        if (values.length <= maxAlike) values.push({ ...value, pointer });
        if (wanted.has(pointer)) found.set(pointer, value);
      });
      if (isWhole) {
        if (values.length <= maxAlike) alike.learn(row, values);
        for (const pointer of pointers) {
          const value = found.get(pointer);
          if (value === undefined) add('none', start, start);
          else add(value.form, value.start, value.end);
        }
      } else {
        broken.add(count);
        add('broken', start, row.end);
      }
    }
    count += 1;
    start = row.next;
  }
  rowScratch[count] = start;
  firstScratch[count] = forms.length;
  return {
    count,
    rowStarts: rowScratch.slice(0, count + 1),
    firstFields: firstScratch.slice(0, count + 1),
    fieldStarts: startScratch.slice(0, forms.length),
    fieldEnds: endScratch.slice(0, forms.length),
    forms,
    broken,
    hasQuotes: false,
  };
}

/** Used again by every call, and grown where they are too small. */
let rowScratch = new Int32Array(8 * 1024);
let firstScratch = new Int32Array(8 * 1024);
let startScratch = new Int32Array(64 * 1024);
let endScratch = new Int32Array(64 * 1024);

/**
 * The pointers of all values in the first rows that are no objects or arrays, in their order; so many at most. `isEnd`:
 * whether nothing follows the text.
 */
export function findPointers(
  text: string,
  rows: JsonTable['rows'],
  { max, isEnd }: { readonly max: number; readonly isEnd: boolean },
): string[] {
  const found = new Set<string>();
  const scanned = { text, units: scanUnits(text), scanner: createScanner(text, false) };
  const extent = { isEnd, until: text.length, endOf: (from: number) => objectEnd(text, from) };
  for (let start = 0, count = 0; start < text.length && count < maxLookedAt; count++) {
    const row = rows === 'lines' ? lineAt(text, start, extent) : elementAt(text, start, extent);
    if (row === null) break;
    if (!row.isBlank)
      readObject(scanned, row, (pointer) => {
        if (found.size < max) found.add(pointer);
      });
    start = row.next;
  }
  return [...found];
}

const maxLookedAt = 200;

/**
 * Most rows of a file differ in nothing but their values. One that is as the last one was is taken apart by that, in a
 * quarter of the time that the scanner takes; whatever stands there is as valid as what was there.
 */
function createLikeness(text: string, units: Uint16Array, pointers: readonly string[]) {
  const { length } = text;
  /** What stands before each value, and behind the last one. */
  let between: readonly Uint16Array[] = [];
  let areTexts: readonly boolean[] = [];
  /** Of each column, which value it is; negative where it is none. */
  let valueOf: readonly number[] = [];
  let starts = new Int32Array(0);
  let ends = new Int32Array(0);
  let knownFrom = -1;
  let knownEnd: number | null = null;

  /** Where the text ends that is expected here; negative where another one stands. */
  function behind(expected: Uint16Array, from: number): number {
    const end = from + expected.length;
    if (end > length) return -1;
    for (let at = from, n = 0; at < end; at++, n++) if (units[at] !== expected[n]) return -1;
    return end;
  }

  function match(from: number): number | null {
    let at = from;
    for (let index = 0; index < areTexts.length; index++) {
      at = behind(between[index] ?? nothing, at);
      if (at < 0) return null;
      starts[index] = at;
      at = areTexts[index] === true ? textEnd(text, units, at) : plainEnd(text, at);
      if (at < 0) return null;
      ends[index] = at;
    }
    const last = between[areTexts.length] ?? nothing;
    const end = behind(last, at);
    return last === nothing || end < 0 ? null : end;
  }

  return {
    /** Where the object ends that begins here, if it is as the last one. */
    endOf(from: number): number | null {
      if (from !== knownFrom) {
        knownFrom = from;
        knownEnd = match(from);
      }
      return knownEnd;
    },
    /** The fields of the row that `endOf` was asked about. */
    each(rowStart: number, visit: (form: FieldForm, from: number, end: number) => void): void {
      for (const value of valueOf) {
        const from = starts[value] ?? rowStart;
        const isNull = value >= 0 && areTexts[value] !== true && units[from] === 0x6e;
        if (value < 0) visit('none', rowStart, rowStart);
        else if (isNull) visit('none', from, from);
        else visit(areTexts[value] === true ? 'text' : 'other', from, ends[value] ?? from);
      }
    },
    learn({ from, end }: Pick<Row, 'from' | 'end'>, values: readonly Found[]): void {
      let at = from;
      between = [...values, { start: end, end, form: 'none' as const }].map((value) => {
        const before = units.slice(at, value.start);
        // A null has no length.
        at = value.form === 'none' ? value.start + 'null'.length : value.end;
        return before;
      });
      areTexts = values.map(({ form }) => form === 'text');
      const places = new Map(values.map(({ pointer }, index) => [pointer, index]));
      valueOf = pointers.map((pointer) => places.get(pointer) ?? -1);
      starts = new Int32Array(values.length);
      ends = new Int32Array(values.length);
    },
  };
}

const nothing = new Uint16Array(0);

/** Where a text ends; negative where there is none. What is read behind the end of all decides nothing. */
function textEnd(text: string, units: Uint16Array, from: number): number {
  const { length } = text;
  for (let at = from; at < length; at++) {
    const unit = units[at] ?? 0;
    if (unit === 0x22) return at;
    if (unit < 0x20) return -1;
    if (unit !== 0x5c) continue;
    const sign = units[at + 1] ?? 0;
    const digits = sign === 0x75 ? 4 : 0;
    if (digits === 0 && !escapes.has(sign)) return -1;
    for (let digit = 2; digit < 2 + digits; digit++) if (!isHex(units[at + digit] ?? 0)) return -1;
    at += 1 + digits;
  }
  return -1;
}
const escapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const isHex = (unit: number): boolean =>
  (unit >= 0x30 && unit <= 0x39) || ((unit | 0x20) >= 0x61 && (unit | 0x20) <= 0x66);

/** The same for what is no text and no container. */
function plainEnd(text: string, from: number): number {
  plain.lastIndex = from;
  return plain.test(text) ? plain.lastIndex : -1;
}
const plain = /true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/** Null where it is not all there. */
function lineAt(text: string, start: number, { isEnd }: Extent): Row | null {
  const feed = text.indexOf('\n', start);
  if (feed < 0 && !isEnd) return null;
  const next = feed < 0 ? text.length : feed + 1;
  let end = feed < 0 ? text.length : feed;
  while (end > start && isSpace(text.charCodeAt(end - 1))) end -= 1;
  const from = skip(text, start);
  return { from, end, next, isBlank: from >= end };
}

/** Null where it is not all there. One that is wrong reaches to the end of the text. */
function elementAt(
  text: string,
  start: number,
  { isEnd, endOf }: Extent & { readonly endOf: (from: number) => number },
): Row | null {
  const rest = { from: start, end: text.length, next: text.length, isBlank: false };
  const cut = isEnd ? rest : null;
  let from = skip(text, start);
  if (text[from] === '[') from = skip(text, from + 1);
  if (from >= text.length) return cut;
  if (text[from] !== '{') return rest;
  const end = endOf(from);
  if (end < 0) return cut;
  const separator = skip(text, end);
  if (separator >= text.length) return cut;
  const next = skip(text, separator + 1);
  // White space that goes on belongs to this row.
  if (next === text.length && !isEnd) return null;
  const isLast = text[separator] === ']' && next === text.length;
  return text[separator] === ',' || isLast ? { from, end, next, isBlank: false } : rest;
}

/** Behind the brace that closes the object; negative where none does. */
function objectEnd(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x22) {
      do at = text.indexOf('"', at + 1);
      while (at >= 0 && isEscaped(text, at));
      if (at < 0) return -1;
    } else if (unit === 0x7b || unit === 0x5b) depth += 1;
    else if (unit === 0x7d || unit === 0x5d) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes += 1;
  return slashes % 2 === 1;
}

const isSpace = (unit: number): boolean => unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0d;

function skip(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text.charCodeAt(at))) at += 1;
  return at;
}

/** jsonc-parser's SyntaxKind, whose enumeration is of the compiler alone. */
const tokens = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  colon: 6,
  null: 7,
  true: 8,
  false: 9,
  string: 10,
  number: 11,
} as const;

/** Tells each value that is no container. False where the row is broken: what was told before is of no use then. */
function readObject(
  {
    text,
    units,
    scanner,
  }: { readonly text: string; readonly units: Uint16Array; readonly scanner: JSONScanner },
  row: Pick<Row, 'from' | 'end'>,
  visit: (pointer: string, found: Value) => void,
): boolean {
  let token = 0;
  let count = 0;
  const is = (kind: number): boolean => token === kind;
  let start = 0;
  let end = 0;
  const next = (): void => {
    start = skip(text, end);
    const isText = units[start] === 0x22;
    if (isText) {
      // The scanner makes a text of it, a piece for each escape: of some megabytes that is a long turn.
      token = tokens.string;
      end = textEnd(text, units, start + 1) + 1;
    } else {
      scanner.setPosition(start);
      token = scanner.scan();
      end = scanner.getPosition();
    }
    const isBroken = isText ? end === 0 : (scanner.getTokenError() as number) !== 0;
    // What is behind the row's end is of another one.
    if (isBroken || end > row.end) token = 0;
  };

  function readMembers(pointer: string, depth: number): boolean {
    const names = new Set<string>();
    next();
    if (is(tokens.closeBrace)) return true;
    for (;;) {
      if (!is(tokens.string)) return false;
      const name = textOf(text.slice(start + 1, end - 1));
      if (names.has(name)) return false;
      names.add(name);
      next();
      if (!is(tokens.colon)) return false;
      next();
      if (!readValue(`${pointer}/${partOf(name)}`, depth)) return false;
      next();
      if (is(tokens.closeBrace)) return true;
      if (!is(tokens.comma)) return false;
      next();
    }
  }

  function readElements(pointer: string, depth: number): boolean {
    next();
    if (is(tokens.closeBracket)) return true;
    for (let index = 0; ; index++) {
      if (!readValue(index < maxElements ? `${pointer}/${index}` : null, depth)) return false;
      next();
      if (is(tokens.closeBracket)) return true;
      if (!is(tokens.comma)) return false;
      next();
    }
  }

  /** `pointer` null: no column is made of it. */
  function readValue(pointer: string | null, depth: number): boolean {
    count += 1;
    if (count > maxValues) return false;
    switch (token) {
      case tokens.openBrace:
        return depth < maxDepth && readMembers(pointer ?? none, depth + 1);
      case tokens.openBracket:
        return depth < maxDepth && readElements(pointer ?? none, depth + 1);
      case tokens.string:
        tell(pointer, { form: 'text', start: start + 1, end: end - 1 });
        return true;
      case tokens.null:
        tell(pointer, { form: 'none', start, end: start });
        return true;
      case tokens.number:
      case tokens.true:
      case tokens.false:
        tell(pointer, { form: 'other', start, end });
        return true;
      default:
        return false;
    }
  }

  function tell(pointer: string | null, found: Value): void {
    if (pointer !== null && !pointer.startsWith(none)) visit(pointer, found);
  }

  end = row.from;
  next();
  return is(tokens.openBrace) && readMembers('', 1) && end === row.end;
}

/** No pointer begins so. */
const none = '\0';

/** Of a pointer. Few names have to be changed, and a change copies. */
const partOf = (name: string): string =>
  /[~/]/.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name;

/** What a string says, of its bytes between the quotes as latin1. */
function textOf(raw: string): string {
  // eslint-disable-next-line no-control-regex -- all of ASCII
  const text = /^[\x00-\x7f]*$/.test(raw) ? raw : Buffer.from(raw, 'latin1').toString('utf8');
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}
