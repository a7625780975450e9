import type { AuditEntry } from '../../electron/contract/models/activity.ts';
import { isOperation, operationInfo } from '../../electron/contract/operations.ts';
import { formatCount } from '../lib/format.ts';
import { isFailureCode, reasonFor } from './messages.ts';

/** Each act once: a `begun` entry whose end is listed is left out; one without an end stays. */
export function actsOf(entries: AuditEntry[]): AuditEntry[] {
  const ended = new Set(entries.map(({ of }) => of));
  return entries.filter(({ phase, sequence }) => phase !== 'begun' || !ended.has(sequence));
}

/** As something done, and as a noun: the acts that are no operation of the service with a session. */
const actLabels: Record<string, readonly [done: string, noun: string]> = {
  Reveal: ['Revealed', 'Reveal'],
  Copy: ['Cleartext copied', 'Cleartext copy'],
  Match: ['Expression matched', 'Expression match'],
  Guess: ['Values of one mask tokenized', 'Tokenizing values of one mask'],
  Export: ['Exported', 'Export'],
  ExportReport: ['Report exported', 'Report export'],
  Evidence: ['Evidence saved', 'Evidence'],
  Receipt: ['Receipt signed', 'Receipt'],
  CreateSession: ['Signed in', 'Sign-in'],
  AggregateApiRequestMetrics: ['Account figures loaded', 'Account figures'],
  QueryLastFailedRequests: ['Failed requests loaded', 'Failed requests'],
  CopyToolToken: ['Token copied for a client', 'Token for a client'],
  CheckToolServer: ['Tool server checked', 'Tool server check'],
  UsePortalToken: ['Portal token stored', 'Portal token'],
  Authenticate: ['Signed in to the portal', 'Portal sign-in'],
  ListTokenDefinitions: ['Token definitions listed', 'List of token definitions'],
  PreviewTokenDefinition: ['Token definition previewed', 'Preview of a token definition'],
  CreateTokenDefinition: ['Token definition created', 'Creation of a token definition'],
  UpdateTokenDefinition: ['Token definition changed', 'Change of a token definition'],
  ListSecurityPolicies: ['Security policies listed', 'List of security policies'],
  CreateSecurityPolicy: ['Security policy created', 'Creation of a security policy'],
  UpdateSecurityPolicy: ['Security policy changed', 'Change of a security policy'],
  RevokeSecurityPolicy: ['Security policy revoked', 'Revocation of a security policy'],
  ListApiKeys: ['API keys listed', 'List of API keys'],
  CreateApiKey: ['API key created', 'Creation of an API key'],
  RotateApiKey: ['API key rotated', 'Rotation of an API key'],
  RevokeApiKey: ['API key revoked', 'Revocation of an API key'],
  GetToolServer: ['Tool server’s state read', 'State of the tool server'],
  EnableToolServer: ['Tool server switched', 'Switching of the tool server'],
  CopySecret: ['New secret copied', 'Copy of a new secret'],
  RotateKey: ['API key replaced', 'Replacement of the API key'],
  ForgetNextKey: ['Next API key removed', 'Removal of the next API key'],
  SaveConnection: ['Connection saved', 'Connection'],
  ProvideConnections: ['Connections of the administrator taken', 'Connections of the administrator'],
  SignConnections: ['Connections signed', 'Signature of connections'],
  Attest: ['Statement on this workstation signed', 'Statement on this workstation'],
  ImportConnections: ['Connections imported', 'Import of connections'],
  ExportConnections: ['Connections exported', 'Export of connections'],
  RemoveConnection: ['Connection removed', 'Removal of a connection'],
  ChangedOutside: ['Changed outside of Tokendesk', 'Removing what a change from outside could reach'],
  UndoRemoveConnection: ['Removed connection brought back', 'Bringing back a connection'],
  ChooseConnection: ['Connection chosen', 'Choice of a connection'],
  StartBuiltIn: ['Built-in service started', 'Start of the built-in service'],
  TestPolicy: ['Permission tested', 'Permission test'],
  StoreSecret: ['Secret stored', 'Secret'],
  StoreCertificate: ['Certificate stored', 'Certificate'],
  ForgetCertificate: ['Certificate removed', 'Removal of a certificate'],
  ImportProfile: ['Service profile imported', 'Service profile'],
  RemoveProfile: ['Service profile removed', 'Removal of a service profile'],
  TryProfile: ['Service profile tried', 'Trial of a service profile'],
  FitProfile: ['Service profile fitted', 'Fitting of a service profile'],
  SaveSettings: ['Settings changed', 'Settings'],
  RemoveEverything: ['App closed to remove everything', 'Removal of everything'],
  SaveDiagnostics: ['Diagnostics saved', 'Diagnostics'],
  RemoveResults: ['Results removed, since their time was over', 'Removal of results'],
  LookThroughFiles: ['Files looked through', 'Look through files'],
  SaveInventory: ['Inventory of files saved', 'Inventory of files'],
  CompareFiles: ['Files compared', 'Comparison of files'],
  SaveComparison: ['Comparison of files saved', 'Saved comparison of files'],
  TokenStory: ['Story of the token looked at', 'Look at the story of the token'],
  SaveStory: ['Story of a token saved', 'Saved story of a token'],
  RemovePartial: ['Rest of an interrupted export removed', 'Removal of the rest of an interrupted export'],
  Mend: ['Corrected rows taken in', 'Corrected rows'],
  SetPassphrase: ['Passphrase set', 'Passphrase'],
  RemovePassphrase: ['Passphrase removed', 'Removal of the passphrase'],
  Lock: ['Locked', 'Lock'],
  Unlock: ['Unlocked', 'Unlock'],
  ResetLock: ['Lock reset', 'Reset of the lock'],
  Webhook: ['Event received from the service', 'Event from the service'],
  HoldBack: ['Value in clear held back', 'Value in clear held back'],
  ChainBroken: ['Log found tampered with', 'Log found tampered with'],
  TailSetAside: ['Unfinished line set aside', 'Unfinished line set aside'],
};

