import { z } from 'zod';
import { count, id } from './names.ts';

/** A file (or pasted block) opened for a batch. The window holds this handle; only main knows the path. */
export const source = z.strictObject({
  sourceId: id,
  /** File name without its folder. */
  name: z.string().max(300),
  bytes: count,
  /** Which sheet of a workbook it is; null for text. */
  sheet: z
    .strictObject({ name: z.string().max(100), all: z.array(z.string().max(100)).max(1_000) })
    .nullable(),
});
export type Source = z.infer<typeof source>;

export const encoding = z.enum(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'iso-8859-1']);
export type Encoding = z.infer<typeof encoding>;

export const delimiter = z.enum([',', ';', '\t', '|']);
export type Delimiter = z.infer<typeof delimiter>;

/** How the bytes are read. Found by looking, each of them overridable. */
export const reading = z.strictObject({ encoding, delimiter, header: z.boolean() });
export type Reading = z.infer<typeof reading>;

/** Something about the file a person should know before running; the row is counted from 1, header not counted. */
export const notice = z.strictObject({
  kind: z.enum([
    'row-malformed',
    'bad-encoding',
    'nul',
    'unclosed-quote',
    'field-too-long',
    'header-duplicate',
    'header-empty',
    'header-repeated', // a row that repeats the header
    'excel-rounded', // 4.11E+15, or 15 digits and zeros
  ]),
  row: count,
  column: z.string().nullable(),
  count,
});
export type Notice = z.infer<typeof notice>;

export const column = z.strictObject({
  /** Position from 0. */
  index: count,
  /** As the header has it, or "Column 3"; made unique for display. */
  name: z.string(),
  /** What the first values look like, to suggest a definition. */
  looksLike: z.enum(['card', 'ssn', 'email', 'text']).nullable(),
  /** Whether the preview shows local masks for it: the header suggests cleartext, or it is mapped to Tokenize. */
  masked: z.boolean(),
});
export type Column = z.infer<typeof column>;

export const preview = z.strictObject({
  source,
  reading,
  byteOrderMark: z.boolean(),
  newline: z.enum(['\n', '\r\n', '\r']),
  columns: z.array(column),
  /** The first rows, at most 50, as text. */
  rows: z.array(z.array(z.string())),
  notices: z.array(notice),
});
export type Preview = z.infer<typeof preview>;
