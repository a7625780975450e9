import type { Column, ColumnPlan, Notice, Preflight } from '../../../../electron/contract/models/batch.ts';
import type { Mapping } from '../../../../electron/contract/models/mapping.ts';
import type { DefinitionKind } from '../../../../electron/contract/models/connection.ts';
import type { AppStore } from '../../../lib/app-store.svelte.ts';
import { columnOperationNames, columnOperations, givenBy } from '../../../../electron/contract/operations.ts';
import { formatCount, formatRows, formatUnits } from '../../../lib/format.ts';
import { noticeKinds } from '../../../messages/notices.ts';
import { formatKeys } from '../../../ui/keys.ts';
import { fittingPolicy, refusalsOf } from '../run/refusals.ts';

/** What is known of a failed request that is to be tried again. '' is unknown, or unknown to this connection. */
export interface Preset {
  operation: ColumnPlan['operation'];
  definition: string;
  policy: string;
}

export function formatPreset({ operation, definition, policy }: Preset, app: AppStore): string {
  const parts = [
    columnOperations[operation].label,
    definition === '' ? '' : app.definition(definition).label,
  ];
  if (policy !== '') parts.push(`policy ${policy}`);
  return parts.filter((part) => part !== '').join(' · ');
}

/** What may be done with a column that was recognised. */
export interface Suggestion {
  operation: 'tokenize' | 'detokenize' | 'mask';
  /** Such as "card numbers". */
  looksLike: string;
}

const kindWords: Readonly<Record<DefinitionKind, string>> = {
  card: 'card',
  ssn: 'social security',
  email: 'e-mail',
  text: 'text',
};

/** For a column whose values, or its name where they leave it open, say what it holds; else null. */
export function suggestionFor({
  looksLike,
  content,
}: Pick<Column, 'looksLike' | 'content'>): Suggestion | null {
  if (looksLike === null || looksLike === 'text' || content === null) return null;
  const kind = kindWords[looksLike];
  if (content === 'tokens') return { operation: 'detokenize', looksLike: `${kind} tokens` };
  return { operation: 'tokenize', looksLike: looksLike === 'email' ? 'e-mail addresses' : `${kind} numbers` };
}

/** The same under the policy in use: tokens that it can't have in clear are masked. */
export function allowedSuggestionFor(
  column: Pick<Column, 'index' | 'looksLike' | 'content'>,
  preset: Preset | null,
  app: AppStore,
): Suggestion | null {
  const suggestion = suggestionFor(column);
  if (suggestion?.operation !== 'detokenize') return suggestion;
  const definition = definitionFor(column, preset, app);
  const isMask =
    app.isRefused(columnOperations.detokenize.by, definition) &&
    !app.isRefused(columnOperations.mask.by, definition);
  return isMask ? { ...suggestion, operation: 'mask' } : suggestion;
}

/** Whether a test found that the policy in use can do nothing else with a column of who knows what. */
export function mayOnlyMask(
  column: Pick<Column, 'index' | 'looksLike' | 'content'>,
  preset: Preset | null,
  app: AppStore,
): boolean {
  const definition = definitionFor(column, preset, app);
  const isRefused = (operation: ColumnPlan['operation']): boolean =>
    app.isRefused(columnOperations[operation].by, definition);
  return (
    column.content !== 'cleartext' &&
    columnOperationNames.every((one) => isRefused(one) === (givenBy(one) !== 'mask'))
  );
}

/** A change to the plan or the mappings that the person can undo, or one that is offered. */
export type Note =
  | { kind: 'suggested'; mapping: Mapping }
  /** A mapping for other columns, or of another environment: `matched` of the file's columns are in it. */
  | { kind: 'offered'; mapping: Mapping; matched: number; columns: number; isOtherPlace: boolean }
  /** The only column was recognised. */
  | { kind: 'recognised'; column: string; suggestion: Suggestion }
  /** The lines were pasted where tokens are looked up. */
  | { kind: 'tokens' }
  /** The policy in use may only mask, so that is done with the only column. */
  | { kind: 'only-masks'; policy: string }
  | { kind: 'removed'; mapping: Mapping; wasApplied: boolean }
  | { kind: 'preset'; text: string; column: string | null }
  /** The preset waits for the next file, because this one already has a plan. */
  | { kind: 'later'; text: string };

interface PlanOptions {
  app: AppStore;
  column: Pick<Column, 'index' | 'looksLike'>;
  /** What was done with the column until now. */
  before: ColumnPlan | undefined;
  preset: Preset | null;
}

