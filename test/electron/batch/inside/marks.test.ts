import { describe, expect, it } from 'vitest';
import {
  findCleartext,
  findTokens,
  putCleartext,
  putTokens,
  valuesBehind,
} from '../../../../electron/batch/inside/marks.ts';
import { readWritten, writeForm } from '../../../../electron/batch/inside/written-form.ts';
import { usualMarks, type ValueKind } from '../../../../electron/contract/value-kinds.ts';
import type { Marks } from '../../../../electron/contract/models/batch.ts';
import { codeOf, valueOf } from '../../../support/batch-app.ts';
import { mostValues } from '../../../../electron/masking/value-spans.ts';
import { createNotes, seeded } from '../../../support/notes.ts';

const kinds: ReadonlySet<ValueKind> = new Set(['card', 'ssn', 'iban', 'email']);
const cleartextIn = (text: string, marks: Marks = usualMarks) => findCleartext(text, { kinds, marks });

describe('values inside a text', () => {
  it('stand in marks with the form they had', () => {
    const text = 'paid with 4111-1111 1111-1111 or de89 3704 0044 0532 0130 00, a.b@bank.example';
    const values = valueOf(cleartextIn(text));
    expect(values.map(({ sent }) => sent)).toEqual([
      '4111111111111111',
      'DE89370400440532013000',
      'a.b@bank.example',
    ]);
    const tokens = ['T1', 'T2', 'T3'];
    expect(valueOf(putTokens(text, values, { tokens, marks: usualMarks }))).toBe(
      'paid with [[card 4-4 4-4 token:T1]] or [[iban l4 4 4 4 4 2 token:T2]], [[email:T3]]',
    );
  });

  it.each<[string, Marks]>([
    ['the usual marks', usualMarks],
    ['one sign', { open: '§', close: '§' }],
    ['signs of expressions', { open: '(*', close: '*)' }],
    ['signs of forms', { open: '-', close: '.' }],
  ])('come back byte for byte from %s', (_, marks) => {
    const notes = createNotes(7);
    const random = seeded(8);
    let count = 0;
    let told = 0;
    for (let row = 0; row < 3_000; row++) {
      const { text } = notes.next();
      const found = cleartextIn(text, marks);
      if (!found.ok) {
        // What would not come back is said, and left.
        expect(['value.marks-inside', 'value.spelled-inside']).toContain(found.failure.code);
        continue;
      }
      const values = found.value;
      const tokens = values.map((__, at) => `T${at}${Math.floor(random() * 1e9).toString(36)}`);
      const written = valueOf(putTokens(text, values, { tokens, marks }));
      for (const { sent } of values) expect(written).not.toContain(sent);
      const marked = valueOf(findTokens(written, marks));
      expect(marked.map(({ sent }) => sent)).toEqual(tokens);
      const cleartexts = values.map(({ sent }) => sent);
      const behind = valuesBehind(text, written, marks);
      if (behind !== null) expect(behind).toEqual(cleartexts);
      told += behind === null ? 0 : cleartexts.length;
      const back = valueOf(putCleartext(written, marked, cleartexts));
      expect(Buffer.from(back, 'utf16le').equals(Buffer.from(text, 'utf16le'))).toBe(true);
      count += values.length;
    }
    expect(count).toBeGreaterThan(2_000);
    expect(told).toBeGreaterThan(1_000);
  });

  it('are not read from a text that says something else beside them', () => {
    const marked = 'paid [[card:T1]] today';
    expect(valuesBehind('paid 4111111111111111 today', marked, usualMarks)).toEqual(['4111111111111111']);
    expect(valuesBehind('Paid 4111111111111111 today', marked, usualMarks)).toBeNull();
    expect(valuesBehind('paid 4111111111111111 today.', marked, usualMarks)).toBeNull();
    expect(valuesBehind('paid', marked, usualMarks)).toBeNull();
    expect(valuesBehind('a 1 b 2 c', 'a [[card:T1]] b [[card:T2]] c', usualMarks)).toBeNull();
  });

  it('are not looked for in a text that has marks', () => {
    expect(codeOf(cleartextIn('[[card:T1]] and 4111111111111111'))).toBe('value.marks-inside');
    expect(codeOf(cleartextIn('[[note]] 4111111111111111'))).toBe('ok');
  });

  it('are no more than one text may have', () => {
    const marked = 'x [[card:T1]] '.repeat(mostValues);
    expect(findTokens(marked, usualMarks)).toMatchObject({ ok: true });
    expect(codeOf(findTokens(`${marked}[[card:T1]]`, usualMarks))).toBe('value.many-inside');
    expect(codeOf(cleartextIn('4111111111111111 x '.repeat(mostValues + 1)))).toBe('value.many-inside');
  });

  it('are not changed where one is spelled in other signs', () => {
    expect(codeOf(cleartextIn('4111111111111111 and &#52;111111111111111'))).toBe('value.spelled-inside');
  });

  it.each(['[[card:T1', '[[card', '[[card:]]', '[[card 4-4-4-4]] x', '[[card:[[card:T]]', '[[card 4 x'])(
    'have a broken mark in %s',
    (text) => {
      const found = findTokens(`${text} `, usualMarks);
      const put = found.ok
        ? putCleartext(
            text,
            found.value,
            found.value.map(() => '4111111111111111'),
          )
        : found;
      expect(codeOf(put)).toBe(text === '[[card' ? 'value.mark-broken' : 'value.mark-broken');
    },
  );

  it.each(['T]]1', 'T]', '[[card:x', '', ']'])(
    'refuse the token %j, which would not be found again',
    (token) => {
      const text = 'x 4111111111111111 y';
      const put = putTokens(text, valueOf(cleartextIn(text)), { tokens: [token], marks: usualMarks });
      // A bracket before the marks' own ends the token too early.
      expect(codeOf(put)).toBe('value.mark-broken');
    },
  );

  it.each([
    { sent: '4111111111111111', form: '4-4-4 4' },
    { sent: '4111111111111111', form: '' },
    { sent: '4111111111111112', form: '4-4-4-4' },
  ])('are left where one would not come back as it was: $sent as $form', (said) => {
    const text = 'paid with 4111-1111-1111-1111';
    const values = valueOf(cleartextIn(text)).map((value) => ({ ...value, ...said }));
    const options = { tokens: ['T1'], marks: usualMarks };
    expect(codeOf(putTokens(text, values, options))).toBe('value.mark-broken');
  });

  it('refuse a form that is not of so many characters', () => {
    const tokens = valueOf(findTokens('[[card 4-4-4-4 token:T1]]', usualMarks));
    expect(codeOf(putCleartext('[[card 4-4-4-4 token:T1]]', tokens, ['411111111111111']))).toBe(
      'value.mark-broken',
    );
  });

  it.each<[ValueKind, string]>([
    ['card', '4111111111111111'],
    ['card', '4111 – 1111\u00a01111/1111'],
    ['iban', 'De89 3704 0044 0532 0130 00'],
    ['iban', 'gb82WEST12345698765432'],
    ['iban', 'GB82 wEsT 1234 5698 7654 32'],
    ['ssn', '536-22-1234'],
    ['email', 'Anna.B@Bank.example'],
  ])('keep the form of %s %s', (kind, written) => {
    expect(writeForm(readWritten(kind, written))).toBe(written);
  });
});
