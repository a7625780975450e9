import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Outcome } from '../../../electron/contract/errors.ts';
import {
  createParser,
  type Parser,
  parserLimits,
  type ParserOptions,
} from '../../../electron/parsing/parser.ts';
import { createEncryptedFile, openEncryptedFile } from '../../../electron/storage/encrypted-file.ts';
import { createRecordCipher } from '../../../electron/storage/encryption.ts';
import { codeOf, valueOf } from '../../support/batch-app.ts';
import { text, workbook } from '../../support/make-workbook.ts';
import { parserWorker } from '../../support/workers.ts';

const cipher = createRecordCipher(new Uint8Array(32).fill(5), 'parser');
let folder: string;
/** What the parser asked the clock for: run, it is the deadline. */
let deadlines: { readonly ms: number; readonly run: () => void }[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokendesk-parser-'));
  deadlines = [];
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function parserWith(limits: NonNullable<ParserOptions['limits']> = {}): Parser {
  const clock = {
    after(ms: number, run: () => void) {
      const deadline = { ms, run };
      deadlines.push(deadline);
      return () => {
        deadlines = deadlines.filter((other) => other !== deadline);
      };
    },
  };
  return createParser({ worker: parserWorker, clock, limits });
}

interface Converting {
  readonly bytes: Buffer;
  readonly parser?: Parser;
  readonly report?: (share: number) => void;
  readonly signal?: AbortSignal;
}

async function convert({
  bytes,
  parser = parserWith(),
  report,
  signal,
}: Converting): Promise<Outcome<unknown>> {
  const path = join(folder, 'in.xlsx');
  await writeFile(path, bytes);
  return parser.readPacked({
    path,
    sheet: null,
    passphrase: null,
    createOutput: () => createEncryptedFile(join(folder, 'copy'), cipher),
    report: report ?? (() => undefined),
    signal: signal ?? new AbortController().signal,
  });
}

const rowsOf = (count: number): string =>
  Array.from({ length: count }, (_, i) => `<row>${text(`A${i + 1}`, `token ${i}`)}</row>`).join('');

/** Compiles in half a second, and is tried for two on each text. */
const slowPattern = '(?:a?){1000}'.repeat(80);
const texts = Array.from({ length: 20 }, () => 'a'.repeat(300));

describe('a sheet', () => {
  it('is the same text that the thread read, encrypted in this one', async () => {
    const shares: number[] = [];
    const outcome = await convert({
      bytes: await workbook({ sheets: [{ name: 'Cards', rows: rowsOf(60_000) }] }),
      report: (share) => shares.push(share),
    });
    expect(outcome).toMatchObject({ ok: true, value: { packed: null, converted: { sheet: 'Cards' } } });
    expect(shares.at(-1)).toBe(1);
    const stored = await readFile(join(folder, 'copy'));
    expect(stored.includes('token 1')).toBe(false);
    const file = await openEncryptedFile(join(folder, 'copy'), cipher);
    const read = (await file?.read(0, 10_000_000))?.toString();
    await file?.close();
    expect(read).toBe(`\ufeff${Array.from({ length: 60_000 }, (_, i) => `token ${i}\n`).join('')}`);
    expect(deadlines).toEqual([]);
  });

  it('that is cancelled leaves no thread, no timer and no file', async () => {
    const abort = new AbortController();
    const outcome = await convert({
      bytes: await workbook({ sheets: [{ rows: rowsOf(60_000) }] }),
      report: () => {
        abort.abort();
      },
      signal: abort.signal,
    });
    expect(codeOf(outcome)).toBe('service.cancelled');
    expect(await readdir(folder)).toEqual(['in.xlsx']);
    expect(deadlines).toEqual([]);
    expect(codeOf(await convert({ bytes: Buffer.from(''), signal: abort.signal }))).toBe('service.cancelled');
  });

  it('that is not read at the deadline is left, without a file', async () => {
    const outcome = await convert({
      bytes: await workbook({ sheets: [{ rows: rowsOf(60_000) }] }),
      report: () => {
        deadlines[0]?.run();
      },
    });
    expect(codeOf(outcome)).toBe('file.workbook-slow');
    expect(await readdir(folder)).toEqual(['in.xlsx']);
  });

  it('that needs more memory than it may have ends its thread, and nothing else', async () => {
    const parser = parserWith({ heapMb: 32 });
    expect(
      codeOf(await convert({ bytes: await workbook({ sheets: [{ rows: rowsOf(100) }] }), parser })),
    ).toBe('ok');
    await rm(join(folder, 'copy'));
    const bytes = await workbook({
      strings: `<si><t>${randomBytes(450_000).toString('hex')}</t></si>`,
      sheets: [{ rows: '<row><c t="s"><v>0</v></c></row>'.repeat(60) }],
    });
    expect(codeOf(await convert({ bytes, parser }))).toBe('file.workbook-too-large');
    expect(await readdir(folder)).toEqual(['in.xlsx']);
    expect(codeOf(await convert({ bytes }))).toBe('ok');
    expect(valueOf(await parser.matchPatterns(['a'], ['a']))).toEqual([[true]]);
  });

  it('ends with the failure of the disk', async () => {
    const path = join(folder, 'in.xlsx');
    await writeFile(path, await workbook({ sheets: [{ rows: rowsOf(60_000) }] }));
    const full = { ok: false, failure: { code: 'file.disk-full' } } as const;
    let written = 0;
    let abandoned = 0;
    const outcome = await parserWith().readPacked({
      path,
      sheet: null,
      passphrase: null,
      createOutput: () =>
        Promise.resolve({
          ok: true,
          value: {
            write: (bytes) =>
              Promise.resolve((written += bytes.length) > 200_000 ? full : { ok: true, value: null }),
            finish: () => Promise.resolve(full),
            abandon: () => Promise.resolve(void (abandoned += 1)),
          },
        }),
      report: () => undefined,
      signal: new AbortController().signal,
    });
    expect(outcome).toEqual(full);
    expect(abandoned).toBe(1);
  });
});

describe('expressions', () => {
  it('are compiled, and found anywhere in the texts', async () => {
    expect(valueOf(await parserWith().matchPatterns(['^4', '1$'], ['41', '14', '4']))).toEqual([
      [true, false, true],
      [true, false, false],
    ]);
    expect(codeOf(await parserWith().matchPatterns(['4', '(?=4)'], []))).toBe('pattern.unsupported');
    expect(codeOf(await parserWith().matchPatterns(['[4'], []))).toBe('pattern.invalid');
  });

  it('that take too long are left', async () => {
    const asked = parserWith().matchPatterns([slowPattern], texts);
    await vi.waitFor(() => {
      expect(deadlines.map(({ ms }) => ms)).toEqual([parserLimits.patternsMs]);
    }, 20_000);
    deadlines[0]?.run();
    expect(codeOf(await asked)).toBe('pattern.slow');
  });

  it('have the time that the thread needs to start as well, and a busy machine is called so', async () => {
    const asked = parserWith().matchPatterns(['4'], ['4']);
    expect(deadlines.map(({ ms }) => ms)).toEqual([parserLimits.startMs]);
    deadlines[0]?.run();
    expect(codeOf(await asked)).toBe('app.busy');
    expect(deadlines).toEqual([]);
  });

  it('that take too much memory are left', async () => {
    const parser = parserWith({ heapMb: 32 });
    expect(valueOf(await parser.matchPatterns(['a'], ['a']))).toEqual([[true]]);
    expect(codeOf(await parser.matchPatterns([slowPattern], texts))).toBe('pattern.slow');
  });
});

it('a thread that can not be started is a bug, and no outcome', async () => {
  const parser = createParser({
    worker: new URL('file:///nowhere/worker.js'),
    clock: { after: () => () => undefined },
  });
  await expect(parser.matchPatterns(['a'], [])).rejects.toThrow();
});

it('the parser’s thread sees nothing of the environment, in which a person may have secrets', async () => {
  const script = `
    import { parentPort } from 'node:worker_threads';
    parentPort.postMessage({ kind: 'ready' });
    parentPort.postMessage({ kind: 'outcome', outcome: { ok: true, value: Object.keys(process.env) } });`;
  const worker = new URL(`data:text/javascript,${encodeURIComponent(script)}`);
  const parser = createParser({ worker, clock: { after: () => () => undefined } });
  expect(await convert({ bytes: Buffer.alloc(0), parser })).toEqual({ ok: true, value: [] });
});

it('a thread that ends without a word is a bug at once, and is not waited for', async () => {
  const worker = new URL(`data:text/javascript,${encodeURIComponent('process.exit(0)')}`);
  const parser = createParser({ worker, clock: { after: () => () => undefined } });
  await expect(parser.matchPatterns(['a'], [])).rejects.toThrow('without an outcome');
});
