import { describe, expect, it } from 'vitest';
import type { ValueKind } from '../../../electron/contract/value-kinds.ts';
import { valueSpans } from '../../../electron/masking/value-spans.ts';

const all: ReadonlySet<ValueKind> = new Set(['card', 'ssn', 'iban', 'email']);
const found = (text: string, kinds = all): [string, string][] | null =>
  valueSpans(text, kinds)?.map(({ kind, from, to }) => [kind, text.slice(from, to)]) ?? null;

describe('where values stand in a text', () => {
  it.each<[string, [string, string][]]>([
    ['', []],
    ['Called at 12:30 about order 77.', []],
    ['paid with 4111 1111 1111 1111, thanks', [['card', '4111 1111 1111 1111']]],
    ['4111111111111111', [['card', '4111111111111111']]],
    [
      'SSN 536-22-1234 and a.b@bank.example',
      [
        ['ssn', '536-22-1234'],
        ['email', 'a.b@bank.example'],
      ],
    ],
    ['her ssn: 536221234', [['ssn', '536221234']]],
    ['to de89 3704 0044 0532 0130 00.', [['iban', 'de89 3704 0044 0532 0130 00']]],
    [
      'from 4111-1111-1111-1111 to 5500 0000 0000 0004',
      [
        ['card', '4111-1111-1111-1111'],
        ['card', '5500 0000 0000 0004'],
      ],
    ],
    ['request 41111111-1111-4111-a111-111111111111', []],
    ['zod@3.2.1', []],
    ['Write to a.b@bank.example. Or call!', [['email', 'a.b@bank.example']]],
    ['😀 4111111111111111 Zürich', [['card', '4111111111111111']]],
  ])('%s', (text, values) => {
    expect(found(text)).toEqual(values);
  });

  it('tells those of the wanted kinds alone', () => {
    expect(found('4111111111111111 a.b@bank.example', new Set(['email']))).toEqual([
      ['email', 'a.b@bank.example'],
    ]);
  });

  it.each(['card &#52;111111111111111', 'card ４１１１１１１１１１１１１１１１', 'a.b&commat;bank.example'])(
    'has no positions for what is spelled: %s',
    (text) => {
      expect(found(text)).toBeNull();
    },
  );
});
