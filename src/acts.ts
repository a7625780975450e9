import type { AuditEntry } from '../electron/contract/models/activity.ts';

/** Each act once: a `begun` entry whose end is listed is left out; one without an end stays. */
export function actsOf(entries: AuditEntry[]): AuditEntry[] {
  const ended = new Set(entries.map(({ of }) => of));
  return entries.filter(({ phase, sequence }) => phase !== 'begun' || !ended.has(sequence));
}

/** As something done, and as a noun. */
const actLabels: Record<string, readonly [done: string, noun: string]> = {
  GetMasked: ['Looked up', 'Lookup'],
  Tokenize: ['Tokenized', 'Tokenization'],
  Detokenize: ['Fetched in clear', 'Fetch in clear'],
  Translate: ['Translated', 'Translation'],
  BatchTokenize: ['Batch tokenized', 'Batch tokenization'],
  BatchDetokenize: ['Batch detokenized', 'Batch detokenization'],
  BatchTranslate: ['Batch translated', 'Batch translation'],
  PatternMatch: ['Pattern matched', 'Pattern match'],
  Match: ['Expression matched', 'Expression match'],
  Reveal: ['Revealed', 'Reveal'],
  Copy: ['Copied in clear', 'Copy in clear'],
  Export: ['Exported', 'Export'],
  Evidence: ['Evidence saved', 'Evidence'],
};

/** What was done, in the words of the window; what failed or has no end does not read as done. */
export function formatAct({ action, phase }: Pick<AuditEntry, 'action' | 'phase'>): string {
  const [done, noun] = actLabels[action] ?? [action, action];
  if (phase === 'ok') return done;
  return phase === 'failed' ? `${noun} failed` : `${noun} begun`;
}
