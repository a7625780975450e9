import type { DefinitionKind } from '../../contract/models/connection.ts';
import type { ColumnPlan } from '../../contract/models/batch.ts';
import type { BatchCall } from '../../service/client.ts';

/** One mapped column, ready to run. */
export interface ColumnWork {
  readonly plan: ColumnPlan;
  readonly kind: DefinitionKind;
  readonly call: BatchCall;
  /** Columns with the same key share their requests. */
  readonly key: string;
}

export function callFor({ operation, policy, definition, target, pattern }: ColumnPlan): BatchCall {
  switch (operation) {
    case 'tokenize':
      return { operation: 'BatchTokenize', policy, definition };
    case 'detokenize':
      return { operation: 'BatchDetokenize', policy, definition };
    case 'translate':
      if (target === null) throw new TypeError('a translate column without a target');
      return { operation: 'BatchTranslate', policy, definition, target };
    case 'match':
      if (pattern === null) throw new TypeError('a match column without a pattern');
      return { operation: 'PatternMatch', policy, definition, pattern };
  }
}

export function workFor(plan: ColumnPlan, kind: DefinitionKind): ColumnWork {
  const call = callFor(plan);
  return { plan, kind, call, key: JSON.stringify(call) };
}

/** Whether the result of a column is cleartext, or else its input is. */
export const yieldsCleartext = (operation: ColumnPlan['operation']): boolean =>
  operation === 'detokenize' || operation === 'match';
