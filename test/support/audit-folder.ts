import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { type Audit, createAudit, type AuditOptions } from '../../electron/audit/audit.ts';
import { createCheckpointFile } from '../../electron/audit/checkpoint.ts';
import { done, type Outcome } from '../../electron/contract/errors.ts';

export const testKey = new Uint8Array(32).fill(7);

/** A log in a folder of its own, opened as often as a test likes. */
export function logFolder(root = fs.mkdtempSync(path.join(os.tmpdir(), 'audit-'))) {
  const folder = path.join(root, 'log');
  const checkpoint = path.join(root, 'elsewhere', 'checkpoint');
  const verified = path.join(root, 'elsewhere', 'verified');
  const opened: Audit[] = [];
  onTestFinished(async () => {
    for (const audit of opened) await audit.close();
    fs.rmSync(root, { recursive: true, force: true });
  });
  let second = 0;
  return {
    root,
    folder,
    checkpoint,
    verified,
    file: (segment: number) => path.join(folder, `audit-${String(segment).padStart(6, '0')}.jsonl`),
    files: () => fs.readdirSync(folder).sort(),
    async open(options: Partial<AuditOptions> = {}) {
      const audit = createAudit({
        folder,
        key: () => Promise.resolve(done({ bytes: testKey, persistent: true })),
        actor: 'kim',
        now: () => new Date(Date.UTC(2026, 0, 2, 3, 4, second++)),
        checkpoint: createCheckpointFile(checkpoint),
        verifiedFile: verified,
        ...options,
      });
      opened.push(audit);
      await audit.opened;
      return audit;
    },
  };
}

export function value<T>(outcome: Outcome<T>): T {
  if (!outcome.ok) throw new Error(outcome.failure.code);
  return outcome.value;
}

export const everything = { before: null, limit: 500, caseReference: null };
