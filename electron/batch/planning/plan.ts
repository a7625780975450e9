import { done, failed, type Outcome } from '../../contract/errors.ts';
import { matchExpression, type MatchExpression } from '../../contract/match-expression.ts';
import type { ColumnPlan, Notice, Plan, PolicyChange, Reading } from '../../contract/models/batch.ts';
import type { Connection, DefinitionKind } from '../../contract/models/connection.ts';
import { columnOperations, givenBy } from '../../contract/operations.ts';
import { openToken, type Cleartext } from '../../util/cleartext.ts';
import { mask, maskAgain, maskCell } from '../../masking/masking.ts';
import { batchCall, type BatchCall } from '../../service/service-client.ts';
import type { Format } from '../reading/read-rows.ts';
import { fieldRule } from '../reading/record-rows.ts';
import type { Position } from '../storing/journal.ts';
import type { OpenSource } from '../reading/sources.ts';

/** A source with a plan that fits it and the connection in use. */
export interface Draft {
  readonly opened: OpenSource;
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  readonly connection: Connection;
  /** Null until counted. */
  readonly counted: Counted | null;
  /** Where rows begin, spread over the file, as far as preflight came. */
  readonly starts: readonly Position[];
}

/** What a reading of the whole source found. */
export interface Counted {
  /** A run must come to the same number. */
  readonly rows: number;
  /** See `Preflight`. */
  readonly guesses: number;
  /** CRC-32 of all bytes behind the byte order mark. */
  readonly crc: number;
  readonly notices: readonly Notice[];
}

/** One mapped column, ready to run. */
export interface ColumnWork {
  readonly plan: ColumnPlan;
  readonly kind: DefinitionKind;
  readonly call: BatchCall;
  /** Whether it matches an expression whose answers tell more than the mask. */
  readonly isDisclosing: boolean;
  /** Columns with the same key share their requests. */
  readonly key: string;
  /** The column of cases; absent where the batch has none. */
  readonly caseColumn?: number;
  /** Whether a result can stand in its field, where fields have a fixed width; absent where any can. */
  readonly fits?: (result: string) => boolean;
}

/** Null for a plan without an expression. What the window says with the expression in addition is never believed. */
function expressionOf({ parts, pattern }: ColumnPlan, kind: DefinitionKind): MatchExpression | null {
  if (parts === null) return pattern === null ? null : { pattern, isFree: false };
  return pattern === null ? matchExpression(kind, parts) : null;
}

function callFor(
  { operation, policy, definition, target }: ColumnPlan,
  expression: MatchExpression | null,
): BatchCall {
  const { by } = columnOperations[operation];
  return batchCall(by, { policy, definition, target, pattern: expression?.pattern ?? null });
}

export function workFor(
  plan: ColumnPlan,
  kind: DefinitionKind,
  { reading, caseColumn }: Pick<Plan, 'reading' | 'caseColumn'>,
): ColumnWork {
  const expression = plan.operation === 'match' ? expressionOf(plan, kind) : null;
  const call = callFor(plan, expression);
  // A mask is words of our own: it is cut to its field.
  const isWhole = plan.into === 'replace' && plan.operation !== 'match' && plan.operation !== 'mask';
  const fits = isWhole ? fieldRule(reading, plan.column) : null;
  return {
    plan,
    kind,
    call,
    isDisclosing: expression?.isFree === false,
    key: JSON.stringify(call),
    ...(caseColumn !== undefined && { caseColumn }),
    ...(fits !== null && { fits }),
  };
}

/** The plan under other policies. Failure: plan.column-unknown. */
export function changePolicies(plan: Plan, changes: readonly PolicyChange[]): Outcome<Plan> {
  const unknown = changes.find(({ column }) => plan.columns.every((planned) => planned.column !== column));
  if (unknown !== undefined) return failed('plan.column-unknown', { column: String(unknown.column + 1) });
  const columns = plan.columns.map((planned) => {
    const change = changes.find(({ column }) => column === planned.column);
    if (change === undefined) return planned;
    const { policy, targetPolicy } = change;
    const { target } = planned;
    return {
      ...planned,
      policy,
      target: target === null ? null : { ...target, policy: targetPolicy ?? target.policy },
    };
  });
  return done({ ...plan, columns });
}

