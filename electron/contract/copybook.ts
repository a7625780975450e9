import type { RecordColumn } from './models/records.ts';
import { maxRecordBytes, maxRecordColumns } from './record-columns.ts';

interface Copybook {
  readonly columns: readonly RecordColumn[];
  /** Bytes of a record. */
  readonly bytes: number;
  /** What was left out, in words: other descriptions of the same bytes. */
  readonly leftOut: readonly string[];
}

type CopybookProblem = { readonly problem: string };

interface Item {
  readonly level: number;
  readonly name: string;
  readonly words: readonly string[];
}

interface Group {
  readonly item: Item;
  readonly children: Group[];
}

/**
 * The columns of a record as a COBOL copybook describes it: PIC of X, A and 9, USAGE DISPLAY, COMP and COMP-3, SIGN
 * SEPARATE, OCCURS with a fixed number, FILLER and groups. Of several descriptions of the same bytes (REDEFINES) the first
 * is taken. What is packed or binary, or has its sign in a digit, is named so and can't be changed.
 */
export function readCopybook(text: string): Copybook | CopybookProblem {
  const items = sentencesOf(text).flatMap(itemOf);
  const described = items.filter(({ level }) => level !== 66 && level !== 77 && level !== 88);
  if (described.length === 0)
    return { problem: 'There is no item with a level number, as “05 NAME PIC X(10).”' };
  const records = nest(described);
  const [first] = records;
  if (first === undefined || records.length > 1 || (first.children.length === 0 && described.length > 1))
    return { problem: 'It describes more than one record: paste the part of one.' };
  const leftOut: string[] = [];
  const columns: RecordColumn[] = [];
  const used = new Map<string, number>();
  const ended = place(first, 1);
  if ('problem' in ended) return ended;
  if (columns.length === 0) return { problem: 'No item has a PIC clause.' };
  return { columns, bytes: ended.next - 1, leftOut };

  function place({ item, children }: Group, start: number): { next: number } | CopybookProblem {
    const { words, name } = item;
    const redefines = wordAfter(words, 'REDEFINES');
    if (redefines !== null) {
      leftOut.push(`${name} (redefines ${redefines})`);
      return { next: start };
    }
    const times = timesOf(item);
    if (typeof times !== 'number') return times;
    let next = start;
    for (let time = 0; time < times; time++) {
      if (children.length === 0) {
        const field = fieldOf(item);
        if ('problem' in field) return field;
        if (columns.length === maxRecordColumns || next + field.width - 1 > maxRecordBytes)
          return {
            problem: `${name}: a record has at most ${maxRecordBytes} bytes and ${maxRecordColumns} columns.`,
          };
        columns.push({ ...field, name: nameOf(name), start: next });
        next += field.width;
        continue;
      }
      for (const child of children) {
        const placed = place(child, next);
        if ('problem' in placed) return placed;
        next = placed.next;
      }
    }
    return { next };
  }

  /** Each only once, with its number where it occurs again. */
  function nameOf(name: string): string {
    const times = (used.get(name) ?? 0) + 1;
    used.set(name, times);
    return (times === 1 && name !== 'FILLER' ? name : `${name} (${times})`).slice(0, 100);
  }
}

/** Without sequence numbers (columns 1 to 6 and from 73 on), comment lines and what is behind `*>`. */
function sentencesOf(text: string): string[] {
  const lines = text.split(/\r\n|\r|\n/).map((line) => {
    const isNumbered = /^(?:\d{6}| {6})[ */-]/.test(line);
    const body = isNumbered ? line.slice(6, 72) : line;
    return /^\s*[*/]/.test(body) ? '' : body.replace(/\*>.*/, '');
  });
  // A full stop ends an item where nothing or a blank is behind it: within a picture it is a decimal point.
  return lines.join('\n').split(/\.(?=\s|$)/);
}

