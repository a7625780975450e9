import { shownName } from '../privacy/file-names.ts';
import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import path from 'node:path';
import type { Audit } from '../audit/audit.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Evidence } from '../contract/models/report.ts';
import type { Keychain } from '../storage/keychain.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { signDocument, signingKey, type SigningKey } from '../storage/signed-document.ts';
import { readCaseChain, type CaseChain } from './case-chain.ts';
import { evidencePage, withDocument } from './evidence-page.ts';

export interface EvidenceOptions {
  readonly audit: Pick<Audit, 'record' | 'list'>;
  /** Where the audit log lies. */
  readonly auditFolder: string;
  readonly keychain: Pick<Keychain, 'key'>;
  /** Asks where to write; null when the person changed their mind. */
  readonly chooseTarget: (suggestion: { name: string; beside: string | null }) => Promise<string | null>;
  readonly now: () => Date;
  /** Of the application. */
  readonly version: string;
}

/** `target`: the JSON file, which the window never learns. */
type WrittenEvidence = Omit<Evidence, 'evidenceId'> & { readonly target: string };

/** The keychain account of the key that evidence and receipts are signed with. */
export const evidenceKeyAccount = 'evidence:signing';

/**
 * Writes what the audit log has on one case: a signed JSON file where the person says, and a page to read beside it.
 * Null when they changed their mind. Failures: evidence.none, audit.unwritable, keychain.*, file.*. Making evidence is an act on
 * the case itself: its own line is the last in it.
 */
export async function writeEvidence(
  options: EvidenceOptions,
  caseReference: string,
): Promise<Outcome<WrittenEvidence | null>> {
  const { audit } = options;
  const listed = await audit.list({ before: null, limit: 1, caseReference });
  if (listed.total === 0) return failed('evidence.none', { subject: caseReference.slice(0, 300) });
  const seed = await options.keychain.key(evidenceKeyAccount);
  if (!seed.ok) return seed;
  const stem = `evidence-${caseReference.replaceAll(/[^A-Za-z0-9._-]+/g, '-').slice(0, 80)}`;
  const target = await options.chooseTarget({ name: `${stem}.json`, beside: null });
  if (target === null) return done(null);

  return audit.record({ action: 'Evidence', caseReference }, async (add) => {
    const written = await writeFiles(options, { caseReference, target, seed: seed.value });
    if (written.ok) add({ rows: written.value.entries });
    return written;
  });
}

async function writeFiles(
  { audit, auditFolder, now, version }: EvidenceOptions,
  { caseReference, target, seed }: { caseReference: string; target: string; seed: Uint8Array },
): Promise<Outcome<WrittenEvidence>> {
  // Listed again: it verifies the chain, its newest line included.
  const { chain: log } = await audit.list({ before: null, limit: 1, caseReference });
  const chain = await readCaseChain(auditFolder, caseReference);
  if (chain === null) return failed('evidence.none');

  const key = signingKey(seed);
  const page = await freeName(target);
  const facts = {
    caseReference,
    made: now(),
    by: chain.lines.at(-1)?.entry.actor ?? '',
    application: version,
    log: log.state === 'intact' ? log : { state: log.state, checked: log.sequence },
  };
  const document = path.basename(target);
  const text = evidencePage(chain, { ...facts, document, signer: key.fingerprint });
  const signed = evidenceDocument(chain, { ...facts, page: { name: path.basename(page), text } }, key);
  // The page first: a JSON file that is there has its page beside it.
  for (const [file, content] of [
    [page, withDocument(text, signed)],
    [target, `${JSON.stringify(signed, null, 2)}\n`],
  ] as const) {
    const saved = await writeFileAtomically(file, content);
    if (!saved.ok) return saved;
  }
  return done({
    files: [target, page].map(shownName),
    entries: chain.lines.length,
    signer: key.fingerprint,
    target,
  });
}

/** The person was asked about the JSON file alone: nothing else is overwritten. */
async function freeName(target: string): Promise<string> {
  const stem = target.replace(/\.json$/i, '');
  for (let number = 1; ; number++) {
    const name = number === 1 ? `${stem}.html` : `${stem} (${number}).html`;
    const isThere = await access(name).then(
      () => true,
      () => false,
    );
    if (!isThere) return name;
  }
}

interface EvidenceFacts {
  readonly caseReference: string;
  readonly made: Date;
  readonly by: string;
  readonly application: string;
  /** What the app found when it verified the whole log with its key. */
  readonly log: { readonly state: 'intact' | 'broken'; readonly checked: number };
  /** Without the document in it. */
  readonly page: { readonly name: string; readonly text: string };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Evidence on one case, for JSON. `lines` are the log's own, byte for byte; `links` are the MACs that chain them to the
 * log's last line; `signature` is Ed25519 over the compact JSON of all the other members, in their order.
 */
export function evidenceDocument(chain: CaseChain, facts: EvidenceFacts, key: SigningKey): object {
  const document = {
    format: 'tokendesk-evidence',
    version: 2,
    case: facts.caseReference,
    made: facts.made.toISOString(),
    by: facts.by,
    application: facts.application,
    log: { ...facts.log, head: chain.head },
    lines: chain.lines.map(({ file, text, link }) => ({ file, link, sha256: sha256(text), text })),
    links: chain.links,
    page: { name: facts.page.name, sha256: sha256(facts.page.text) },
  };
  return signDocument(document, key);
}