function labelsOf(action: string): readonly [done: string, noun: string] {
  if (!isOperation(action)) return actLabels[action] ?? [action, action];
  const { done, noun } = operationInfo[action];
  return [done, noun];
}

type NamedEntry = Pick<AuditEntry, 'action' | 'phase' | 'cleartext'> & Partial<Pick<AuditEntry, 'job'>>;

/** What was done; a noun where it failed or has no end, so that it does not read as done. Acts of another version keep their names. */
export function actName({ action, phase, cleartext, job }: NamedEntry): string {
  // The mask of a lookup is asked for by a person, those of a batch by the batch.
  const isOfBatch = action === 'GetMasked' && typeof job === 'string';
  const [done, noun] = isOfBatch ? ['Masked in a batch', 'Mask in a batch'] : labelsOf(action);
  const isClear = action === 'Export' && cleartext === true;
  return `${phase === 'ok' ? done : noun}${isClear ? ' in clear' : ''}`;
}

/** The same with its outcome. */
export function formatAct(entry: NamedEntry): string {
  const name = actName(entry);
  if (entry.phase === 'ok') return name;
  return entry.phase === 'failed' ? `${name} failed` : `${name} begun`;
}

/** The log holds the codes of any version; one that this version does not know is shown as it is. */
export const failureText = (code: string | null): string | null =>
  code !== null && isFailureCode(code) ? reasonFor(code) : code;

const exportWords: Record<string, string> = {
  masked: 'masked',
  cleartext: 'cleartext',
  tokens: 'tokens',
  all: 'all rows',
  matches: 'matches only',
  failed: 'failed rows only',
  shown: 'rows shown only',
  source: 'as the source',
  spreadsheet: 'safe for Excel',
  exact: 'exact values',
  workbook: 'Excel workbook',
  encrypted: 'encrypted',
};

/** What an export held, and its sum; null for any other act. A word that this version does not know is shown as it is. */
export function exportText({ export: exported, note }: Pick<AuditEntry, 'export' | 'note'>): string | null {
  if (exported === undefined) return null;
  const { content, rows, format, encrypted } = exported;
  const words = [content, rows, format, ...(encrypted ? ['encrypted'] : [])];
  const text = words.map((word) => exportWords[word] ?? word).join(', ');
  return note === null ? text : `${text}: ${note}`;
}

/** Why it was done, how it failed, and what its line says beside that. */
export function detailText(entry: AuditEntry): string {
  const { reason, code, operation, sent, refused = {}, note } = entry;
  return [
    reason,
    failureText(code),
    operation,
    sent === false ? 'not sent' : null,
    ...Object.entries(refused).map(([of, values]) => `${formatCount(values)} refused: ${failureText(of)}`),
    exportText(entry) ?? note,
  ]
    .filter((part) => part !== null && part !== undefined)
    .join(' · ');
}
