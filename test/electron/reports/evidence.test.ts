import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import type { AuditIntent } from '../../../electron/audit/entries.ts';
import { done, failed } from '../../../electron/contract/errors.ts';
import { auditEntries } from '../../../electron/evidence/case-chain.ts';
import { verifyEvidence } from '../../../scripts/verify-evidence.ts';
import { auditKey, openHarness, value } from '../../support/reports.ts';

type Harness = Awaited<ReturnType<typeof openHarness>>;

async function act(harness: Harness, intent: AuditIntent): Promise<void> {
  value(await harness.audit.begin(intent))({ ok: true, requestId: 'r-1' });
}

async function caseWithEvidence() {
  const harness = await openHarness();
  const hostile = '<img src=x onerror=alert(1)> "quoted" & \u2028 second line';
  const acme = { connection: 'Acme', environment: 'test' } as const;
  await act(harness, { action: 'GetMasked', caseReference: 'D-1', definition: 'card-number', ...acme });
  await act(harness, { action: 'Reveal', caseReference: 'D-2', reason: 'another case' });
  await act(harness, { action: 'Reveal', caseReference: 'D-1', reason: hostile, rows: 1 });
  await act(harness, { action: 'Tokenize' });
  const evidence = value(await harness.reports['reports.evidence']({ caseReference: 'D-1' }));
  const file = path.join(harness.folder, 'evidence-D-1.json');
  return { harness, evidence, file, page: path.join(harness.folder, 'evidence-D-1.html') };
}

const rewrite = (file: string, change: (text: string) => string): void =>
  fs.writeFileSync(file, change(fs.readFileSync(file, 'utf8')));

test('evidence on a case holds its lines, all of them and no others, and can be verified by a stranger', async () => {
  const { harness, evidence, file } = await caseWithEvidence();
  expect(evidence).toEqual({
    files: ['evidence-D-1.json', 'evidence-D-1.html'],
    entries: 5,
    signer: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    evidenceId: expect.any(String) as string,
  });
  const { evidenceId = '' } = evidence ?? {};
  expect(await harness.reports['reports.showEvidence']({ evidenceId })).toEqual(done({ shown: true }));
  const text = fs.readFileSync(file, 'utf8');
  expect(text).not.toContain('another case');
  const options = { file, signer: evidence?.signer ?? '', log: harness.auditFolder, key: auditKey };
  const verdict = await verifyEvidence(options);
  expect(verdict.problems).toEqual([]);
  expect(verdict).toMatchObject({ verdict: 'valid', unchecked: [], signer: evidence?.signer });
  expect(verdict.holds).toHaveLength(11);
  // The log goes on; what was in it stays in it.
  await act(harness, { action: 'Tokenize' });
  expect((await verifyEvidence(options)).problems).toEqual([]);
});

test('the page has everything escaped, loads nothing and runs its own check alone', async () => {
  const { page, evidence } = await caseWithEvidence();
  const text = fs.readFileSync(page, 'utf8');
  expect(text).toContain('&lt;img src=x onerror=alert(1)&gt; "quoted" &amp;');
  expect(text).not.toMatch(/<img|https?:|src="|fetch|XMLHttpRequest/);
  expect(text).toMatch(
    /"default-src 'none'; script-src 'sha256-[^ ]{44}'; style-src 'sha256-[^ ]{44}';[^"]*"/,
  );
  expect(text.match(/<script(?: type="application\/json" id="evidence")?>/g)).toHaveLength(2);
  expect(text).toContain(evidence?.signer);
  expect(text).toMatch(
    />Acme \(test\)<[^]*intact, \d+ entries checked|intact, \d+ entries checked[^]*>Acme \(test\)</,
  );
  expect(text).not.toContain('null (');
});

test('the page says of each line whether it was done, and why not', async () => {
  const harness = await openHarness();
  await act(harness, { action: 'Reveal', caseReference: 'D-1', reason: 'one' });
  value(await harness.audit.begin({ action: 'Copy', caseReference: 'D-1' }))({
    ok: false,
    code: 'service.timeout',
  });
  await harness.reports['reports.evidence']({ caseReference: 'D-1' });
  const page = fs.readFileSync(path.join(harness.folder, 'evidence-D-1.html'), 'utf8');
  const cells = [...page.matchAll(/<td(?: class="failed")?>(begun|done|failed)([^<]*)</g)];
  expect(cells.map(([, phase, code]) => `${phase}${code}`)).toEqual([
    'begun',
    'done',
    'begun',
    'failed (service.timeout)',
    // The evidence's own line.
    'begun',
  ]);
});

test('evidence made from a broken log says so', async () => {
  const harness = await openHarness();
  await act(harness, { action: 'Reveal', caseReference: 'D-1', reason: 'one' });
  await harness.audit.list({ before: null, limit: 1, caseReference: null });
  rewrite(path.join(harness.auditFolder, 'audit-000001.jsonl'), (text) => text.replace('"one"', '"two"'));
  await harness.reports['reports.evidence']({ caseReference: 'D-1' });
  const { problems } = await verifyEvidence({ file: path.join(harness.folder, 'evidence-D-1.json') });
  expect(problems).toContain('The log was already broken when this was made.');
  expect(fs.readFileSync(path.join(harness.folder, 'evidence-D-1.html'), 'utf8')).toContain(
    'BROKEN: the log has been changed from outside',
  );
});

test('there is none on a case nobody worked on, and no page is overwritten', async () => {
  const { harness, page } = await caseWithEvidence();
  const none = await harness.reports['reports.evidence']({ caseReference: 'D-77' });
  expect(none).toEqual(failed('evidence.none', { subject: 'D-77' }));
  const before = fs.readFileSync(page, 'utf8');
  const again = value(await harness.reports['reports.evidence']({ caseReference: 'D-1' }));
  expect(again?.files).toEqual(['evidence-D-1.json', 'evidence-D-1 (2).html']);
  expect(fs.readFileSync(page, 'utf8')).toBe(before);
  expect((await verifyEvidence({ file: path.join(harness.folder, 'evidence-D-1.json') })).problems).toEqual(
    [],
  );
});

test('a log that isn’t there has no lines, and one that can’t be read is not taken for an empty one', async () => {
  const { folder } = await openHarness();
  const file = path.join(folder, 'file');
  fs.writeFileSync(file, '');
  const first = async (place: string) => (await auditEntries(place, null).next()).value ?? null;
  expect(await first(path.join(folder, 'none'))).toBeNull();
  await expect(first(file)).rejects.toThrow('ENOTDIR');
});
