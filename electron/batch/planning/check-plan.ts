import { done, failed, type Outcome } from '../../contract/errors.ts';
import type { Plan } from '../../contract/models/batch.ts';
import type { Connection, DefinitionKind } from '../../contract/models/connection.ts';
import { checkPattern } from './pattern.ts';
import { workFor, type ColumnWork } from './work.ts';

/**
 * A plan against the source's width and the connection's lists.
 * Failures: plan.empty, plan.column-unknown, plan.definition-unknown, plan.policy-unknown, pattern.*.
 */
export function checkPlan(plan: Plan, width: number, connection: Connection): Outcome<ColumnWork[]> {
  const work: ColumnWork[] = [];
  const taken = new Set<number>();
  for (const column of plan.columns) {
    if (column.column >= width || taken.has(column.column)) {
      return failed('plan.column-unknown', { column: String(column.column + 1) });
    }
    taken.add(column.column);
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
      const pattern = checkPattern(column.pattern ?? '');
      if (!pattern.ok) return pattern;
    }
    work.push(workFor(column, kind));
  }
  return work.length === 0 ? failed('plan.empty') : done(work);
}

function kindOf(connection: Connection, definition: string): DefinitionKind | null {
  return connection.definitions.find(({ name }) => name === definition)?.kind ?? null;
}
