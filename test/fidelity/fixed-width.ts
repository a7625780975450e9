import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { codecOf } from '../../electron/batch/reading/encodings.ts';
import { readCopybook } from '../../electron/contract/copybook.ts';
import { done } from '../../electron/contract/errors.ts';
import type { Encoding, Plan } from '../../electron/contract/models/batch.ts';
import type { RecordColumn, RecordLayout } from '../../electron/contract/models/records.ts';
import { presetOf } from '../../electron/contract/record-presets.ts';
import { cleartext } from '../../electron/util/cleartext.ts';
import { detokenize, plainExport, type TestApp } from '../support/batch-app.ts';

/** A file of records, and the columns of it that are changed. */
export interface RecordCase {
  readonly name: string;
  readonly bytes: Buffer;
  readonly encoding: Encoding;
  readonly layout: RecordLayout;
  readonly mapped: readonly number[];
}

/** The same numbers for the same seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) >>> 0;
    return state % below;
  };
}

const encoded = (text: string, encoding: Encoding): Buffer => {
  const bytes = codecOf(encoding).encode(text);
  if (!bytes.ok) throw new Error(`${encoding} has no ${bytes.character}`);
  return bytes.bytes;
};

const left = (text: string, width: number): string => text.slice(0, width).padEnd(width);
const right = (text: string, width: number): string => text.slice(0, width).padStart(width);
const zeros = (value: number | string, width: number): string =>
  String(value).slice(0, width).padStart(width, '0');

export function cardOf(n: number, length = 16): string {
  const body = `4${zeros(400_000 + n * 7_919, length - 2)}`.slice(0, length - 1);
  for (let digit = 0; digit < 10; digit++) {
    let sum = 0;
    Array.from(`${body}${digit}`)
      .reverse()
      .forEach((one, at) => {
        const value = Number(one) * (at % 2 === 0 ? 1 : 2);
        sum += value > 9 ? value - 9 : value;
      });
    if (sum % 10 === 0) return `${body}${digit}`;
  }
  throw new Error(body);
}

const people = ['MUELLER JUERGEN', 'SMITH JOHN', "O'NEIL PAT", 'GARCIA LOPEZ ANA', 'LI WEI'];

/** A file header, one batch with its control, and the control of the file, filled up to blocks of ten. */
export function nachaFile(entries: number, seed = 1): string {
  const next = numbers(seed);
  const lines = [
    `101 05320001${zeros(4, 1)}0640${zeros(1, 5)}2611260730A094101${left('FEDERAL RESERVE', 23)}${left('FIRST BANK', 23)}${left('', 8)}`,
    `5220${left('ACME CORP', 16)}${left('', 20)}${left('1234567890', 10)}PPD${left('PAYROLL', 10)}${left('261126', 6)}261127   105320001${zeros(1, 7)}`,
  ];
  let hash = 0;
  let amounts = 0;
  for (let n = 0; n < entries; n++) {
    const bank = 5_320_001 + next(900);
    const amount = next(900_000);
    hash += bank;
    amounts += amount;
    const account = next(3) === 0 ? cardOf(n) : String(10_000_000 + next(80_000_000));
    lines.push(
      `622${zeros(bank, 8)}${next(10)}${left(account, 17)}${zeros(amount, 10)}${left(`ID${n}`, 15)}${left(people[n % 5] ?? '', 22)}  ${n % 4 === 0 ? 1 : 0}05320001${zeros(n, 7)}`,
    );
    if (n % 4 === 0) lines.push(`705${left(`INVOICE ${n}`, 80)}${zeros(1, 4)}${zeros(n, 7)}`);
  }
  const count = lines.length - 2;
  lines.push(
    `8220${zeros(count, 6)}${zeros(hash, 10)}${zeros(amounts, 12)}${zeros(0, 12)}1234567890${left('', 25)}05320001${zeros(1, 7)}`,
    `9${zeros(1, 6)}${zeros(1, 6)}${zeros(count, 8)}${zeros(hash, 10)}${zeros(amounts, 12)}${zeros(0, 12)}${left('', 39)}`,
  );
  while (lines.length % 10 !== 0) lines.push('9'.repeat(94));
  return lines.map((line) => left(line, 94)).join('\n') + '\n';
}

