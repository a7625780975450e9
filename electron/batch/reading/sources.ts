import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Reading, Source, Layout } from '../../contract/models/batch.ts';
import type { Packed } from '../../contract/models/packed.ts';
import { asksPassphrase } from '../../contract/packed-names.ts';
import { maskNumbers } from '../../masking/masking.ts';
import { type ByteSource, type Identity, openFile } from '../../storage/byte-source.ts';
import type { BatchOptions } from '../options.ts';
import { hidesAnything, hidesByName } from './columns.ts';
import { detectFormat, type DetectedFormat } from './detect.ts';
import { codecOf } from './encodings.ts';
import { createEncryptedCopies, type EncryptedCopies, type EncryptedCopy } from './encrypted-copies.ts';
import { detectFileKind, type FileKind } from './file-kind.ts';
import { readJsonTable } from './json-table.ts';
import { canonical, type Converted } from '../../parsing/workbook/convert-sheet.ts';
import { layoutOf, type ReadingOverrides } from './layout.ts';
import { dividesRecords } from './record-lines.ts';
import { firstRecords } from './read-rows.ts';
import { openCleartext } from '../../util/cleartext.ts';
import { placeOf } from '../../contract/table-place.ts';
import { isBlank } from '../../util/blank.ts';

/** A source the window has a handle for. The path stays here. */
export interface OpenSource {
  readonly source: Source;
  /** The file the rows came from; null for pasted ones. */
  readonly path: string | null;
  readonly bytes: ByteSource;
  /** Null where the rows are in a text file of their own. */
  readonly copy: EncryptedCopy | null;
  /** The file as it was when it was opened; null where there is none. */
  readonly file: Identity | null;
  /** What is known of its reading, and not for a person to choose. */
  readonly fixed: Partial<Reading>;
  /** What converting a sheet found out about it; null for text. */
  readonly converted: Converted | null;
  /** Whether its rows are those of a sheet, also where a job stored them. */
  readonly isSheet: boolean;
  /** What was taken off around the table; null where nothing was. */
  readonly packed: Packed | null;
}

export interface Sources {
  /**
   * An Excel workbook is converted first, and an archive unpacked, which takes seconds for a large one. Failures: file.*,
   * keychain.*, service.cancelled. After file.passphrase-needed and file.passphrase-wrong the file waits for
   * `openEncrypted`, unless it was opened with a signal.
   */
  openPath(path: string, how?: OpenOptions): Promise<Outcome<Source>>;
  /** Opens the file that waits for its passphrase. Failures: file.unknown where none does, and those of `openPath`. */
  openEncrypted(passphrase: string): Promise<Outcome<Source>>;
  /** Failures: file.paste-empty, file.no-room, file.disk-full, file.unwritable, keychain.*. */
  openText(text: string): Promise<Outcome<Source>>;
  /**
   * The rows of a job that stored them, as a copy of its own; `reading` is how the job read them.
   * Failures: file.*, keychain.*, job.damaged.
   */
  openStored(stored: {
    name: string;
    path: string | null;
    reading: Reading;
    bytes: Pick<ByteSource, 'identity' | 'read'>;
    isSheet: boolean;
    packed: Packed | null;
  }): Promise<Outcome<Source>>;
  /** Opens another sheet of the same workbook, as a source of its own. */
  openSheet(sourceId: string, sheet: string, how?: Pick<OpenOptions, 'signal'>): Promise<Outcome<Source>>;
  /** Ends the conversion that is under way. */
  stopOpening(): void;
  /** Failure: file.unknown. */
  find(sourceId: string): Outcome<OpenSource>;
  /**
   * How it is read. Found out once for each set of overrides and remembered, so that preview, preflight and start
   * agree. Failures: file.unknown, file.changed, and those of `detectFormat`.
   */
  format(sourceId: string, overrides: ReadingOverrides): Promise<Outcome<DetectedFormat>>;
  /** Of the files that are open. */
  paths(): string[];
  /** Of one that nobody looks at any more. */
  close(sourceId: string): void;
  /** For what is no source, and must not outlive this process either. */
  readonly copies: Pick<EncryptedCopies, 'create'>;
  /** Removes what processes that have ended left behind. */
  removeStale(): Promise<void>;
  closeAll(): Promise<void>;
}

