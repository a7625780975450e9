import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import Papa from 'papaparse';
import { codecOf } from '../../electron/batch/reading/encodings.ts';
import type { Format } from '../../electron/batch/reading/read-rows.ts';
import { rowsAbove } from '../../electron/contract/table-place.ts';

interface Compared {
  /** The source's rows, as the app reads them. */
  readonly rows: readonly (readonly string[])[];
  readonly format: Format;
  readonly mapped: readonly number[];
  readonly mark: string;
}

/** A reader of tables that shares no code with the app's. */
export interface SecondOpinion {
  readonly name: string;
  /** How many pairs it read. */
  readonly count: number;
  /**
   * What differs by its reading of the source and of an export in which each value of the mapped columns got a mark. Null
   * where nothing does, and where it reads the source otherwise than the app: where quotes do not agree there is no one
   * reading.
   */
  compare(source: Buffer, written: Buffer, how: Compared): Promise<string | null>;
  close(): void;
}

type ReadTable = (bytes: Buffer, format: Format) => Promise<string[][] | null>;

/** Python's csv where there is a Python, else papaparse. */
export function openSecondOpinion(): SecondOpinion {
  const hasPython = spawnSync('python3', ['-c', 'import csv']).status === 0;
  const python = hasPython ? startPython() : null;
  const read = python?.read ?? readWithPapa;
  let count = 0;
  return {
    name: hasPython ? 'Python’s csv' : 'papaparse',
    get count() {
      return count;
    },
    async compare(source, written, { rows, format, mapped, mark }) {
      const [before, after] = [await read(source, format), await read(written, format)];
      if (before === null || after === null || !areSame(before, rows)) return null;
      const above = rowsAbove(format);
      const end = before.length - (format.rowsBelow ?? 0);
      count += 1;
      if (before.length !== after.length)
        return `${after.length} rows instead of ${before.length}, as read otherwise`;
      for (const [r, row] of before.entries()) {
        const isOutside = r < above || r >= end;
        for (const [c, cell] of row.entries()) {
          const isSent = !isOutside && mapped.includes(c) && cell.trim() !== '';
          if (after[r]?.[c] !== (isSent ? mark + cell : cell))
            return `row ${r + 1}, column ${c + 1}, as read otherwise`;
        }
      }
      return null;
    },
    close: () => python?.close(),
  };
}

/** Python has no cell in an empty line, others an empty one. */
const areSame = (one: readonly (readonly string[])[], other: readonly (readonly string[])[]): boolean =>
  one.length === other.length &&
  one.every((row, at) => (row.length === 0 ? [''] : row).join('\0') === other[at]?.join('\0'));

const readWithPapa: ReadTable = (bytes, { encoding, delimiter, quote, markLength }) => {
  const { text, clean } = codecOf(encoding).decode(bytes.subarray(markLength));
  if (!clean) return Promise.resolve(null);
  const { data } = Papa.parse<string[]>(text, {
    delimiter,
    quoteChar: quote === 'none' ? '\0' : '"',
    skipEmptyLines: false,
  });
  const last = data.at(-1);
  return Promise.resolve(last?.length === 1 && last[0] === '' ? data.slice(0, -1) : data);
};

/** Names that Python has for encodings where it does not know ours. */
const pythonNames: Readonly<Record<string, string>> = {
  ibm850: 'cp850',
  ibm437: 'cp437',
  ibm852: 'cp852',
  ibm866: 'cp866',
  macintosh: 'mac_roman',
  'x-mac-cyrillic': 'mac_cyrillic',
  'windows-874': 'cp874',
  shift_jis: 'cp932',
  'euc-kr': 'cp949',
  ibm037: 'cp037',
  ibm273: 'cp273',
  ibm500: 'cp500',
  ibm1140: 'cp1140',
};

/** One line in, one line out: a file in base64, and its rows. */
const script = `
import base64, csv, io, json, subprocess, sys
csv.field_size_limit(2**31 - 1)
for line in sys.stdin:
    asked = json.loads(line)
    try:
        raw = base64.b64decode(asked['bytes'])
        try:
            text = raw.decode(asked['encoding'])
        except LookupError:
            asking = ['iconv', '-f', asked['encoding'], '-t', 'utf-8']
            text = subprocess.run(asking, input=raw, capture_output=True, check=True).stdout.decode('utf-8')
        if asked['newline'] == '\\x85':
            text = text.replace('\\x85', '\\n')
        quoting = csv.QUOTE_NONE if asked['quote'] == 'none' else csv.QUOTE_MINIMAL
        rows = list(csv.reader(io.StringIO(text, newline=''), delimiter=asked['delimiter'], quoting=quoting))
    except Exception:
        rows = None
    sys.stdout.write(json.dumps(rows) + '\\n')
    sys.stdout.flush()
`;

function startPython(): { read: ReadTable; close(): void } {
  const child = spawn('python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  return {
    async read(bytes, { encoding, delimiter, quote = '"', markLength, newline }) {
      const asked = {
        bytes: bytes.subarray(markLength).toString('base64'),
        encoding: pythonNames[encoding] ?? encoding,
        delimiter,
        quote,
        newline,
      };
      const answered = once(lines, 'line');
      child.stdin.write(`${JSON.stringify(asked)}\n`);
      const [line] = (await answered) as [string];
      return JSON.parse(line) as string[][] | null;
    },
    close() {
      child.stdin.end();
    },
  };
}
