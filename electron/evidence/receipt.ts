import type { FileName } from '../contract/models/fields.ts';
import { shownName } from '../privacy/file-names.ts';
import type { Audit } from '../audit/audit.ts';
import { done, failed, type Outcome } from '../contract/errors.ts';
import type { Receipt } from '../contract/models/receipt.ts';
import { writeFileAtomically } from '../storage/atomic-file.ts';
import { openFile, sha256Of } from '../storage/byte-source.ts';
import type { Keychain } from '../storage/keychain.ts';
import { signDocument, signingKey } from '../storage/signed-document.ts';
import { auditLines } from './case-chain.ts';
import { evidenceKeyAccount } from './evidence.ts';

interface ReceiptOptions {
  readonly audit: Pick<Audit, 'record' | 'list'>;
  /** Where the audit log lies. */
  readonly auditFolder: string;
  readonly keychain: Pick<Keychain, 'key'>;
  readonly now: () => Date;
  /** Of the application. */
  readonly version: string;
}

/** What a batch says of its export. */
export interface ReceiptFacts extends Pick<
  Receipt,
  'mapping' | 'connection' | 'environment' | 'job' | 'source' | 'sum' | 'rowsWritten' | 'remaining' | 'cases'
> {
  /** The file that it is of, with its folder. */
  readonly target: string;
  /** Where its content is: it gets its name once the receipt is there. */
  readonly content: string;
  /** When the batch began: its lines stand no earlier in the log. */
  readonly startedAt: string;
}

export interface WrittenReceipt {
  /** Beside the file, without its folder. */
  readonly name: FileName;
  /** SHA-256 of the key that signed it, hex. */
  readonly signer: string;
}

/** Beside the file that it is of. */
export const receiptFile = (target: string): string => `${target}.receipt.json`;

export type WriteReceipt = (facts: ReceiptFacts) => Promise<Outcome<WrittenReceipt>>;

/**
 * Writes a signed receipt of an export beside its file. Its own line in the audit log is the last it names. Failures:
 * keychain.*, audit.unwritable, evidence.none, file.*.
 */
export const createReceipts =
  (options: ReceiptOptions): WriteReceipt =>
  async (facts) => {
    const { audit, auditFolder, keychain, now, version } = options;
    const { target, content, startedAt, ...rest } = facts;
    const seed = await keychain.key(evidenceKeyAccount);
    if (!seed.ok) return seed;
    const { connection, environment, job } = facts;
    return audit.record({ action: 'Receipt', connection, environment, job }, async () => {
      const written = await openFile(content);
      if (!written.ok) return written;
      const hash = await sha256Of(written.value);
      await written.value.close();
      if (!hash.ok) return hash;
      // Listed, since that verifies the chain.
      const { chain } = await audit.list({ before: null, limit: 1, caseReference: null });
      const lines = await linesOf(auditFolder, { job, startedAt });
      if (lines === null) return failed('evidence.none');
      const key = signingKey(seed.value);
      const file = receiptFile(target);
      const name = shownName(file);
      const document: Omit<Receipt, 'signature'> = {
        format: 'tokendesk-receipt',
        version: 1,
        made: now().toISOString(),
        by: lines.by,
        application: version,
        ...rest,
        output: {
          name: shownName(target),
          bytes: written.value.identity.size,
          sha256: hash.value,
        },
        log: { state: chain.state, first: lines.first, last: lines.last },
      };
      const signed = signDocument(document, key);
      const saved = await writeFileAtomically(file, `${JSON.stringify(signed, null, 2)}\n`);
      return saved.ok ? done({ name, signer: key.fingerprint }) : saved;
    });
  };

/** The first and the last line on a batch, and who began the last; null where the log has none. */
async function linesOf(
  folder: string,
  { job, startedAt }: { readonly job: string; readonly startedAt: string },
): Promise<(Pick<Receipt['log'], 'first' | 'last'> & { readonly by: string }) | null> {
  let first: Receipt['log']['first'] | null = null;
  let last = { file: '', sequence: 0, mac: '' };
  let by = '';
  for await (const { line, file } of auditLines(folder, startedAt.slice(0, 10))) {
    if (line.kind !== 'entry' || line.job !== job) continue;
    last = { file, sequence: line.sequence, mac: line.mac };
    first ??= last;
    by = line.actor;
  }
  return first === null ? null : { first, last, by };
}