interface OpenOptions {
  /** Of a workbook; null: the first with rows. */
  readonly sheet?: string | null;
  /** Ends this conversion. With it, it is none that a person waits for, who may open another file meanwhile. */
  readonly signal?: AbortSignal;
}

/** When more are open the oldest is closed. */
const maxOpen = 8;

const reportEveryMs = 200;
const copiedBytes = 512 * 1024;

interface Entry extends OpenSource {
  readonly formats: Map<string, DetectedFormat>;
}

export function createSources(
  options: Pick<BatchOptions, 'folder' | 'keychain' | 'clock' | 'parser' | 'platform' | 'freeBytes'>,
): Sources {
  const { clock, parser, platform } = options;
  const open = new Map<string, Entry>();
  const copies = createEncryptedCopies(options);
  let converting: AbortController | null = null;
  /** Its path stays here, so that the window names no file with the passphrase that a person types. */
  let encrypted: { readonly path: string; readonly sheet: string | null } | null = null;

  function add(name: string, size: number, opened: Omit<OpenSource, 'source'>): Source {
    const { converted, packed } = opened;
    const source: Source = {
      sourceId: randomUUID(),
      name: maskNumbers(shorten(name, 300)),
      bytes: size,
      sheet:
        converted === null
          ? null
          : {
              name: shownSheets(converted).find(({ title }) => title === converted.sheet)?.name ?? '',
              all: shownSheets(converted)
                .slice(0, 1_000)
                .map(({ name: shown, rows }) => ({ name: shown, rows })),
            },
      ...(packed !== null && { packed }),
    };
    open.set(source.sourceId, { source, ...opened, formats: new Map() });
    for (const [id, oldest] of open) {
      if (open.size <= maxOpen) break;
      open.delete(id);
      void release(oldest);
    }
    return source;
  }

  async function release({ bytes, copy }: Pick<OpenSource, 'bytes' | 'copy'>): Promise<void> {
    await bytes.close().catch(() => undefined);
    if (copy !== null) await rm(copy.path, { force: true }).catch(() => undefined);
  }

  function find(sourceId: string): Outcome<Entry> {
    const found = open.get(sourceId);
    return found === undefined ? failed('file.unknown') : done(found);
  }

  interface PackedFile extends OpenOptions {
    readonly path: string;
    readonly file: Identity;
    readonly passphrase: string | null;
  }

  async function openPacked({
    path,
    file,
    sheet = null,
    passphrase,
    signal: own,
  }: PackedFile): Promise<Outcome<Source>> {
    if (own === undefined) converting?.abort();
    const abort = new AbortController();
    if (own === undefined) converting = abort;
    const signal = own ?? abort.signal;
    const name = basename(path);
    let reportedAt = clock.now();
    const report = (share: number): void => {
      if (own !== undefined || clock.now() - reportedAt < reportEveryMs) return;
      reportedAt = clock.now();
      platform.send('batch.opening', { name: maskNumbers(shorten(name, 300)), share });
    };
    const created = await copies.create((createOutput) =>
      parser.readPacked({ path, sheet, passphrase, createOutput, report, signal }),
    );
    if (converting === abort) converting = null;
    if (!created.ok) {
      if (asksPassphrase(created.failure) && own === undefined) encrypted = { path, sheet };
      return withFileName(created, name);
    }
    if (own === undefined) encrypted = null;
    const { result, bytes, copy } = created.value;
    const { packed, converted } = result;
    const found = { path, bytes, copy, file, converted, packed };
    if (converted !== null) {
      const fixed = {
        ...layoutOf(canonical),
        quote: undefined,
        records: undefined,
        encoding: canonical.encoding,
      };
      return done(add(name, file.size, { ...found, fixed, isSheet: true }));
    }
    const fixed = await fixedOf(bytes);
    if (fixed.ok) return done(add(name, file.size, { ...found, fixed: fixed.value, isSheet: false }));
    await release({ bytes, copy });
    return fixed;
  }

  async function openPath(
    path: string,
    how: OpenOptions = {},
    passphrase: string | null = null,
  ): Promise<Outcome<Source>> {
    const bytes = await openFile(path);
    if (!bytes.ok) return bytes;
    const { identity: file } = bytes.value;
    if (file.size === 0) {
      await bytes.value.close();
      return failed('file.empty');
    }
    const found = await detectFileKind(bytes.value);
    if (found.kind === 'packed') {
      await bytes.value.close();
      return openPacked({ path, file, passphrase, ...how });
    }
    const fixed = await fixedOf(bytes.value, found);
    if (!fixed.ok) {
      await bytes.value.close();
      return fixed;
    }
    const opened = { path, bytes: bytes.value, copy: null, file, fixed: fixed.value, converted: null };
    return done(add(basename(path), file.size, { ...opened, isSheet: false, packed: null }));
  }

  return {
    openPath: (path, how) => openPath(path, how),
    openEncrypted(passphrase) {
      if (encrypted === null) return Promise.resolve(failed('file.unknown'));
      return openPath(encrypted.path, { sheet: encrypted.sheet }, passphrase);
    },
    async openText(text) {
      if (isBlank(text)) return failed('file.paste-empty');
      const created = await copies.create(async (createFile) => {
        const output = await createFile();
        if (!output.ok) return output;
        return output.value.write(Buffer.from(text.toWellFormed()));
      });
      if (!created.ok) return created;
      const { bytes, copy } = created.value;
      const fixed = { encoding: 'utf-8' } as const;
      return done(
        add('Pasted rows', bytes.identity.size, {
          path: null,
          bytes,
          copy,
          file: null,
          fixed,
          converted: null,
          isSheet: false,
          packed: null,
        }),
      );
    },
    async openStored({ name, path, reading, bytes: stored, ...kind }) {
      const { size } = stored.identity;
      const created = await copies.create(async (createFile) => {
        const output = await createFile();
        if (!output.ok) return output;
        for (let offset = 0; offset < size; offset += copiedBytes) {
          const block = await stored.read(offset, Math.min(copiedBytes, size - offset));
          const written = block.ok ? await output.value.write(block.value) : block;
          if (!written.ok) return written;
        }
        return done(null);
      });
      if (!created.ok) return created;
      const { bytes, copy } = created.value;
      const fixed = { ...layoutOf(reading), encoding: reading.encoding };
      return done(add(name, size, { path, bytes, copy, file: null, fixed, converted: null, ...kind }));
    },
    async openSheet(sourceId, sheet, how = {}) {
      const found = find(sourceId);
      if (!found.ok) return found;
      const { path, converted } = found.value;
      const title =
        converted === null ? undefined : shownSheets(converted).find(({ name }) => name === sheet)?.title;
      return path === null || title === undefined
        ? failed('file.unknown')
        : openPath(path, { ...how, sheet: title });
    },
    stopOpening() {
      converting?.abort();
    },
    find,
    async format(sourceId, overrides) {
      const found = find(sourceId);
      if (!found.ok) return found;
      const { bytes, fixed, formats } = found.value;
      const unchanged = await bytes.check();
      if (!unchanged.ok) return unchanged;
      // Whether a text is JSON is main's to say.
      const reading = { ...overrides, json: undefined, ...fixed };
      const remembered = formats.get(keyOf(reading));
      if (remembered !== undefined) return done(remembered);
      const detected = await detectFormat(bytes, reading);
      if (!detected.ok) return detected;
      // Also under what was found: a plan has the reading that the preview showed.
      const format =
        formats.get(keyOf(detected.value)) ?? (await hideForeign(bytes, reading, detected.value));
      formats.set(keyOf(reading), format);
      formats.set(keyOf(format), format);
      return done(format);
    },
    paths: () => [...open.values()].flatMap(({ path }) => (path === null ? [] : [path])),
    close(sourceId) {
      const found = open.get(sourceId);
      open.delete(sourceId);
      if (found !== undefined) void release(found);
    },
    copies,
    removeStale: () => copies.removeStale(),
    async closeAll() {
      converting?.abort();
      await Promise.allSettled([...open.values()].map(release));
      open.clear();
      await copies.close();
    },
  };
}

