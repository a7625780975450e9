import { done, failed, type Outcome } from '../../contract/errors.ts';
import { matchExpression, type MatchExpression } from '../../contract/match-expression.ts';
import type { ColumnPlan, Encoding, Notice, Plan, PolicyChange } from '../../contract/models/batch.ts';
import type { Connections } from '../../connections/store.ts';
import type { Connection, DefinitionKind } from '../../contract/models/connection.ts';
import { columnOperations, givenBy } from '../../contract/operations.ts';
import { definedAs, type ValueKind, valueKinds } from '../../contract/value-kinds.ts';
import { openToken, type Cleartext } from '../../util/cleartext.ts';
import { mask, maskAgain, maskCell } from '../../masking/masking.ts';
import { batchCall } from '../../service/service-client.ts';
import { codecOf } from '../reading/encodings.ts';
import type { Format } from '../reading/read-rows.ts';
import { fieldRule } from '../reading/record-rows.ts';
import type { Account } from '../storing/job-files.ts';
import type { Position } from '../storing/journal.ts';
import type { OpenSource } from '../reading/sources.ts';
import type { ColumnWork, InsideWork, ValueWork } from './column-work.ts';
import { hideText, showMarked } from './inside-cells.ts';

/** Whether the values of a column go to another connection, in clear in between. */
export const isMove = ({ values: [{ call }] }: Pick<ColumnWork, 'values'>): boolean =>
  'target' in call && call.target.connection !== undefined;

/** The connections that values are moved to. */
export const targetsOf = (work: readonly Pick<ColumnWork, 'values'>[]): string[] => [
  ...new Set(
    work.flatMap(({ values: [{ call }] }) => ('target' in call ? [call.target.connection ?? []].flat() : [])),
  ),
];

const accountOf = ({
  id,
  name,
  environment,
  baseUrl,
  builtIn,
  accountId,
  tenantId,
}: Connection): Account => ({
  connection: id,
  ...{ name, environment, accountId, tenantId },
  address: builtIn ? 'built-in' : baseUrl,
});

/** Of what this work is sent to: the connection, and those that values are moved to, as far as they are there. */
export const accountsOf = (
  connectionId: string,
  work: readonly Pick<ColumnWork, 'values'>[],
  { find }: Pick<Connections, 'find'>,
): Account[] =>
  [connectionId, ...targetsOf(work)].flatMap((id) => {
    const found = find(id);
    return found.ok ? [accountOf(found.value)] : [];
  });

/** Of both ends of a move; none of other work. */
export const accountsOfMove = (
  { connection, work }: Pick<Draft, 'connection' | 'work'>,
  connections: Pick<Connections, 'find'>,
): Account[] => (work.some(isMove) ? accountsOf(connection.id, work, connections) : []);

/** What decides whose tokens they are; a name does not. */
const decisive = ({ environment, address, accountId, tenantId }: Account): string =>
  JSON.stringify([environment, address, accountId, tenantId]);

/** For a person. */
export const placeOf = ({ name, environment, address, accountId, tenantId }: Account): string =>
  [
    `${name} (${environment})`,
    address,
    ...(accountId === '' ? [] : [`account ${accountId}`]),
    ...(tenantId === '' ? [] : [`tenant ${tenantId}`]),
  ].join(', ');

/** That they are still those it began with: half a file would have the tokens of one, half of another. Failure: job.account-changed. */
export function checkAccounts(
  accounts: readonly Account[],
  { find }: Pick<Connections, 'find'>,
): Outcome<null> {
  for (const account of accounts) {
    const found = find(account.connection);
    if (found.ok && decisive(accountOf(found.value)) !== decisive(account))
      return failed('job.account-changed', { subject: found.value.name });
  }
  return done(null);
}

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

/** Null for a plan without an expression. What the window says with the expression in addition is never believed. */
function expressionOf({ parts, pattern }: ColumnPlan, kind: DefinitionKind): MatchExpression | null {
  if (parts === null) return pattern === null ? null : { pattern, isFree: false };
  return pattern === null ? matchExpression(kind, parts) : null;
}

