import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Reading, Source } from '../../contract/models/batch.ts';
import type { BatchParts } from '../batch.ts';
import { type ByteSource, openFile } from '../../storage/byte-source.ts';
import { look, type SaidReading } from './detect.ts';
import { createOpenedSpools, type Spool } from './opened-spools.ts';
import type { Format } from './read-rows.ts';
import { canonical, convertSheet, type Converted } from './workbook/convert-sheet.ts';

/** What a file is by its first bytes, whatever its name says. `other` carries the words a person knows it by. */
export type FileKind =
  | { readonly kind: 'text' }
  | { readonly kind: 'archive' }
  | { readonly kind: 'other'; readonly name: string };

const signatures: readonly (readonly [bytes: string | readonly number[], name: string])[] = [
  ['%PDF-', 'PDF'],
  [[0x1f, 0x8b], 'gzip archive'],
  ['7z\xbc\xaf\x27\x1c', '7-Zip archive'],
  ['Rar!', 'RAR archive'],
  ['PAR1', 'Parquet file'],
  ['SQLite format 3\0', 'SQLite database'],
  ['\x89PNG', 'picture'],
  [[0xff, 0xd8, 0xff], 'picture'],
  ['{\\rtf', 'RTF document'],
  ['age-encryption.org/', 'file encrypted with age'],
  ['-----BEGIN AGE ENCRYPTED FILE-----', 'file encrypted with age'],
];

const archive = [
  [0x50, 0x4b, 0x03, 0x04],
  [0x50, 0x4b, 0x05, 0x06],
];
const compound = [0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];

export async function fileKind(source: ByteSource): Promise<FileKind> {
  const head = await source.read(0, 512);
  if (!head.ok) return { kind: 'text' };
  const begins = (bytes: string | readonly number[]): boolean => {
    const wanted = typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : Buffer.from(bytes);
    return head.value.subarray(0, wanted.length).equals(wanted);
  };
  if (archive.some(begins)) return { kind: 'archive' };
  if (begins(compound)) return { kind: 'other', name: await compoundName(source, head.value) };
  const known = signatures.find(([bytes]) => begins(bytes));
  return known === undefined ? { kind: 'text' } : { kind: 'other', name: known[1] };
}

/** Microsoft's compound files hold old workbooks, and new ones under a password; their directory says which. */
async function compoundName(source: ByteSource, head: Buffer): Promise<string> {
  if (head.length < 512) return 'damaged Office file';
  const sector = 1 << Math.min(head.readUInt16LE(30), 20);
  const directory = await source.read((head.readUInt32LE(48) + 1) * sector, 4_096);
  const names = directory.ok ? directory.value.toString('utf16le') : '';
  if (names.includes('EncryptedPackage')) return 'Excel workbook with a password';
  return /Workbook|Book/.test(names) ? 'Excel 97–2003 workbook (.xls)' : 'Office 97–2003 file';
}

/** A source the window has a handle for. The path stays here. */
export interface OpenSource {
  readonly source: Source;
  /** The file the rows came from; null for pasted ones. */
  readonly path: string | null;
  readonly bytes: ByteSource;
  /** Rows that don't lie in a text file of their own: the spool that holds them. */
  readonly spool: Spool | null;
  /** What is settled and not for a person to say. */
  readonly fixed: Partial<Reading>;
  /** What converting a sheet found out about it; null for text. */
  readonly converted: Converted | null;
}

