import { describe, expect, test } from 'vitest';
import { maskCell } from '../../../electron/privacy/masking.ts';

const card = '4111111111111111';
const asUtf16 = (text: string, bigEndian: boolean): string => {
  const bytes = Buffer.from(text.length % 2 === 0 ? text : `${text} `, 'latin1');
  return (bigEndian ? bytes.swap16() : bytes).toString('utf16le');
};

describe('what stands in a cell', () => {
  test.each([
    ['4111111111111111', '411111••••••1111'],
    ['paid with 4111 1111 1111 1111 by phone', 'paid with 4111 11•• •••• 1111 by phone'],
    ['card:4111-1111-1111-1111;cvv 123', 'card:4111-11••-••••-1111;cvv 123'],
    ['4111.1111.1111.1111 12/27', '4111.11••.••••.1111 12/27'],
    ['4111111111111111|123|100.00', '411111••••••1111|123|100.00'],
    ['378282246310005', '378282•••••0005'],
    ['00014111111111111111000100', '0001411111••••••••11000100'],
    ['４１１１１１１１１１１１１１１１', '411111••••••1111'],
    ['٤١١١١١١١١١١١١١١١', '411111••••••1111'],
    ['caller gave 078-05-1120', 'caller gave •••-••-1120'],
    ['caller gave 078051120', 'caller gave •••••1120'],
    ['write to jane.roe@bank.example now', 'write to j•••••••@bank.example now'],
    ['cc jane.roe@bank.example|max.power@corp.example', 'cc j•••••••@bank.example|m••••••••@corp.example'],
    [
      `https://x.example/${'reset/'.repeat(12)}and?user=jane.roe@bank.example`,
      `https://x.example/${'reset/'.repeat(12)}and?user=j•••••••@bank.example`,
    ],
    ['x.jane@x.jane.roe@bank.example', '•'.repeat(30)],
    ['4111ー1111ー1111ー1111', '4111ー11••ー••••ー1111'],
    ['4111    1111    1111    1111', '4111    11••    ••••    1111'],
    ['4111 -- 1111 -- 1111 -- 1111', '4111 -- 11•• -- •••• -- 1111'],
    ['078 - 05 - 1120', '•••---••---1120'],
    ['DE89 3704 0044 0532 0130 00 by transfer', 'DE•• •••• •••• •••• ••30 00 by transfer'],
    ['iban GB82WEST12345698765432', 'iban GB••••••••••••••••5432'],
  ])('%s', (text, shown) => {
    expect(maskCell(text)).toBe(shown);
  });

  test.each([
    'Jane Roe',
    '2026-11-24 10:20:30',
    'ÅÄÖ ﬁne ½ ①',
    '078051120',
    '4111111111111112',
    'order 1234567890123',
    '一二三四五六七八九十 日本語の文',
    'DE89 3704 0044 0532 013',
    '+49 30 1234567',
    '',
  ])('%s stays as it is', (text) => {
    expect(maskCell(text)).toBe(text);
  });

  test.each([false, true])('is hidden whole where it was read as UTF-16, big-endian: %s', (bigEndian) => {
    for (const text of [`Jane;${card};x`, `aJane;${card};x`, 'a,jane@bank.example,b', '1;078-05-1120;x'])
      expect(maskCell(asUtf16(text, bigEndian)), text).toMatch(/^•+$/);
  });
});
