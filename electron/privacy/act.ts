import type { Outcome } from '../contract/errors.ts';
import type { ApprovalAct } from '../contract/models/approval.ts';
import type { Counted } from '../contract/models/disclosures.ts';
import type { Grounds } from '../contract/models/lookup.ts';

/** What exactly an act gives out: for a second person to see, and for the fingerprint that they sign. */
export interface Disclosed {
  /** Names of columns, or of a definition. */
  readonly columns: readonly string[];
  /** What else is to be seen; numbers in it are masked before it is signed. */
  readonly words: readonly string[];
  readonly source: ApprovalAct['source'];
  /** All that decides which values are given out, and in which form. It may have values: only its fingerprint is signed. */
  readonly exact: unknown;
}

/** What is known of an act before it begins, for the audit log. Names and numbers; no value. */
export interface CleartextLine {
  readonly connection: string;
  readonly environment: string;
  readonly policy?: string;
  readonly definition?: string;
  readonly operation?: string;
  readonly job?: string;
  readonly note?: string;
  /** Each row has its own case: the position of their column in the source. The grounds then have none. */
  readonly caseColumn?: number;
  /** See `TokenHashes`. */
  readonly tokens?: readonly string[] | undefined;
}

interface Act extends CleartextLine {
  /** What the person said; null where nothing was asked for yet. */
  readonly grounds: Grounds | null;
  /**
   * Exactly what is given out: asked only where a second person has to approve it. An answer is for an act in which all
   * of this is the same.
   */
  readonly disclosed: () => Outcome<Disclosed> | Promise<Outcome<Disclosed>>;
  /** Where it sends values to: at another address or account it is another act. */
  readonly accounts?: readonly Readonly<Record<string, string>>[];
  /** The batch as the second person sees it; absent where one is made anew each time it is tried. */
  readonly approvedJob?: string;
}

/** Something that gives a value in clear out of the main process, or an answer that is as good. */
export type CleartextAct =
  | (Act & {
      readonly action: 'Reveal';
      /** Which value: the same one is not revealed again while it is shown. */
      readonly subject: string;
      /** How many values the text holds that is revealed. One, if absent. */
      readonly values?: number;
    })
  | (Act & { readonly action: 'Copy' })
  | (Act & {
      readonly action: 'Export';
      /** How many rows are written, at most. */
      readonly rows: number;
      /** How many the log says: of those that were looked at. */
      readonly rowsOfLine: number;
      /** How many values it may hold in clear. */
      readonly values: number;
      readonly export: { readonly encrypted: boolean };
    })
  | (Act & {
      readonly action: 'Match';
      readonly rows: number;
      /** The expressions that tell more than the mask, one for each column. */
      readonly patterns: readonly string[];
      /** Whether the row count has to be typed in production. */
      readonly confirmsRows: boolean;
    })
  | (Act & {
      /** Many values of one mask are tokenized: a number that is seen masked is found by its token. */
      readonly action: 'Guess';
      readonly rows: number;
      /** How many of them are beyond what is free. */
      readonly guesses: number;
      readonly confirmsRows: boolean;
    })
  | (Act & {
      /** Values go from one connection to another: main holds them in clear in between, and another service gets them. */
      readonly action: 'Move';
      /** Of both ends. */
      readonly accounts: readonly Readonly<Record<string, string>>[];
      readonly rows: number;
      /** How many columns are moved. */
      readonly columns: number;
      /** Names of where to. */
      readonly to: readonly string[];
      /** Whether one of them is production. */
      readonly intoProduction: boolean;
      readonly confirmsRows: boolean;
    });

/** Where an act is done, as rules have it: a move into production is one of production too. */
export const environmentsOf = (act: CleartextAct): readonly string[] =>
  act.action === 'Move' && act.intoProduction ? [act.environment, 'production'] : [act.environment];

/** What an act adds to the counts of the day. */
export function countedOf(act: CleartextAct, expressions: readonly string[]): Counted {
  switch (act.action) {
    case 'Reveal':
      return { reveals: act.values ?? 1 };
    case 'Copy':
      return { copies: 1 };
    case 'Export':
      return { exportedRows: act.rows };
    case 'Match':
      return { matchAnswers: act.rows * act.patterns.length, expressions: [...expressions] };
    case 'Guess':
      return { guesses: act.guesses };
    case 'Move':
      return { moved: act.rows * act.columns };
  }
}

/** How many values it may tell, at most. */
export function valuesOf(act: CleartextAct): number {
  switch (act.action) {
    case 'Reveal':
      return act.values ?? 1;
    case 'Copy':
      return 1;
    case 'Export':
      return act.values;
    case 'Match':
      return act.rows * act.patterns.length;
    case 'Guess':
      return act.guesses;
    case 'Move':
      return act.rows * act.columns;
  }
}