/** Parts of 128 characters: one A, payments of two parts or more, one E. */
export function dtausFile(payments: number, seed = 1): string {
  const next = numbers(seed);
  const parts = [
    left(`0128AGK10010010${zeros(0, 8)}${left('FIRMA GMBH', 27)}261126    ${zeros(123_456, 10)}`, 127) + '1',
  ];
  let [accounts, banks, sum] = [0, 0, 0];
  for (let n = 0; n < payments; n++) {
    const extras = n % 3;
    const bank = 10_010_010 + next(70_000_000);
    const account = 1_000_000 + next(900_000_000);
    const cents = next(1_000_000);
    accounts += account;
    banks += bank;
    sum += cents;
    parts.push(
      `${zeros(187 + extras * 29, 4)}C${zeros(0, 8)}${zeros(bank, 8)}${zeros(account, 10)}0${zeros(n, 11)}051000 ${zeros(0, 11)}10010010${zeros(123_456, 10)}${zeros(cents, 11)}   ${left(people[n % 5] ?? '', 27)}${left('', 8)}`,
      left(
        `${left('FIRMA GMBH', 27)}${left(`RECHNUNG ${n}`, 27)}1  ${zeros(extras, 2)}02${left('MEHR TEXT', 27)}`,
        128,
      ),
    );
  }
  parts.push(
    left(
      `0128E     ${zeros(payments, 7)}${zeros(0, 13)}${zeros(accounts, 17)}${zeros(banks, 17)}${zeros(sum, 13)}`,
      128,
    ),
  );
  return parts.join('');
}

/** A header, drafts with a second component now and then, and a trailer. */
export function settlementFile(drafts: number, seed = 1): string {
  const next = numbers(seed);
  const lines = [left('90012345626331', 168)];
  for (let n = 0; n < drafts; n++) {
    lines.push(
      left(
        `${['05', '06', '07'][n % 3]}00${cardOf(n)}000   ${zeros(next(1e9), 23)}${zeros(1_234, 8)}1126${zeros(next(1e6), 12)}978${zeros(next(1e6), 12)}978${left(`SHOP ${n}`, 25)}${left('KOELN', 13)}${left('DE', 3)}5411${left('50667', 5)}    1`,
        168,
      ),
    );
    if (n % 2 === 0) lines.push(left(`0501${zeros(next(1e9), 12)}${left('ADDENDUM', 40)}`, 168));
  }
  lines.push(left(`9200${zeros(drafts, 10)}`, 168));
  return lines.join('\r\n') + '\r\n';
}

export const copybook = `
      * A card master record.
       01  CARD-RECORD.
           05  REC-TYPE             PIC X(02).
           05  CARD-NO              PIC X(19).
           05  HOLDER.
               10  LAST-NAME        PIC X(20).
               10  FIRST-NAME       PIC X(15).
           05  BALANCE              PIC S9(9)V99 COMP-3.
           05  LIMITS               OCCURS 2 TIMES.
               10  LIMIT-AMOUNT     PIC 9(7).
           05  OPENED               PIC 9(8).
           05  OPENED-PARTS REDEFINES OPENED.
               10  OPENED-YEAR      PIC 9(4).
               10  FILLER           PIC X(4).
           05  FILLER               PIC X(3).
`;

