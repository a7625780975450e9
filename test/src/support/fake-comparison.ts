import type {
  ComparedRows,
  ComparedRowsQuery,
  ComparedSide,
  Comparison,
} from '../../../electron/contract/models/compared.ts';

/** Values in all of them, in the first two where there are more, and in one alone. */
export function comparisonOf(sides: readonly ComparedSide[]): Comparison {
  const all = sides.map((_, at) => at);
  const sizes = all.map((at) => 500_000 - at * 11_204);
  const groups = [
    { files: all, values: 310_227, rows: all.map((at) => 311_002 + at) },
    ...(all.length > 2
      ? [{ files: [0, 1], values: 1_204, rows: all.map((at) => (at < 2 ? 1_204 : 0)) }]
      : []),
    ...all.map((at) => ({
      files: [at],
      values: 20_117 + at,
      rows: all.map((own) =>
        own === at ? (sizes[at] ?? 0) - 311_002 - at - (all.length > 2 && at < 2 ? 1_204 : 0) - 60 : 0,
      ),
    })),
  ];
  return {
    files: all.map((at) => ({
      ...{ name: at === 0 ? 'disputes-q3.csv' : `disputes-q${at + 3}.csv`, rows: sizes[at] ?? 0 },
      ...{ blank: 48, leftOut: 12, repeated: at === 1 ? { values: 210, rows: 431 } : { values: 0, rows: 0 } },
    })),
    groups,
    written: null,
  };
}

/** Rows as a comparison of these would have them: only how many they are is told from it. */
export function comparedRowsOf(
  { files, groups }: Comparison,
  { file, group, repeated, from, count }: ComparedRowsQuery,
): ComparedRows {
  const own = files.flatMap((_, at) => (file === null || file === at ? [at] : []));
  const sizeOf = (at: number): number =>
    repeated
      ? (files[at]?.repeated.rows ?? 0)
      : group === null
        ? (files[at]?.rows ?? 0)
        : (groups[group]?.rows[at] ?? 0);
  const total = own.reduce((sum, at) => sum + sizeOf(at), 0);
  const rows = Array.from({ length: Math.max(0, Math.min(count, total - from)) }, (_, n) => {
    let left = from + n;
    const at = own.find((one) => left < sizeOf(one) || (left -= sizeOf(one)) < 0) ?? 0;
    const inFiles =
      group === null ? (groups[left % groups.length]?.files ?? []) : (groups[group]?.files ?? []);
    return {
      file: at,
      row: left + 1,
      inFiles: [...inFiles],
      repeated: repeated || (at === 1 && left % 900 === 7),
    };
  });
  return { total, from, rows };
}
