import { done, type Outcome } from '../../contract/errors.ts';
import { maskNumbers } from '../../masking/masking.ts';
import type { Disclosed } from '../../privacy/act.ts';
import { type ByteSource, sha256Of } from '../../storage/byte-source.ts';

interface DisclosedRows extends Pick<Disclosed, 'columns' | 'words' | 'exact'> {
  /** What the rows came from. */
  readonly name: string;
  /** The file as it lies on the disk; null where the rows are a copy of another form: then a second person has none to compare. */
  readonly isFile: boolean;
  /** Null where the file is not read for it. */
  readonly open: (() => Promise<Outcome<ByteSource>>) | null;
}

/** What a second person approves of rows: with the SHA-256 of their bytes, so that no other file comes in their place. */
export async function disclosedRows({
  name,
  isFile,
  open,
  ...of
}: DisclosedRows): Promise<Outcome<Disclosed>> {
  if (open === null) return done({ ...of, source: null });
  const opened = await open();
  if (!opened.ok) return opened;
  const source = opened.value;
  try {
    const hash = await sha256Of(source);
    if (!hash.ok) return hash;
    const file = { name: maskNumbers(name).slice(0, 300), bytes: source.identity.size, sha256: hash.value };
    return done({ ...of, source: isFile ? file : null, exact: [hash.value, of.exact] });
  } finally {
    await source.close();
  }
}

/** `card`, or `column 3` where it has no name. */
export const columnName = (columns: readonly string[], column: number): string =>
  columns[column]?.trim() ? (columns[column] ?? '') : `column ${column + 1}`;