/** Records of a mainframe, one behind the other, with a packed number in each and other records between. */
export function cardMaster(
  records: number,
  encoding: Encoding,
  seed = 1,
): { bytes: Buffer; layout: RecordLayout } {
  const next = numbers(seed);
  const read = readCopybook(copybook);
  if ('problem' in read) throw new Error(read.problem);
  const parts: Buffer[] = [];
  for (let n = 0; n < records; n++) {
    const isOther = n % 6 === 5;
    const packed = Buffer.from(`${zeros(next(1e9), 11)}${n % 2 === 0 ? 'c' : 'd'}`, 'hex');
    parts.push(
      encoded(
        `${isOther ? 'ZZ' : '10'}${left(cardOf(n, 16), 19)}${left(people[next(5)] ?? '', 20)}${left('ANN', 15)}`,
        encoding,
      ),
      packed,
      encoded(
        `${zeros(next(1e6), 7)}${zeros(next(1e6), 7)}2024${zeros(1 + next(12), 2)}${zeros(1 + next(28), 2)}   `,
        encoding,
      ),
    );
  }
  const layout: RecordLayout = {
    lines: false,
    bytes: read.bytes,
    only: { start: 1, texts: ['10'] },
    columns: [...read.columns],
  };
  return { bytes: Buffer.concat(parts), layout };
}

/** Tables of several widths, kinds of padding and line ends, some with their blanks at the end cut off. */
function table(seed: number): RecordCase {
  const next = numbers(seed + 77);
  const encodings: readonly Encoding[] = ['utf-8', 'windows-1252', 'ibm037', 'ibm1141', 'iso-8859-2'];
  const encoding = encodings[seed % encodings.length] ?? 'utf-8';
  const isCut = seed % 4 === 1;
  const lineEnd = encoding.startsWith('ibm') ? '\x85' : seed % 2 === 0 ? '\n' : '\r\n';
  let start = 1;
  const columns = Array.from({ length: 3 + (seed % 4) }, (_, n): RecordColumn => {
    start += seed % 3 === 0 ? next(3) : 0;
    const width = 6 + next(14);
    const fill = ([undefined, 'left', 'right', 'zeros'] as const)[(seed + n) % 4];
    const column = { name: `C${n}`, start, width, ...(fill !== undefined && { fill }) };
    start += width;
    return column;
  });
  const length = start - 1;
  const hasTypes = seed % 2 === 1;
  const rows = Array.from({ length: 5 + (seed % 20) }, (_, r) => {
    let line = '';
    for (const { start: from, width, fill } of columns) {
      const text = `${1 + next(9)}${'ABC'[next(3)]}${next(1_000)}`.slice(0, Math.max(1, next(width + 1)));
      const value = r % 7 === 6 ? '' : text;
      line = left(line, from - 1);
      line +=
        fill === 'right' ? right(value, width) : fill === 'zeros' ? zeros(value, width) : left(value, width);
    }
    if (hasTypes) line = `${r % 4 === 3 ? 'T' : 'D'}${line}`;
    line = left(line, length + (hasTypes ? 1 : 0));
    return isCut ? line.trimEnd() : line;
  });
  const layout: RecordLayout = {
    lines: true,
    ...(!isCut && { bytes: length + (hasTypes ? 1 : 0) }),
    ...(hasTypes && { only: { start: 1, texts: ['D'] } }),
    columns: hasTypes ? columns.map((column) => ({ ...column, start: column.start + 1 })) : columns,
  };
  return {
    name: `table ${seed} in ${encoding}`,
    bytes: encoded(rows.join(lineEnd) + lineEnd, encoding),
    encoding,
    layout,
    mapped: [0, columns.length - 1],
  };
}

const column = (layout: RecordLayout, name: string): number =>
  layout.columns.findIndex((one) => one.name === name);

