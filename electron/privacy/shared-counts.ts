import { z } from 'zod';
import { done } from '../contract/errors.ts';
import type { DisclosureCounts } from '../contract/models/disclosures.ts';
import { count } from '../contract/models/fields.ts';
import type { Keychain } from '../storage/keychain.ts';
import { machineAccount } from '../storage/keychain-accounts.ts';
import { noCounts, type SharedCounts } from './disclosures.ts';

const account = machineAccount('disclosures');
const kinds = Object.keys(noCounts) as (keyof DisclosureCounts)[];

/** Numbers in the order of `noCounts`, without the last where a version wrote them that had none of it: an entry of the keychain holds 2,560 bytes, some thirty homes. */
const stored = z.strictObject({
  day: z.string(),
  homes: z.record(
    z.string(),
    z
      .array(count)
      .min(kinds.length - 1)
      .max(kinds.length),
  ),
});

/** A home's identity is not written there, only a part of it: who reads the entry learns the counts alone. */
export function createSharedCounts(
  keychain: Pick<Keychain, 'read' | 'store'>,
  homeId: () => string,
): SharedCounts {
  const name = (): string => homeId().slice(0, 12);

  async function readHomes(day: string) {
    const found = await keychain.read(account);
    if (!found.ok) return found.failure.code === 'credentials.missing' ? done({}) : found;
    const read = stored.safeParse(parseJson(found.value));
    return done(read.success && read.data.day === day ? read.data.homes : {});
  }

  return {
    async read(day) {
      const homes = await readHomes(day);
      if (!homes.ok) return homes;
      const { [name()]: own, ...others } = homes.value as Record<string, number[]>;
      const sum = { ...noCounts };
      for (const counts of Object.values(others)) kinds.forEach((kind, at) => (sum[kind] += counts[at] ?? 0));
      const mine = Object.fromEntries(kinds.map((kind, at) => [kind, own?.[at] ?? 0])) as DisclosureCounts;
      return done({ own: mine, others: sum });
    },
    async write(day, own) {
      const homes = await readHomes(day);
      if (!homes.ok) return homes;
      const written = { ...homes.value, [name()]: kinds.map((kind) => own[kind]) };
      const answer = await keychain.store(account, JSON.stringify({ day, homes: written }));
      return answer.ok ? done(null) : answer;
    },
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
