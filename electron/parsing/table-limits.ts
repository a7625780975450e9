/** What of a table is read, from whatever file. */
export const tableLimits = {
  columns: 1_000,
  field: 1_000_000,
  /** Bytes. A longer row can't be read. */
  row: 16 * 1024 * 1024,
};
