import { parseArgs } from 'node:util';
import * as schemas from '../contract/models/fields.ts';
import { type CommandName, commands } from '../platform/command-line.ts';

const options = {
  out: { type: 'string' },
  column: { type: 'string', multiple: true },
  json: { type: 'boolean' },
  yes: { type: 'boolean' },
  anew: { type: 'boolean' },
  sheet: { type: 'string' },
  policy: { type: 'string' },
  definition: { type: 'string' },
  case: { type: 'string' },
  reason: { type: 'string' },
  'passphrase-stdin': { type: 'boolean' },
  'file-passphrase-stdin': { type: 'boolean' },
} as const satisfies Record<(typeof commands)[CommandName]['switches'][number], object>;

interface CommonArguments {
  readonly json: boolean;
  /** The first line of standard input opens the lock. */
  readonly passphraseOnInput: boolean;
}

interface GroundsArguments {
  readonly caseReference: string;
  readonly reason: string | null;
}

export interface RunArguments extends CommonArguments, GroundsArguments {
  readonly mapping: string;
  readonly files: readonly string[];
  /** Where results go; beside each file where none is named. */
  readonly out: string | null;
  /** Goes on where the window would ask: a guess about the file, or many rows of production. */
  readonly yes: boolean;
  /** Begins a batch of its own, also where an earlier call has one of the same file. */
  readonly anew: boolean;
  /** Of a workbook; the mapping's where none is named. */
  readonly sheet: string | null;
  /** The next line of standard input opens files that are encrypted, and encrypts their results. */
  readonly filePassphraseOnInput: boolean;
}

export interface LookupArguments extends CommonArguments {
  readonly token: string;
  readonly policy: string | null;
  readonly definition: string | null;
  readonly caseReference: string;
}

export interface ExportArguments extends CommonArguments, GroundsArguments {
  readonly job: string;
  /** The present folder where none is named. */
  readonly out: string | null;
}

export interface CompareArguments extends CommonArguments {
  /** Paths, or beginnings of a batch's number. */
  readonly sides: readonly string[];
  /** One for all, or one for each. */
  readonly columns: readonly string[];
  /** The file of row numbers; none is written where none is named. */
  readonly out: string | null;
  /** A file that can be read in more than one way is read as it seems. */
  readonly yes: boolean;
}

export interface InventoryArguments extends CommonArguments {
  /** Files, and folders of them. */
  readonly paths: readonly string[];
  /** The file of counts, a page where its name ends with .html; none is written where none is named. */
  readonly out: string | null;
}

export interface AttestArguments {
  /** Standard output where none is named. */
  readonly out: string | null;
}

export interface SignArguments extends AttestArguments {
  readonly file: string;
}

export type Command =
  | { readonly name: 'run'; readonly given: RunArguments }
  | { readonly name: 'jobs'; readonly given: CommonArguments }
  | { readonly name: 'lookup'; readonly given: LookupArguments }
  | { readonly name: 'export'; readonly given: ExportArguments }
  | { readonly name: 'compare'; readonly given: CompareArguments }
  | { readonly name: 'inventory'; readonly given: InventoryArguments }
  | { readonly name: '--attest'; readonly given: CommonArguments & AttestArguments }
  | { readonly name: '--sign-connections'; readonly given: CommonArguments & SignArguments };

/** It would stand in no line of the log. */
const caseAlone = 'A case is recorded with its reason: name that with --reason=.';

/** A card number is cleartext: as an argument, everybody on this machine can read it. */
const looksLikeCard = /^\d[\d -]{11,22}\d$/;

/**
 * The arguments behind the name of a command, or the sentence that says what is wrong with them. Switches of the start itself,
 * such as `--user-data-dir=FOLDER`, stand before the name.
 */
