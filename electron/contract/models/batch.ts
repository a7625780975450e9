import { z } from 'zod';
import { openedApproval } from './approval.ts';
import { failureCodes, failureSchema } from '../errors.ts';
import { columnOperationNames } from '../operations.ts';
import { count, id, obscuredPassphrase, instant, name, caseReference, value, fileName } from './fields.ts';
import { archive, packed } from './packed.ts';
import { maxRowsAbove, maxRowsBelow } from '../place-limits.ts';
import { grounds } from './lookup.ts';
import { recordLayout } from './records.ts';
import { markPattern, type ValueKind, valueKinds } from '../value-kinds.ts';
import { cellState, rowFilter, rowsView } from './rows.ts';

/** A file (or pasted rows) opened for a batch. The window has this handle; only main knows the path. */
export const source = z.strictObject({
  sourceId: id,
  /** File name without its folder. */
  name: z.string().max(300),
  bytes: count,
  /** Which sheet of a workbook it is; null for text. */
  sheet: z
    .strictObject({
      name: z.string().max(100),
      /** `rows`: all of them, the header too; null where they were not counted. */
      all: z.array(z.strictObject({ name: z.string().max(100), rows: count.nullable() })).max(1_000),
    })
    .nullable(),
  /** What was taken off around it; absent where nothing was. */
  packed: packed.optional(),
});
export type Source = z.infer<typeof source>;

/**
 * What the system asked to open: a file, which is the last of several with `others`, the case or the token of a
 * `tokendesk://` link, or the batch of a notification.
 */
export const opened = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('file'), source, others: count }),
  z.strictObject({ kind: z.literal('case'), caseReference: caseReference.min(1) }),
  z.strictObject({ kind: z.literal('token'), token: value }),
  z.strictObject({ kind: z.literal('batch'), jobId: id }),
  z.strictObject({ kind: z.literal('new-batch') }),
  /** The request or answer of a link. */
  z.strictObject({ kind: z.literal('approval'), approval: openedApproval }),
]);
export type Opened = z.infer<typeof opened>;

/**
 * By their names in the Encoding Standard, where iso-8859-1 is windows-1252 (here it is Latin-1) and three code pages of
 * DOS are missing. Of those that read some bytes alike the usual one is first.
 */
export const encoding = z.enum([
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1252',
  'iso-8859-1',
  'iso-8859-15',
  'macintosh',
  'ibm850',
  'ibm437',
  'windows-1250',
  'iso-8859-2',
  'iso-8859-16',
  'ibm852',
  'windows-1251',
  'koi8-r',
  'koi8-u',
  'iso-8859-5',
  'ibm866',
  'x-mac-cyrillic',
  'windows-1253',
  'iso-8859-7',
  'windows-1254',
  'iso-8859-3',
  'windows-1257',
  'iso-8859-4',
  'iso-8859-10',
  'iso-8859-13',
  'iso-8859-14',
  'windows-1255',
  'iso-8859-8',
  'windows-1256',
  'iso-8859-6',
  'windows-874',
  'windows-1258',
  'shift_jis',
  'euc-jp',
  'gb18030',
  'big5',
  'euc-kr',
  'ibm037',
  'ibm273',
  'ibm500',
  'ibm1047',
  'ibm1140',
  'ibm1141',
  'ibm1148',
]);
export type Encoding = z.infer<typeof encoding>;

/**
 * Any character but those that mean something else, and those that values are made of: where a letter or digit parts the
 * cells, the cells' widths tell where it stands. `detectFormat` refuses one that an encoding writes in several bytes.
 */
