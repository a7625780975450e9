import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { Audit } from '../../../electron/audit/audit.ts';
import { done } from '../../../electron/contract/errors.ts';
import { auditEntry, type AuditEntry } from '../../../electron/contract/models/activity.ts';
import { auditEntries } from '../../../electron/evidence/case-chain.ts';
import { writeEvidence } from '../../../electron/evidence/evidence.ts';
import { readAccess } from '../../../electron/reports/access.ts';
import { countWorkstation } from '../../../electron/reports/workstation.ts';
import { verifyEvidence } from '../../../scripts/verify-evidence.ts';
import { everything, logFolder, testKey, value } from '../../support/audit-folder.ts';
import { actsOfBoth, writeOldLog } from '../../support/old-log.ts';

type Log = ReturnType<typeof logFolder>;

async function writeNew(audit: Audit): Promise<void> {
  for (const { now } of actsOfBoth) {
    const [intent, end] = now;
    const close = value(await audit.begin(intent));
    if (end !== null) close(end);
  }
}

function oldLog(): Log {
  const log = logFolder();
  writeOldLog(log);
  return log;
}

async function newLog(): Promise<Log> {
  const log = logFolder();
  const audit = await log.open();
  await writeNew(audit);
  await audit.close();
  return log;
}

const versionsOf = (log: Log): number[] =>
  fs
    .readFileSync(log.file(1), 'utf8')
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => (JSON.parse(line) as { v: number }).v);

async function reportsOf({ folder }: Log) {
  const january = { from: '2026-01-01', to: '2026-01-31', grouping: 'operation' } as const;
  const { rows } = await readAccess(auditEntries(folder, null), '2026-01');
  const { refusals, cases, ...counted } = await countWorkstation(
    auditEntries(folder, null),
    january,
    'intact',
  );
  return {
    ...counted,
    access: rows.map((row) => ({ ...row, at: '' })),
    refusals: refusals.map((refusal) => ({ ...refusal, last: '' })),
    cases: cases.map((one) => ({ ...one, last: '' })),
  };
}

test('reports of a log of version 1 are what version 1 answered, and those of the same acts today', async () => {
  const old = oldLog();
  expect(new Set(versionsOf(old))).toEqual(new Set([1]));
  const reports = await reportsOf(old);
  // What the version that wrote such lines said of this very log.
  expect(reports).toMatchObject({ requests: 5, failed: 1, values: 503, valuesFailed: 451 });
  expect(reports.rows.map(({ operation, requests, failed }) => [operation, requests, failed])).toEqual([
    ['Tokenize', 1, 0],
    ['BatchDetokenize', 1, 0],
    ['Detokenize', 3, 1],
  ]);
  expect(reports.refusals.map(({ code, values, requests }) => [code, values, requests])).toEqual([
    ['service.token-invalid', 430, 0],
    ['service.element-refused', 20, 0],
    ['service.refused', 1, 1],
  ]);
  expect(reports.cases).toEqual([
    { caseReference: 'D-1', reveals: 2, copies: 1, exports: 2, rows: 81, last: '' },
  ]);
  expect(reports.access.map(({ act, values, isEnded }) => [act, values, isEnded])).toEqual([
    ['Export', 40, false],
    ['Export', 38, true],
    ['Match', 1, true],
    ['Reveal', 1, true],
    ['Copy', 1, false],
    ['Reveal', 1, true],
  ]);
  const fresh = await newLog();
  expect(new Set(versionsOf(fresh))).toEqual(new Set([2]));
  expect(await reportsOf(fresh)).toEqual(reports);
});

/** The end of an act that was not sent had no operation in its note: "not sent" stood there. */
const asBefore = ({ at: _, ...entry }: AuditEntry) => {
  const { operation, ...others } = entry;
  return entry.sent === false || operation === undefined ? others : { ...others, operation };
};

test('lines of version 1 are listed with the members of today', async () => {
  const [old, fresh] = await Promise.all(
    [oldLog(), await newLog()].map(async (log) => (await log.open()).list(everything)),
  );
  expect(old?.chain.state).toBe('intact');
  expect(old?.entries.map(asBefore)).toEqual(fresh?.entries.map(asBefore));
  for (const entry of old?.entries ?? []) expect(auditEntry.parse(entry)).toEqual(entry);
});

test('a log that both versions wrote is one chain to the app, to an auditor and in evidence', async () => {
  const log = oldLog();
  const before = fs.readFileSync(log.file(1));
  const audit = await log.open();
  expect(audit.state()).toBe('ready');
  await writeNew(audit);
  expect((await audit.list(everything)).chain.state).toBe('intact');
  const target = path.join(log.root, 'evidence.json');
  const evidence = await writeEvidence(
    {
      audit,
      auditFolder: log.folder,
      keychain: { key: () => Promise.resolve(done(new Uint8Array(32).fill(9))) },
      chooseTarget: () => Promise.resolve(target),
      now: () => new Date(0),
      version: '0.1.0',
    },
    'D-1',
  );
  await audit.close();

  const bytes = fs.readFileSync(log.file(1));
  expect(bytes.subarray(0, before.length).equals(before)).toBe(true);
  const versions = versionsOf(log);
  expect(new Set(versions.slice(0, versions.indexOf(2)))).toEqual(new Set([1]));
  expect(new Set(versions.slice(versions.indexOf(2)))).toEqual(new Set([2]));

  const { status, stdout } = spawnSync(
    process.execPath,
    ['scripts/verify-audit.ts', log.folder, '--key', '-', '--checkpoint', log.checkpoint],
    { input: Buffer.from(testKey).toString('base64'), encoding: 'utf8' },
  );
  expect(stdout).toBe(
    `VALID: ${versions.length} entries verified, 0 under keys that are gone, in 1 files; the log is intact.\n`,
  );
  expect(status).toBe(0);

  const signer = value(evidence)?.signer ?? '';
  expect((await verifyEvidence({ file: target, signer, log: log.folder, key: testKey })).problems).toEqual(
    [],
  );
  const page = fs.readFileSync(path.join(log.root, 'evidence.html'), 'utf8');
  const details = [...page.matchAll(/<td>([^<]*)<\/td>\s*<\/tr>/g)].map(([, text]) => text ?? '');
  const ofOld = details.slice(0, details.length / 2);
  for (const said of [
    'in clear; Detokenize',
    'not sent',
    '430 refused: service.token-invalid; 20 refused: service.element-refused',
    'in clear; cleartext; all; exact; encrypted; 40 = 37 succeeded + 2 failed + 1 blank',
    'masked; matches; workbook; 40 = 40 succeeded',
  ]) {
    expect(ofOld).toContain(said);
  }
});

test('a note of today is for a person, whatever it says', async () => {
  const log = logFolder();
  const audit = await log.open();
  const close = value(await audit.begin({ action: 'Export', note: 'cleartext all exact' }));
  close({ ok: true, note: 'not sent' });
  value(await audit.begin({ action: 'RevokeApiKey', note: 'Detokenize' }))({ ok: true });
  const { entries } = await audit.list(everything);
  expect(entries.flatMap(({ cleartext, sent, operation }) => cleartext ?? sent ?? operation ?? [])).toEqual(
    [],
  );
  expect((await reportsOf(log)).requests).toBe(0);
});

test('the administrator’s guide names every member of a line', () => {
  const guide = fs.readFileSync('docs/administrators-guide.md', 'utf8');
  const missing = Object.keys(auditEntry.shape).filter((name) => !guide.includes(`\`${name}\``));
  expect(missing).toEqual([]);
});
