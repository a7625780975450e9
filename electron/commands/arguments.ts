import { parseArgs } from 'node:util';
import type { runOptions } from '../platform/command-line.ts';

const options = {
  out: { type: 'string' },
  json: { type: 'boolean' },
  yes: { type: 'boolean' },
  anew: { type: 'boolean' },
  sheet: { type: 'string' },
  case: { type: 'string' },
  reason: { type: 'string' },
  'passphrase-stdin': { type: 'boolean' },
} as const satisfies Record<(typeof runOptions)[number], object>;

export interface RunArguments {
  readonly mapping: string;
  readonly files: readonly string[];
  /** Where results go; beside each file where none is named. */
  readonly out: string | null;
  readonly json: boolean;
  /** Goes on where the window would ask: a guess about the file, or many rows of production. */
  readonly yes: boolean;
  /** Begins a batch of its own, also where an earlier call has one of the same file. */
  readonly anew: boolean;
  /** Of a workbook; the mapping's where none is named. */
  readonly sheet: string | null;
  readonly caseReference: string;
  readonly reason: string | null;
  /** The first line of standard input opens the lock. */
  readonly passphraseOnInput: boolean;
}

export const usage =
  'tokendesk run MAPPING FILE… [--out=FOLDER] [--json] [--yes] [--anew] [--sheet=NAME] [--reason=TEXT] [--case=REFERENCE] [--passphrase-stdin]';

/**
 * The arguments behind the word `run`, or the sentence that says what is wrong with them. Switches of the start itself, such
 * as `--user-data-dir=FOLDER`, stand before the word.
 */
export function parseRun(given: readonly string[]): RunArguments | string {
  let parsed;
  try {
    parsed = parseArgs({ args: [...given], options, allowPositionals: true });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION'
      ? 'There is a switch that this command does not have.'
      : 'A switch of this command has no value, or one that it does not take.';
  }
  const { values, positionals } = parsed;
  const [mapping = '', ...files] = positionals;
  if (mapping === '') return 'Name the saved mapping, and the file to run it on.';
  if (files.length === 0) return `Name the file to run ${mapping} on.`;
  if (values.sheet === '') return 'Name the sheet behind --sheet=.';
  if (values.out === '') return 'Name the folder behind --out=.';
  return {
    mapping,
    files,
    out: values.out ?? null,
    json: values.json ?? false,
    yes: values.yes ?? false,
    anew: values.anew ?? false,
    sheet: values.sheet ?? null,
    caseReference: values.case ?? '',
    reason: values.reason ?? null,
    passphraseOnInput: values['passphrase-stdin'] ?? false,
  };
}