const delimiter = z.string().regex(/^[^"\r\n\0\ud800-\udfff\p{L}\p{N}@.]$/u);
export type Delimiter = z.infer<typeof delimiter>;

/** How rows are taken apart into columns. Only who takes them apart or writes them looks into it. */
const layout = z.strictObject({
  delimiter,
  /** "none": quotes are part of the text, and a row ends where its line does. Absent: as RFC 4180 has them. */
  quote: z.enum(['"', 'none']).optional(),
  /**
   * The text is JSON: one object in each line, or one array of objects. Each pointer (RFC 6901) is a column, and its value is
   * what a string says. Delimiter and quote then mean nothing. Main finds it out: no person chooses it.
   */
  json: z
    .strictObject({
      rows: z.enum(['lines', 'array']),
      pointers: z.array(z.string().max(1_000)).min(1).max(1_000),
    })
    .optional(),
  /** Columns of fixed width, in place of delimited ones. */
  records: recordLayout.optional(),
});
export type Layout = z.infer<typeof layout>;

/**
 * Where the table is in its file: one choice. Rows of the file are counted from 1. What stands above and below goes out as
 * it is and is never sent. `header` alone: the table begins in row 1 and ends with the file.
 */
const tablePlace = z.strictObject({
  header: z.boolean(),
  /** Where the header is, if there is one; absent: right above the first row. */
  headerRow: z.int().min(1).max(maxRowsAbove).optional(),
  /** The first row of data; absent: row 1, or row 2 behind a header in row 1. */
  firstRow: z
    .int()
    .min(1)
    .max(maxRowsAbove + 1)
    .optional(),
  /** Rows below the table: counted from the end, since nobody knows the number of the last one before all are read. */
  rowsBelow: z.int().min(1).max(maxRowsBelow).optional(),
});
export type TablePlace = z.infer<typeof tablePlace>;

/** How the bytes are read. Detected; a person may override each. */
export const reading = layout.extend({ encoding, ...tablePlace.shape });
export type Reading = z.infer<typeof reading>;

/** What of a reading was a guess: what it might be instead, likeliest first. Null is no doubt, or a person's choice. */
const guesses = z.strictObject({
  encoding: z.array(encoding).nullable(),
  delimiter: z.array(delimiter).nullable(),
  /** Whether the table may be elsewhere: its header, its first row or its last one. */
  header: z.boolean(),
  /** Whether the columns of fixed width were proposed. */
  records: z.boolean().optional(),
  /** Where it is not: columns whose first cell says otherwise. Asked about once something is done with one of them. */
  headerColumns: z.array(count).optional(),
});
export type Guesses = z.infer<typeof guesses>;

/** Something about the file a person should know before running; the row is counted from 1, header not counted. */
export const notice = z.strictObject({
  kind: z.enum([
    'row-malformed',
    'record-length', // a record of fixed width is shorter or longer than the others
    'bad-encoding',
    'nul',
    'unclosed-quote',
    'field-too-long',
    'header-duplicate',
    'header-empty',
    'header-damaged', // quotes that do not agree, or bytes that do not fit the encoding
    'header-repeated', // a row that repeats the header
    'rows-in-cell', // a quoted cell has lines as wide as a row: its quotes may be text
    'single-quotes', // cells stand between them in most rows: they are read as part of the value
    'escaped-quotes', // a quote with a backslash before it, which nothing is here
    'excel-rounded', // 4.11E+15, or 15 digits and zeros
    'looks-tokenized', // to be tokenized, and nearly all of them fail the check of a card number
    'formula-unevaluated', // formulas of a workbook without a stored value: blank cells
    'case-missing', // its row has no case that can be one, and is not sent
    'value-unfit', // does not fit the definition's kind, and is not sent
    'records-others', // records of other types, which may hold totals of what changes
    'total-changes', // a total that the file holds is made of what is changed
    'total-wrong', // a total that the file holds is not that of its records
    'total-missing', // the record that should hold it is not there
    'total-stays', // a total that the file holds is made of what is not changed
  ]),
  row: count,
  column: z.string().nullable(),
  count,
  /** Of a total: what it is, where that tells nothing of a person. */
  figure: z.string().max(20).optional(),
});
export type Notice = z.infer<typeof notice>;

/** Rows of a source by their numbers, masked as a preview's are. */
export const sourceRows = z
  .array(z.strictObject({ row: z.int().positive(), cells: z.array(z.string()) }))
  .max(50);
export type SourceRows = z.infer<typeof sourceRows>;

const column = z.strictObject({
  /** Position from 0. */
  index: count,
  /** As the header has it, or "Column 3"; made unique for display. */
  name: z.string(),
  /** What the first values look like, to suggest a definition. */
  looksLike: z.enum(['card', 'ssn', 'email', 'text']).nullable(),
  /** What its values are taken for, or its name where they leave it open; null where neither says so. */
  content: z.enum(['cleartext', 'tokens']).nullable(),
  /** Whether the preview shows local masks for it: it is taken for cleartext, or mapped to Tokenize. */
  masked: z.boolean(),
});
export type Column = z.infer<typeof column>;

export const preview = z.strictObject({
  source,
  reading,
  guesses,
  byteOrderMark: z.boolean(),
  newline: z.enum(['\n', '\r\n', '\r', '\x85']),
  columns: z.array(column),
  /** The first rows, at most 50, as text. */
  rows: z.array(z.array(z.string())),
  /** All rows of the file above them: the header's too. */
  above: z.array(z.array(z.string())),
  /** The last rows of the table where `rows` does not reach its end; none where they can't be told from the end. */
  last: z.array(z.array(z.string())),
  /** The rows below the table. */
  below: z.array(z.array(z.string())),
  /** Of records of fixed width: the first ones, masked, with one character for a byte, and what would be proposed for them. */
  records: z
    .strictObject({ lines: z.array(z.string()).max(50), proposed: recordLayout.nullable() })
    .nullable()
    .optional(),
  notices: z.array(notice),
});
export type Preview = z.infer<typeof preview>;

/** What a match asks for, as data: main makes the expression of it, see `../match-expression.ts`. */
const matchParts = z.discriminatedUnion('by', [
  z.strictObject({
    by: z.literal('digits'),
    bin: z.string().regex(/^\d{0,8}$/),
    lastFour: z.string().regex(/^\d{0,4}$/),
    length: z.int().min(1).max(99).nullable(),
  }),
  z.strictObject({
    by: z.literal('domain'),
    domain: z
      .string()
      .max(200)
      .regex(/^[^@\s]+\.[^@\s.]+$/),
  }),
]);
export type MatchParts = z.infer<typeof matchParts>;

/** A member for each kind: a record of them would take `__proto__` for none. */
const definitionsInside = Object.fromEntries(valueKinds.map((kind) => [kind, name.optional()])) as Record<
  ValueKind,
  z.ZodOptional<typeof name>
>;

const mark = z.string().regex(markPattern);
/** What stands around a token in a text. */
const marks = z.strictObject({ open: mark, close: mark });
export type Marks = z.infer<typeof marks>;

/** What is done with one column. */
export const columnPlan = z.strictObject({
  /** Position from 0. */
  column: count,
  operation: z.enum(columnOperationNames),
  policy: name,
  definition: name,
  /**
   * translate only. With a connection it is a move to that one: main detokenizes at the connection in use and tokenizes
   * there, which takes a reason.
   */
  target: z.strictObject({ policy: name, definition: name, connection: id.optional() }).nullable(),
  /** match only, unless `pattern` is given */
  parts: matchParts.nullable().default(null),
  /** match only: a typed regular expression in RE2's syntax over the cleartext */
  pattern: z.string().max(1_000).nullable(),
  /** Where the result goes in the output. */
  into: z.enum(['replace', 'beside']),
  /** tokenize and detokenize only: not the cell is a value, but values stand in its text. Absent: each cell is one. */
  inside: z
    .strictObject({
      ...marks.shape,
      /** By the kind of value, what it is tokenized as; the kinds without one stay. `definition` is one of these. */
      definitions: z.strictObject(definitionsInside),
    })
    .optional(),
});
export type ColumnPlan = z.infer<typeof columnPlan>;

export const plan = z.strictObject({
  reading,
  columns: z.array(columnPlan).min(1).max(20),
  /** Position of the column that has each row's case: a row without one is not sent. Absent: one case for all rows. */
  caseColumn: count.optional(),
});
export type Plan = z.infer<typeof plan>;

/** What the whole file says before anything is sent. `done` is false while counting goes on. */
export const preflight = z.strictObject({
  sourceId: id,
  done: z.boolean(),
  /** Why the count ended before it was done. */
  failure: failureSchema.optional(),
  rows: count,
  blank: count,
  malformed: count,
  /** Values that do not fit the definition's kind; they are not sent. */
  unfit: count,
  /** Values to be tokenized of masks that too many others of the day have: sending them takes a reason. */
  guesses: count,
  /** Distinct values to send; a lower bound once the table that counts them is full. */
  distinct: count,
  distinctExact: z.boolean(),
  requests: count,
  /** Of each mapped column; `requests` is their sum. */
  columns: z.array(z.strictObject({ column: count, unfit: count, requests: count })),
  seconds: count,
  /** Share of today's transfers, 0 to 1 and above. */
  dayShare: z.number().nonnegative(),
  /** The same for each connection that values are moved to; `seconds` has them. */
  targets: z.array(z.strictObject({ connection: name, requests: count, dayShare: z.number().nonnegative() })),
  notices: z.array(notice),
});
export type Preflight = z.infer<typeof preflight>;

export const jobState = z.enum([
  'running',
  'paused', // by the person; or after a failure, which `waiting` has
  'interrupted', // the process ended while it ran; it can resume
  'finished', // every row is accounted for
  'cancelled', // the results so far stay
  'failed', // can't go on; `failure` has the reason
]);
export type JobState = z.infer<typeof jobState>;

/** rows = ok + failed + unmatched + blank, checked before a job is finished. */
export const tally = z.strictObject({
  rows: count,
  ok: count,
  failed: count,
  unmatched: count,
  blank: count,
});
export type Tally = z.infer<typeof tally>;

/** Failed values of one column with one reason; `column` null where the row itself could not be sent. */
const failureGroup = z.strictObject({
  column: count.nullable(),
  code: z.enum(failureCodes),
  /** Values; rows where `column` is null. */
  count,
  firstRow: z.int().positive(),
  /** Whether a retry may help. */
  retriable: z.boolean(),
});
export type FailureGroup = z.infer<typeof failureGroup>;

/** Why a job paused by itself. */
export const braked = z.strictObject({
  /** Position in the source of the column whose values failed. */
  column: count,
  /** Of the last `of` values that were answered so many were refused; of the first ones where the run had just begun. */
  failed: count,
  of: count,
  isCanary: z.boolean(),
  /** Where different values got the same answer instead: two of their rows. */
  sameRows: z.tuple([count, count]).nullable().default(null),
});

/** So many are checked and copied at once without a pause that a person notices. */
export const jobsPerPage = 100;

/** A job at one moment: all its numbers belong together, so a window that shows several of them shows one event. */
export const job = z.strictObject({
  jobId: id,
  sourceName: z.string(),
  /** Its rows are those of a sheet, whatever the file is called. */
  isWorkbook: z.boolean(),
  /** As its source has it. */
  packed: packed.optional(),
  connectionId: id,
  connectionName: z.string(),
  environment: z.string(),
  plan,
  /** The saved mapping it was begun with; null where there was none. */
  mapping: z.string().nullable(),
  columns: z.array(z.string()),
  state: jobState,
  startedAt: instant,
  endedAt: instant.nullable(),
  /** Rows in the source; null until the whole of it has been read once. */
  total: count.nullable(),
  tally,
  /**
   * Values of the mapped columns, blank ones not counted; those of rows that could not be sent count as failed. Null
   * for a job of an earlier version, which counted rows only.
   */
  values: z.strictObject({ all: count, failed: count }).nullable(),
  /** The most frequent first. */
  failures: z.array(failureGroup),
  /** Columns of the source whose matches came without a value: there is no cleartext, only rows that match. */
  valueless: z.array(count),
  /** Rows committed to disk: where a resume starts. */
  committed: count,
  /** Rows of the source that have no result, since they were not sent; null while their number is not known. */
  unsent: count.nullable(),
  rowsPerSecond: z.number().nonnegative(),
  secondsLeft: count.nullable(),
  /** Why nothing is sent at the moment, and until when: it is paused, or it runs and the service has to be waited for. */
  waiting: z.strictObject({ failure: failureSchema, until: instant.nullable() }).nullable(),
  /** It is paused, since more than half of the values were refused. A resume then goes on whatever the answers are. */
  braked: braked.nullable(),
  /** The values that were sent first, spread over the file; null before they were, and for a file of no more than those. */
  canary: z.strictObject({ values: count, failed: count }).nullable(),
  failure: failureSchema.nullable(),
});
export type Job = z.infer<typeof job>;

/** One of the values that were sent first, as masked as in the table. */
export const canaryCell = z.strictObject({
  row: z.int().positive(),
  /** Position in the source. */
  column: count,
  before: z.string(),
  /** Empty where there is no result. */
  after: z.string(),
  state: cellState,
  code: z.enum(failureCodes).nullable(),
  /** The service's own words. */
  reason: z.string().nullable(),
});
export type CanaryCell = z.infer<typeof canaryCell>;

/** Other policies for columns of a job; what else a plan says is not changed. */
export const policyChange = z.strictObject({
  column: count,
  policy: name,
  /** translate only */
  targetPolicy: name.nullable(),
});
export type PolicyChange = z.infer<typeof policyChange>;

/** A stored job that can't be read; it can only be removed. */
export const damagedJob = z.strictObject({
  jobId: id,
  /** When it was last written; null where that can't be read. */
  changedAt: instant.nullable(),
});
export type DamagedJob = z.infer<typeof damagedJob>;

export const exportChoice = z.strictObject({
  jobId: id,
  /** `tokens`: the mapped columns as they came in. */
  content: z.enum(['masked', 'cleartext', 'tokens']),
  /**
   * `matches`: the rows whose cleartext a pattern was found in; not those that failed or are blank. `failed`: the list of
   * failed rows with their reasons. `shown`: those of `shown`, in the order of the source.
   */
  rows: z.enum(['all', 'matches', 'failed', 'shown']),
  /** With `rows: 'shown'`, what the table shows: a filter and conditions over what the window sees. */
  shown: z.strictObject({ filter: rowFilter, where: rowsView.shape.where }).optional(),
  /** `workbook`: one sheet in which every cell is text as it is, so the choices of dialect below have no effect. */
  format: z.enum(['csv', 'workbook']),
  /** What the file is compressed in; none where it is absent. */
  archive: archive.nullable().optional(),
  /**
   * `source`: in the source's own dialect and encoding, and no byte outside the mapped cells changes; the choices of
   * dialect below have no effect. The others are written anew: `exact` every value as it is, `spreadsheet` with formulas
   * neutralised.
   */
  safety: z.enum(['source', 'spreadsheet', 'exact']),
  encoding,
  /**
   * Cells that the encoding can't hold are left empty, or as they came in where the source's own form is kept, and their
   * rows flagged in an `error` column. Without it such a file is not written.
   */
  leavesEmpty: z.boolean().optional(),
  /** The numbers of the rows and the results alone: for a source that is gone or has other bytes. */
  withoutSource: z.boolean().optional(),
  delimiter,
  byteOrderMark: z.boolean(),
  newline: z.enum(['\r\n', '\n']),
  /** Asked for with cleartext, and where an administrator wants one for what stays in clear. */
  grounds: grounds.nullable(),
  /** Writes a signed receipt beside the file, which is not there without it. */
  receipt: z.boolean().optional(),
  /** Encrypts the file (age, scrypt recipient) so that no cleartext touches the disk; eight units at least. */
  passphrase: obscuredPassphrase.nullable(),
});
export type ExportChoice = z.infer<typeof exportChoice>;

/** How a whole result was written, so that the next one may be written so too. Never in clear, nor encrypted. */
export const exportForm = exportChoice
  .pick({
    format: true,
    archive: true,
    safety: true,
    encoding: true,
    delimiter: true,
    byteOrderMark: true,
    newline: true,
  })
  .extend({ content: z.enum(['masked', 'tokens']), rows: z.enum(['all', 'matches']) });
export type ExportForm = z.infer<typeof exportForm>;

/**
 * What an editor or a spreadsheet may have made of a cell that nobody touched: other line ends, other forms of the same
 * letters, spaces, apostrophes, the result or error of a formula, lost zeros, a rounded number, another form of the same
 * number or date.
 */
export const changeDoubt = z.enum([
  'line-ends',
  'letters',
  'spaces',
  'apostrophe',
  'formula',
  'zeros',
  'rounded',
  'number',
  'date',
]);
export type ChangeDoubt = z.infer<typeof changeDoubt>;

const leftOutRows = z.array(z.strictObject({ row: count, code: z.enum(failureCodes) })).max(100);

/** What a list of failed rows would change. Nothing of it is done yet. */
export const listComparison = z.strictObject({
  /** Cells that differ. */
  cells: count,
  /** Rows with such cells. */
  rows: count,
  /** Rows of which some cell is a correction without a doubt. */
  correctedRows: count,
  /** How many of the cells are in doubt, and why. */
  doubts: z.array(z.strictObject({ doubt: changeDoubt, cells: count })).max(20),
  unchanged: count,
  leftOutRows: count,
  /** The first hundred of those, and why. */
  leftOut: leftOutRows,
  /** Rows that were corrected before and not sent yet: they go with the others. */
  pending: count,
});
export type ListComparison = z.infer<typeof listComparison>;

/** A cell that the list has otherwise; both masked as in the table. */
export const changedCell = z.strictObject({
  row: z.int().positive(),
  /** Position in the source; a row may have more cells than the header. */
  column: count,
  name: z.string(),
  before: z.string(),
  after: z.string(),
  doubt: changeDoubt.nullable(),
});
export type ChangedCell = z.infer<typeof changedCell>;

/** Which changes a person takes: those without a doubt and those in `doubts`, and of `except` the opposite. */
export const takenChanges = z.strictObject({
  doubts: z.array(changeDoubt).max(20),
  /** Positions in the list of changed cells. */
  except: z.array(count).max(10_000),
});
export type TakenChanges = z.infer<typeof takenChanges>;

export const mendResult = z.strictObject({
  /** Rows that are changed: they are being sent. */
  changed: count,
  unchanged: count,
  leftOutRows: count,
  /** The first hundred of those, and why. */
  leftOut: leftOutRows,
});
export type MendResult = z.infer<typeof mendResult>;

/** What stays in clear in a file of masks or tokens: it stands in cells that are copied from the source. */
export const remaining = z.strictObject({
  /** Card numbers: of an issuer's range and length, and with a right check digit. Tokens of the job are none. */
  cards: count,
  /** Other values that the job sent, where they stand once more. */
  values: count,
  /** Where most of them are, fifty columns at most. */
  places: z
    .array(
      z.strictObject({
        /** Position in the source. */
        column: count,
        cards: count,
        values: count,
        /** 0 is the header. */
        firstRow: count,
        lastRow: count,
      }),
    )
    .max(50),
});
export type Remaining = z.infer<typeof remaining>;

export const exported = z.strictObject({
  /** By which the window asks to show the file; main alone resolves it to a path. */
  exportId: id,
  /** File name without its folder. */
  name: fileName,
  /** The folder it was written to, for a person to read. */
  folder: z.string(),
  tally,
  rowsWritten: count,
  /** Cells that were escaped for spreadsheets. */
  escaped: count,
  /** Cells that the encoding can't hold, and the rows they are in. */
  lostCells: count,
  lostRows: count,
  bytes: count,
  /** Null for a file in clear, which was not looked at. */
  remaining: remaining.nullable(),
  /** Where one was asked for: its name and who signed it. */
  receipt: z.strictObject({ name: fileName, signer: z.string().max(64) }).optional(),
});
export type Exported = z.infer<typeof exported>;

const batchAtCase = z.strictObject({
  jobId: id,
  name: z.string().max(300),
  startedAt: instant,
  environment: z.string(),
});

/** A batch whose rows each have their own case, and how many of them are of the one that was asked for. */
const batchOfCase = batchAtCase.extend({
  rows: count,
  /** Of these, those with a result. */
  ok: count,
  /** The numbers of the first ones. */
  first: z.array(count).max(10),
});
export type BatchOfCase = z.infer<typeof batchOfCase>;

export const batchesOfCase = z.strictObject({
  /** The newest first. */
  batches: z.array(batchOfCase).max(100),
  /** Batches that may have rows of it, and why they could not be looked through. */
  uncovered: z.array(batchAtCase.extend({ code: z.enum(failureCodes) })).max(100),
});
export type BatchesOfCase = z.infer<typeof batchesOfCase>;
