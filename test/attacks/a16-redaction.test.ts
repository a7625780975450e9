import fs from 'node:fs';
import { expect, test } from 'vitest';
import { calls } from '../../electron/contract/calls.ts';
import { maskCaseReference, maskNumbers } from '../../electron/masking/masking.ts';
import { logFolder, value } from '../support/audit-folder.ts';

const card = '4111111111111111';
const grouped = (separator: string) => ['4111', '1111', '1111', '1111'].join(separator);
const digitsOf = (text: string) => text.normalize('NFKC').replaceAll(/[^0-9]/g, '');

const cards = [
  card,
  '４１１１１１１１１１１１１１１１',
  `x1${card}`,
  `${card}0`,
  `order 77${card}99 of today`,
  ...[' ', '  ', '.', '/', '_', '-', '--', ' - ', '\u00a0', '\u2011', ',', ':', '\u200b', '|'].map(grouped),
  Array.from(card).join(' '),
  Array.from(card).join('.'),
  '378282246310005',
  '3782 822463 10005',
];

test.each(cards)('the card in "%s" is masked', (text) => {
  const masked = maskNumbers(`caller read ${text} to me`);
  expect(digitsOf(masked)).not.toContain(card);
  expect(digitsOf(masked)).not.toContain('378282246310005');
  expect(masked).toContain('•');
});

test.each(['4222222222222', '30569309025904', '6304000000000000000'])(
  'a card of other lengths is masked: %s',
  (number) => expect(digitsOf(maskNumbers(`caller read ${number} to me`))).not.toContain(number),
);

test.each([
  '078-05-1120',
  '078051120',
  '078 05 1120',
  '078.05.1120',
  '０７８０５１１２０',
  '078\u201105\u20111120',
])('the SSN in "%s" is masked', (text) => {
  expect(digitsOf(maskNumbers(`ssn ${text}.`))).not.toContain('078051120');
});

test.each(['DE89370400440532013000', 'DE89 3704 0044 0532 0130 00', 'gb82west12345698765432'])(
  'the account in "%s" is masked, in a case too',
  (text) => {
    for (const masked of [maskNumbers(`paid by ${text}.`), maskCaseReference(text)]) {
      expect(masked).toContain('••••');
      expect(masked.replaceAll(' ', '')).not.toContain(text.replaceAll(' ', ''));
    }
  },
);

test.each(['\u2800', '\u3164', '\u034f', '\u115f', '\u200b \u2060'])(
  'a reason and a case that nobody can read are none: %j',
  (text) => {
    const { input } = calls['lookup.reveal'];
    const given = { lookupId: 'a', xorKey: '0000', reason: text, caseReference: '' };
    expect(input.safeParse(given).success).toBe(false);
    expect(input.parse({ ...given, reason: 'Refund', caseReference: text })).toMatchObject({
      caseReference: '',
    });
  },
);

test('the person in an e-mail address is masked', () => {
  expect(maskNumbers('write to jane.roe@example.com, please')).toBe('write to j•••••••@example.com, please');
  expect(maskNumbers('ｊａｎｅ＠ｅｘａｍｐｌｅ．ｃｏｍ')).not.toContain('jane');
});

test.each(['D-2026-000123', 'CB 12345678', 'Refund of 1,250.00 on 2026-01-02', 'policy agent, 500000 rows'])(
  '"%s" stays as it is',
  (text) => {
    expect(maskNumbers(text)).toBe(text);
  },
);

test('the fingerprint of a certificate stays', () => {
  const print = `${'41:11:'.repeat(8)}B6:23:${'D5:7B:'.repeat(6)}41:11`;
  expect(maskNumbers(`trusts SHA-256 ${print}`)).toBe(`trusts SHA-256 ${print}`);
  expect(maskNumbers('41:11:11:11:11:11:11:11')).toContain('•');
});

test('a long run of digits is read in linear time', () => {
  // The processor's time of this thread: a busy machine takes nothing from the proof.
  const began = process.threadCpuUsage();
  maskNumbers('1'.repeat(100_000));
  maskNumbers('1 '.repeat(50_000));
  maskNumbers('a@'.repeat(50_000));
  const { user, system } = process.threadCpuUsage(began);
  expect((user + system) / 1000).toBeLessThan(1_000);
});

test('a card across the cut of a long text is masked', async () => {
  const log = logFolder();
  const audit = await log.open();
  value(await audit.begin({ action: 'Reveal', reason: `${'x'.repeat(485)}${card}` }));
  expect(fs.readFileSync(log.file(1), 'utf8')).not.toContain('411111111111111');
});

test('control and format characters are taken out of reason and case before anything else reads them', () => {
  const input = { reason: '\u009b31mRefund\u202e\u0007', caseReference: 'D\u200b-1\n' };
  const copied = calls['lookup.copy'].input.parse({ what: 'cleartext', lookupId: 'l1', ...input });
  expect(copied).toMatchObject({ reason: '31mRefund', caseReference: 'D-1' });
  expect(
    calls['lookup.copy'].input.safeParse({
      what: 'cleartext',
      lookupId: 'l1',
      ...input,
      reason: '\u200b\u0007',
    }).success,
  ).toBe(false);
});

test('a case of nine digits keeps its number, so that two cases are told apart', () => {
  expect(maskCaseReference('123456789')).toBe('123456789');
  expect(maskCaseReference('078-05-1120')).not.toContain('078-05');
  expect(maskCaseReference('4111111111111111')).not.toContain('411111111');
});