function valueWork(
  { operation, policy, target }: ColumnPlan,
  {
    definition,
    kind,
    expression = null,
  }: { definition: string; kind: DefinitionKind; expression?: MatchExpression | null },
): ValueWork {
  const { by } = columnOperations[operation];
  const call = batchCall(by, { policy, definition, target, pattern: expression?.pattern ?? null });
  return { kind, call, key: JSON.stringify(call) };
}

function insideWork(plan: ColumnPlan): InsideWork | null {
  const { inside } = plan;
  if (inside === undefined) return null;
  const works = valueKinds.flatMap((kind): [ValueKind, ValueWork][] => {
    const definition = inside.definitions[kind];
    return definition === undefined ? [] : [[kind, valueWork(plan, { definition, kind: definedAs[kind] })]];
  });
  return { marks: { open: inside.open, close: inside.close }, works: new Map(works) };
}

/** `kind`: of the column's definition. */
export function workFor(
  plan: ColumnPlan,
  kind: DefinitionKind,
  { reading, caseColumn }: Pick<Plan, 'reading' | 'caseColumn'>,
): ColumnWork {
  const expression = plan.operation === 'match' ? expressionOf(plan, kind) : null;
  const inside = insideWork(plan);
  const whole = valueWork(plan, { definition: plan.definition, kind, expression });
  const [first = whole, ...others] = inside?.works.values() ?? [];
  // A mask is words of our own: it is cut to its field.
  const isWhole = plan.into === 'replace' && plan.operation !== 'match' && plan.operation !== 'mask';
  const fits = isWhole ? fieldRule(reading, plan.column) : null;
  return {
    plan,
    kind: inside === null ? kind : 'text',
    values: [first, ...others],
    ...(inside !== null && { inside }),
    ...(caseColumn !== undefined && { caseColumn }),
    isDisclosing: expression?.isFree === false,
    ...(fits !== null && { fits }),
  };
}

/** The position in the source of the last column that is looked at: one that is mapped, or that of the cases. */
export const lastMapped = (work: readonly ColumnWork[]): number =>
  Math.max(...work.map(({ plan, caseColumn = 0 }) => Math.max(plan.column, caseColumn)));

/** The expressions of what is matched. */
export const patternsOf = (work: readonly ColumnWork[]): string[] =>
  work.flatMap(({ values: [{ call }] }) => ('pattern' in call ? [call.pattern] : []));

/** All definitions of a column. */
export const definitionsOf = ({
  definition,
  inside,
}: Pick<ColumnPlan, 'definition' | 'inside'>): string[] => [
  ...new Set([definition, ...Object.values(inside?.definitions ?? {}).filter((name) => name !== undefined)]),
];

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

/** Whether results stand in place of whole cells as the service gave them: a file in clear differs from its source there alone. */
export const replacesCells = ({ plan, inside }: Pick<ColumnWork, 'plan' | 'inside'>): boolean =>
  plan.into === 'replace' && inside === undefined && !['mask', 'match'].includes(plan.operation);

/** Columns of a source that are hidden whole, with what they hold. */
export type MaskedColumns = ReadonlyMap<number, DefinitionKind>;

/** How a mapped column of the source is hidden; null where a cell says itself what to hide. No plan takes a mask off. */
export function inputMask({ plan, kind, inside }: ColumnWork, masked: MaskedColumns): DefinitionKind | null {
  const own = masked.get(plan.column) ?? null;
  // What is found in it is hidden where it stands.
  if (inside !== undefined) return own;
  // A text is hidden whole: as a card, ten digits of a bank account would show.
  return plan.operation === 'tokenize' && own !== 'text' ? kind : own;
}

/** A cell in clear as a file shows it that is to hold none. */
export const hideCell = ({ kind, inside }: Pick<ColumnWork, 'kind' | 'inside'>, cell: Cleartext): string =>
  inside === undefined ? mask(kind, cell) : hideText(cell);

