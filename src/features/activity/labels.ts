import type { AuditEntry } from '../../../electron/contract/models/activity.ts';
import { isFailureCode, reasonFor } from '../../messages.ts';

const acts: Record<string, string> = {
  Reveal: 'Revealed',
  Copy: 'Copied cleartext',
  Match: 'Matched by expression',
  ExportReport: 'Exported a report',
  Evidence: 'Saved evidence',
  CreateSession: 'Signed in to the service',
  Tokenize: 'Tokenized',
  Detokenize: 'Detokenized',
  GetMasked: 'Looked up',
  Translate: 'Translated',
  BatchTokenize: 'Tokenized in bulk',
  BatchDetokenize: 'Detokenized in bulk',
  BatchTranslate: 'Translated in bulk',
  PatternMatch: 'Matched in bulk',
  AggregateApiRequestMetrics: 'Loaded account figures',
  QueryLastFailedRequests: 'Loaded failed requests',
  CheckToolServer: 'Checked the tool server',
  UsePortalToken: 'Stored a portal token',
  SaveConnection: 'Saved a connection',
  RemoveConnection: 'Removed a connection',
  ChooseConnection: 'Switched connection',
  StartBuiltIn: 'Started the built-in service',
  StoreSecret: 'Stored a secret',
  StoreCertificate: 'Stored a certificate',
  ForgetCertificate: 'Removed a certificate',
  SaveSettings: 'Changed settings',
  SetPassphrase: 'Set the passphrase',
  RemovePassphrase: 'Removed the passphrase',
  Lock: 'Locked',
  Unlock: 'Unlocked',
  ResetLock: 'Reset the lock',
  ChainBroken: 'Found the log tampered with',
  TailSetAside: 'Set an unfinished line aside',
};

/** What was done, in words. An act of another version is shown by its name. */
export function actLabel({ action, note }: AuditEntry): string {
  if (action === 'Export') return note?.startsWith('cleartext') === true ? 'Exported cleartext' : 'Exported';
  return acts[action] ?? action;
}

/** The log holds the codes of any version; one that this version does not know is shown as it is. */
const failureText = (code: string | null): string | null =>
  code !== null && isFailureCode(code) ? reasonFor(code) : code;

export const detailText = ({ reason, code, note }: AuditEntry): string =>
  [reason, failureText(code), note].filter((part) => part !== null).join(' · ');

export const phaseLabels = {
  begun: { variant: 'quiet', label: 'started' },
  ok: { variant: 'ok', label: 'done' },
  failed: { variant: 'danger', label: 'failed' },
} as const;
