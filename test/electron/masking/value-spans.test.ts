import { describe, expect, it } from 'vitest';
import type { ValueKind } from '../../../electron/contract/value-kinds.ts';
import { eachValue } from '../../../electron/masking/find-values.ts';
import { maskCell } from '../../../electron/masking/masking.ts';
import { mostValues, type ValueSpan, valueSpans } from '../../../electron/masking/value-spans.ts';
import { createNotes, seeded } from '../../support/notes.ts';

const all: ReadonlySet<ValueKind> = new Set(['card', 'ssn', 'iban', 'email']);
/** Null where they have no place of their own. */
function spansOf(text: string, kinds = all): ValueSpan[] | null {
  const spans = valueSpans(text, kinds);
  return spans.ok ? spans.value : null;
}
const found = (text: string, kinds = all): [string, string][] | null =>
  spansOf(text, kinds)?.map(({ kind, from, to }) => [kind, text.slice(from, to)]) ?? null;

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

  it.each<[string, string[]]>([
    ['alice@example.com%204111&nbsp;1111&nbsp;1111&nbsp;1111', ['alice@example.com', '4111111111111111']],
    ['123-45-4111&nbsp;1111&nbsp;1111&nbsp;1111', ['123-45-4111', '4111111111111111']],
    ['900-12-4111&nbsp;1111&nbsp;1111&nbsp;1111', ['4111111111111111']],
    ['alice@example.com%20123/45/6789', ['alice@example.com', '123/45/6789']],
    ['write to a@1.2%2Ecom', ['a@1.2.com']],
    ['alice@example.co&#109;', ['alice@example.com']],
    [String.raw`alice@example.com\u002euk`, ['alice@example.com.uk']],
    ['4220492670724%3306', ['4220492670724306']],
    // What only looks like a value keeps no other from being told.
    ['9%313-51-7843', ['313-51-7843']],
    [String.raw`\ud835\udfd2111111111111111`, ['4111111111111111']],
    ['%34111 1111 1111 1111', ['4111111111111111']],
    ['3754%205943 0465 414-4369756325732653', ['375459430465414', '4144369756325732653']],
    [
      String.raw`\u{35}546 - 3187 - 4929 - 1999  5160-0758-3875-0153`,
      ['5546318749291999', '5160075838750153'],
    ],
    ['4763179713960  &#48;04', ['4763179713960004']],
    ['&amp;amp;#0000097;bc@d.com', ['abc@d.com']],
    [String.raw`\u0044E72659976024721913003`, ['DE72659976024721913003']],
    ['94947-5113-3331&#00057;', ['4947511333310005']],
  ])('of %s each value is told once, as what it spells, and none is placed beside it', (text, values) => {
    const told: string[] = [];
    eachValue(text, (_, value) => told.push(value));
    expect(told.sort()).toEqual([...values].sort());
    expect(spansOf(text)).toBeNull();
  });

  it('a value that is written as it is has its place, whatever is spelled elsewhere', () => {
    expect(found('at 50% &amp; 4111111111111111%20paid, to a.b@bank.example &#64; home')).toEqual([
      ['card', '4111111111111111'],
      ['email', 'a.b@bank.example'],
    ]);
  });

  it.each(['x345 4111 1111 1111 1111', '414 4111 1111 1111 1111 7', '2026 345 3782 822463 10005'])(
    'are the card, and not a number before it together with a part of the card: %s',
    (text) => {
      const [card] = /4111(?: 1111){3}|3782 822463 10005/.exec(text) ?? [''];
      expect(found(text)).toEqual([['card', card]]);
      expect(maskCell(text)).not.toContain(card.slice(8, 13));
      expect(maskCell(text)).toContain(card.slice(-4));
    },
  );

  it.each([
    // An SSN whose last digits are a card's first ones.
    'x 328-53-5204 5187 0976 5964 6756',
    'a.b@bank.example4111 1111 1111 1111',
    'IBAN GB44 WEST 1234 56, anna@bank.example called 4111 1111 1111 1111 4',
  ])('never stand within each other: %s', (text) => {
    const spans = spansOf(text);
    for (const [at, { from }] of (spans ?? []).entries())
      expect(from).toBeGreaterThanOrEqual(spans?.[at - 1]?.to ?? 0);
  });

  it('are none where one runs into another, of the wanted kinds', () => {
    expect(found('x 328-53-5204 5187 0976 5964 6756')).toBeNull();
    expect(found('x 328-53-5204 5187 0976 5964 6756', new Set(['ssn']))).toBeNull();
    expect(found('x 328-53-5204 5187 0976 5964 6756', new Set(['email']))).toEqual([]);
    expect(found('a.b@bank.example4111 1111 1111 1111')).toBeNull();
  });

  it.each([
    'card 4111\u00a01111 1111 1111…',
    '№ 7: 4111\u200b111111111111 ½',
    'ﬁle Zu\u0308rich 4111111111111111',
  ])('are found beside signs that have another form: %s', (text) => {
    expect(found(text)).toEqual([['card', /4.*1/.exec(text)?.[0]]]);
  });

  const notes = createNotes(11);
  const random = seeded(12);
  const pieces = [
    '',
    '',
    ' ',
    ',',
    'x',
    '-',
    'SSN no',
    ' social x',
    '7',
    '£',
    '\u00a0',
    'ü',
    '4111111111111111',
    'b@c.example',
  ];
  const joined = (): string =>
    Array.from({ length: 3 }, () => {
      const { text, values } = notes.next();
      const { value } = values[Math.floor(random() * values.length)] ?? { value: text.slice(0, 20) };
      return value + (pieces[Math.floor(random() * pieces.length)] ?? '');
    }).join('');

  it('are as many as one text may have', () => {
    const card = '4111 1111 1111 1111 x ';
    expect(found(card.repeat(mostValues))).toHaveLength(mostValues);
    expect(valueSpans(card.repeat(mostValues + 1), all)).toMatchObject({
      failure: { code: 'value.many-inside' },
    });
  });

  it('are those that are counted, each with its place, or none', () => {
    for (let round = 0; round < 5_000; round++) {
      const text = joined();
      let told = 0;
      eachValue(text, () => told++);
      const spans = spansOf(text);
      if (spans !== null) expect([text, spans.length]).toEqual([text, told]);
    }
  });

  it('are masked wherever they are found', () => {
    const named = ['SSN no. x123456789 bad', 'ok SSN nox536221234', 'social security abc 536221234'];
    for (const text of named) expect(found(text)).toHaveLength(1);
    for (const text of [...named, ...Array.from({ length: 3_000 }, joined)]) {
      const shown = maskCell(text);
      for (const { from, to } of spansOf(text) ?? [])
        expect([text, shown.includes(text.slice(from, to))]).toEqual([text, false]);
    }
  });

  it.each(['@ ' + '-'.repeat(100_000), '@ a' + '+-'.repeat(50_000), '@ ' + 'a='.repeat(50_000)])(
    'are looked for in a time that grows with the text (%#)',
    (text) => {
      expect(found(text)).toEqual([]);
    },
  );
});
