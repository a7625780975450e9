import fs from 'node:fs/promises';
import type { Counted } from '../contract/models/disclosures.ts';
import { instantOf, linesBackward, listSegments, readLine, segmentFile } from './lines.ts';

/** What the lines of a day add up to. */
export interface DayCounts {
  readonly counted: Counted;
  /** The largest `alike` of a line, by definition. */
  readonly alike: ReadonlyMap<string, number>;
}

const needles = [Buffer.from('"counted":'), Buffer.from('"alike":')];
const dayMs = 86_400_000;

/**
 * What acts since an instant added, from the lines that say it. An act without an end counts: it may have been done. A
 * line of a day to come was written on the day of a line behind it, or today: a clock that stood ahead uses up the day on
 * which it was put right, and no later one. The whole log is looked through, since a clock that was set back puts the
 * lines of today behind older ones; lines without any such member are not parsed.
 */
export async function readDayCounts({
  folder,
  key,
  since,
  now,
}: {
  readonly folder: string;
  readonly key: Uint8Array;
  readonly since: Date;
  readonly now: Date;
}): Promise<DayCounts> {
  const [begin, end] = [since.getTime(), since.getTime() + dayMs];
  const sums = { reveals: 0, copies: 0, exportedRows: 0, matchAnswers: 0, guesses: 0, moved: 0 };
  const expressions = new Set<string>();
  const alike = new Map<string, number>();
  const ended = new Set<number>();
  let latest = now.getTime();

  for (const segment of (await listSegments(folder)).reverse()) {
    const file = segmentFile(folder, segment);
    for await (const bytes of linesBackward(file, (await fs.stat(file)).size)) {
      const at = instantOf(bytes) ?? Infinity;
      latest = Math.min(latest, at);
      const isOfDay = at >= begin && (at < end || latest >= begin);
      if (!isOfDay || !needles.some((needle) => bytes.includes(needle))) continue;
      // Under a key that is gone with its run, a line can't be verified: it counts all the same.
      const line = readLine(key, bytes) ?? readLine(null, bytes);
      if (line?.kind !== 'entry') continue;
      if (line.alike !== undefined && line.definition !== null)
        alike.set(line.definition, Math.max(alike.get(line.definition) ?? 0, line.alike));
      if (line.counted === undefined) continue;
      if (line.of !== null) ended.add(line.of);
      else if (ended.has(line.sequence)) continue;
      for (const fingerprint of line.counted.expressions ?? []) expressions.add(fingerprint);
      for (const kind of Object.keys(sums) as (keyof typeof sums)[]) sums[kind] += line.counted[kind] ?? 0;
    }
  }
  return { counted: { ...sums, expressions: [...expressions] }, alike };
}