function itemOf(sentence: string): Item[] {
  const [level = '', ...rest] = sentence.trim().split(/\s+/);
  if (!/^\d{1,2}$/.test(level)) return [];
  const words = rest.map((word) => word.toUpperCase());
  const isUnnamed =
    words.length === 0 || ['PIC', 'PICTURE', 'REDEFINES', 'OCCURS', 'USAGE'].includes(words[0] ?? '');
  const name = isUnnamed ? 'FILLER' : (words.shift() ?? 'FILLER');
  return [{ level: Number(level), name, words }];
}

function nest(items: readonly Item[]): Group[] {
  const roots: Group[] = [];
  const open: Group[] = [];
  for (const item of items) {
    while ((open.at(-1)?.item.level ?? -1) >= item.level) open.pop();
    const group = { item, children: [] };
    (open.at(-1)?.children ?? roots).push(group);
    open.push(group);
  }
  // A part of a record begins with several items of one level.
  const isPart = roots.length > 1 && roots.every(({ item }) => item.level > 1);
  return isPart ? [{ item: { level: 1, name: 'RECORD', words: [] }, children: roots }] : roots;
}

const wordAfter = (words: readonly string[], word: string): string | null => {
  const at = words.indexOf(word);
  return at < 0 ? null : (words[at + 1] ?? '');
};

function timesOf({ name, words }: Item): number | CopybookProblem {
  const times = wordAfter(words, 'OCCURS');
  if (times === null) return 1;
  if (words.includes('DEPENDING'))
    return { problem: `${name}: records whose length depends on a field can’t be read.` };
  return /^\d{1,4}$/.test(times) && Number(times) > 0
    ? Number(times)
    : { problem: `${name}: OCCURS needs a number.` };
}

function fieldOf({ name, words }: Item): Omit<RecordColumn, 'name' | 'start'> | CopybookProblem {
  const has = (...some: string[]): boolean => some.some((word) => words.includes(word));
  if (has('COMP-1', 'COMPUTATIONAL-1')) return { width: 4, packed: true };
  if (has('COMP-2', 'COMPUTATIONAL-2')) return { width: 8, packed: true };
  if (has('INDEX', 'POINTER')) return { width: 4, packed: true };
  const at = words.findIndex((word) => word === 'PIC' || word === 'PICTURE');
  const written = words[at + 1] === 'IS' ? words[at + 2] : words[at + 1];
  if (at < 0 || written === undefined) return { problem: `${name} has no PIC clause.` };
  let picture = '';
  let end = 0;
  for (const [all, symbol = '', count] of written.matchAll(/([A-Z9+$*,./-])(?:\((\d{1,5})\))?/g)) {
    if (Number(count ?? 1) > maxRecordBytes) return { problem: `${name}: PIC ${written} is too long.` };
    picture += symbol.repeat(Number(count ?? 1));
    end += all.length;
  }
  if (end !== written.length || picture === '') return { problem: `${name}: PIC ${written} can’t be read.` };
  const isSigned = picture.startsWith('S');
  const shown = picture.replace(/^S/, '').replaceAll(/[VP]/g, '');
  const isNumber = /^9+$/.test(shown);
  if (has('COMP-3', 'COMPUTATIONAL-3', 'PACKED-DECIMAL'))
    return { width: Math.floor(shown.length / 2) + 1, packed: true };
  if (has('COMP-6', 'COMPUTATIONAL-6')) return { width: Math.ceil(shown.length / 2), packed: true };
  if (has('COMP', 'COMP-4', 'COMP-5', 'BINARY', 'COMPUTATIONAL', 'COMPUTATIONAL-4', 'COMPUTATIONAL-5'))
    return { width: shown.length <= 4 ? 2 : shown.length <= 9 ? 4 : 8, packed: true };
  if (/[GN]/.test(shown)) return { problem: `${name}: PIC ${written} has characters of two bytes.` };
  if (isSigned && !has('SEPARATE')) return { width: shown.length, packed: true };
  // Whether zeros before a number fill it up, or are its own as an SSN's are, only a person knows.
  if (isNumber) return { width: shown.length + (isSigned ? 1 : 0) };
  return { width: shown.length, ...(/^[XA]+$/.test(shown) && { fill: 'left' as const }) };
}