export const fixedWidthCorpora: Readonly<Record<string, (count: number) => RecordCase[]>> = {
  'NACHA files': (count) =>
    Array.from({ length: count }, (_, n) => {
      const layout = presetOf('nacha');
      const encoding = (['utf-8', 'ibm037'] as const)[n % 2] ?? 'utf-8';
      const text = nachaFile(1 + (n % 30), n);
      const bytes = encoded(encoding === 'utf-8' ? text : text.replaceAll('\n', '\x85'), encoding);
      return {
        name: `NACHA ${n}`,
        bytes,
        encoding,
        layout,
        mapped: [column(layout, 'Account number'), column(layout, 'Individual name')],
      };
    }),
  'DTAUS files': (count) =>
    Array.from({ length: count }, (_, n) => {
      const layout = presetOf('dtaus');
      return {
        name: `DTAUS ${n}`,
        bytes: encoded(dtausFile(1 + (n % 30), n), 'utf-8'),
        encoding: 'utf-8' as const,
        layout,
        mapped: [column(layout, 'Account of the payee'), column(layout, 'Name of the payee')],
      };
    }),
  'card settlement files': (count) =>
    Array.from({ length: count }, (_, n) => {
      const layout = presetOf('base2');
      return {
        name: `settlement ${n}`,
        bytes: encoded(settlementFile(1 + (n % 30), n), 'utf-8'),
        encoding: 'utf-8' as const,
        layout,
        mapped: [column(layout, 'Account number'), column(layout, 'Merchant name')],
      };
    }),
  'records of a copybook in EBCDIC': (count) =>
    Array.from({ length: count }, (_, n) => {
      const encoding = (['ibm037', 'ibm273', 'ibm1047', 'ibm1148'] as const)[n % 4] ?? 'ibm037';
      const { bytes, layout } = cardMaster(2 + (n % 30), encoding, n);
      return {
        name: `copybook ${n}`,
        bytes,
        encoding,
        layout,
        mapped: [column(layout, 'CARD-NO'), column(layout, 'LAST-NAME')],
      };
    }),
  'tables of fixed widths': (count) => Array.from({ length: count }, (_, n) => table(n)),
};

/** Records by slices of bytes: a reader that shares no code with the app's. */
const script = `
import base64, json, subprocess, sys
names = {'ibm037': 'cp037', 'ibm273': 'cp273', 'ibm500': 'cp500', 'ibm1140': 'cp1140', 'windows-1252': 'cp1252'}
def decode(raw, encoding):
    try:
        return raw.decode(names.get(encoding, encoding))
    except LookupError:
        asking = ['iconv', '-f', encoding, '-t', 'utf-8']
        return subprocess.run(asking, input=raw, capture_output=True, check=True).stdout.decode('utf-8')
def encode(text, encoding):
    try:
        return text.encode(names.get(encoding, encoding))
    except LookupError:
        asking = ['iconv', '-f', 'utf-8', '-t', encoding]
        return subprocess.run(asking, input=text.encode('utf-8'), capture_output=True, check=True).stdout
def records(raw, layout, end):
    if not layout['lines']:
        size = layout['bytes']
        return [(raw[at:at + size], b'') for at in range(0, len(raw), size)]
    parts = raw.split(end)
    found = [(part, end) for part in parts[:-1]] + ([(parts[-1], b'')] if parts[-1] else [])
    cr = b'\\r'
    return [(body[:-1], cr + tail) if body.endswith(cr) else (body, tail) for body, tail in found]
for line in sys.stdin:
    asked = json.loads(line)
    layout, encoding = asked['layout'], asked['encoding']
    raw = base64.b64decode(asked['bytes'])
    end = b'\\x15' if encoding.startswith('ibm') else b'\\n'
    answer = []
    for body, tail in records(raw, layout, end):
        only = layout.get('only')
        texts = [encode(text, encoding) for text in only['texts']] if only else []
        chosen = not only or any(body[only['start'] - 1:].startswith(text) for text in texts)
        values, rest, at = [], [], 0
        for index in asked['mapped']:
            field = layout['columns'][index]
            first = field['start'] - 1
            cut = body[first:first + field['width']]
            rest.append(body[at:first].hex())
            at = first + field['width']
            value = decode(cut, encoding).strip(' ')
            values.append(value.lstrip('0') if field.get('fill') == 'zeros' else value)
        rest.append(body[at:].hex())
        answer.append([values, rest + [tail.hex()]] if chosen else [None, [body.hex(), tail.hex()]])
    sys.stdout.write(json.dumps(answer) + '\\n')
    sys.stdout.flush()
`;

type ReadRecords = (one: Omit<RecordCase, 'name'>) => Promise<[values: string[] | null, rest: string[]][]>;

export const hasPython = (): boolean => spawnSync('python3', ['--version']).status === 0;