/**
 * What of its reading is certain, where it is a table. Whether a text is JSON, and by what its values are found, is main's to
 * say alone. Failures: file.not-a-table, file.json-damaged, and those of reading.
 */
async function fixedOf(bytes: ByteSource, known?: FileKind): Promise<Outcome<Partial<Reading>>> {
  const found = known ?? (await detectFileKind(bytes));
  switch (found.kind) {
    case 'text':
      return done({});
    case 'json':
      return readJsonTable(bytes, found.rows);
    case 'packed':
      return failed('file.not-a-table', { subject: 'archive in an archive' });
    case 'other':
      return failed('file.not-a-table', { subject: found.name });
  }
}

/** What a card number, an SSN, an IBAN or an address may be divided at: its parts are not known for what they are. */
const dividesValues = /[\p{L}\p{N}\s@._+-]/u;

/**
 * Bytes that are read in units of another size have other letters, of which the file can be made again, and a value that is
 * divided by a delimiter is not recognised: where main's own reading of them hides anything, all of it is hidden.
 */
async function hideForeign(
  bytes: ByteSource,
  { encoding, delimiter, records }: ReadingOverrides,
  format: DetectedFormat,
): Promise<DetectedFormat> {
  if (format.json !== undefined) return format;
  if (records !== undefined && (await dividesAnything(bytes, format))) return { ...format, hidesAll: true };
  const mayDivide = delimiter !== undefined && delimiter !== '\t' && dividesValues.test(delimiter);
  if (encoding === undefined && delimiter === undefined && records === undefined) return format;
  const own = await detectFormat(bytes, {});
  if (!own.ok) return mayDivide ? { ...format, hidesAll: true } : format;
  const [ownCodec, codec] = [codecOf(own.value.encoding), codecOf(format.encoding)];
  const hasOtherUnits = ownCodec.viewUnit !== codec.viewUnit || ownCodec.extendsAscii !== codec.extendsAscii;
  // Numbers that touch in a record are not told apart in a line of it.
  const isOther = own.value.records !== undefined && format.records === undefined;
  // Records have no names, by which a column may be hidden. Lines without columns have none to lose.
  const losesNames =
    own.value.records === undefined &&
    format.records !== undefined &&
    (own.value.width > 1 || (await hidesByName(bytes, own.value)));
  if (!hasOtherUnits && !isOther && !losesNames && !(mayDivide && own.value.delimiter !== delimiter))
    return format;
  return (await hidesAnything(bytes, own.value)) ? { ...format, hidesAll: true } : format;
}