/** The plan of a column for an operation that was just chosen: definition and policy that fit, as far as is known. */
export function planFor(
  operation: ColumnPlan['operation'],
  { app, column, before, preset }: PlanOptions,
): ColumnPlan {
  const definition = before?.definition ?? definitionFor(column, preset, app);
  const policy =
    before === undefined
      ? preset?.policy || policyFor(operation, definition, app)
      : app.policyFor(columnOperations[operation].by, definition, before.policy);
  return {
    column: column.index,
    operation,
    policy,
    definition,
    target: operation === 'translate' ? targetFor({ definition, policy }, app) : null,
    parts: null,
    pattern: null,
    // A match is always written beside its column, so its value is not carried over to the next operation.
    into:
      operation === 'match'
        ? 'beside'
        : before?.operation === 'match'
          ? 'replace'
          : (before?.into ?? 'replace'),
  };
}

/** Where tokens are translated to at first, under the column's own policy where it may; null where there is nothing else. */
export function targetFor({ definition, policy }: Pick<ColumnPlan, 'definition' | 'policy'>, app: AppStore) {
  const other =
    app.translateTargets(definition)[0] ?? app.definitions.find(({ name }) => name !== definition);
  return other === undefined
    ? moveTo(app.moveTargets[0]?.id, { definition, policy }, app)
    : { policy: app.policyFor(columnOperations.translate.by, other.name, policy), definition: other.name };
}

/** Where values are moved to at first at another connection: what is called the same, or is of the same kind. */
export function moveTo(
  connection: string | undefined,
  { definition, policy }: Pick<ColumnPlan, 'definition' | 'policy'>,
  app: AppStore,
): ColumnPlan['target'] {
  const other = app.moveTargets.find(({ id }) => id === connection);
  const { kind } = app.definition(definition);
  const found =
    other?.definitions.find(({ name }) => name === definition) ??
    other?.definitions.find((one) => one.kind === kind) ??
    other?.definitions[0];
  const known = other?.policies.includes(policy) === true ? policy : other?.policies[0];
  if (other === undefined || found === undefined || known === undefined) return null;
  return { connection: other.id, policy: known, definition: found.name };
}

/** The chosen policy, unless an earlier batch was refused under it. */
function policyFor(operation: ColumnPlan['operation'], definition: string, app: AppStore): string {
  const { connection, jobs } = app;
  if (connection === null) return app.policy;
  const refusals = refusalsOf(jobs.values(), connection.id);
  // What is known of a policy is surer than what a batch left.
  const preferred = app.policyFor(columnOperations[operation].by, definition);
  return fittingPolicy(connection.policies, { operation, definition }, { preferred, refusals });
}

function definitionFor(
  { looksLike }: Pick<Column, 'looksLike'>,
  preset: Preset | null,
  app: AppStore,
): string {
  if (preset !== null && preset.definition !== '') return preset.definition;
  const fitting = app.definitions.find(({ kind }) => kind === looksLike);
  return (fitting ?? app.definitions[0])?.name ?? '';
}

/** A part of a line, and whether it is to stand out. */
interface LinePart {
  readonly text: string;
  readonly differs: boolean;
}

/**
 * "As october.csv: 200,000 rows, 69 bad as before. Ctrl Enter runs it." in parts; what is not as in the last file of the mapping
 * stands out, and what is new is named. None until the file is counted.
 */
export function compareWithLast(
  { normal }: Pick<Mapping, 'normal'>,
  preflight: Preflight | null,
  news: readonly Notice[],
): LinePart[] {
  if (normal === undefined || preflight?.done !== true) return [];
  const bad = preflight.malformed + preflight.unfit;
  const isSame = { rows: preflight.rows === normal.rows, bad: bad === normal.notValid };
  const kinds = [...new Set(news.map(({ kind }) => noticeKinds[kind]))];
  const counts = [
    {
      text: `${formatRows(preflight.rows)}${isSame.rows ? '' : ` (${formatCount(normal.rows)} then)`}`,
      differs: !isSame.rows,
    },
    {
      text: `${formatCount(bad)} bad ${isSame.bad ? 'as before' : `(${formatCount(normal.notValid)} then)`}`,
      differs: !isSame.bad,
    },
    ...(kinds.length === 0
      ? []
      : [{ text: `${formatUnits(kinds.length, 'new kind')}: ${kinds.join(', ')}`, differs: true }]),
  ];
  return [
    { text: `As ${normal.name}:`, differs: false },
    ...counts.map(({ text, differs }, at) => ({
      text: `${text}${at === counts.length - 1 ? '.' : ','}`,
      differs,
    })),
    ...(kinds.length === 0 ? [{ text: `${formatKeys('Ctrl Enter')} runs it.`, differs: false }] : []),
  ];
}
