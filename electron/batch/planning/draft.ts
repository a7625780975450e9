import type { Connection } from '../../contract/models/connection.ts';
import type { Format } from '../reading/read-rows.ts';
import type { OpenSource } from '../reading/sources.ts';
import type { ColumnWork } from './work.ts';

/** A source with a plan that fits it and the connection in use. */
export interface Draft {
  readonly opened: OpenSource;
  readonly format: Format;
  readonly work: readonly ColumnWork[];
  readonly connection: Connection;
  /** Rows as preflight counted them, under the same reading: what a run must come to as well. Null until counted. */
  readonly total: number | null;
}
