import { isDeepStrictEqual } from 'node:util';
import shippedProfile from '../../resources/service-profile.json' with { type: 'json' };
import type { ServiceProfile } from './profile.ts';

const isMembers = (json: unknown): json is Readonly<Record<string, unknown>> =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

interface Difference {
  readonly path: string;
  /** Undefined where it isn't there. */
  readonly here: unknown;
  readonly there: unknown;
}

/** The members in which two profiles differ. Lists are compared as a whole: their order counts. */
export function differencesOf(here: unknown, there: unknown, path: readonly string[] = []): Difference[] {
  if (isDeepStrictEqual(here, there)) return [];
  if (!isMembers(here) || !isMembers(there)) return [{ path: path.join('.'), here, there }];
  return [...new Set([...Object.keys(here), ...Object.keys(there)])].flatMap((name) =>
    differencesOf(here[name], there[name], [...path, name]),
  );
}

/** The file that makes this profile: what it says otherwise than the shipped one. */
export function profileFile(profile: ServiceProfile): Record<string, unknown> {
  const { administration, ...others } = profile;
  const { administration: _shipped, ...shipped } = shippedProfile;
  return {
    version: 1,
    ...(difference(shipped, others) as object),
    // A file without it has none: the shipped one is not taken over.
    ...(administration !== null && { administration }),
  };
}

function difference(below: unknown, above: unknown): unknown {
  if (!isMembers(below) || !isMembers(above)) return above;
  return Object.fromEntries(
    Object.entries(above).flatMap(([name, value]) => {
      // What may be left out stands as a default in the profile.
      const under = below[name];
      if (isDeepStrictEqual(under, value)) return [];
      if (under === undefined && isMembers(value) && Object.keys(value).length === 0) return [];
      const changed = difference(under, value);
      const isEmpty = isMembers(changed) && isMembers(under) && Object.keys(changed).length === 0;
      return isEmpty ? [] : [[name, changed]];
    }),
  );
}