/** Whether the result of a column is cleartext, or else its input is. */
export const yieldsCleartext = (operation: ColumnPlan['operation']): boolean =>
  givenBy(operation) === 'cleartext';

/** Whether the result of a column is a mask: one made here of cleartext, or the service's own, behind which there is nothing. */
export const yieldsMasks = (operation: ColumnPlan['operation']): boolean => givenBy(operation) !== 'token';

/** Columns of a source that are hidden whole, with what they hold. */
export type MaskedColumns = ReadonlyMap<number, DefinitionKind>;

/** How a mapped column of the source is hidden; null where a cell says itself what to hide. No plan takes a mask off. */
export function inputMask({ plan, kind }: ColumnWork, masked: MaskedColumns): DefinitionKind | null {
  const own = masked.get(plan.column) ?? null;
  // A text is hidden whole: as a card, ten digits of a bank account would show.
  return plan.operation === 'tokenize' && own !== 'text' ? kind : own;
}

/**
 * What the window sees of a source's cell. `isToken`: the service took it for one. That takes no mask off a column which
 * main hides by itself: tokens may have the form of values, and a service then takes a value for a token.
 */
export function showInput(
  cell: Cleartext,
  { maskedAs, isToken }: { readonly maskedAs: DefinitionKind | null; readonly isToken: boolean },
): string {
  if (maskedAs !== null) return mask(maskedAs, cell);
  return isToken ? openToken(cell) : maskCell(cell);
}

/**
 * What the window sees of a result: a token as it is, the service's own mask, which is masked again where it shows a whole
 * number, and the mask made here of a value in clear.
 */
export function showResult(
  result: Cleartext,
  { kind, operation }: { readonly kind: DefinitionKind; readonly operation: ColumnPlan['operation'] },
): string {
  switch (givenBy(operation)) {
    case 'token':
      return openToken(result);
    case 'mask':
      return maskAgain(result, kind).masked;
    case 'cleartext':
      return mask(kind, result);
  }
}

/**
 * A plan against the source's width and the connection's lists. Its expressions are not checked here: see `Parser`.
 * At most one expression a definition may tell more than the mask: several at once would be several bits of a value.
 * Failures: plan.empty, plan.column-unknown, plan.definition-unknown, plan.policy-unknown, pattern.invalid where there is none,
 * pattern.too-many.
 */
export function checkPlan(plan: Plan, width: number, connection: Connection): Outcome<ColumnWork[]> {
  const { caseColumn } = plan;
  // What a mapped column has is replaced, or is a value: a case is neither.
  if (
    caseColumn !== undefined &&
    (caseColumn >= width || plan.columns.some((one) => one.column === caseColumn))
  )
    return failed('plan.column-unknown', { column: String(caseColumn + 1) });
  const work: ColumnWork[] = [];
  const seen = new Set<number>();
  const disclosed = new Set<string>();
  for (const column of plan.columns) {
    if (column.column >= width || seen.has(column.column)) {
      return failed('plan.column-unknown', { column: String(column.column + 1) });
    }
    seen.add(column.column);
    if (plan.reading.records?.columns[column.column]?.packed === true)
      return failed('plan.column-packed', { column: String(column.column + 1) });
    const kind = kindOf(connection, column.definition);
    if (kind === null) return failed('plan.definition-unknown', { definition: column.definition });
    if (!connection.policies.includes(column.policy)) {
      return failed('plan.policy-unknown', { policy: column.policy });
    }
    if (column.operation === 'translate') {
      const { target } = column;
      if (target === null) return failed('plan.definition-unknown');
      if (kindOf(connection, target.definition) === null) {
        return failed('plan.definition-unknown', { definition: target.definition });
      }
      if (!connection.policies.includes(target.policy)) {
        return failed('plan.policy-unknown', { policy: target.policy });
      }
    }
    if (column.operation === 'match') {
      const expression = expressionOf(column, kind);
      if (expression === null) return failed('pattern.invalid');
    }
    const one = workFor(column, kind, plan);
    if (one.isDisclosing) {
      const { definition } = column;
      if (disclosed.has(definition)) return failed('pattern.too-many', { definition });
      disclosed.add(definition);
    }
    work.push(one);
  }
  return work.length === 0 ? failed('plan.empty') : done(work);
}

function kindOf(connection: Connection, definition: string): DefinitionKind | null {
  return connection.definitions.find(({ name }) => name === definition)?.kind ?? null;
}