export function parseCommand(name: CommandName, args: readonly string[]): Command | string {
  const own: readonly string[] = commands[name].switches;
  const known = Object.entries(options).filter(([option]) => own.includes(option));
  let parsed;
  try {
    const given = { args: [...args], options: Object.fromEntries(known) as typeof options };
    parsed = parseArgs({ ...given, allowPositionals: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION'
      ? 'There is a switch that this command does not have.'
      : 'A switch of this command has no value, or one that it does not take.';
  }
  const { values, positionals } = parsed;
  const isStatement = name.startsWith('--');
  for (const [option, what] of Object.entries(valued))
    if (values[option as keyof typeof valued] === '')
      return `Name the ${isStatement || name === 'compare' || name === 'inventory' ? 'file' : what} behind --${option}=.`;
  const common = { json: values.json ?? false, passphraseOnInput: values['passphrase-stdin'] ?? false };
  const caseReference = values.case ?? '';
  const reason = values.reason ?? null;
  if (values.case !== undefined && !schemas.caseReference.safeParse(caseReference).success)
    return 'A case has at most 100 characters.';
  if (reason !== null && !schemas.reason.safeParse(reason).success)
    return 'A reason has at most 200 characters.';
  const grounds = { caseReference, reason };
  const [first = '', ...rest] = positionals;
  switch (name) {
    case 'run': {
      if (caseReference !== '' && reason === null) return caseAlone;
      if (first === '') return 'Name the saved mapping, and the file to run it on.';
      if (rest.length === 0) return `Name the file to run ${first} on.`;
      if (rest.includes('')) return 'A file has no name.';
      const { out = null, yes = false, anew = false, sheet = null } = values;
      const filePassphraseOnInput = values['file-passphrase-stdin'] ?? false;
      const run = { mapping: first, files: rest, out, yes, anew, sheet, filePassphraseOnInput };
      return { name, given: { ...common, ...grounds, ...run } };
    }
    case 'jobs':
      return first === '' ? { name, given: common } : 'This command takes nothing but switches.';
    case 'lookup': {
      if (first === '') return 'Name the token to look up.';
      if (rest.length > 0) return 'One token is looked up at a time.';
      if (looksLikeCard.test(first) && values.definition === undefined)
        return 'That may be a card number, and arguments are seen by others. Of a token, name the definition with --definition.';
      const { policy = null, definition = null } = values;
      return { name, given: { ...common, token: first, policy, definition, caseReference } };
    }
    case 'export': {
      if (caseReference !== '' && reason === null) return caseAlone;
      if (first === '') return 'Name the batch: tokendesk jobs lists them.';
      if (rest.length > 0) return 'One batch is exported at a time.';
      return { name, given: { ...common, ...grounds, job: first, out: values.out ?? null } };
    }
    case 'compare': {
      if (rest.length === 0) return 'Name two files or batches, or more, to compare.';
      if (positionals.length > 8) return 'At most eight files or batches are compared at once.';
      if (positionals.includes('')) return 'A file has no name.';
      const { column: columns = [], out = null, yes = false } = values;
      if (columns.length === 0 || columns.includes('')) return 'Name the column with --column=.';
      if (columns.length > 1 && columns.length !== positionals.length)
        return 'Give --column once for all of them, or once for each in their order.';
      return { name, given: { ...common, sides: positionals, columns, out, yes } };
    }
    case 'inventory': {
      if (positionals.length === 0) return 'Name the files or folders to look through.';
      if (positionals.includes('')) return 'A file has no name.';
      const { out = null } = values;
      if (out !== null && !/\.(?:csv|html)$/i.test(out))
        return 'The file behind --out= ends with .csv or .html.';
      return { name, given: { ...common, paths: positionals, out } };
    }
    case '--attest':
      return first === ''
        ? { name, given: { ...common, out: values.out ?? null } }
        : 'Nothing is named behind it but switches.';
    case '--sign-connections': {
      if (first === '') return 'Name the file of connections to sign.';
      if (rest.length > 0) return 'One file is signed at a time.';
      return { name, given: { ...common, file: first, out: values.out ?? null } };
    }
  }
}

/** Switches whose value can't be empty, and what it names. */
const valued = {
  out: 'folder',
  sheet: 'sheet',
  policy: 'policy',
  definition: 'definition',
  reason: 'reason',
} as const;
