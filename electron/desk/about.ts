import fs from 'node:fs/promises';
import { z } from 'zod';
import type { About } from '../contract/models/desk.ts';
import type { Shell } from '../shell/shell.ts';

/** What the build writes of each package it bundled; keytar is loaded, not bundled. */
const built = z.array(z.object({ name: z.string(), version: z.string(), identifier: z.string().nullish() }));
const loaded = [{ name: 'keytar (@github/keytar)', version: '7', licence: 'MIT' }];

/** Reads the lists that the build left beside the bundles; one that is missing leaves its packages out. */
export async function readAbout(
  shell: Pick<Shell, 'host' | 'version'>,
  lists: readonly URL[],
): Promise<About> {
  const read = async (list: URL): Promise<About['licences']> => {
    try {
      const packages = built.parse(JSON.parse(await fs.readFile(list, 'utf8')));
      return packages.map(({ name, version, identifier }) => ({
        name,
        version,
        licence: identifier ?? 'not stated',
      }));
    } catch {
      return [];
    }
  };
  const found = [...(await Promise.all(lists.map(read))).flat(), ...loaded];
  const once = new Map(found.map((one) => [`${one.name} ${one.version}`, one]));
  return {
    version: shell.version,
    host: shell.host,
    licences: [...once.values()].sort((a, b) => a.name.localeCompare(b.name)),
  };
}
