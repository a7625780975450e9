/** Requests and failures of all groups together; failures null as soon as one group does not tell. */
export function sumsOf(rows: readonly { requests: number; failed: number | null }[]): {
  requests: number;
  failed: number | null;
} {
  let requests = 0;
  let failed: number | null = 0;
  for (const row of rows) {
    requests += row.requests;
    failed = failed === null || row.failed === null ? null : failed + row.failed;
  }
  return { requests, failed };
}
