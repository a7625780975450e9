import fs from 'node:fs';
import path from 'node:path';
import { signCheckpoint } from '../../electron/audit/checkpoint.ts';
import {
  type AuditEnd,
  type AuditIntent,
  beginEntry,
  endEntry,
  type EntryContent,
} from '../../electron/audit/entries.ts';
import { keyIdOf, segmentFile, signLine, zeroMac } from '../../electron/audit/lines.ts';
import { testKey } from './audit-folder.ts';

/** An act as a line of version 1 had it, in words of the note, and as it is begun and ended today. */
export interface ActOfBoth {
  readonly before: readonly [
    note: string | null,
    end: Pick<AuditEnd, 'ok' | 'code' | 'note' | 'rows'> | null,
  ];
  readonly now: readonly [intent: AuditIntent, end: AuditEnd | null];
}

const about = {
  connection: 'Acme',
  environment: 'test',
  policy: 'desk',
  definition: 'card-number',
  reason: 'Refund',
  caseReference: 'D-1',
  rows: 1,
};
const ok = { ok: true };
const batch = { action: 'BatchDetokenize', ...about, rows: 500, job: 'j-1' };
const seen = { ...about, cleartext: true };
const exported = { action: 'Export', ...about, rows: 40, job: 'j-1' };

/** Every note that version 1 wrote for anything but a person to read, and some that it wrote for one. */
export const actsOfBoth: readonly ActOfBoth[] = [
  { before: [null, ok], now: [{ action: 'Tokenize', ...about }, ok] },
  {
    before: [null, { ok: true, note: 'refused: 430 service.token-invalid, 20 service.element-refused' }],
    now: [batch, { ok: true, refused: { 'service.token-invalid': 430, 'service.element-refused': 20 } }],
  },
  {
    before: [null, { ok: false, code: 'service.credentials', note: 'not sent' }],
    now: [batch, { ok: false, code: 'service.credentials', sent: false }],
  },
  { before: ['Detokenize', ok], now: [{ action: 'Reveal', ...seen, operation: 'Detokenize' }, ok] },
  {
    before: ['Detokenize', { ok: false, code: 'service.credentials', note: 'not sent' }],
    now: [
      { action: 'Reveal', ...seen, operation: 'Detokenize' },
      { ok: false, code: 'service.credentials', sent: false },
    ],
  },
  {
    before: ['Detokenize', { ok: false, code: 'service.refused' }],
    now: [
      { action: 'Copy', ...seen, operation: 'Detokenize' },
      { ok: false, code: 'service.refused' },
    ],
  },
  { before: ['Detokenize', null], now: [{ action: 'Copy', ...seen, operation: 'Detokenize' }, null] },
  {
    before: ['row 2, column 1', ok],
    now: [{ action: 'Reveal', ...seen, job: 'j-1', note: 'row 2, column 1' }, ok],
  },
  {
    before: ['expression 00ff00ff00ff00ff', ok],
    now: [{ action: 'Match', ...seen, job: 'j-1', note: 'expression 00ff00ff00ff00ff' }, ok],
  },
  {
    before: [
      'cleartext all exact encrypted',
      {
        ok: true,
        rows: 38,
        note: 'cleartext all exact encrypted: 40 = 37 ok + 2 failed + 0 unmatched + 1 blank',
      },
    ],
    now: [
      {
        ...exported,
        cleartext: true,
        export: { content: 'cleartext', rows: 'all', format: 'exact', encrypted: true },
      },
      { ok: true, rows: 38, note: '40 = 37 succeeded + 2 failed + 1 blank' },
    ],
  },
  {
    before: [
      'masked matches workbook',
      { ok: true, note: 'masked matches workbook: 40 = 40 ok + 0 failed + 0 unmatched + 0 blank' },
    ],
    now: [
      {
        ...exported,
        cleartext: false,
        export: { content: 'masked', rows: 'matches', format: 'workbook', encrypted: false },
      },
      { ok: true, note: '40 = 40 succeeded' },
    ],
  },
  {
    before: ['cleartext failed source', { ok: false, code: 'file.disk-full' }],
    now: [
      {
        ...exported,
        cleartext: true,
        export: { content: 'cleartext', rows: 'failed', format: 'source', encrypted: false },
      },
      { ok: false, code: 'file.disk-full' },
    ],
  },
  {
    before: ['cleartext shown spreadsheet', null],
    now: [
      {
        ...exported,
        cleartext: true,
        export: { content: 'cleartext', rows: 'shown', format: 'spreadsheet', encrypted: false },
      },
      null,
    ],
  },
  { before: ['Detokenize', ok], now: [{ action: 'TestPolicy', ...about, operation: 'Detokenize' }, ok] },
  {
    before: ['theme: light → dark', ok],
    now: [{ action: 'SaveSettings', note: 'theme: light → dark' }, ok],
  },
];

/** A log as version 1 left it: its file, and the checkpoint beside it. A second before each line of `log.open`'s clock. */
export function writeOldLog({ folder, checkpoint }: { folder: string; checkpoint: string }): void {
  fs.mkdirSync(folder, { recursive: true });
  fs.mkdirSync(path.dirname(checkpoint), { recursive: true });
  let prev = zeroMac;
  let sequence = 0;
  const lines: Buffer[] = [];
  const add = (content: Parameters<typeof signLine>[1]): void => {
    const { bytes, mac } = signLine(testKey, content, prev);
    prev = mac;
    lines.push(bytes);
  };
  const nextAt = () => new Date(Date.UTC(2026, 0, 2, 3, 0, sequence));
  const head = { v: 1, kind: 'segment', segment: 1, at: nextAt().toISOString(), next: 1 } as const;
  add({ ...head, key: keyIdOf(testKey), kept: true, after: null, seals: null });
  for (const { before, now } of actsOfBoth) {
    const [note, end] = before;
    const written = beginEntry({ ...now[0], ...(note !== null && { note }) }, nextAt(), 'kim');
    const begun = Object.fromEntries(
      Object.entries(written).filter(([member]) => !['cleartext', 'operation', 'export'].includes(member)),
    ) as EntryContent;
    add({ v: 1, kind: 'entry', sequence: ++sequence, ...begun });
    if (end === null) continue;
    const entry = endEntry({ begun, sequence, end, at: nextAt() });
    add({ v: 1, kind: 'entry', sequence: ++sequence, ...entry });
  }
  const bytes = Buffer.concat(lines);
  fs.writeFileSync(segmentFile(folder, 1), bytes);
  fs.writeFileSync(
    checkpoint,
    signCheckpoint(testKey, { segment: 1, size: bytes.length, sequence, head: prev }).padEnd(4_096),
  );
}