/**
 * What the window sees of a source's cell. `isToken`: the service took it for one. That takes no mask off a column which
 * main hides by itself: tokens may have the form of values, and a service then takes a value for a token.
 */
export function showInput(
  cell: Cleartext,
  {
    maskedAs,
    isToken,
    inside,
  }: {
    readonly maskedAs: DefinitionKind | null;
    readonly isToken: boolean;
    readonly inside?: InsideWork | undefined;
  },
): string {
  if (maskedAs !== null) return mask(maskedAs, cell);
  if (inside !== undefined) return isToken ? showMarked(cell, inside) : hideText(cell);
  return isToken ? openToken(cell) : maskCell(cell);
}

/**
 * What the window sees of a result: a token as it is, the service's own mask, which is masked again where it shows a whole
 * number, and the mask made here of a value in clear.
 */
export function showResult(
  result: Cleartext,
  {
    kind,
    operation,
    inside,
  }: {
    readonly kind: DefinitionKind;
    readonly operation: ColumnPlan['operation'];
    readonly inside?: InsideWork | undefined;
  },
): string {
  switch (givenBy(operation)) {
    case 'token':
      return inside === undefined ? openToken(result) : showMarked(result, inside);
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
 * pattern.too-many, plan.move-within, plan.move-environment, plan.case-column, connection.unknown.
 */
export function checkPlan(
  plan: Plan,
  width: number,
  { connection, find }: { readonly connection: Connection; readonly find: Connections['find'] },
): Outcome<ColumnWork[]> {
  const { caseColumn } = plan;
  if (caseColumn !== undefined && !canHoldCases(plan, caseColumn, width))
    return failed('plan.case-column', { column: String(caseColumn + 1) });
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
    const inside = checkInside(column, connection, plan.reading.encoding);
    if (!inside.ok) return inside;
    if (column.operation === 'translate') {
      const { target } = column;
      if (target === null) return failed('plan.definition-unknown');
      // Within one connection the service translates: nothing is in clear for it.
      if (target.connection === connection.id) return failed('plan.move-within');
      const other = target.connection === undefined ? done(connection) : find(target.connection);
      if (!other.ok) return other;
      if (connection.environment === 'production' && other.value.environment !== 'production')
        return failed('plan.move-environment', { subject: other.value.name });
      if (kindOf(other.value, target.definition) === null) {
        return failed('plan.definition-unknown', { definition: target.definition });
      }
      if (!other.value.policies.includes(target.policy)) {
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

/** What a mapped column holds is replaced, or is a value: a case is neither. One without a name is nothing a person chose. */
function canHoldCases({ reading, columns }: Plan, caseColumn: number, width: number): boolean {
  const hasNames = reading.header || reading.json !== undefined || reading.records !== undefined;
  const isPacked = reading.records?.columns[caseColumn]?.packed === true;
  return hasNames && !isPacked && caseColumn < width && columns.every(({ column }) => column !== caseColumn);
}

/** Values inside texts: only where their marks can be made or found, and each kind as a definition that takes it. */
function checkInside(
  { operation, definition, inside }: ColumnPlan,
  connection: Connection,
  encoding: Encoding,
): Outcome<null> {
  if (inside === undefined) return done(null);
  const planned = valueKinds.flatMap((kind) => {
    const named = inside.definitions[kind];
    return named === undefined ? [] : [{ kind, named }];
  });
  if (operation !== 'tokenize' && operation !== 'detokenize') return failed('plan.inside');
  if (!codecOf(encoding).encode(inside.open + inside.close).ok)
    return failed('plan.inside', { subject: encoding });
  if (planned.every(({ named }) => named !== definition)) return failed('plan.inside');
  for (const { kind, named } of planned) {
    const taken = kindOf(connection, named);
    if (taken === null) return failed('plan.definition-unknown', { definition: named });
    if (taken !== 'text' && taken !== definedAs[kind]) return failed('plan.inside', { definition: named });
  }
  return done(null);
}

function kindOf(connection: Connection, definition: string): DefinitionKind | null {
  return connection.definitions.find(({ name }) => name === definition)?.kind ?? null;
}
