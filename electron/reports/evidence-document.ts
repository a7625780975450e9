import { createHash } from 'node:crypto';
import type { CaseChain } from './case-chain.ts';
import type { EvidenceKey } from './evidence-key.ts';

export interface EvidenceFacts {
  readonly caseReference: string;
  readonly made: Date;
  readonly by: string;
  readonly application: string;
  /** What the desk found when it verified the whole log, key in hand. */
  readonly log: { readonly state: 'intact' | 'broken'; readonly checked: number };
  readonly page: { readonly name: string; readonly text: string };
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Evidence on one case as JSON. `lines` are the log's own, byte for byte; `links` are the MACs that chain them to the
 * log's last line; `signature` is Ed25519 over the compact JSON of all the other members, in their order.
 */
export function evidenceDocument(chain: CaseChain, facts: EvidenceFacts, key: EvidenceKey): string {
  const document = {
    format: 'tokendesk-evidence',
    version: 1,
    case: facts.caseReference,
    made: facts.made.toISOString(),
    by: facts.by,
    application: facts.application,
    log: { ...facts.log, head: chain.head },
    lines: chain.lines.map(({ file, text, link }) => ({ file, link, sha256: sha256(text), text })),
    links: chain.links,
    page: { name: facts.page.name, sha256: sha256(facts.page.text) },
  };
  const signature = {
    algorithm: 'Ed25519',
    publicKey: key.publicKey.toString('base64'),
    value: key.sign(Buffer.from(JSON.stringify(document))).toString('base64'),
  };
  return `${JSON.stringify({ ...document, signature }, null, 2)}\n`;
}
