/** Of one record: more than any record of a mainframe has. */
export const maxRecordBytes = 32_767;
export const maxRecordColumns = 500;

interface Layout {
  readonly lines: boolean;
  readonly bytes?: number | undefined;
  readonly only?: { readonly start: number } | undefined;
  readonly columns: readonly { readonly name: string; readonly start: number; readonly width: number }[];
}

const isByte = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= maxRecordBytes;

/** Whether columns stand in their order within a record, none over another, each with a name of its own. */
export function areColumns({ lines, bytes, only, columns }: Layout): boolean {
  if (columns.length === 0 || columns.length > maxRecordColumns) return false;
  // Without line ends only the length tells records apart.
  if (bytes === undefined ? !lines : !isByte(bytes)) return false;
  if (only !== undefined && (!isByte(only.start) || only.start > (bytes ?? maxRecordBytes))) return false;
  const end = bytes ?? maxRecordBytes;
  const stand = columns.every(({ start, width }, at) => {
    const before = columns[at - 1];
    const isBehind = before === undefined || before.start + before.width <= start;
    return isByte(start) && isByte(width) && start + width - 1 <= end && isBehind;
  });
  return stand && new Set(columns.map(({ name }) => name)).size === columns.length;
}
