/** What is known of an operation of the service; the same in both processes. */
interface OperationInfo {
  /** As a command, and the head of a column. */
  readonly label: string;
  /** The same under a head that says whether it is for one value or a batch. */
  readonly short: string;
  /** As something done, and as a noun. */
  readonly done: string;
  readonly noun: string;
  /** Before the name of a definition: a policy may not … Card number. */
  readonly verb: string;
  readonly form: 'single' | 'batch';
  readonly takes: 'cleartext' | 'token';
  readonly gives: 'token' | 'cleartext' | 'mask';
  /** Two where it goes from one policy's definition to another's. */
  readonly sessions: 1 | 2;
  /** Whether it takes an expression too, and answers with the elements that match it: the others are left out. */
  readonly isMatch: boolean;
}

/**
 * The operations of the specification that need a session (spec §4), in its order: the only list of them on this side.
 * Apart from the models, since the window bundles no schema.
 */
export const operationInfo = {
  Tokenize: {
    label: 'Tokenize',
    short: 'Tokenize',
    done: 'Tokenized',
    noun: 'Tokenization',
    verb: 'tokenize',
    form: 'single',
    takes: 'cleartext',
    gives: 'token',
    sessions: 1,
    isMatch: false,
  },
  Detokenize: {
    label: 'Detokenize',
    short: 'Detokenize',
    done: 'Cleartext fetched',
    noun: 'Cleartext fetch',
    verb: 'detokenize',
    form: 'single',
    takes: 'token',
    gives: 'cleartext',
    sessions: 1,
    isMatch: false,
  },
  GetMasked: {
    label: 'Mask',
    short: 'Mask',
    done: 'Looked up',
    noun: 'Lookup',
    verb: 'mask',
    form: 'single',
    takes: 'token',
    gives: 'mask',
    sessions: 1,
    isMatch: false,
  },
  Translate: {
    label: 'Translate',
    short: 'Translate',
    done: 'Translated',
    noun: 'Translation',
    verb: 'translate',
    form: 'single',
    takes: 'token',
    gives: 'token',
    sessions: 2,
    isMatch: false,
  },
  BatchTokenize: {
    label: 'Batch tokenize',
    short: 'Tokenize',
    done: 'Batch tokenized',
    noun: 'Batch tokenization',
    verb: 'tokenize batches of',
    form: 'batch',
    takes: 'cleartext',
    gives: 'token',
    sessions: 1,
    isMatch: false,
  },
  BatchDetokenize: {
    label: 'Batch detokenize',
    short: 'Detokenize',
    done: 'Batch detokenized',
    noun: 'Batch detokenization',
    verb: 'detokenize batches of',
    form: 'batch',
    takes: 'token',
    gives: 'cleartext',
    sessions: 1,
    isMatch: false,
  },
  BatchTranslate: {
    label: 'Batch translate',
    short: 'Translate',
    done: 'Batch translated',
    noun: 'Batch translation',
    verb: 'translate batches of',
    form: 'batch',
    takes: 'token',
    gives: 'token',
    sessions: 2,
    isMatch: false,
  },
  PatternMatch: {
    label: 'Match patterns',
    short: 'Match',
    done: 'Pattern matched',
    noun: 'Pattern match',
    verb: 'match patterns on',
    form: 'batch',
    takes: 'token',
    gives: 'cleartext',
    sessions: 1,
    isMatch: true,
  },
} as const satisfies Record<string, OperationInfo>;

export type Operation = keyof typeof operationInfo;
type Info = typeof operationInfo;

/** The operations that have these members: `OperationWith<{ form: 'batch' }>`. */
export type OperationWith<Members extends Partial<OperationInfo>> = {
  [N in Operation]: Info[N] extends Members ? N : never;
}[Operation];

export type SingleOperation = OperationWith<{ form: 'single' }>;
export type BatchOperation = OperationWith<{ form: 'batch' }>;

export const operationNames = Object.keys(operationInfo) as Operation[];
export const isBatchOperation = (name: Operation): name is BatchOperation =>
  operationInfo[name].form === 'batch';
export const isOperation = (name: string): name is Operation => Object.hasOwn(operationInfo, name);

interface ColumnOperationInfo {
  readonly label: string;
  readonly note: string;
  /** The operation of the service that does it. */
  readonly by: Operation;
}

/** What can be done with a column of a batch, in the order it is offered. */
export const columnOperations = {
  detokenize: { label: 'Detokenize', note: 'token to value, behind a mask', by: 'BatchDetokenize' },
  mask: { label: 'Mask', note: 'token to mask, never cleartext', by: 'GetMasked' },
  tokenize: { label: 'Tokenize', note: 'value to token', by: 'BatchTokenize' },
  translate: { label: 'Translate', note: 'token to token', by: 'BatchTranslate' },
  match: { label: 'Match pattern', note: 'keeps what matches', by: 'PatternMatch' },
} as const satisfies Record<string, ColumnOperationInfo>;

export type ColumnOperation = keyof typeof columnOperations;
export const columnOperationNames = Object.keys(columnOperations) as ColumnOperation[];

/** What the service answers for the values of such a column. */
export const givenBy = (operation: ColumnOperation): OperationInfo['gives'] =>
  operationInfo[columnOperations[operation].by].gives;
