import fs from 'node:fs/promises';
import path from 'node:path';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { readSmallFile } from '../storage/read-small-file.ts';
import { hmac } from './lines.ts';
import type { SegmentReport, VerifiedFiles } from './verify.ts';

/** Of tens of thousands of files. */
const maxFileBytes = 16 * 1024 * 1024;

interface SignedReport {
  readonly sha256: string;
  readonly report: SegmentReport;
  readonly mac: string;
}

/**
 * What is known of files of the log that were verified line by line and are full: their SHA-256 and their report, signed under
 * the chain's key. A start reads every byte of them again, but needs no MAC for each line: of a year that takes a tenth of the
 * time. Without the key nobody can sign one, and with it the lines themselves could be signed. It may be removed at any time.
 */
export function createVerifiedFiles(file: string, key: Uint8Array): VerifiedFiles {
  const known = new Map<number, SignedReport>();
  let isChanged = false;
  let loading: Promise<void> | null = null;

  // No line of the log and no checkpoint begins so.
  const macOf = (sha256: string, report: SegmentReport): string =>
    hmac(key, `verified ${sha256} ${JSON.stringify(report)}`);

  async function load(): Promise<void> {
    const found = await readSmallFile(file, { maxBytes: maxFileBytes });
    const text = found.kind === 'read' ? found.bytes.toString() : '';
    for (const line of text.split('\n').filter((one) => one !== '')) {
      try {
        const { sha256, report, mac } = JSON.parse(line) as SignedReport;
        if (macOf(sha256, report) === mac) known.set(report.segment, { sha256, report, mac });
      } catch {
        // Cut off, or written by somebody else.
      }
    }
  }

  return {
    async reportOf(segment, sha256) {
      await (loading ??= load());
      const found = known.get(segment);
      return found?.sha256 === sha256 ? found.report : null;
    },
    add(report, sha256) {
      known.set(report.segment, { sha256, report, mac: macOf(sha256, report) });
      isChanged = true;
    },
    async save() {
      if (!isChanged) return;
      isChanged = false;
      await fs.mkdir(path.dirname(file), { recursive: true, mode: 0o700 }).catch(() => undefined);
      await writeFileAtomically(file, [...known.values()].map((one) => `${JSON.stringify(one)}\n`).join(''));
    },
  };
}
