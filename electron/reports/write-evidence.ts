import { access } from 'node:fs/promises';
import path from 'node:path';
import { done, failed, type Failure, type Outcome } from '../contract/errors.ts';
import type { Evidence } from '../contract/models/report.ts';
import { readCaseChain } from './case-chain.ts';
import { evidenceDocument } from './evidence-document.ts';
import { evidenceKey } from './evidence-key.ts';
import { evidencePage } from './evidence-page.ts';
import type { ReportParts } from './report-parts.ts';
import { saveFile } from './save-file.ts';

type Parts = Pick<ReportParts, 'audit' | 'auditFolder' | 'keychain' | 'chooseTarget' | 'now' | 'version'>;

export const evidenceKeyAccount = 'evidence:signing';

/**
 * Writes what the audit log has on one case: a signed JSON file where the person says, and a page to read beside it.
 * Null when they changed their mind. Failures: evidence.none, audit.unwritable, keychain.*, file.*. Making evidence is an act on
 * the case itself: its own line is the last in it.
 */
export async function writeEvidence(parts: Parts, caseReference: string): Promise<Outcome<Evidence | null>> {
  const { audit } = parts;
  const known = await audit.list({ before: null, limit: 1, caseReference });
  if (known.total === 0) return failed('evidence.none', { subject: caseReference.slice(0, 300) });
  const seed = await parts.keychain.key(evidenceKeyAccount);
  if (!seed.ok) return seed;
  const stem = `evidence-${caseReference.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 80)}`;
  const target = await parts.chooseTarget({ name: `${stem}.json`, beside: null });
  if (target === null) return done(null);

  const begun = await audit.begin({ action: 'Evidence', caseReference });
  if (!begun.ok) return begun;
  const give = (failure: Failure): Outcome<never> => {
    begun.value({ ok: false, code: failure.code });
    return { ok: false, failure };
  };
  // Listed again: it verifies the chain, its newest line included.
  const { chain: log } = await audit.list({ before: null, limit: 1, caseReference });
  const chain = await readCaseChain(parts.auditFolder, caseReference);
  if (chain === null) return give({ code: 'evidence.none' });

  const key = evidenceKey(seed.value);
  const page = await freeName(target);
  const facts = {
    caseReference,
    made: parts.now(),
    by: chain.lines.at(-1)?.entry.actor ?? '',
    application: parts.version,
    log: log.state === 'intact' ? log : { state: log.state, checked: log.sequence },
  };
  const document = path.basename(target);
  const text = evidencePage(chain, { ...facts, document, signer: key.fingerprint });
  const json = evidenceDocument(chain, { ...facts, page: { name: path.basename(page), text } }, key);
  // The page first: a JSON file that is there has its page beside it.
  for (const [file, content] of [
    [page, text],
    [target, json],
  ] as const) {
    const saved = await saveFile(file, content);
    if (!saved.ok) return give(saved.failure);
  }
  begun.value({ ok: true, rows: chain.lines.length });
  return done({
    files: [document, path.basename(page)].map((name) => name.slice(0, 300)),
    entries: chain.lines.length,
    signer: key.fingerprint,
  });
}

/** The person was asked about the JSON file alone: nothing else is overwritten. */
async function freeName(target: string): Promise<string> {
  const stem = target.replace(/\.json$/i, '');
  for (let turn = 1; ; turn++) {
    const name = turn === 1 ? `${stem}.html` : `${stem} (${turn}).html`;
    const isThere = await access(name).then(
      () => true,
      () => false,
    );
    if (!isThere) return name;
  }
}