export interface Sources {
  /** An Excel workbook is converted first, which takes seconds for a full sheet; `sheet` null: the first with rows. */
  openPath(path: string, sheet?: string | null): Promise<Outcome<Source>>;
  openText(text: string): Promise<Outcome<Source>>;
  /** The same workbook by another of its sheets, as a source of its own. */
  openSheet(sourceId: string, sheet: string): Promise<Outcome<Source>>;
  /** Ends the conversion that is under way. */
  stopOpening(): void;
  find(sourceId: string): Outcome<OpenSource>;
  /** How it is read, with what the person said. Remembered, so that preview, preflight and start agree. */
  format(sourceId: string, said: SaidReading): Promise<Outcome<Format>>;
  /** Removes spools that processes which ended left behind. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

/** More than these are not kept open at once; the oldest goes. */
const kept = 8;

const reportEveryMs = 200;

type Parts = Pick<BatchParts, 'newId' | 'folder' | 'keychain' | 'clock' | 'emit'>;

export function createSources(parts: Parts): Sources {
  const { newId, clock } = parts;
  const open = new Map<string, OpenSource & { readonly spoolPath: string | null }>();
  const spools = createOpenedSpools(parts);
  let converting: AbortController | null = null;

  function add(
    name: string,
    over: Omit<OpenSource, 'source'> & { readonly spoolPath: string | null; readonly size: number },
  ): Source {
    const { size, ...rest } = over;
    const { converted } = rest;
    const source: Source = {
      sourceId: newId(),
      name: name.slice(0, 300).toWellFormed(),
      bytes: size,
      sheet:
        converted === null
          ? null
          : { name: shown(converted.sheet), all: converted.sheets.slice(0, 1_000).map(shown) },
    };
    open.set(source.sourceId, { source, ...rest });
    for (const [id, old] of open) {
      if (open.size <= kept) break;
      open.delete(id);
      void release(old);
    }
    return source;
  }

  async function release(old: { bytes: ByteSource; spoolPath: string | null }): Promise<void> {
    await old.bytes.close().catch(() => undefined);
    if (old.spoolPath !== null) await rm(old.spoolPath, { force: true }).catch(() => undefined);
  }

  function find(sourceId: string): Outcome<OpenSource & { readonly spoolPath: string | null }> {
    const found = open.get(sourceId);
    return found === undefined ? failed('file.unknown') : done(found);
  }

  async function openWorkbook(path: string, size: number, sheet: string | null): Promise<Outcome<Source>> {
    converting?.abort();
    const mine = new AbortController();
    converting = mine;
    const name = basename(path);
    let reportedAt = clock.now();
    const report = (share: number): void => {
      if (clock.now() - reportedAt < reportEveryMs) return;
      reportedAt = clock.now();
      parts.emit('batch.opening', { name: name.slice(0, 300).toWellFormed(), share });
    };
    const found = await spools.fill((create) => convertSheet(path, sheet, create, report, mine.signal));
    if (converting === mine) converting = null;
    if (!found.ok) return named(found, name);
    const { filled, ...rest } = found.value;
    const fixed = { encoding: canonical.encoding, delimiter: canonical.delimiter };
    return done(add(name, { ...rest, path, fixed, converted: filled.converted, size }));
  }

  async function openPath(path: string, sheet: string | null = null): Promise<Outcome<Source>> {
    const bytes = await openFile(path);
    if (!bytes.ok) return bytes;
    const { size } = bytes.value.identity;
    if (size === 0) {
      await bytes.value.close();
      return failed('file.empty');
    }
    const found = await fileKind(bytes.value);
    if (found.kind === 'text') {
      const rest = { bytes: bytes.value, spool: null, spoolPath: null, fixed: {}, converted: null };
      return done(add(basename(path), { ...rest, path, size }));
    }
    await bytes.value.close();
    return found.kind === 'archive'
      ? openWorkbook(path, size, sheet)
      : failed('file.not-a-table', { subject: found.name });
  }

  return {
    openPath,
    async openText(text) {
      if (text.trim() === '') return failed('file.paste-empty');
      const found = await spools.fill(async (create) => {
        const output = await create();
        if (!output.ok) return output;
        const written = await output.value.write(Buffer.from(text.toWellFormed()));
        const finished = written.ok ? await output.value.finish() : written;
        if (!finished.ok) await output.value.abandon();
        return finished;
      });
      if (!found.ok) return found;
      const { bytes, spool, spoolPath } = found.value;
      // A spreadsheet copies blocks with tabs, in the encoding of the clipboard.
      const rest = { bytes, spool, spoolPath, fixed: { encoding: 'utf-8' } as const, converted: null };
      return done(add('Pasted rows', { ...rest, path: null, size: bytes.identity.size }));
    },
    async openSheet(sourceId, sheet) {
      const found = find(sourceId);
      if (!found.ok) return found;
      const { path, converted } = found.value;
      return path === null || converted === null ? failed('file.unknown') : openPath(path, sheet);
    },
    stopOpening() {
      converting?.abort();
    },
    find,
    async format(sourceId, said) {
      const found = find(sourceId);
      if (!found.ok) return found;
      const { bytes, fixed } = found.value;
      const same = await bytes.check();
      if (!same.ok) return same;
      return look(bytes, { ...said, ...fixed });
    },
    sweep: () => spools.sweep(),
    async close() {
      converting?.abort();
      await Promise.allSettled([...open.values()].map(release));
      open.clear();
      await spools.close();
    },
  };
}

const shown = (name: string): string => name.slice(0, 100).toWellFormed();

function named(outcome: Extract<Outcome<never>, { ok: false }>, name: string): typeof outcome {
  const { failure } = outcome;
  const concrete = failure.subject === undefined && failure.code.startsWith('file.workbook');
  return concrete
    ? { ok: false, failure: { ...failure, subject: name.slice(0, 300).toWellFormed() } }
    : outcome;
}
