import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { WorkstationFacts } from '../contract/models/attestation.ts';
import { readManagedSettings } from '../settings/read-managed-settings.ts';
import { selfCheck, type SelfCheckOptions } from './self-check.ts';

/** What `--attest` states of this installation, besides its log and its connections. */
export async function workstationFacts(
  options: SelfCheckOptions,
  version: string,
): Promise<WorkstationFacts> {
  const read = await readManagedSettings(options.managed);
  // Of another program than Electron, such as the one of the tests, not all are there.
  const versions: Partial<Record<'electron' | 'chrome', string>> = process.versions;
  const { managed, sourceOf } = read;
  return {
    workstation: os.hostname().slice(0, 300),
    versions: {
      application: version,
      electron: versions.electron ?? '',
      chromium: versions.chrome ?? '',
      node: process.versions.node,
      system: `${options.os} ${process.arch}`,
      release: os.release(),
    },
    checks: [...(await selfCheck(options))],
    policy: {
      sources: read.ok ? [...read.sources] : [read.source],
      settings: Object.fromEntries(
        Object.entries(managed).map(([name, value]) => [
          name,
          { value, source: (sourceOf as Readonly<Record<string, string>>)[name] ?? '' },
        ]),
      ),
    },
    files: hashOf(path.join(options.resources, 'files.json')),
    sbom: hashOf(path.join(options.resources, 'sbom.json')),
  };
}

/** Null where there is no such file. */
function hashOf(file: string): string | null {
  try {
    return createHash('sha256').update(fs.readFileSync(file)).digest('hex');
  } catch {
    return null;
  }
}
