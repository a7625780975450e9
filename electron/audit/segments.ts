import fs from 'node:fs/promises';
import path from 'node:path';

const pattern = /^audit-([0-9]{6,})\.jsonl$/;

export function segmentFile(folder: string, segment: number): string {
  return path.join(folder, `audit-${String(segment).padStart(6, '0')}.jsonl`);
}

/** Numbers of the files there are, in order. */
export async function listSegments(folder: string): Promise<number[]> {
  const names = await fs.readdir(folder);
  return names
    .map((name) => Number(pattern.exec(name)?.[1] ?? Number.NaN))
    .filter((segment) => Number.isSafeInteger(segment))
    .sort((one, other) => one - other);
}

/** Changes whenever the file was written to or replaced. The change time can't be set back by `touch`. */
export async function signature(file: string): Promise<string> {
  const { ino, size, mtimeNs, ctimeNs } = await fs.stat(file, { bigint: true });
  return `${ino}:${size}:${mtimeNs}:${ctimeNs}`;
}