/** Whether a column of records begins or ends within a value. */
async function dividesAnything(bytes: ByteSource, { records, ...format }: DetectedFormat): Promise<boolean> {
  if (records === undefined) return false;
  const lines = await firstRecords(bytes, { ...format, records });
  return dividesRecords(lines.map(openCleartext), records);
}

const keyOf = ({ encoding, header, ...reading }: ReadingOverrides): string =>
  JSON.stringify([
    encoding,
    layoutOf(reading as Layout),
    header === undefined ? null : placeOf({ ...reading, header }),
  ]);

/** Sheets under the names that the window knows: numbers are masked, and each name is there once. */
function shownSheets({ sheets }: Converted) {
  const times = new Map<string, number>();
  return sheets.map(({ name: title, rows }) => {
    const shown = maskNumbers(shorten(title, 90));
    const count = (times.get(shown) ?? 0) + 1;
    times.set(shown, count);
    return { title, rows, name: count === 1 ? shown : `${shown} (${count})` };
  });
}

const shorten = (name: string, length: number): string => name.slice(0, length).toWellFormed();

/** The failure of a workbook or an archive names the file, unless it names something more exact. */
function withFileName(outcome: Extract<Outcome<never>, { ok: false }>, name: string): typeof outcome {
  const { failure } = outcome;
  return failure.subject === undefined &&
    (/^file\.(?:workbook|archive|passphrase)/.test(failure.code) || failure.code === 'file.no-room')
    ? { ok: false, failure: { ...failure, subject: maskNumbers(shorten(name, 300)) } }
    : outcome;
}
