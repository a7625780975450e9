import { createHash } from 'node:crypto';
import { failed, done, type Outcome } from '../contract/errors.ts';
import type { Attestation, WorkstationFacts } from '../contract/models/attestation.ts';
import type { Deployment } from '../contract/models/deployment.ts';
import { auditLines } from '../evidence/case-chain.ts';
import { evidenceKeyAccount } from '../evidence/evidence.ts';
import { signConnections } from '../settings/provided-file.ts';
import { signDocument, signerOf, signingKey, type SigningKey } from '../storage/signed-document.ts';
import type { Foundation } from './foundation.ts';

/** What an administrator has signed, with the key that signs evidence. Commands ask for it, and no window can. */
export interface Statements {
  /** Failures: import.invalid, keychain.*, audit.unwritable. */
  signConnections(bytes: Uint8Array): Promise<Outcome<Deployment>>;
  /** Failures: keychain.*, audit.unwritable. */
  attest(facts: WorkstationFacts): Promise<Outcome<Attestation>>;
}

interface StatementsOptions extends Pick<Foundation, 'audit' | 'keychain' | 'now'> {
  readonly auditFolder: string;
  /** What an administrator provides, as it is in force. */
  readonly provided: () => Deployment | null;
}

export function createStatements(options: StatementsOptions): Statements {
  const { audit, keychain, now, auditFolder, provided } = options;

  async function withKey<T>(act: (key: SigningKey) => Promise<Outcome<T>> | Outcome<T>): Promise<Outcome<T>> {
    const seed = await keychain.key(evidenceKeyAccount);
    return seed.ok ? act(signingKey(seed.value)) : seed;
  }

  async function endOfLog() {
    // Listed, since that verifies the chain.
    const { chain } = await audit.list({ before: null, limit: 1, caseReference: null });
    let head: Attestation['log']['head'] | null = null;
    let by = '';
    for await (const { line } of auditLines(auditFolder, now().toISOString().slice(0, 10))) {
      if (line.kind !== 'entry') continue;
      head = { sequence: line.sequence, mac: line.mac };
      by = line.actor;
    }
    return head === null ? null : { by, log: { state: chain.state, head } };
  }

  return {
    signConnections: (bytes) =>
      audit.record({ action: 'SignConnections' }, () =>
        withKey((key) => signConnections(bytes, { key, now: now() })),
      ),
    attest: (facts) =>
      audit.record({ action: 'Attest' }, () =>
        withKey(async (key) => {
          const end = await endOfLog();
          if (end === null) return failed('evidence.none');
          const { by, log } = end;
          const { workstation, versions, checks, policy, files, sbom } = facts;
          return done(
            signDocument(
              {
                format: 'tokendesk-attestation' as const,
                version: 1 as const,
                made: now().toISOString(),
                ...{ by, workstation, versions, checks: [...checks], policy },
                connections: hashOf(provided()),
                ...{ files, sbom, log },
              },
              key,
            ),
          );
        }),
      ),
  };
}

function hashOf(deployment: Deployment | null): Attestation['connections'] {
  if (deployment === null) return null;
  const { signature: _, ...content } = deployment;
  const sha256 = createHash('sha256').update(JSON.stringify(content)).digest('hex');
  return { sha256, issued: deployment.issued ?? null, signer: signerOf(deployment) };
}
