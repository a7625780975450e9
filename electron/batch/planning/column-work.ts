import type { ColumnPlan, Marks } from '../../contract/models/batch.ts';
import type { DefinitionKind } from '../../contract/models/connection.ts';
import type { ValueKind } from '../../contract/value-kinds.ts';
import type { BatchCall } from '../../service/service-client.ts';

/** What is done with values of one kind. */
export interface ValueWork {
  readonly kind: DefinitionKind;
  readonly call: BatchCall;
  /** Values with the same key share their requests, whatever columns they are in. */
  readonly key: string;
}

/** Values that stand inside the texts of a column. */
export interface InsideWork {
  readonly marks: Marks;
  /** Values of other kinds stay. */
  readonly works: ReadonlyMap<ValueKind, ValueWork>;
}

/** One mapped column, ready to run. */
export interface ColumnWork {
  readonly plan: ColumnPlan;
  /** Of its cells: a text where values stand inside them. */
  readonly kind: DefinitionKind;
  /** One where each cell is a value; otherwise one for each kind of values inside. */
  readonly values: readonly [ValueWork, ...ValueWork[]];
  /** Absent where each cell is a value. */
  readonly inside?: InsideWork;
  /** The column of cases; absent where rows have none of their own. */
  readonly caseColumn?: number;
  /** Whether it matches an expression whose answers tell more than the mask. */
  readonly isDisclosing: boolean;
  /** Whether a result can stand in its field, where fields have a fixed width; absent where any can. */
  readonly fits?: (result: string) => boolean;
}