export function openRecordReader(): { read: ReadRecords; close(): void } {
  const child = spawn('python3', ['-c', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  return {
    async read({ bytes, ...asked }) {
      const answered = once(lines, 'line');
      child.stdin.write(`${JSON.stringify({ ...asked, bytes: bytes.toString('base64') })}\n`);
      const [line] = (await answered) as [string];
      return JSON.parse(line) as Awaited<ReturnType<ReadRecords>>;
    },
    close() {
      child.stdin.end();
    },
  };
}

/**
 * Each file is tokenized with a token for each value, read by the other reader, and detokenized from what was written: the
 * bytes must be those of the source.
 */
export async function runRecordCases(
  app: TestApp,
  cases: readonly RecordCase[],
  read: ReadRecords,
): Promise<{ cases: number; identical: number; differing: { name: string; why: string }[] }> {
  const differing: { name: string; why: string }[] = [];
  for (const one of cases) {
    const why = await runRecordCase(app, one, read).catch((error: unknown) => String(error));
    if (why !== null) differing.push({ name: one.name, why });
  }
  return { cases: cases.length, identical: cases.length - differing.length, differing };
}

async function runRecordCase(app: TestApp, one: RecordCase, read: ReadRecords): Promise<string | null> {
  const { bytes, encoding, layout, mapped } = one;
  const tokens = new Map<string, string>();
  const values = new Map<string, string>();
  const tokenOf = (value: string): string => {
    const known = tokens.get(value);
    if (known !== undefined) return known;
    const token = `t${tokens.size.toString(36)}`.slice(0, 5);
    tokens.set(value, token);
    values.set(token, value);
    return token;
  };
  const plan: Plan = {
    reading: { encoding, delimiter: ',', header: false, records: layout },
    columns: mapped.map((index) => detokenize(index, { definition: 'text' })),
  };
  const written = await runThrough(app, { bytes, plan, answer: tokenOf });
  if (typeof written === 'string') return written;
  const [before, after] = [await read(one), await read({ ...one, bytes: written })];
  if (before.length !== after.length) return `${after.length} records instead of ${before.length}`;
  for (const [at, [old, rest]] of before.entries()) {
    const [found, others] = after[at] ?? [null, []];
    const cutAt = (parts: readonly string[]): string =>
      JSON.stringify(layout.bytes === undefined ? parts.slice(0, -2) : parts);
    if (cutAt(rest) !== cutAt(others)) return `record ${at + 1}: other bytes changed`;
    const wanted = old?.map((value) => (value === '' ? '' : (tokens.get(value) ?? 'not sent')));
    if (JSON.stringify(wanted ?? null) !== JSON.stringify(found))
      return `record ${at + 1}: ${JSON.stringify([old, found])}`;
  }
  const back = await runThrough(app, { bytes: written, plan, answer: (token) => values.get(token) ?? token });
  if (typeof back === 'string') return back;
  return back.equals(bytes)
    ? null
    : `back: ${back.toString('latin1')} instead of ${bytes.toString('latin1')}`;
}

async function runThrough(
  app: TestApp,
  { bytes, plan, answer }: { bytes: Buffer; plan: Plan; answer: (value: string) => string },
): Promise<Buffer | string> {
  app.service.answer = (_, elements) =>
    done({
      requestId: 'r',
      elements: elements.map(({ ref, value }) => ({
        ref,
        ok: true as const,
        value: cleartext(answer(value)),
      })),
    });
  const path = join(app.folder, 'case.dat');
  await writeFile(path, bytes);
  const job = await app.run(await app.open(path), plan);
  if (job.state !== 'finished') return `the job is ${job.state}: ${job.failure?.code ?? ''}`;
  if (job.tally.failed > 0) return `${job.tally.failed} failed: ${job.failures[0]?.code ?? ''}`;
  const exported = await app.batch['batch.export']({ ...plainExport, safety: 'source', jobId: job.jobId });
  if (!exported.ok || exported.value === null)
    return `not exported: ${exported.ok ? '' : exported.failure.code}`;
  const target = join(app.folder, exported.value.name);
  const written = await readFile(target);
  await rm(target);
  await app.batch['batch.discard']({ jobId: job.jobId });
  return written;
}
